"""Reading a typed word: letters a–z go through, anything else becomes one sentence for the visitor."""

import unicodedata
from collections.abc import Iterator

LETTERS = "abcdefghijklmnopqrstuvwxyz"

_LOWER = str.maketrans(LETTERS.upper(), LETTERS)
_JOINER = "\u200d"
_MAX_SCANNED = 1000  # characters; in a longer text the first few that are refused say enough
_MAX_NAMED = 3


class Refusal(ValueError):
    """One plain-text sentence for the visitor: what was given, what is allowed, how to mend it."""


def read_letters(text: str, shortest: int, longest: int) -> tuple[str, ...]:
    """The letters of one typed word, lower-cased, without the white space around it.

    Raises Refusal for anything but `shortest` to `longest` letters a–z.
    """
    allowed = f"{shortest} to {longest} letters"
    word = text.strip()
    length = len(word)
    word = lower(word[:_MAX_SCANNED])
    if not word:
        given = "Only white space was given" if text else "Nothing was typed"
        raise Refusal(f"{given}: type one word of {allowed} a–z.")

    strangers = _strangers(word)
    if strangers and all(character.isspace() for character in strangers):
        given = quoted(shortened(word))
        raise Refusal(f"{given} has a space inside: type one word of {allowed}, without spaces.")
    if strangers:
        raise Refusal(_not_letters(strangers, allowed))

    if length > longest:
        unit = "letters" if length == len(word) else "characters"
        raise Refusal(f"{length:,} {unit} is too long: this model reads {allowed}; shorten the word.")
    if length < shortest:
        unit = "letter" if length == 1 else "letters"
        raise Refusal(
            f"{quoted(word)} is too short with {length} {unit}: this model reads {allowed}; type a longer word."
        )
    return tuple(word)


def lower(text: str) -> str:
    """Letters A–Z in lower case, and nothing else: str.lower() would also turn the Kelvin sign into a k."""
    return text.translate(_LOWER)


def _strangers(word: str) -> list[str]:
    """The first few different characters, as a reader sees them, that are not letters a–z."""
    found: list[str] = []
    for character in visible_characters(word):
        if character not in LETTERS and character not in found:
            found.append(character)
            if len(found) > _MAX_NAMED:
                break
    return found


def _not_letters(strangers: list[str], allowed: str) -> str:
    """The sentence that names what is not a letter."""
    names = [quoted(character) for character in strangers[:_MAX_NAMED]]
    if len(strangers) > _MAX_NAMED:
        names.append("others")
    if len(names) == 1:
        fault = f"{names[0]} is not a letter this model knows"
    else:
        fault = f"{', '.join(names[:-1])} and {names[-1]} are not letters this model knows"
    return f"{fault[0].upper()}{fault[1:]}: a–z; type one word of {allowed}."


def visible_characters(text: str) -> Iterator[str]:
    """Split `text` where a reader would: an accent stays with its letter, a joined emoji stays whole.

    The common rules of Unicode's grapheme clusters (UAX #29): combining marks, variation selectors, skin tones
    and tags continue a character, a zero-width joiner glues the next one on, two regional indicators make a flag.
    """
    cluster = ""
    for char in text:
        if cluster and (_continues(char) or cluster[-1] == _JOINER or _completes_flag(cluster, char)):
            cluster += char
        else:
            if cluster:
                yield cluster
            cluster = char
    if cluster:
        yield cluster


def _continues(char: str) -> bool:
    is_mark = unicodedata.category(char) in ("Mn", "Mc", "Me")  # variation selectors are among the marks
    is_skin_tone = "\U0001f3fb" <= char <= "\U0001f3ff"
    is_tag = "\U000e0020" <= char <= "\U000e007f"
    return is_mark or is_skin_tone or is_tag or char == _JOINER


def _completes_flag(cluster: str, char: str) -> bool:
    return len(cluster) == 1 and all("\U0001f1e6" <= c <= "\U0001f1ff" for c in (cluster, char))


def quoted(text: str) -> str:
    """`text` in quotation marks; what cannot be seen or sent, such as half a surrogate pair, by its code."""
    if not any(_can_be_seen(char) for char in text):
        return " ".join("a space" if char == " " else f"U+{ord(char):04X}" for char in text)
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
