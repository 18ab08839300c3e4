"""What stands where cross-attention would be when it cannot run: the two shapes, the clash, the words, the mends."""

import streamlit as st

from attention.ledger import NamedShape, Step
from attention.trace import trace_shapes
from pages.parts import sidebar
from pages.parts.settings import MAX_HEAD_DIM, MAX_HEADS, Settings
from pages.parts.words import label


def draw_failure(settings: Settings, src_len: int, tgt_len: int, given: str) -> None:
    """The first step of the pass that fails, from really running it; `given` says what the decoder was given."""
    failure = trace_shapes(settings.config, src_len=src_len, tgt_len=tgt_len).failure
    with st.container(border=True, key="failure"):
        st.header(label("failure", "title"), anchor=False)
        st.markdown(failure.note)
        st.caption(given)
        at_scores = failure.name == "scores"
        names = ("q_is", "k_is") if at_scores else ("output_is", "w_o_is")
        for column, name, side in zip(st.columns(2), names, (0, 1), strict=True):
            with column:
                st.markdown(f"{label('failure', name)} · **{failure.inputs[side].symbol}**")
                st.markdown(_marked(failure.inputs[side], {clash.axes[side] for clash in failure.clashes}))
        st.caption(label("failure", "torch_says"))
        st.code(failure.error, language=None, wrap_lines=True)
        if len(failure.clashes) > 1:
            st.caption(label("failure", "names_only_first"))
        _draw_mends(settings, failure)


def _draw_mends(settings: Settings, failure: Step) -> None:
    st.markdown(f"**{label('failure', 'mend')}**")
    with st.container(horizontal=True):
        for number, mend in enumerate(failure.mends):
            stacks = (mend.config.encoder, mend.config.decoder)
            if all(s.num_heads <= MAX_HEADS and s.head_dim <= MAX_HEAD_DIM for s in stacks):
                mended = settings.with_config(mend.config)
                st.button(mend.label, key=f"mend_{number}", on_click=sidebar.change, args=(mended,))


def _marked(shape: NamedShape, clashing: set[int]) -> str:
    """Dimension names and sizes, the clashing ones in red; nothing typed by a visitor is in it."""
    return "  \n".join(
        f":red-background[:red[**{name} {size}** ✗]]" if axis in clashing else f"{name} {size}"
        for axis, (name, size) in enumerate(shape.dims)
    )
