"""The source article's claims and what is true of each part: every page that speaks of one takes it from here.

The words are in `article.toml` and `article.md`. A verdict is given by sources, or (`ByRuns`) worked out from the runs
that ship, so it can be no other than what "Fixes compared" says of the same runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from attention.experiments.comparison.findings import ACCURACY, Finding
from attention.experiments.published import head_counts
from pages.shared.findings import STORED as STORED_RUNS
from pages.shared.findings import stored_answer, stored_findings, takeaway
from pages.shared.texts import label, paragraph, verbatim

# With the sign that each is known by.
VERDICTS = {"holds": "✓", "elsewhere": "◐", "fails": "✗", "untested": "?", "unknown": "–", "definition": "≝"}


@dataclass(frozen=True)
class ByRuns:
    """A verdict that is read from the stored runs.

    Attributes:
        kind: of the stored result, "fixes" or "sweep".
        claims, measures: the findings that speak about this part are those of these claims, by these measures.
        up, down, both: what it means when those that are sure go up, or down, or some this way and some that. Where
            none is sure, with all intervals of the result allowed for together, nothing is settled.
    """

    kind: str
    claims: tuple[str, ...]
    measures: tuple[str, ...]
    up: str
    down: str
    both: str = "untested"

    @property
    def findings(self) -> tuple[Finding, ...]:
        found = stored_findings(self.kind)
        return tuple(each for each in found if {*self.claims} & {*each.claims} and each.measure in self.measures)

    @property
    def verdict(self) -> str:
        directions = frozenset(each.direction for each in self.findings if each.difference.sure)
        meaning = {frozenset(): "untested", frozenset({"up"}): self.up, frozenset({"down"}): self.down}
        return meaning.get(directions, self.both)


# Each claim's parts, in the article's order.
CLAIMS: Mapping[str, Mapping[str, str | ByRuns]] = {
    "A1": {"llm": "fails", "usual": "holds"},
    "A2": {"name": "definition", "refers": "holds", "steady": "untested"},
    "A3": {"roles": "holds", "loses": "elsewhere"},
    "A4": {"qk": "holds", "v": "fails", "distort": "fails"},
    "A5": {"hands": "elsewhere", "fit": "holds"},
    "A6": {
        "sparse": "fails",
        "local": ByRuns("sweep", ("A6",), ("entropy", "distance"), up="fails", down="holds"),
        "global": "untested",
    },
    "A7": {"wider": "elsewhere", "project": "fails"},
    "A8": {"scores": "elsewhere", "redundant": "fails"},
    "A9": {
        "diverse": ByRuns("sweep", ("A9",), ("effective_maps",), up="holds", down="fails"),
        "channels": "definition",
    },
    "A10": {"control": ByRuns("sweep", ("A10",), ("entropy",), up="holds", down="holds"), "needs": "untested"},
    "A11": {"works": "holds"},
    "A12": {"works": "holds", "saves": "holds"},
    "A13": {"works": "holds", "t5": "fails", "shape": "fails"},
    "A14": {"xl": "fails", "gpt4": "unknown"},
    "A15": {
        "without": "fails",
        "pays": ByRuns("fixes", ("A11", "A12", "A13"), (ACCURACY,), up="holds", down="fails", both="holds"),
        "compute": "untested",
    },
}
# What the stored runs say beside a part, whatever its verdict rests on: the stored result, and the claim it answers.
STORED = {
    "A3_loses": ("sweep", "A3"),
    "A6_local": ("sweep", "A6"),
    "A7_project": ("fixes", "A7"),
    "A8_redundant": ("fixes", "A8"),
    "A9_diverse": ("sweep", "A9"),
    "A10_control": ("sweep", "A10"),
    "A11_works": ("fixes", "A11"),
    "A12_works": ("fixes", "A12"),
    "A13_works": ("fixes", "A13"),
    "A15_without": ("fixes", "A7"),
}
# The claim that each of the article's situations is about.
OF_SITUATION = {
    "equal": "A1",
    "problem_1": "A6",
    "problem_2": "A7",
    "problem_3": "A8",
    "mismatch": "A5",
    "fix_1": "A11",
    "fix_2": "A12",
    "fix_3": "A13",
}


def verdict(claim: str, part: str) -> str:
    """One of VERDICTS."""
    given = CLAIMS[claim][part]
    return given if isinstance(given, str) else given.verdict


def reason(claim: str, part: str) -> str:
    """Why, with its sources, and what the stored runs say of it."""
    name = f"{claim}_{part}"
    more = sum(dec > enc for enc, dec in head_counts().values())
    why = paragraph("article", name, more=more)
    if name == "A15_pays":
        kind, found = "fixes", takeaway(stored_findings("fixes"))
    elif name in STORED:
        kind, answers = STORED[name]
        found = stored_answer(answers, kind) or label("found", "not_measured")
    else:
        return why
    task = label(STORED_RUNS[kind].task, "title")
    return f"{why} {label('article', 'stored', task=task, found=found)}"


def badge(name: str) -> str:
    """A verdict as HTML: its sign and its name."""
    sign = f'<span aria-hidden="true">{VERDICTS[name]}</span>'
    return f'<span class="claim-verdict {name}">{sign} {verbatim(label("verdict_name", name))}</span>'


def draw_parts(claim: str, *parts: str) -> None:
    """Parts of a claim, or all of them, each with its verdict and the reason."""
    for part in parts or CLAIMS[claim]:
        said = verbatim(label("claim_part", f"{claim}_{part}"))
        with st.container(gap="xxsmall"):
            st.html(f'<p class="claim-part">{badge(verdict(claim, part))} {said}</p>')
            st.markdown(reason(claim, part))


def draw_claim(claim: str, *parts: str) -> None:
    """What the article says, on a page about something else, with the verdict of each part, or of some of them."""
    st.markdown(f"**{label('article', 'claim', claim=claim)}** {label('claim', claim)}")
    draw_parts(claim, *parts)
