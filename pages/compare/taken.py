"""Under which name a picture of this page is taken away."""

from pages.compare.address import whole_word
from pages.compare.controls import ComparisonView
from pages.shared.take_away.taken import Taken
from pages.shared.texts import label


def taken(view: ComparisonView, what: str) -> Taken:
    """ "fixes-spelling-8-16-size-5-600-curves"."""
    word = whole_word(view.experiment, view.comparison)
    return Taken(f"{word}-{what}".replace("_", "-"), label("app", "compare"), f"compare={word}")
