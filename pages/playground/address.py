"""What only this page has in the address."""

from pages.shared.locked import PRESENT
from pages.shared.parameters import Choice, Whole

VIEW = Choice("view", "heads", allowed=("heads", "lines", "layers"))  # of one layer as squares or lines, or all layers
# The cell chosen last, in whatever head: None where there is none yet. In a smaller map, the nearest one is meant.
ROW, COLUMN = (Whole(name, low=1, high=99) for name in ("row", "column"))
MADE = Whole("made", 1, low=1, high=5)  # how far the making of that cell is shown
PARAMETERS = (VIEW, ROW, COLUMN, MADE, PRESENT)
