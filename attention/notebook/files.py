"""The JavaScript and CSS that draw the head grid, in the order in which they are joined."""

from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent
COMMON_CSS, COMMON_JS = (FOLDER / "component.css",), (FOLDER / "nodes.js",)  # of every component that is written here
GRID_CSS = (*COMMON_CSS, FOLDER / "head_grid.css")
_GRID = ("sizes", "tiles", "squares", "large", "lines", "head_grid")
GRID_JS = (*COMMON_JS, *(FOLDER / f"{name}.js" for name in _GRID))


def joined(paths: Iterable[Path]) -> str:
    """Several files as one, so that the later ones know what the earlier ones define."""
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)
