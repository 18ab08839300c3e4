"""What a comparison found, in words: wherever it is told, it is worked out from the same runs and said in one way."""

from collections.abc import Iterable
from functools import cache

from attention.experiments.comparison import Comparison, FinishedRun, fixes, stored_runs, sweep
from attention.experiments.comparison.differences import Difference
from attention.experiments.comparison.findings import ACCURACY, Finding, fixes_findings, sweep_findings
from pages.shared.texts import catalogue, counted, label, number, task_label

FIXES = ("projection", "grouped", "extra")
STORED = {"fixes": stored_runs.FIXES, "sweep": stored_runs.SWEEP}


def arm_name(comparison: Comparison, name: str) -> str:
    """What an arm is called, with its number of heads."""
    return label("arm", name, enc=comparison.enc_heads, dec=comparison.dec_heads)


def signed(value: float, digits: int) -> str:
    """A number that always has its sign, "+0.3" or "−0.3"; "0.0" has none."""
    text = number(value, digits)
    return text if text.startswith("−") or not float(text) else f"+{text}"


def finding_text(finding: Finding, claim: str, comparison: Comparison) -> str:
    """One finding: what it means for a claim, then what it was read from."""
    difference = finding.difference
    times, digits = (100, 1) if finding.measure == ACCURACY else (1, 3)
    values = {
        "measure": label("found", finding.measure),
        "mean": signed(times * difference.mean, digits),
        "n": difference.num_seeds,
        "what": _what(finding, comparison),
    }
    if difference.interval is None:
        return label("found", "single", **values)
    low, high = (signed(times * end, digits) for end in difference.interval)
    says = _says(finding, claim, comparison.task)
    return label("found", "numbers", says=says, low=low, high=high, alone=alone(finding), **values)


def alone(finding: Finding) -> str:
    """The mark of an interval that leaves out 0, but would not if all that are shown were allowed for."""
    return label("found", "alone") if finding.difference.seen and not finding.difference.sure else ""


def contrast_text(comparison: Comparison, finding: Finding) -> str:
    """One contrast in words, in points of accuracy."""
    mean, interval, _ = in_points(finding.difference)
    values = {"what": arm_name(comparison, finding.what), "base": arm_name(comparison, finding.base)}
    values |= {"mean": signed(mean, 1), "size": number(abs(mean), 1), "n": finding.difference.num_seeds}
    if interval:
        values |= {"low": signed(interval[0], 1), "high": signed(interval[1], 1), "alone": alone(finding)}
    return label("verdict", finding.direction, **values)


def pair_name(comparison: Comparison, finding: Finding) -> str:
    """A contrast on the axis of the chart: what is compared with what, each with its number of heads."""
    heads, base_heads = (
        comparison.enc_heads if arm.startswith("equal") else comparison.dec_heads
        for arm in (finding.what, finding.base)
    )
    what, base = label("contrast", finding.what), label("contrast", finding.base)
    return label("contrast", "pair", heads=heads, what=what, base_heads=base_heads, base=base)


def in_points(difference: Difference) -> tuple:
    """A difference of shares in percentage points: mean, interval, wider interval."""
    ends = (difference.interval, difference.strict)
    return 100 * difference.mean, *(None if end is None else (100 * end[0], 100 * end[1]) for end in ends)


def takeaway(findings: Iterable[Finding]) -> str:
    """How many of the fixes do better than equal heads; "" where no difference between them has an interval."""
    contrasts = [each for each in findings if each.what in FIXES and each.base == "equal_direct"]
    if not (contrasts := [each for each in contrasts if each.difference.interval is not None]):
        return ""
    better, worse = (sum(each.direction == direction for each in contrasts) for direction in ("up", "down"))
    counts = {"better": better, "worse": worse, "same": len(contrasts) - better - worse}
    seeds = min(each.difference.num_seeds for each in contrasts)
    return label("found", "A15_fixes", fixes=counted(len(contrasts), "fix"), n=seeds, **counts)


def answer(experiment: str, findings: Iterable[Finding], comparison: Comparison) -> str:
    """The page's question answered in accuracy: what more heads bring, and how the fixes do; "" without any run."""
    by_accuracy = [each for each in findings if each.measure == ACCURACY]
    if experiment == "fixes":
        more_heads = [each for each in by_accuracy if (each.what, each.base) == ("reproject", "equal_reproject")]
        said = [*(contrast_text(comparison, each) for each in more_heads), takeaway(by_accuracy)]
    else:
        said = [finding_text(each, "any", comparison) for each in by_accuracy if "A10" in each.claims]
    if not any(said):
        return ""
    measure = task_label(comparison.task, "compare", "sequence_axis")
    return label("compare", "answer", measure=measure, steps=comparison.num_steps, found=" ".join(filter(None, said)))


@cache
def stored_rows(kind: str) -> tuple[FinishedRun, ...]:
    """The runs of the comparison of the fixes, or of the head-count sweep, that ship with the app."""
    comparison = STORED[kind]
    arms = fixes(comparison) if kind == "fixes" else sweep(comparison)
    return tuple(stored_runs.stored_for(comparison, arms, kind))


@cache
def stored_findings(kind: str) -> tuple[Finding, ...]:
    """What they found."""
    rows, comparison = stored_rows(kind), STORED[kind]
    found = fixes_findings(rows, comparison) if kind == "fixes" else sweep_findings(rows, comparison.enc_heads)
    return tuple(found)


def stored_answer(claim: str, kind: str = "sweep") -> str:
    """What the runs that ship with the app say about a claim; of several head counts their mean."""
    about = (each for each in stored_findings(kind) if claim in each.claims and each.heads is None)
    return " ".join(finding_text(each, claim, STORED[kind]) for each in about)


def _says(finding: Finding, claim: str, task: str) -> str:
    """In words what the direction means for the claim."""
    name = f"{claim}_{finding.measure}_{finding.direction}"
    name = name if name in catalogue()["found"] else f"any_{finding.direction}"
    return label("found", name, n=finding.difference.num_seeds, task=task)


def _what(finding: Finding, comparison: Comparison) -> str:
    if finding.what == "drop":
        name = "dropped" if finding.heads else "dropped_on_average"
        return label("found", name, heads=finding.heads, enc=comparison.enc_heads)
    if finding.base is None:
        return label("found", "doubling", series=label("series", finding.what), enc=comparison.enc_heads)
    return label("found", "against", what=arm_name(comparison, finding.what), base=arm_name(comparison, finding.base))
