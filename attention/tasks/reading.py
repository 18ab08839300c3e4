"""Reading a typed word: letters a–z go through, anything else becomes one sentence for the visitor."""

from collections.abc import Iterator

import regex

from attention.messages import Message, MessageError

LETTERS = "abcdefghijklmnopqrstuvwxyz"

MAX_SCANNED = 1000  # characters; in a longer text the first few that are refused say enough
MAX_NAMED = 3
_LOWER = str.maketrans(LETTERS.upper(), LETTERS)
_CHARACTER = regex.compile(r"\X")
_JOINER = "\u200d"
_SPACE, _FIRST_SPACE, _OTHERS = (
    Message("space", "a space"),
    Message("space_first", "A space"),  # at the beginning of a sentence
    Message("others", "others"),
)


class Refusal(MessageError):
    """Typed text that a task does not read: what was given, what is allowed, how to put it right."""


def refusal(code: str, english: str, /, **values: object) -> Refusal:
    """A refusal whose sentence has its values at their {names}, several as "a, b and c"."""
    told = {name: _listed(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return Refusal(Message.of(code, english.format(**told), **values))


def read_letters(text: str, shortest: int, longest: int) -> tuple[str, ...]:
    """The letters of one typed word, lower-cased, without the white space around it.

    Raises Refusal for anything but `shortest` to `longest` letters a–z.
    """
    allowed, numbers = "{shortest} to {longest} letters", {"shortest": shortest, "longest": longest}
    word = text.strip()
    length = len(word)
    word = lower(word[:MAX_SCANNED])
    if not word and not text:
        raise refusal("letters_missing", f"Nothing was typed: type one word of {allowed} a–z.", **numbers)
    if not word:
        raise refusal("letters_blank", f"Only white space was given: type one word of {allowed} a–z.", **numbers)

    strangers = first_different(character for character in visible_characters(word) if character not in LETTERS)
    if strangers and all(character.isspace() for character in strangers):
        sentence = f"{{typed}} has a space inside: type one word of {allowed}, without spaces."
        raise refusal("letters_spaced", sentence, typed=quoted(shortened(word)), **numbers)
    if strangers:
        fault = "is not a letter" if len(strangers) == 1 else "are not letters"
        sentence = f"{{names}} {fault} this model knows: a–z; type one word of {allowed}."
        raise refusal("letters_unknown", sentence, names=named(strangers), count=len(strangers), **numbers)

    if length > longest:
        code, unit = ("letters_many", "letters") if length == len(word) else ("letters_too_many", "characters")
        sentence = f"{{count:,}} {unit} is too long: this model reads {allowed}; shorten the word."
        raise refusal(code, sentence, count=length, **numbers)
    if length < shortest:
        unit = "letter" if length == 1 else "letters"
        sentence = f"{{typed}} is too short with {{count}} {unit}: this model reads {allowed}; type a longer word."
        raise refusal("letters_few", sentence, typed=quoted(word), count=length, **numbers)
    return tuple(word)


def lower(text: str) -> str:
    """Letters A–Z in lower case, and nothing else: str.lower() would also turn the Kelvin sign into a k."""
    return text.translate(_LOWER)


def visible_characters(text: str) -> Iterator[str]:
    """Split `text` where a reader would: an accent stays with its letter, a joined emoji stays whole (UAX #29)."""
    return (found[0] for found in _CHARACTER.finditer(text))


def first_different(characters: Iterator[str]) -> list[str]:
    """The first few that differ: one more than a sentence names."""
    found: list[str] = []
    for character in characters:
        if character not in found:
            found.append(character)
            if len(found) > MAX_NAMED:
                break
    return found


def named(characters: list[str]) -> tuple[str | Message, ...]:
    """Characters as a sentence that begins with them names them; more than MAX_NAMED end in "others"."""
    names = [quoted(shortened(character)) for character in characters[:MAX_NAMED]]
    if names[0] == _SPACE:
        names[0] = _FIRST_SPACE
    return (*names, _OTHERS) if len(characters) > MAX_NAMED else tuple(names)


def quoted(text: str) -> str | Message:
    """`text` in quotation marks; what cannot be seen or sent, such as half a surrogate pair, by its code."""
    if text == " ":
        return _SPACE
    if not any(_can_be_seen(char) for char in text):
        return " ".join(f"U+{ord(char):04X}" for char in text)
    shown = "".join(c if _can_be_seen(c) or c in (" ", _JOINER) else f"U+{ord(c):04X}" for c in text)
    return f'"{shown}"' if "'" in shown else f"'{shown}'"


def _can_be_seen(char: str) -> bool:
    return (char.isprintable() and not char.isspace()) or "\U000e0020" <= char <= "\U000e007f"


def shortened(word: str, longest: int = 40) -> str:
    """The beginning of a long text, cut between visible characters."""
    if len(word) <= longest:
        return word
    whole = list(visible_characters(word[:longest]))
    return "".join(whole[:-1] or whole) + "…"  # the last one may go on behind the cut


def _listed(names: tuple[str | Message, ...]) -> str:
    *most, last = map(str, names)
    return f"{', '.join(most)} and {last}" if most else last
