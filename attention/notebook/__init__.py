"""The head grid outside the app: what it is sent, and the JavaScript and CSS that draw it in any page.

The one place in the library with HTML and JavaScript. Pages draw the same grid from the same files, in their words.
"""

from attention.notebook.files import COMMON_CSS, COMMON_JS, GRID_CSS, GRID_JS, joined
from attention.notebook.grid_data import Section, Tile, grid_message

__all__ = ["COMMON_CSS", "COMMON_JS", "GRID_CSS", "GRID_JS", "Section", "Tile", "grid_message", "joined"]
