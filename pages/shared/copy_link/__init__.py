"""The link to what is on the screen: to be copied, as a QR code, and for the address of a page around this one."""

import io
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

import segno
import streamlit as st

from attention.figures.palette import BLACK, WHITE
from attention.notebook import COMMON_CSS, COMMON_JS
from pages.shared.component import BUTTON_CSS, component
from pages.shared.session import current
from pages.shared.texts import catalogue, label

_FOLDER = Path(__file__).parent
OUTSIDE = "https://huggingface.co"  # around an app that runs as a Space there; nobody else is told anything
_copy = component(
    "copy_link", (*COMMON_CSS, BUTTON_CSS, _FOLDER / "copy_link.css"), (*COMMON_JS, _FOLDER / "copy_link.js")
)
_outer = component("outer_address", (), (_FOLDER / "outer_address.js",))


def draw_link() -> None:
    """The link of the page with the settings as they are."""
    of_page = st.session_state["of_page"]
    query = current().whole_address(of_page)
    names = sorted({*query, *(parameter.name for parameter in of_page)})
    url = urljoin(st.context.url or "", urlsplit(st.context.url or "").path or "/")
    with st.container(key="link", horizontal=True, gap="small"):
        draw_copy("page", f"{url}?{urlencode(query)}", {"bar": urlencode(_bar()), "names": names})
        with st.popover(label("share", "qr"), key="qr", type="tertiary", on_change="rerun") as code:
            if code.open:
                draw_qr(f"{url}?{urlencode(query)}", label("share", "qr_caption"))


def draw_copy(key: str, link: str, here: dict | None = None) -> None:
    """A button that copies a link.

    here: for the link of this page, what the address bar says, and the names in it that count: where a part of the page
        that runs by itself has changed the address since, that is what is copied.
    """
    _copy(key=f"copy_{key}", data={"link": link, "here": here, "words": catalogue()["copy_link"]}, width="content")


def draw_qr(link: str, caption: str) -> None:
    """A link as a QR code, on white in a dark page, too; below it as text. One that no code can hold is text alone."""
    try:
        code = segno.make(link, micro=False, error="m")
    except segno.DataOverflowError:
        code = None
    if code is not None:
        drawn = io.BytesIO()
        code.save(drawn, kind="svg", scale=5, border=4, dark=BLACK, light=WHITE)
        st.image(drawn.getvalue().decode(), caption=caption, alt=label("share", "qr_alt"))
    st.code(link, language=None, wrap_lines=True)


def tell_outer_address(part: str = "page") -> None:
    """Let the address of a page around this one follow, where there is one; each part that runs by itself says it."""
    _outer(key=f"outer_address_{part}", data={"query": urlencode(_bar()), "outside": OUTSIDE})


def _bar() -> dict[str, str]:
    """What the address bar has when this run ends."""
    return current().to_address(st.session_state["of_page"])
