"""Every silent failure has its words: title, text, and labels of its numbers and pictures."""

import pytest

from attention.checkpoints import DIRECTORY, find
from attention.experiments.silent_failures import SILENT_FAILURES
from attention.experiments.silent_failures.shipped_model import config_for
from attention.tasks import get_task
from attention.training.stored import CheckpointError, load_weights
from pages.shared.texts import catalogue, label, prose


@pytest.mark.parametrize("name", SILENT_FAILURES)
def test_everything_has_words(name, failures):
    failure = failures[name]
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


def test_the_refusal_that_is_quoted_is_the_one_that_loading_gives(failures):
    facts = dict(failures["loaded_head_counts"].facts)
    task = get_task("reverse")
    card = find("reverse", config_for(task))
    with pytest.raises(CheckpointError) as refusal:
        load_weights(DIRECTORY / f"{card.name}.safetensors", config_for(task, facts["other_heads"]))
    assert f"“{refusal.value}”" in prose("silent")["loaded_head_counts"].format(**facts)


def test_there_is_no_text_without_a_failure():
    assert set(prose("silent")) == {"introduction", *SILENT_FAILURES}
    assert set(catalogue()["silent_titles"]) == set(SILENT_FAILURES)
