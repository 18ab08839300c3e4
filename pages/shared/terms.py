"""The glossary: each term can be opened where it first occurs on a page, and all of them stand in one section."""

import json
from pathlib import Path

import streamlit as st

from pages.shared.texts import catalogue, label, verbatim

# Where terms are looked for: in running text, and not in what can be pressed.
READ = ':is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) :is(p, li)'
NOT_READ = "a, button, label, summary, .glossary, .katex"
PAGE = '[data-testid="stMainBlockContainer"]'


def draw_terms() -> None:
    """Mark the terms of this page, and those of whatever is drawn on it later."""
    terms = [
        {"name": term["name"], "forms": [term["name"], *term["also"]], "means": term["means"]}
        for term in catalogue()["terms"].values()
    ]
    given = {"terms": terms, "page": PAGE, "read": READ, "notRead": NOT_READ}
    script = (Path(__file__).parent / "terms.js").read_text(encoding="utf-8")
    data = json.dumps(given, ensure_ascii=False).replace("<", "\\u003c")
    st.html(f"<script>\n({script})({data});\n</script>", unsafe_allow_javascript=True)


def draw_glossary() -> None:
    """All terms in the order in which one meets them."""
    st.header(label("glossary", "title"), anchor=False)
    entries = "".join(
        f"<div><dt>{verbatim(term['name'])}</dt><dd>{verbatim(term['means'])}</dd></div>"
        for term in catalogue()["terms"].values()
    )
    st.html(f'<dl class="glossary">{entries}</dl>')
