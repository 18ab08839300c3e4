"""The same examples answered twice, compared one by one.

Two shares of one set of examples are not two samples: what tells them apart are the examples whose answer changed, and
intervals around each share by itself would see none of that.
"""

from dataclasses import dataclass
from math import comb


@dataclass(frozen=True)
class PairedAnswers:
    """Whether each example was answered right, in the control and in what is compared with it."""

    control: tuple[bool, ...]
    changed: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.control) != len(self.changed):
            raise ValueError(
                f"control ({len(self.control)} examples) and changed ({len(self.changed)}) must be of the same examples"
            )

    @property
    def lost(self) -> int:
        """Right in the control, wrong in the other."""
        return sum(before and not after for before, after in zip(self.control, self.changed, strict=True))

    @property
    def won(self) -> int:
        """Wrong in the control, right in the other."""
        return sum(after and not before for before, after in zip(self.control, self.changed, strict=True))

    @property
    def p_value(self) -> float:
        """McNemar's test, exact and two-sided (McNemar 1947): a binomial test of lost against won; 1 without either.

        How often a split at least as uneven would come about if a changed example were as likely won as lost.
        """
        changed, fewer = self.lost + self.won, min(self.lost, self.won)
        return min(1.0, 2 * sum(comb(changed, count) for count in range(fewer + 1)) / 2**changed)
