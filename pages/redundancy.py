"""Redundancy: which heads say the same, which are needed, and how one can tell."""

from pathlib import Path

import streamlit as st

from attention.cross_attention import fits
from pages.parts import lab_layers, lab_pairs, lab_removal, lab_shared, lab_twins, sidebar
from pages.parts.answer import draw_answer, notice, read_text
from pages.parts.controls import linked
from pages.parts.failure import draw_failure
from pages.parts.measured import MEASURABLE, NUM_WORDS, Subject, seen, subject_of
from pages.parts.models import num_weights, provenance
from pages.parts.words import label

# Only the part that is on the screen is computed.
PARTS = {
    "pairs": lab_pairs.draw,
    "layers": lab_layers.draw,
    "removal": lab_removal.draw,
    "twins": lab_twins.draw,
    "shared": lab_shared.draw,
}


def draw_model(subject: Subject, trained, source) -> None:
    """The word and its answer, and how far what follows can be trusted."""
    draw_answer(settings, seen(subject, source), trained, broken=False)
    if subject.is_random:
        notice(label("lab", "not_a_finding"))
    elif trained.origin in ("training", "moment", "stopped"):
        notice(label("lab", "half_trained"))


settings = sidebar.for_page()
source, refusal = read_text(settings)
trained = provenance(settings)

st.html(Path(__file__).parent / "parts" / "lab.html")
st.header(label("app", "redundancy"), anchor=False)
st.caption(label("lab", "intro", count=NUM_WORDS))
notice(*sidebar.notices(), *([refusal] if refusal else []))
part = linked("part", tuple(PARTS), lambda name: label("lab", name), label("lab", "part"))
if part == "shared":  # about models that ship, whatever the settings are
    PARTS[part](settings, None, source)
elif not fits(settings.config):
    draw_failure(settings, len(source) + 1, len(source) + 1, label("lab", "stops"))
elif (weights := num_weights(settings.config)) > MEASURABLE:
    figures = {"weights": f"{weights / 1e6:.1f}", "limit": f"{MEASURABLE / 1e6:.0f}"}
    notice(label("lab", "too_large", count=NUM_WORDS, **figures))
else:
    subject = subject_of(settings, trained)
    draw_model(subject, trained, source)
    PARTS[part](settings, subject, source)
st.caption(label("share", "address"))
