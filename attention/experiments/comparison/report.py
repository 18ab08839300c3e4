"""What the command line says at the end: a line per arm and what differs, in plain text."""

from collections.abc import Sequence

from attention.experiments.comparison.arms import Arm
from attention.experiments.comparison.differences import at_most_by_chance, heads_of, spread
from attention.experiments.comparison.findings import Finding, intervals_of
from attention.experiments.comparison.finished_runs import FinishedRun


def report(rows: Sequence[FinishedRun], arms: Sequence[Arm], findings: Sequence[Finding]) -> str:
    """Held-out accuracy of each arm, and what the findings say."""
    lines = [f"{'arm':<18}{'heads':>6}{'runs':>6}{'tokens':>10}{'sequences':>18}"]
    for arm in arms:
        config = arm.config
        own = [row for row in rows if row.arm == arm.name and heads_of(row) == config.decoder.num_heads]
        tokens, _ = spread(own, lambda row: row.results.token_accuracy)
        right, around = spread(own, lambda row: row.results.sequence_accuracy)
        plus_minus = f" ±{around:>6.4f}" if around == around else ""  # one run has no spread
        shown = f"{tokens:>10.4f}{right:>10.4f}{plus_minus}" if own else "not yet"
        lines.append(
            f"{arm.name:<18}{config.decoder.num_heads:>6}{len(own):>6}" + (f"  {arm.error}" if arm.error else shown)
        )
    if findings:
        lines += ["", "Differences over seeds (paired t, 95 %):"]
        lines += [f"  {sentence(finding)}" for finding in findings]
    if count := intervals_of(findings):
        chance = at_most_by_chance(count)
        lines.append(f"  * also with all {count} intervals allowed for (Bonferroni); without that, one or more of them")
        lines.append(f"    would leave out 0 by chance in at most {chance:.0%} of such reports if nothing differed.")
        lines.append("  The intervals speak of seeds, not of other words, tasks or sizes.")
    return "\n".join(lines)


def sentence(finding: Finding) -> str:
    """One finding in words."""
    difference, (times, unit) = finding.difference, UNITS[finding.measure]
    pair = f"{finding.what} against {finding.base}" if finding.base else f"each doubling of the heads ({finding.what})"
    if finding.what == "drop":
        heads = "mean over fewer heads" if finding.heads is None else f"heads kept: {finding.heads}"
        pair = f"{heads}, {pair}, each less all heads"
    seeds = f"{difference.num_seeds} seed{'s' if difference.num_seeds != 1 else ''}"
    mean = f"{_signed(times * difference.mean)} {unit}"
    if difference.interval is None:
        return f"{pair}: {mean} with {seeds}, which cannot tell a difference from chance"
    low, high = (_signed(times * end) for end in difference.interval)
    numbers = f"{mean} with {seeds} ({low} to {high})"
    says = {"none": "no difference seen, ", "few": "too few seeds to tell, "}.get(finding.direction, "")
    return f"{pair}: {says}{numbers}{' *' if difference.sure else ''}"


UNITS = {
    "sequence_accuracy": (100, "points of whole sequences right"),
    "entropy": (1, "entropy"),
    "distance": (1, "tokens of distance"),
    "effective_maps": (1, "different maps in effect"),
}


def _signed(value: float) -> str:
    return f"{value:+.2f}"
