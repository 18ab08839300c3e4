"""The table of all verdicts, and one claim: what it says, its situation, its parts, and what can be tried."""

import streamlit as st

from pages.article.address import TRIED
from pages.article.experiments import EXPERIMENTS
from pages.article.situation import draw_situation
from pages.shared.claims import CLAIMS, VERDICTS, badge, reason, verdict
from pages.shared.session import change, current
from pages.shared.settings import Settings
from pages.shared.table import Cell, Html, TableRow, draw_table
from pages.shared.texts import label, verbatim
from pages.shared.widgets import put, taken


def draw_verdicts() -> None:
    """A row for each part of each claim, with a link to what is said about it below."""
    head = [label("article", name) for name in ("no", "says", "verdict")]
    draw_table(label("article", "table"), head, _verdict_rows(), look="verdicts", caption=False)
    st.caption(label("article", "legend", **{name: f"**{label('verdict_name', name)}**" for name in VERDICTS}))


def _verdict_rows() -> list[TableRow]:
    rows = []
    for claim, parts in CLAIMS.items():
        link = f'<a href="#{_anchor(claim)}">{claim}<span> {verbatim(label("claim_title", claim))}</span></a>'
        first = Cell(Html(link), rows=len(parts))
        for part in parts:
            mark = "begins" if first else ""
            said = Cell(label("claim_part", f"{claim}_{part}"), mark)
            rows.append((first, said, Cell(Html(badge(verdict(claim, part))), mark)))
            first = None
    return rows


def draw_claim(claim: str, settings: Settings, theme: str) -> None:
    """Everything about one claim; its experiment is run only while it is open."""
    title = label("article", "heading", claim=claim, title=label("claim_title", claim))
    st.header(title, anchor=_anchor(claim), divider="gray")
    left, right = st.columns([2, 3], gap="small")
    with left:
        st.html(f'<p class="claim">{verbatim(label("claim", claim))}</p>')
        draw_situation(claim, settings)
    with right:
        _draw_parts(claim)
    if claim in EXPERIMENTS:
        _draw_experiment(claim, settings, theme)
    else:
        st.caption(label("article", "and_read"))


def _draw_parts(claim: str) -> None:
    """The verdict of each part, and behind it, folded, the reason."""
    for part in CLAIMS[claim]:
        name = verdict(claim, part)
        said = {"verdict": label("verdict_name", name), "part": label("claim_part", f"{claim}_{part}")}
        with st.expander(label("article", "part", sign=VERDICTS[name], **said)):
            st.markdown(reason(claim, part))


def _draw_experiment(claim: str, settings: Settings, theme: str) -> None:
    key = f"try_{claim}"
    put(key, claim in (settings[TRIED] or ()))
    title = label("article", "try", what=label("claim_try", claim))
    with st.expander(title, key=key, on_change=taken, args=(key, _open, claim)) as box:
        if box.open:
            EXPERIMENTS[claim](theme)


def _open(claim: str, is_open: bool) -> None:
    """Open or close a claim's experiment; for callbacks."""
    opened = {*(current()[TRIED] or ())} - {claim} | ({claim} if is_open else set())
    change(current().put(TRIED, tuple(name for name in TRIED.allowed if name in opened) or None))


def _anchor(claim: str) -> str:
    return claim.lower()
