"""Every silent failure has its words: title, text, and labels of its numbers and pictures."""

import pytest

from attention.silent import SILENT_FAILURES
from pages.parts.words import catalogue, label, prose


@pytest.mark.parametrize("name", SILENT_FAILURES)
def test_everything_has_words(name):
    failure = SILENT_FAILURES[name]()
    assert label("silent_titles", failure.name)
    assert label("silent", failure.weights)
    for damage in failure.numbers:
        assert label("silent_numbers", damage.name, at=damage.at)
        assert (damage.at is not None) == ("{at}" in catalogue()["silent_numbers"][damage.name])
    for drawn in failure.maps:
        assert label("silent_maps", drawn.name, at=drawn.at)
    if failure.curve:
        assert label("silent_curves", f"{failure.curve.name}_x") and label("silent_curves", f"{failure.curve.name}_y")
        assert all(label("silent_curves", name) for name, _ in failure.curve.lines)
        assert failure.curve.marked is None or label("silent_curves", f"{failure.curve.name}_mark")
    assert "{" not in prose("silent")[failure.name].format(**dict(failure.facts))


def test_there_is_no_text_without_a_failure():
    assert set(prose("silent")) == {"introduction", *SILENT_FAILURES}
    assert set(catalogue()["silent_titles"]) == set(SILENT_FAILURES)
