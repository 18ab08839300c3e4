"""The nine steps, in order."""

from pages.lesson.ahead import LookAhead
from pages.lesson.fixes import Fixes
from pages.lesson.hide import Hide
from pages.lesson.look import Look
from pages.lesson.more import MoreHeads
from pages.lesson.pairs import Pairs
from pages.lesson.removal import Removal
from pages.lesson.reuse import Reuse
from pages.lesson.silent import Silent

STEPS = (Hide(), Look(), LookAhead(), MoreHeads(), Reuse(), Fixes(), Silent(), Removal(), Pairs())
