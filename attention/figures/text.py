"""Text for plotly that is shown exactly as it is.

plotly.js reads every string as a small HTML: `<s>` strikes out the rest, `<br>` breaks the line, `&lt;` becomes `<`;
and with MathJax on the page `$x$` is a formula. It splits at tags first and decodes entities afterwards, and it looks
for `$…$` before decoding. So a token whose `&`, `<`, `>` and `$` are entities comes out literally in ticks, hovers,
annotations, cells and exported images alike.
"""

import unicodedata

_AS_IS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\x7f": "\u2421"}  # a newline shows as ␊
# What has no picture, cannot be encoded, or would turn round the text after it.
_HIDDEN = [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
_TABLE = str.maketrans(_AS_IS | _PICTURES | {chr(code): "\ufffd" for code in _HIDDEN})


def literal(text: str) -> str:
    """The text, written so that plotly shows it character by character; blanks alone become visible as ␣."""
    text = str(text)
    if text and not text.strip(" "):
        return "␣" * len(text)
    return text.translate(_TABLE)


def shorten(text: str, limit: int = 14) -> str:
    """At most `limit` characters, the last of them "…" if something was cut; never cuts inside a joined character."""
    text = str(text)
    if len(text) <= limit:
        return text
    characters: list[str] = []
    for char in text:
        if characters and (_joins(char) or characters[-1].endswith("\u200d")):
            characters[-1] += char  # accents, variation selectors, skin tones and joined emoji stay in one piece
        else:
            characters.append(char)
    return text if len(characters) <= limit else "".join(characters[: limit - 1]) + "…"


def _joins(char: str) -> bool:
    return char == "\u200d" or unicodedata.category(char) in ("Mn", "Mc", "Me") or "🏻" <= char <= "🏿"


def number(value: float, *, leading_zero: bool = True) -> str:
    """A number of −1…1 for a cell: "0.12", "−0.12", or short ".12", "−.12", "1.0"."""
    text = f"{abs(value):.2f}"
    sign = "−" if value < 0 and text != "0.00" else ""
    if leading_zero:
        return sign + text
    return sign + (text[1:] if text[0] == "0" else text[:3])
