"""What only this page has in the address."""

from attention.ablation.twins import WAYS
from attention.metrics.measures import MEASURES
from pages.shared.parameters import Choice, Whole
from pages.shared.settings import MAX_HEADS
from pages.shared.switched_off import OFF_BY

PART = Choice("part", "removal", allowed=("removal", "pairs", "layers", "twins", "shared"))
MEASURE = Choice("measure", next(iter(MEASURES)), allowed=tuple(MEASURES))  # of likeness
ORDER = Choice("order", "by_number", allowed=("by_number", "by_likeness"))  # of the heads in maps of pairs
PAIR = Whole("pair", low=1, high=MAX_HEADS)  # the head that the chosen one is compared with
COPIED = Whole("copied", low=1, high=MAX_HEADS)  # the head of which a twin is made,
REPLACED = Whole("replaced", low=1, high=MAX_HEADS)  # the one that becomes it,
TWIN = Choice("twin", next(iter(WAYS)), allowed=tuple(WAYS))  # and how
PARAMETERS = (PART, MEASURE, ORDER, PAIR, COPIED, REPLACED, TWIN, OFF_BY)
