"""What only this page has in the address."""

from attention.experiments.silent_failures import SILENT_FAILURES
from attention.shapes import FAULTS
from pages.shared.parameters import Choice, Whole

FAULT = Choice("fault", allowed=tuple(FAULTS), fault=True)  # a coding fault for the shape ledger to put in
DEMO = Choice("demo", allowed=tuple(SILENT_FAILURES))  # a failure that raises nothing, to be run and shown
LEDGER = Whole(
    "ledger", low=1, high=99, in_ledger=True
)  # the step shown of the shape ledger; None: the first, or the failing one
PARAMETERS = (FAULT, DEMO, LEDGER)
