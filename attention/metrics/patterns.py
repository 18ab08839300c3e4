"""Which simple rule a head follows, if any: the share of its rows that fit each of a few patterns."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from attention.metrics.locality import mean_over_rows, normalised_rows

# A row this close to uniform, as a share of the possible entropy, has no direction: its largest weight is an accident.
BROAD_ENTROPY = 0.9
# A pattern names a head when at least this share of its rows fit.
NAMING_SHARE = 0.5

SELF_PATTERNS = ("previous", "same", "next", "first", "end", "anti-diagonal", "broad")
CROSS_PATTERNS = ("diagonal", "anti-diagonal", "previous", "same", "next", "first", "end", "broad")


@dataclass(frozen=True)
class Pattern:
    """The rule that most rows of a head follow.

    Attributes:
        name: of the pattern with the largest share, the first of equal ones; None when fewer than half the rows fit
            any, or no row has a choice.
        share: of rows that fit the best pattern; NaN when no row has a choice.
        shares: of rows that fit each pattern. A row may fit several.
    """

    name: str | None
    share: float
    shares: dict[str, float]


def patterns(
    weights: Float[np.ndarray, "heads rows kv_len"],
    allowed: Bool[np.ndarray, "heads rows kv_len"],
    position: Int[np.ndarray, " rows"],
    expected: Float[np.ndarray, " rows"],
    backwards: Float[np.ndarray, " rows"],
    names: tuple[str, ...] = SELF_PATTERNS,
    end: Int[np.ndarray, " rows"] | None = None,
) -> tuple[Pattern, ...]:
    """For each head the pattern it follows (positional heads: Voita et al. 2019, section 5.1).

    A row fits `broad` when its entropy is at least 0.9 of the possible. Any other row fits where its strongest key is:
    at the column with its own number (`same`), one before or after (`previous`, `next`), the first column (`first`),
    that of the end token (`end`: heads with nothing to look for rest on a separator, Clark et al. 2019, section 3.2),
    the `expected` column (`diagonal`) or the one counted from the other end (`anti-diagonal`), where a position between
    two columns is met by both. Rows with a single allowed key do not count, as in `entropy`.

    Args:
        position, expected, backwards, end: as in `LayerHeads`; without `end` the end token is the last column.
        names: which patterns to look for; on the diagonal of a self-attention map `same` says it already.
    """
    rows, allowed, counted = normalised_rows(weights, allowed)
    strongest = rows.argmax(-1)  # (heads, rows)
    logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    broad = -(rows * logs).sum(-1) >= BROAD_ENTROPY * np.log(np.maximum(allowed.sum(-1), 2))
    columns = {
        "previous": position - 1,
        "same": position,
        "next": position + 1,
        "first": np.zeros_like(position),
        "end": rows.shape[-1] - 1 if end is None else end,
        "diagonal": expected,
        "anti-diagonal": backwards,
    }
    fits = {name: broad if name == "broad" else ~broad & (np.abs(strongest - columns[name]) <= 0.5) for name in names}
    shares = {name: mean_over_rows(fit.astype(np.float64), counted) for name, fit in fits.items()}
    return tuple(_named({name: float(share[head]) for name, share in shares.items()}) for head in range(len(rows)))


def _named(shares: dict[str, float]) -> Pattern:
    best = max(shares, key=lambda name: shares[name])
    return Pattern(best if shares[best] >= NAMING_SHARE else None, shares[best], shares)
