"""Experiments by the shape ledger: passes that are really run, in miniature and in the article's own sizes."""

from dataclasses import replace

import streamlit as st

from attention import ModelConfig, StackConfig
from attention.cache import kept_kv
from attention.experiments.beside import with_slots_beside
from attention.shapes import trace_shapes
from attention.shapes.costs import num_kv_parameters, num_parameters
from attention.shapes.ledger import LedgerStep, NamedShape
from pages.article.situation import settings_for, sizes
from pages.shared.ledger import dims_of, note_text, step_name
from pages.shared.settings import Settings
from pages.shared.situations import scaled
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, whole

DECODER_HEADS = (1, 4, 8, 16, 64)
PAIRED_HEADS = (1, 2, 4, 8, 16)
SIZES = ("miniature", "own_size")


def draw_head_counts(theme: str) -> None:
    """One encoder of 8 heads, and textbook decoders of one width with very different heads."""
    encoder = StackConfig(64, 8)
    rows, weights = [], set()
    for heads in DECODER_HEADS:
        decoder = StackConfig(64, heads)
        config = ModelConfig(encoder, decoder, kv="reproject")
        trace = trace_shapes(config)
        (maps,) = (step.output for step in trace.steps if (step.part, step.name) == ("cross", "weights"))
        _, num_maps, rows_of_map, columns = maps.sizes
        shape = label("claim_run", "map_sizes", heads=num_maps, rows=rows_of_map, columns=columns)
        weights.add(num_parameters(config))
        ends = label("claim_run", "yes" if trace.ok else "no")
        rows.append((str(heads), str(decoder.head_dim), ends, shape, whole(num_parameters(config))))
    head = [label("claim_run", name) for name in ("decoder_heads", "head_size", "ends", "maps", "weights")]
    draw_table(label("claim_try", "A1"), head, rows, look="tried", caption=False)
    st.caption(label("claim_run", "same_weights", same="yes" if len(weights) == 1 else "no"))


def draw_mismatch(theme: str) -> None:
    """The mismatch in both sizes, and which other pairs of head counts run with the encoder's heads as they are."""
    _draw_steps("mismatch")
    config = settings_for("mismatch", Settings()).config
    rows = []
    for handed in PAIRED_HEADS:
        encoder = replace(config.encoder, num_kv_heads=handed, num_heads=handed)
        ends = (
            trace_shapes(replace(config, encoder=encoder, decoder=_with_heads(config.decoder, asking))).ok
            for asking in PAIRED_HEADS
        )
        rows.append((str(handed), *(label("claim_run", "yes" if runs else "no") for runs in ends)))
    head = (label("claim_run", "pairs_axes"), *map(str, PAIRED_HEADS))
    draw_table(label("claim_run", "pairs"), head, rows, look="tried")


def draw_problem_2(theme: str) -> None:
    """More heads of one size in both sizes, and what a textbook decoder pays for them."""
    _draw_steps("problem_2")
    rows = []
    for situation in ("equal", "problem_1", "problem_2"):
        own = scaled(settings_for(situation, Settings()), up=True)
        of = label("claim_run", "of_16", heads=own.dec_heads, dim=own.dec_dim)
        rows.append((of, *_numbers(num_kv_parameters(own.config), num_parameters(own.config))))
    head = (label("claim_run", "cost_heads", width=512), *_heads_of_numbers("cost_weights", "cost_all"))
    draw_table(label("claim_run", "own_size"), head, rows, look="tried")


def draw_fix_1(theme: str) -> None:
    """Learned maps from the encoder's heads to the decoder's."""
    _draw_steps("fix_1")


def draw_fix_2(theme: str) -> None:
    """Groups, and what each way keeps in the article's own size."""
    _draw_steps("fix_2")
    rows = []
    for situation in ("problem_2", "fix_1", "fix_2", "fix_3"):
        own = scaled(settings_for(situation, Settings()), up=True)
        rows.append((label("kv", own.kv), *_numbers(num_kv_parameters(own.config), kept_kv(own.config))))
    head = (label("claim_run", "way"), *_heads_of_numbers("cost_weights", "kept"))
    draw_table(label("claim_try", "A12"), head, rows, look="tried", caption=False)
    shown = {name: own[name] for name in ("enc_heads", "enc_dim", "dec_heads", "dec_dim")}
    st.caption(label("claim_run", "kept_note", layers=own.dec_layers, **shown))


def draw_fix_3(theme: str) -> None:
    """Keys beside the encoder's, which fix no shape; then heads of the decoder's own, which do."""
    config = settings_for("fix_3", Settings()).config
    found = with_slots_beside(config)
    values = {"slots": config.num_slots, "source": found.keys[2] - config.num_slots}
    values |= {"kv_heads": found.keys[1], "heads": config.decoder.num_heads}
    st.markdown(label("claim_run", "beside", **values))
    st.code(found.error, language=None, wrap_lines=True)
    _draw_steps("fix_3")


def _draw_steps(situation: str) -> None:
    """Cross-attention step by step, each step's shape in both sizes, up to where it fails."""
    small = settings_for(situation, Settings())
    both = {"miniature": small, "own_size": scaled(small, up=True)}
    passes = [trace_shapes(one.config) for one in both.values()]
    steps = [[step for step in trace.steps if step.part == "cross"] for trace in passes]
    rows = [(step_name(one), _made(one), _made(other)) for one, other in zip(*steps, strict=True)]
    head = [f"{label('claim_run', name)}: {sizes(one)}" for name, one in both.items()]
    draw_table(label("situation", situation), [label("claim_run", "step"), *head], rows, look="tried", caption=False)
    failures = {(note_text(one.failure.note), one.failure.error): None for one in passes if one.failure is not None}
    for note, error in failures:  # once, where both sizes fail alike
        st.markdown(note)
        st.caption(label("failure", "torch_says"))
        st.code(error, language=None, wrap_lines=True)


def _made(step: LedgerStep) -> str | Cell:
    """What a step makes, or what met in vain; every pass here is of one sequence."""
    if step.output is not None:
        return _dims(step.output)
    return Cell(f"✗ {'; '.join(map(_dims, step.inputs))}", "failed")


def _dims(shape: NamedShape) -> str:
    return dims_of(NamedShape(shape.symbol, tuple(dim for dim in shape.dims if dim[0] != "batch")))


def _with_heads(stack: StackConfig, number: int) -> StackConfig:
    return replace(stack, num_heads=number, num_kv_heads=number)


def _numbers(*values: int) -> list[Cell]:
    return [Cell(whole(value), "number") for value in values]


def _heads_of_numbers(*names: str) -> list[Cell]:
    return [Cell(label("claim_run", name), "number") for name in names]
