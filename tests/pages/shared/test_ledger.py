"""A K/V way is its file, a line in two registries, and words: nothing that pages say of a way is missing."""

import itertools

import pytest

from attention import ModelConfig, StackConfig, trace_shapes
from attention.config import KV_VARIANTS
from attention.cross_attention import KV_WAYS, fits
from attention.shapes import FAULTS
from pages.shared.ledger import dim_name, dims_of, formula, latex, note_text, part_name, step_name, symbol_name
from pages.shared.texts import label, say, task_prose
from pages.shared.ways import column_labels, way_text

VARIANTS = [(kv, variant) for kv, variants in KV_VARIANTS.items() for variant in variants or (None,)]
HEADS = [(1, 1), (1, 3), (3, 1), (3, 3), (2, 6), (6, 2), (4, 6), (6, 4)]


def configs(kv, variant):
    for (enc, dec), size in itertools.product(HEADS, (5, 7)):
        yield ModelConfig(StackConfig(11, enc, 5), StackConfig(13, dec, size), kv, variant)


def test_the_registries_name_the_same_ways():
    assert list(KV_WAYS) == list(KV_VARIANTS) and all(way.name == kv for kv, way in KV_WAYS.items())


@pytest.mark.parametrize(("kv", "variant"), VARIANTS)
def test_everything_that_a_way_can_show_has_words(kv, variant):
    assert label("kv", kv) and (variant is None or label("kv_variant", variant))
    for config in configs(kv, variant):
        trace = trace_shapes(config)
        assert trace.ok == fits(config)
        for step in trace.steps:
            words = [part_name(step.part), step_name(step), formula(step), latex(step)]
            words += [text for shape in step.inputs for text in (symbol_name(shape.symbol), dims_of(shape))]
            words += [note_text(step.note)] if step.note else []
            assert all(words) and not any("{" in word for word in (*words[:3], *words[4:]))
        if trace.ok:
            text, values = way_text(config)
            assert task_prose("playground", text, "spelling", **values)
            assert all(column_labels(KV_WAYS[kv].own_columns(config, ("<s>", "{n}"))))
        else:
            assert label("break", trace.failure.kind)
            assert all(dim_name(clash.dim) for clash in trace.failure.clashes)
            assert all(say("ledger_suggestion", one.message) for one in trace.failure.suggestions)


@pytest.mark.parametrize("kv", KV_WAYS)
def test_a_way_that_would_fit_is_offered_in_words(kv):
    """All but the one whose heads have to agree, which is offered by its heads."""
    offered = {
        suggestion.config.kv
        for other in KV_WAYS
        for variant in KV_VARIANTS[other] or (None,)
        for config in configs(other, variant)
        if (failure := trace_shapes(config).failure)
        for suggestion in failure.suggestions
        if suggestion.config.kv != other
    }
    assert (kv in offered) == (kv != "direct")


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_have_words(fault):
    config = ModelConfig(StackConfig(48, 4, 16), StackConfig(64, 4, 24))
    assert label("ledger_fault", fault) in note_text(trace_shapes(config, fault=fault).failure.note)
