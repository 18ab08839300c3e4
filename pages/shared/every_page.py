"""All pages: a folder each, with a script of its name, and what they have in the address."""

from functools import cache
from importlib import import_module
from pathlib import Path

from pages.shared.parameters import Parameter

FOLDER = Path(__file__).parents[1]

# With their icons, in the order in which one learns from them; the first one is where a visitor begins.
PAGES = {
    "playground": ":material/grid_view:",
    "lesson": ":material/school:",
    "anchors": ":material/footprint:",
    "shapes": ":material/straighten:",
    "compare": ":material/balance:",
    "redundancy": ":material/join_inner:",
    "wild": ":material/public:",
    "article": ":material/fact_check:",
}


def script(page: str) -> Path:
    """Streamlit takes a page's address from its file, so a page's script has the name of its folder."""
    return FOLDER / page / f"{page}.py"


@cache
def declared(page: str) -> tuple[Parameter, ...]:
    """What a page declares of the address: the `PARAMETERS` in its `address.py`, where it has one."""
    has_address = (FOLDER / page / "address.py").is_file()
    return import_module(f"pages.{page}.address").PARAMETERS if has_address else ()


def all_declared() -> tuple[Parameter, ...]:
    """What all pages declare."""
    return tuple(parameter for page in PAGES for parameter in declared(page))
