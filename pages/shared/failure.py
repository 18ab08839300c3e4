"""What stands where a picture would be when a pass cannot run: the shapes, the clash, PyTorch's words, suggestions."""

from collections.abc import Callable

import streamlit as st

from attention.shapes import trace_shapes
from attention.shapes.ledger import LedgerStep, NamedShape
from attention.tasks import Tokens
from pages.shared import session
from pages.shared.ledger import dim_name, note_text, symbol_name
from pages.shared.models import leads_to_trained, lengths_of
from pages.shared.settings import MAX_HEAD_DIM, MAX_HEADS, Settings
from pages.shared.texts import catalogue, label, say


def draw_failure(settings: Settings, source: Tokens, given: str) -> None:
    """The first step of the pass that fails, from really running it; `given` says what the decoder was given."""
    draw_failed_step(settings, trace_shapes(settings.config, *lengths_of(settings, source)).failure, given)


def draw_failed_step(
    settings: Settings,
    failure: LedgerStep,
    given: str = "",
    follow: Callable[[Settings], None] = session.follow_suggestion,
) -> None:
    """One failing step of a ledger, with PyTorch's words and buttons for what would fit.

    follow: what is done with the settings of a suggestion that is pressed.
    """
    with st.container(border=True, key="failure"):
        st.header(label("failure", "title", part=label("kind", failure.part)), anchor=False)
        st.markdown(note_text(failure.note))
        if given:
            st.caption(given)
        for column, (title, text) in zip(st.columns(2), _sides(failure), strict=False):
            with column:
                st.markdown(f"{title}  \n{text}")
        st.caption(label("failure", "torch_says"))
        st.code(failure.error, language=None, wrap_lines=True)
        if len(failure.clashes) > 1:
            st.caption(label("failure", "names_only_first"))
        _draw_suggestions(settings, failure, follow)


def _sides(failure: LedgerStep) -> list[tuple[str, str]]:
    """What met, as (title, dimensions); a step of one input met what it would have needed."""
    sides = [
        (
            f"{_title(shape.symbol)} · **{symbol_name(shape.symbol)}**",
            _marked(shape, {clash.axes[side] for clash in failure.clashes}),
        )
        for side, shape in enumerate(failure.inputs)
    ]
    if len(sides) == 1:
        needed = "  \n".join(
            f":red-background[:red[**{dim_name(clash.dim)} {clash.sizes[1]}**]]" for clash in failure.clashes
        )
        sides.append((label("failure", "needed"), needed))
    return sides


def _title(symbol: str) -> str:
    known = catalogue()["failure"]
    return label("failure", symbol if symbol in known else "other")


def _draw_suggestions(settings: Settings, failure: LedgerStep, follow: Callable[[Settings], None]) -> None:
    if not failure.suggestions:
        st.caption(label("failure", "fault_note"))
        draw_without_fault()
        return
    st.markdown(f"**{label('failure', 'suggestions')}**")
    trained = []
    with st.container(horizontal=True):
        for number, suggestion in enumerate(failure.suggestions):
            stacks = (suggestion.config.encoder, suggestion.config.decoder)
            if all(s.num_heads <= MAX_HEADS and s.head_dim <= MAX_HEAD_DIM for s in stacks):
                text, wanted = say("ledger_suggestion", suggestion.message), settings.with_config(suggestion.config)
                trained.append(leads_to_trained(wanted.fitted()))
                if trained[-1]:
                    text = label("sidebar", "trained", name=text)
                st.button(text, key=f"suggestion_{number}", wrap=True, on_click=follow, args=(wanted,))
    note = "all_trained_note" if all(trained) else "trained_note" if any(trained) else "random_note"
    st.caption(label("failure", note))


def draw_without_fault() -> None:
    """A button that takes a coding fault out."""
    st.button(label("failure", "without_fault"), on_click=session.take_fault_out)


def _marked(shape: NamedShape, clashing: set[int | None]) -> str:
    """Dimension names and sizes, the clashing ones in red; nothing typed by a visitor is in it."""
    return "  \n".join(
        f":red-background[:red[**{dim_name(name)} {size}** ✗]]" if axis in clashing else f"{dim_name(name)} {size}"
        for axis, (name, size) in enumerate(shape.dims)
    )
