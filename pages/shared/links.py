"""Links to pages with settings of their own."""

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from pages.shared.locked import carried
from pages.shared.session import current


def link_to(address: Mapping[str, str], page: str = "") -> str:
    """A page (the playground has no name) with this address, as seen from one beside it; embedded where this one is."""
    embedded = {"embed": "true"} if st.context.is_embedded else {}
    return f"./{page}?{urlencode({**address, **carried(current()), **embedded})}"
