"""All texts of the pages, in the one language of this server: short ones from its catalogue, long ones from Markdown.

A language is a folder in `pages/text/`; the environment variable ATTENTION_LANGUAGE names it. Its `language.toml` says
how numbers, lists and plurals are written. A text with {placeholders} that has several forms is a table of them:

    maps = { one = "{count} map", other = "{count} maps" }                 the number `count` chooses
    share = { by = "kv_heads", one = "…", other = "…" }                    another number does
    intro = { "spelling, reverse" = "Type a word.", dates = "Type a date." }        the task does
    failed = { by = "side", encoder = "…", decoder = "…" }                 another code does

A task without a form of its own is spoken of as the one that `words_like` in its section of `tasks.toml` names.

In the Markdown files `## encoder: spelling, reverse` heads the form of one text for these two tasks.
"""

import gettext
import html
import math
import os
import string
import tomllib
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from attention.messages import Message

LANGUAGES = Path(__file__).parent.parent / "text"
SETTING = "ATTENTION_LANGUAGE"

BEGIN_ISOLATE, END_ISOLATE = "\u2068", "\u2069"
_RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI"}  # letters, Arabic digits, and marks

Text = str | dict[str, "Text"]  # one text, or its forms by what they are for


def language_folder() -> Path:
    """The texts of this server's language; ValueError where there are none."""
    known = sorted(folder.name for folder in LANGUAGES.iterdir() if folder.is_dir())
    language = os.environ.get(SETTING, "en")
    if language not in known:
        raise ValueError(f"{SETTING} is {language!r}, and there are texts in: {', '.join(known)}")
    return LANGUAGES / language


@cache
def catalogue() -> dict[str, dict[str, Text]]:
    """The short texts, by section and name: one file for each page, for the tasks, and for what pages share."""
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(language_folder().glob("*.toml"))]
    return {section: _apart(texts) for file in files for section, texts in file.items()}


@cache
def prose(page: str) -> dict[str, Text]:
    """The long texts of a page: what stands below each `## name`, or `## name: form, form`, of its file."""
    parts = (language_folder() / f"{page}.md").read_text(encoding="utf-8").split("\n## ")[1:]
    texts: dict[str, Text] = {}
    for heading, _, body in (part.partition("\n") for part in parts):
        name, _, forms = heading.strip().partition(": ")
        texts[name] = {**texts.get(name, {}), forms: body.strip()} if forms else body.strip()
    return {name: _apart(text) for name, text in texts.items()}


def forget() -> None:
    """Read the texts anew when they are next asked for; for tests that change the language."""
    for kept in (catalogue, prose, _plural):
        kept.cache_clear()


def label(section: str, name: str, /, **values: object) -> str:
    """A short text with its {placeholders} filled in, in the form that the values ask for."""
    texts = catalogue()
    if name not in texts.get(section, {}):
        raise KeyError(f"{language_folder()} has no text {name!r} in a section [{section}]")
    return _filled(texts[section][name], values, f"[{section}] {name}")


def paragraph(page: str, name: str, /, **values: object) -> str:
    """A long text with its {placeholders} filled in, in the form that the values ask for."""
    texts = prose(page)
    if name not in texts:
        raise KeyError(f"{language_folder() / page}.md has no text {name!r}")
    return _filled(texts[name], values, f"{page}.md: {name}")


def say(section: str, message: Message, *, isolate: bool = False) -> str:
    """What the library has to tell a visitor, in the words of the section; `isolate`: with marks as in `isolated`."""
    return label(section, message.code, **{name: _said(section, value, isolate) for name, value in message.values})


def _said(section: str, value: object, isolate: bool) -> object:
    """A value of a message, which may be, or hold, further messages."""
    if isinstance(value, tuple):
        return tuple(_said(section, part, isolate) for part in value)
    if isinstance(value, Message):
        return say(section, value, isolate=isolate)
    return isolated(value) if isolate and isinstance(value, str) else value


def isolated(text: str) -> str:
    """Typed text for the middle of a sentence: if it runs from right to left, with Unicode's marks for a part that
    has a direction of its own, or the words and commas after it would change places. `isolates_as_html` reads them."""
    if not any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return text
    return BEGIN_ISOLATE + text.replace(BEGIN_ISOLATE, "").replace(END_ISOLATE, "") + END_ISOLATE


def isolates_as_html(sentence: str) -> str:
    """A sentence for use inside HTML, what is isolated in it as `<bdi>`."""
    return verbatim(sentence).replace(BEGIN_ISOLATE, "<bdi>").replace(END_ISOLATE, "</bdi>")


def counted(count: int, thing: str) -> str:
    """A number with its noun, "1 run" or "30 runs"."""
    return label("counted", thing, count=count)


def task_label(task: str, section: str, name: str, /, **values: object) -> str:
    """A short text that calls things as the task does."""
    return label(section, name, task=task, **values)


def task_prose(page: str, name: str, task: str, /, **values: object) -> str:
    """A long text that calls things as the task does."""
    return paragraph(page, name, task=task, **values)


def verbatim(text: str) -> str:
    """Typed text for use inside HTML: shown as it is, whatever it contains."""
    return html.escape(text)


def percent(share: float, digits: int = 0) -> str:
    """0.935 as "94 %"; "–" where it is undefined. What rounding would make all of it has a digit more and is cut off
    there: 0.9995 is "99.9 %", and "100 %" means all."""
    if share != share:
        return _signs("undefined")
    value = 100 * share
    if share < 1 and round(value, digits) >= 100:
        digits += 1
        value = min(math.floor(value * 10**digits), 100 * 10**digits - 1) / 10**digits
    return _signs("percent").format(_number(value, f".{digits}f"))


def number(value: float, digits: int = 2) -> str:
    """A number with fixed digits and a true minus sign, never "−0.00"; "–" where it is undefined."""
    return _signs("undefined") if value != value else _number(round(value, digits) + 0.0, f".{digits}f")


def whole(value: int) -> str:
    """A whole number in groups of three digits: "1,024"."""
    return _number(value, ",")


def joined(parts: tuple[str, ...]) -> str:
    """Parts of a sentence as the language lists them: "a, b and c"."""
    *most, last = parts
    return _signs("last").join((listed(most), last)) if most else last


def listed(parts: Iterable[str]) -> str:
    """Things one after the other: "a, b, c"."""
    return _signs("between").join(parts)


def _signs(name: str):
    return catalogue()["language"][name]


def _number(value: float, form: str) -> str:
    """Formatted as Python does, then with the language's signs."""
    signs = {".": _signs("decimal"), ",": _signs("thousands"), "-": _signs("minus")}
    return format(value, form).translate(str.maketrans(signs))


def form_of(count: int) -> str:
    """Which of a text's forms goes with a number: "one", "other"."""
    return _signs("forms")[_plural()(abs(count))]


@cache
def _plural() -> Callable[[int], int]:
    """Which of the language's forms goes with a number: the rule is a C expression, as in gettext's catalogues."""
    return gettext.c2py(_signs("plural"))


def _apart(text: Text | list) -> Text | list:
    """The forms of a text, each under its own name where one text serves several."""
    if not isinstance(text, dict):
        return text
    return {name: _apart(form) for names, form in text.items() for name in names.split(", ")}


def _filled(text: Text, values: dict[str, object], where: str) -> str:
    forms = _signs("forms")
    while isinstance(text, dict):
        chosen = values[text.get("by", "count" if set(text) <= set(forms) else "task")]
        form = form_of(chosen) if isinstance(chosen, int) else chosen
        if form not in text:
            form = catalogue().get(form, {}).get("words_like", form)
        if form not in text:
            raise KeyError(f"{language_folder()}, {where}: no form for {form!r}; there are {', '.join(text)}")
        text = text[form]
    return _Filler().vformat(text, (), values)


class _Filler(string.Formatter):
    """Fills placeholders in: numbers with the language's signs, several parts as its lists."""

    def format_field(self, value: object, form: str) -> str:
        if isinstance(value, tuple):
            return joined(value)
        return _number(value, form) if isinstance(value, int | float) else format(value, form)
