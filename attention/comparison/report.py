"""What the command line says at the end: a line per arm and what differs, in plain text."""

from collections.abc import Sequence

from attention.comparison.arms import Arm
from attention.comparison.findings import heads_of
from attention.comparison.rows import Row
from attention.comparison.verdict import CONTRASTS, Difference, spread, verdict


def report(rows: Sequence[Row], arms: Sequence[Arm], is_sweep: bool) -> str:
    """Held-out accuracy of each arm, and for the fixes what the paired differences say."""
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
    if not is_sweep:
        found = verdict(rows)
        lines += ["", "Whole sequences right, over seeds (paired t, 95 %):"]
        lines += [f"  {sentence(arm, base, found[name])}" for name, arm, base in CONTRASTS if name in found]
        lines.append(f"  * also with all {len(found)} comparisons allowed for (Bonferroni)")
    return "\n".join(lines)


def sentence(arm: str, base: str, difference: Difference) -> str:
    """One difference in words."""
    pair, points = f"{arm} against {base}", 100 * difference.mean
    seeds = f"{difference.num_seeds} seed{'s' if difference.num_seeds != 1 else ''}"
    if difference.interval is None:
        return f"{pair}: {points:+.1f} points with {seeds}, which cannot tell a difference from chance"
    low, high = (100 * end for end in difference.interval)
    interval = f"{low:+.1f} to {high:+.1f}"
    if not difference.seen:
        return f"{pair}: no difference seen with {seeds} ({points:+.1f} points, {interval})"
    better = "better" if difference.mean > 0 else "worse"
    return f"{pair}: {better} by {abs(points):.1f} points with {seeds} ({interval}){' *' if difference.sure else ''}"
