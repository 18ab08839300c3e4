"""Text for plotly that is shown exactly as it is.

plotly.js reads every string as a small HTML: `<s>` strikes out the rest, `<br>` breaks the line, `&lt;` becomes `<`;
and with MathJax on the page `$x$` is a formula. It splits at tags first and decodes entities afterwards, and it looks
for `$…$` before decoding. So a token whose `&`, `<`, `>` and `$` are entities comes out literally in ticks, hovers,
annotations, cells and exported images alike.
"""

import re

import regex

_AS_IS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"})
EMPTY, BLANK, OTHER_BLANK = "∅", "␣", "⍽"
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\x7f": "\u2421"}  # a newline shows as ␊
# Spaces that are not the usual one: no-break, of a certain width, ideographic, and those without any width.
_OTHER_BLANKS = [0xA0, 0x1680, 0x180E, *range(0x2000, 0x200C), 0x2028, 0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF]
# What has no picture, cannot be encoded, or would turn round the text after it.
_HIDDEN = [*range(0x80, 0xA0), 0xAD, 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2061, 0x206A)]
_HIDDEN += range(0xD800, 0xE000)
_SEEN = str.maketrans(
    _PICTURES | {chr(code): OTHER_BLANK for code in _OTHER_BLANKS} | {chr(code): "\ufffd" for code in _HIDDEN}
)
_OUTER_BLANKS = re.compile("^ +| +$")
_JOINERS = "\u200c\u200d"  # they belong inside of words and emoji, and are left there


def visible(text: str) -> str:
    """The text with a sign for whatever could not be seen: ∅ for no text at all, ␣ for blanks at its ends, ⍽ for
    blanks of other kinds anywhere. For text that is shown as it is, and for text alternatives."""
    text = str(text)
    if not text.strip(_JOINERS):
        return OTHER_BLANK * len(text) or EMPTY
    return _OUTER_BLANKS.sub(lambda blanks: BLANK * len(blanks[0]), text).translate(_SEEN)


def literal(text: str) -> str:
    """What `visible` gives, written so that plotly shows it character by character."""
    return visible(text).translate(_AS_IS)


def shorten(text: str, limit: int = 14) -> str:
    """At most `limit` characters as a reader counts them, the last of them "…" if something was cut."""
    text = str(text)
    if len(text) <= limit:
        return text
    characters = regex.findall(r"\X", text)  # accents, skin tones and joined emoji stay in one piece
    return text if len(characters) <= limit else "".join(characters[: limit - 1]) + "…"
