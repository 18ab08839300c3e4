"""What stands where a picture would be when a pass cannot run: the shapes, the clash, the words, the mends."""

import streamlit as st

from attention.ledger import NamedShape, Step
from attention.trace import trace_shapes
from pages.parts import sidebar
from pages.parts.settings import MAX_HEAD_DIM, MAX_HEADS, Settings
from pages.parts.words import catalogue, label


def draw_failure(settings: Settings, src_len: int, tgt_len: int, given: str) -> None:
    """The first step of the pass that fails, from really running it; `given` says what the decoder was given."""
    draw_failed_step(settings, trace_shapes(settings.config, src_len=src_len, tgt_len=tgt_len).failure, given)


def draw_failed_step(settings: Settings, failure: Step, given: str = "") -> None:
    """One failing step of a ledger, with PyTorch's words and buttons that mend it."""
    with st.container(border=True, key="failure"):
        st.header(label("failure", "title", part=failure.part.capitalize()), anchor=False)
        st.markdown(failure.note)
        if given:
            st.caption(given)
        for column, (title, text) in zip(st.columns(2), _sides(failure), strict=False):
            with column:
                st.markdown(f"{title}  \n{text}")
        st.caption(label("failure", "torch_says"))
        st.code(failure.error, language=None, wrap_lines=True)
        if len(failure.clashes) > 1:
            st.caption(label("failure", "names_only_first"))
        _draw_mends(settings, failure)


def _sides(failure: Step) -> list[tuple[str, str]]:
    """What met, as (title, dimensions); a step of one input met what it would have needed."""
    sides = [
        (
            f"{_title(shape.symbol)} · **{shape.symbol}**",
            _marked(shape, {clash.axes[side] for clash in failure.clashes}),
        )
        for side, shape in enumerate(failure.inputs)
    ]
    if len(sides) == 1:
        needed = "  \n".join(f":red-background[:red[**{clash.dim} {clash.sizes[1]}**]]" for clash in failure.clashes)
        sides.append((label("failure", "needed"), needed))
    return sides


def _title(symbol: str) -> str:
    known = catalogue()["failure"]
    return label("failure", symbol if symbol in known else "other")


def _draw_mends(settings: Settings, failure: Step) -> None:
    if not failure.mends:
        st.caption(label("failure", "fault_note"))
        st.button(label("failure", "fault_mend"), on_click=sidebar.mend, args=(settings.without_fault(),))
        return
    st.markdown(f"**{label('failure', 'mend')}**")
    with st.container(horizontal=True):
        for number, mend in enumerate(failure.mends):
            stacks = (mend.config.encoder, mend.config.decoder)
            if all(s.num_heads <= MAX_HEADS and s.head_dim <= MAX_HEAD_DIM for s in stacks):
                mended = settings.with_config(mend.config)
                st.button(mend.label, key=f"mend_{number}", on_click=sidebar.mend, args=(mended,), wrap=True)


def _marked(shape: NamedShape, clashing: set[int | None]) -> str:
    """Dimension names and sizes, the clashing ones in red; nothing typed by a visitor is in it."""
    return "  \n".join(
        f":red-background[:red[**{name} {size}** ✗]]" if axis in clashing else f"{name} {size}"
        for axis, (name, size) in enumerate(shape.dims)
    )
