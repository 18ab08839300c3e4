"""The tokens one side of a model knows, and their numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from attention.config import END

SPECIALS = ("<pad>", "<s>", "</s>")


@dataclass(frozen=True)
class Vocabulary:
    """Three special tokens (PAD = 0, START = 1, END = 2), followed by `symbols` in their given order."""

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.tokens)) != len(self.tokens):
            raise ValueError(f"a vocabulary must not hold a token twice: {self.symbols}")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All tokens; the token with number i is at index i."""
        return SPECIALS + self.symbols

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each token."""
        return {token: number for number, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.symbols)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Numbers of `tokens`; KeyError for a token that is not in the vocabulary."""
        return [self.ids[token] for token in tokens]

    def decode(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Tokens of `ids`, one for each, special tokens included; ValueError for a number that none has."""
        return tuple(self._token(number) for number in ids)

    def decode_answer(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Tokens of `ids` up to, and without, the first END: what a model answered."""
        answer = []
        for number in ids:
            if number == END:
                break
            answer.append(self._token(number))
        return tuple(answer)

    def _token(self, number: int) -> str:
        if not 0 <= number < len(self):  # −1 would be the last token
            raise ValueError(f"token id ({number}) must lie between 0 and {len(self) - 1}")
        return self.tokens[number]
