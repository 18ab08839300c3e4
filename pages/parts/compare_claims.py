"""The article's claims beside what was found: each sentence is put together from the numbers on the page."""

import streamlit as st

from attention.comparison.findings import Finding, fixes_findings, sweep_findings
from attention.comparison.verdict import verdict
from pages.parts import sidebar
from pages.parts.compare_controls import Chosen
from pages.parts.compare_result import arm_name, signed, why_not
from pages.parts.words import catalogue, counted, label

# How to see a claim in the playground.
SEEN_IN_PLAYGROUND = {
    "A6": {"kv": "reproject", "keep": "width"},
    "A7": {"kv": "reproject", "keep": "size"},
    "A8": {"kv": "reproject", "keep": "size"},
    "A11": {"kv": "projection", "keep": "size"},
    "A12": {"kv": "grouped", "keep": "size"},
    "A13": {"kv": "extra", "keep": "size"},
    "A15": {"kv": "direct", "keep": "size"},
}
FIXES = ("projection", "grouped", "extra")


def draw_claims(chosen: Chosen) -> None:
    """Every claim that this experiment can speak about."""
    comparison = chosen.comparison
    if not chosen.rows:
        return
    if chosen.experiment == "fixes":
        findings = fixes_findings(chosen.rows, comparison.keep)
    else:
        findings = sweep_findings(chosen.rows, comparison.enc_heads)
    st.header(label("compare", "claims"), anchor=False)
    for claim in dict.fromkeys(finding.claim for finding in findings):
        _draw(chosen, claim, [found(chosen, finding) for finding in findings if finding.claim == claim])
    if chosen.experiment == "fixes":
        _draw(chosen, "A14", [label("found", "A14")])
        if takeaway := _takeaway(chosen):
            _draw(chosen, "A15", takeaway)


def _draw(chosen: Chosen, claim: str, sentences: list[str]) -> None:
    left, right = st.columns([2, 3], gap="small")
    with left:
        st.markdown(f"**{claim}** · {label('claim', claim)}")
    with right:
        st.markdown("\n\n".join(sentences))
        if chosen.experiment == "fixes" and claim in SEEN_IN_PLAYGROUND:
            comparison = chosen.comparison
            address = {"task": comparison.task, "enc_heads": comparison.enc_heads, "dec_heads": comparison.dec_heads}
            address |= SEEN_IN_PLAYGROUND[claim]
            address |= {"compare": sidebar.current().compare}  # for the way back
            query = {name: str(value) for name, value in address.items() if value is not None}
            st.page_link("pages/playground.py", label=label("compare", "see"), icon="🎛️", query_params=query)


def found(chosen: Chosen, finding: Finding) -> str:
    """One finding: what it means, then what it was read from."""
    difference = finding.difference
    times, digits = (100, 1) if finding.measure == "sequence_accuracy" else (1, 3)
    values = {
        "measure": label("found", finding.measure),
        "mean": signed(times * difference.mean, digits),
        "n": difference.num_seeds,
        "what": _what(chosen, finding),
    }
    if difference.interval is None:
        return label("found", "single", **values)
    low, high = (signed(times * end, digits) for end in difference.interval)
    return label("found", "numbers", says=_says(finding), low=low, high=high, **values)


def _says(finding: Finding) -> str:
    """In words what the direction means for the claim."""
    name = f"{finding.claim}_{finding.measure}_{finding.direction}"
    return label(
        "found", name if name in catalogue()["found"] else f"any_{finding.direction}", n=finding.difference.num_seeds
    )


def _what(chosen: Chosen, finding: Finding) -> str:
    if chosen.experiment == "sweep":
        return label("found", "dropped" if finding.what == "drop" else "doubling", series=label("series", finding.what))
    base = "equal_reproject" if finding.what == "reproject" else "equal_direct"
    return label("found", "against", what=arm_name(chosen, finding.what), base=arm_name(chosen, base))


def _takeaway(chosen: Chosen) -> list[str]:
    """A15: without adaptation, and how many of the fixes pay."""
    sentences = [
        label("found", "A15_direct", error=why_not(arm)) for arm in chosen.arms if arm.name == "direct" and arm.error
    ]
    differences = {name: d for name, d in verdict(chosen.rows).items() if name in FIXES and d.interval is not None}
    if differences:
        better = sum(d.seen and d.mean > 0 for d in differences.values())
        worse = sum(d.seen and d.mean < 0 for d in differences.values())
        counts = {"better": better, "worse": worse, "same": len(differences) - better - worse}
        seeds = min(d.num_seeds for d in differences.values())
        sentences.append(label("found", "A15_fixes", fixes=counted(len(differences), "fix"), n=seeds, **counts))
    return sentences
