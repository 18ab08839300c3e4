"""What the components written here have in common: their files, and the nodes that all of them are made of."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

COMMON = Path(__file__).parent / "nodes.js"


def component(folder: Path, name: str, *scripts: str) -> Callable:
    """The component of this name: NAME.css of its folder, and these scripts of it behind the common nodes."""
    return st.components.v2.component(
        name,
        css=(folder / f"{name}.css").read_text(encoding="utf-8"),
        js="\n".join(path.read_text(encoding="utf-8") for path in (COMMON, *(folder / script for script in scripts))),
    )
