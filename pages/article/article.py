"""The source article, claim by claim: what it says, what is true of each part, and an experiment that shows it."""

import streamlit as st

from pages.article.claim import draw_claim, draw_verdicts
from pages.shared import session
from pages.shared.answer import notice
from pages.shared.claims import CLAIMS
from pages.shared.style import draw_stylesheet
from pages.shared.texts import label
from pages.shared.title import draw_title

settings = session.for_page()

draw_stylesheet("article")
draw_title(label("article", "title"), label("article", "intro"))
notice(*session.notices())
draw_verdicts()
for claim in CLAIMS:
    draw_claim(claim, settings, st.context.theme.type or "light")
