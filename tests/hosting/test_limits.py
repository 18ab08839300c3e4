"""Nothing that is kept grows without end; `docs/hosting.md` says how far it may, in the numbers of the code."""

import importlib
from pathlib import Path

import pytest
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes

from attention.jobs import comparison_service, removal_service, training_service
from pages.lesson import hands
from pages.shared import caching, heads_away, models, settings, training_panel

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
MB = 1_000_000
LIMITS = {
    "trainings of one visitor": training_panel.MAX_OWN,
    "trainings of all": training_service.MAX_OPEN,
    "memory of trainings under way": training_service.MAX_BYTES / MB,
    "memory of those that have ended": training_service.MAX_BYTES / MB,
    "studies that take all heads away": heads_away.MAX_OWN,
    "such studies of all": removal_service.MAX_OPEN,
    "finished runs": comparison_service.MAX_ROWS,
    "weights of a model": models.LARGE,
    "characters of a text": settings.LONGEST_TEXT,
    "one message": get_max_widget_state_size_bytes() / MB,
    "classes with a show": hands.MOST_CLASSES,
}


def told(what: str) -> str:
    """The limit in the line that begins so."""
    (line,) = (line for line in DOC.splitlines() if line.startswith(f"| {what}"))
    return line.split("|")[2].strip()


@pytest.mark.parametrize("what", LIMITS)
def test_the_page_on_hosting_has_the_numbers_of_the_code(what):
    assert told(what).removesuffix(" MB") == f"{LIMITS[what]:,.0f}"


def test_all_caches_together_are_bounded():
    """By bytes; and as each entry counts, by entries."""
    for path in sorted(ROOT.glob("pages/*/**/*.py")):
        if path.stem != path.parent.name:  # a page's script draws it
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    assert len(caching.caches) > 20
    total = sum(cache.maxsize for cache in caching.caches)
    assert total <= int(told("all caches").removesuffix(" MB").replace(",", "")) * MB
    assert all(cache.getsizeof(None) == caching.ENTRY == 1000 for cache in caching.caches)
