"""The article's claims beside what was found: each sentence is put together from the numbers on the page."""

import math

import streamlit as st

from attention.experiments.comparison.differences import at_most_by_chance
from attention.experiments.comparison.findings import Finding, fixes_findings, intervals_of, sweep_findings
from pages.compare.address import COMPARED
from pages.compare.arms import why_not
from pages.compare.controls import ComparisonView
from pages.shared import session
from pages.shared.findings import finding_text, takeaway
from pages.shared.links import link_to
from pages.shared.texts import label, paragraph, percent, verbatim

# How to see a claim in the playground.
SEEN_IN_PLAYGROUND = {
    "A6": {"kv": "reproject", "keep": "width"},
    "A7": {"kv": "reproject", "keep": "size"},
    "A8": {"kv": "grouped", "keep": "size"},
    "A11": {"kv": "projection", "keep": "size"},
    "A12": {"kv": "grouped", "keep": "size"},
    "A13": {"kv": "extra", "keep": "size"},
    "A15": {"kv": "direct", "keep": "size"},
}
CLAIMS = {
    "fixes": ("A6", "A7", "A8", "A11", "A12", "A13", "A14", "A15"),
    "sweep": ("A3", "A6", "A9", "A10"),
}
BY_MAPS = ("A8", "A9")  # judged by how many different maps there are


def findings_of(view: ComparisonView) -> list[Finding]:
    """Everything that these runs say: one family, wherever on the page it stands."""
    if view.experiment == "fixes":
        return fixes_findings(view.rows, view.comparison)
    return sweep_findings(view.rows, view.comparison.enc_heads)


def draw_multiplicity(findings: list[Finding]) -> None:
    """The one rule for all intervals of the page."""
    if count := intervals_of(findings):
        st.caption(paragraph("compare", "multiplicity", count=count, chance=percent(at_most_by_chance(count))))


def draw_claims(view: ComparisonView, findings: list[Finding]) -> None:
    """Every claim that this experiment can speak about."""
    if not view.rows:
        return
    st.header(label("compare", "claims"), anchor=False)
    if view.experiment == "sweep":
        draw_multiplicity(findings)
    for claim in CLAIMS[view.experiment]:
        if sentences := _answer(view, claim, findings):
            _draw(view, claim, sentences)
    if not has_more_heads(view):
        heads = sorted({arm.config.decoder.num_heads for arm in view.arms})
        st.markdown(label("found", "no_more_heads", most=heads[-1], enc=view.comparison.enc_heads))


def has_more_heads(view: ComparisonView) -> bool:
    """Whether any decoder has more heads than the encoder, which is what most claims are about."""
    return any(arm.config.decoder.num_heads > view.comparison.enc_heads for arm in view.arms)


def _answer(view: ComparisonView, claim: str, findings: list[Finding]) -> list[str]:
    found = [finding_text(finding, claim, view.comparison) for finding in findings if claim in finding.claims]
    if claim == "A3" and found:
        return [label("found", "A3_how"), *found]
    if not has_more_heads(view):
        return found
    if claim == "A14":
        return [label("found", "A14")]
    if claim == "A15":
        return [*_takeaway(view, findings), *found]
    if claim in BY_MAPS and not found and any(math.isnan(row.results.effective_maps) for row in view.rows):
        return [label("found", "not_measured")]
    return found


def _draw(view: ComparisonView, claim: str, sentences: list[str]) -> None:
    left, right = st.columns([2, 3], gap="small")
    with left:
        st.markdown(f"**{claim}** · {label('claim', claim)}")
    with right:
        st.markdown("\n\n".join(sentences))
        if view.experiment == "fixes" and claim in SEEN_IN_PLAYGROUND:
            comparison = view.comparison
            address = {"task": comparison.task, "enc_heads": comparison.enc_heads, "dec_heads": comparison.dec_heads}
            address |= SEEN_IN_PLAYGROUND[claim]
            address |= {"compare": session.current()[COMPARED]}  # for the way back
            query = {name: str(value) for name, value in address.items() if value is not None}
            st.html(f'<a href="{verbatim(link_to(query))}" target="_self">{verbatim(label("compare", "see"))} →</a>')


def _takeaway(view: ComparisonView, findings: list[Finding]) -> list[str]:
    """Without adaptation, and how many of the fixes do better than equal heads."""
    sentences = [
        label("found", "A15_direct", error=why_not(arm)) for arm in view.arms if arm.name == "direct" and arm.error
    ]
    return [*sentences, *filter(None, [takeaway(findings)])]
