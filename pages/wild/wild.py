"""Published models whose two sides differ, and what an encoder really sends."""

import streamlit as st

from pages.shared import session
from pages.shared.answer import notice
from pages.shared.claims import draw_claim
from pages.shared.head_counts import draw_head_counts
from pages.shared.style import draw_stylesheet
from pages.shared.texts import label, prose
from pages.shared.title import draw_title
from pages.wild.published import draw_all_models, draw_buttons
from pages.wild.sent import draw_sent

CHECKED = {"A1": (), "A13": ("works", "t5"), "A14": ()}  # claims that are about published models; no part: all of them

settings = session.for_page()
texts = prose("wild")

draw_stylesheet("wild")
draw_title(label("app", "wild"), label("published_models", "intro"))
notice(*session.notices())
draw_head_counts(st.context.theme.type or "light")
st.markdown(texts["chart"])
st.header(label("published_models", "load"), anchor=False)
st.markdown(label("published_models", "load_line"))
draw_buttons(settings)
st.header(label("published_models", "table"), anchor=False)
draw_all_models(settings)
st.header(label("sent", "title"), anchor=False)
draw_sent(settings)
st.header(label("published_models", "claims"), anchor=False)
for claim, parts in CHECKED.items():
    draw_claim(claim, *parts)
