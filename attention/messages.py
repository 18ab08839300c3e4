"""What the library has to tell a visitor: a code and its values, which a page words in the visitor's language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """Something to be told, to a reader of English as it is, to others by its code.

    Attributes:
        code: names the sentence among those of its kind.
        english: the whole sentence.
        values: what the sentence names: numbers, typed text, codes of other texts, further messages, and tuples
            of these for lists.
    """

    code: str
    english: str
    values: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, code: str, english: str, /, **values: object) -> "Message":
        """A message whose values are given by name."""
        return cls(code, english, tuple(values.items()))

    def __str__(self) -> str:
        return self.english


class MessageError(ValueError):
    """An error that a visitor can cause and reads."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)

    @property
    def message(self) -> Message:
        return self.args[0]
