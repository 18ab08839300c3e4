"""What is compared with what, and that all arms see the same batches."""

import pytest
import torch

from attention import ConfigError, EncoderDecoder
from attention.experiments.comparison import Comparison, fixes, sweep
from attention.experiments.comparison.arms import planned
from attention.tasks import get_task
from attention.tasks.reverse import Reverse
from attention.training import advance, start

COMPARISON = Comparison("reverse", enc_heads=2, dec_heads=4, num_seeds=2, num_steps=3, width=16, num_layers=1)


def by_name(arms):
    return {arm.name: arm for arm in arms}


def test_two_controls_and_every_way_with_unequal_heads():
    arms = by_name(fixes(COMPARISON))
    assert list(arms) == ["equal_reproject", "equal_direct", "reproject", "projection", "grouped", "extra", "direct"]
    assert [arm.config.decoder.num_heads for arm in arms.values()] == [2, 2, 4, 4, 4, 4, 4]
    assert {arm.config.decoder.head_dim for arm in arms.values()} == {8}
    assert "(4) must equal the encoder's K/V heads (2)" in arms.pop("direct").error
    for arm in arms.values():
        assert not arm.error
        EncoderDecoder(arm.config)


def test_at_the_same_total_width_the_ways_that_reuse_keys_are_errors():
    arms = by_name(fixes(Comparison("reverse", 2, 4, "width", width=16)))
    assert arms["reproject"].config.decoder.head_dim == 4
    assert [name for name, arm in arms.items() if arm.error] == ["grouped", "extra", "direct"]
    assert "head_dim (4) must equal encoder head_dim (8)" in arms["grouped"].error


def test_with_equal_heads_the_controls_are_not_repeated():
    arms = fixes(Comparison("reverse", 4, 4, width=16))
    assert [arm.name for arm in arms] == ["equal_reproject", "equal_direct", "projection", "grouped", "extra"]


def test_the_sweep_has_every_head_count_and_each_model_once():
    comparison = Comparison("reverse", enc_heads=8, num_seeds=3)
    arms = sweep(comparison)
    shapes = {name: [] for name in ("width", "size", "pool", "drop")}
    for arm in arms:
        shapes[arm.name].append((arm.config.decoder.num_heads, arm.config.decoder.head_dim))
    assert shapes["width"] == [(1, 64), (2, 32), (4, 16), (8, 8), (16, 4), (32, 2)]
    assert shapes["size"] == shapes["pool"] == shapes["drop"] == [(n, 8) for n in (1, 2, 4, 8, 16, 32)]
    # 8 heads are the same model at the same width and size; pool and drop are one from 8 heads on
    assert len({settings for _, settings in planned(comparison, arms)}) == 3 * (6 + 5 + 6 + 3)


def test_every_arm_sees_the_same_batches(monkeypatch):
    seen = []
    sample = Reverse.sample_batch

    def remember(task, generator, batch_size):
        seen.append(sample(task, generator, batch_size))
        return seen[-1]

    monkeypatch.setattr(Reverse, "sample_batch", remember)
    drawn = {}
    for arm, settings in planned(COMPARISON, fixes(COMPARISON)):
        seen.clear()
        advance(start(settings), 3)
        drawn[arm.name, settings.seed] = torch.cat([batch.src_ids.flatten() for batch in seen])
    for (_, seed), batches in drawn.items():
        assert torch.equal(batches, drawn["equal_reproject", seed])
    assert not torch.equal(drawn["extra", 0], drawn["extra", 1])


def test_steps_are_those_of_the_task_unless_given():
    assert Comparison("reverse").num_steps == get_task("reverse").num_steps
    assert {settings.num_steps for _, settings in planned(COMPARISON, fixes(COMPARISON))} == {3}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"keep": "both"}, r"keep \('both'\) must be one of width, size"),
        ({"num_seeds": 0}, r"num_seeds \(0\) must be at least 1"),
        ({"enc_heads": 6}, r"d_model \(64\) must be a multiple of num_heads \(6\)"),
        ({"dec_heads": 5, "keep": "width"}, r"d_model \(64\) must be a multiple of num_heads \(5\)"),
        ({"num_steps": 0}, r"num_steps \(0\) must be at least 1"),
    ],
)
def test_refusals_name_what_was_given(changes, sentence):
    with pytest.raises(ConfigError, match=sentence):
        Comparison("reverse", **changes)
