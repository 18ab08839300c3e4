"""A language made from English in which every text stands in ⟦ ⟧, and the words sent to a browser outside of them.

What fills a placeholder stays outside the brackets, so that no English from elsewhere hides in a translated sentence.
"""

import base64
import json
import re
import string
import tomllib
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from google.protobuf.json_format import MessageToDict

from attention.notebook.packing import read_message

OPEN, CLOSE = "⟦⟧"

# Fields of messages that no visitor reads: names for machines, appearance, addresses.
UNREAD = {
    *("id", "hash", "page_script_hash", "active_script_hash", "fragment_id", "url_pathname", "query_string", "url"),
    *(
        "component_name",
        "css_content",
        "js_content",
        "language",
        "icon",
        "favicon",
        "config",
        "format",
        "style",
        "type",
    ),
    *("tag", "form_id", "anchor", "divider"),
}
# Of our components: numbers and colours, what a browser keeps by codes, addresses, names of files and of elements.
UNREAD_IN_COMPONENTS = {"kept", "weights", "tables", "colors", "enlarged", "blue"}
UNREAD_IN_COMPONENTS |= {"link", "here", "query", "outside", "file", "chart"}
# Of plotly's figures: values that its reference lists, data as bytes, fonts.
UNREAD_IN_FIGURES = {
    *(
        "align",
        "anchor",
        "clickmode",
        "constrain",
        "constraintoward",
        "dash",
        "fill",
        "hoverinfo",
        "hovermode",
        "layer",
    ),
    *("lenmode", "mode", "orientation", "scaleanchor", "side", "sizemode", "symbol", "textposition", "tickformat"),
    *("tickmode", "ticks", "type", "xanchor", "xref", "yanchor", "yref", "overlaying", "hoversubplots", "shape"),
    *("bdata", "dtype", "family", "line_shape", "textangle", "separators", "rangemode"),
}
COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}|rgba?\([\d., ]+\)")
# What is not prose inside a text: code, formulas, addresses, Markdown's and plotly's own signs.
NOT_PROSE = re.compile(
    r"`[^`]*`|\$[^$]+\$|\]\([^)]*\)|:(?:red|green|blue|orange|gray)(?:-background)?(?=\[)|:material/\w+:"
    r"|%\{[^}]*\}|</?(?:b|br|i|s|small|extra|sub|sup)/?>"
)
# Matrices and their products, the articles' claims by their numbers, versions of PyTorch.
FORMULA = re.compile(r"(?:W_)?[A-Z]′?[⁻ᵀ]*(?:[·/](?:W_)?[A-Z]′?[⁻ᵀ]*)*|A\d+|[\d.]+\+cpu")
READ_OUT = ("title", "aria-label", "aria-description", "alt", "data-label", "placeholder")  # of HTML's attributes
WORD = re.compile(r"[^\W\d_][\w’']*")


def write_pseudo_language(source: Path, folder: Path) -> None:
    """The texts of one language with every piece of them bracketed; its signs and rules stay."""
    folder.mkdir(parents=True)
    for path in source.glob("*.toml"):
        sections = tomllib.loads(path.read_text(encoding="utf-8"))
        lines = [
            line
            for section, texts in sections.items()
            for line in (f"[{section}]", *(f"{json.dumps(name)} = {_toml(text, name)}" for name, text in texts.items()))
        ]
        (folder / path.name).write_text("\n".join(lines), encoding="utf-8")
    for path in source.glob("*.md"):
        heads_and_bodies = re.split(r"^(## .*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        texts = (
            text if number % 2 else "\n\n".join(map(_bracketed, text.strip().split("\n\n")))
            for number, text in enumerate(heads_and_bodies)
        )
        (folder / path.name).write_text("\n".join(texts), encoding="utf-8")


def _toml(text: str | dict | list, name: str) -> str:
    if isinstance(text, dict):
        return "{" + ", ".join(f"{json.dumps(form)} = {_toml(of, form)}" for form, of in text.items()) + "}"
    if isinstance(text, list) or name in ("by", "plural"):
        return json.dumps(text)
    return json.dumps(_bracketed(text), ensure_ascii=False)


def _bracketed(text: str) -> str:
    """Brackets around what stands between placeholders."""
    pieces = []
    for literal, field, form, _ in string.Formatter().parse(text):
        literal = literal.replace("{", "{{").replace("}", "}}")
        pieces.append(f"{OPEN}{literal}{CLOSE}" if any(map(str.isalpha, literal)) else literal)
        if field is not None:
            pieces.append("{" + field + (f":{form}" if form else "") + "}")
    return "".join(pieces)


def texts_of(message) -> Iterator[tuple[str, str]]:
    """(where, text) of everything readable in one message to the browser, but for code."""
    sent = MessageToDict(message, preserving_proto_field_name=True, use_integers_for_enums=True)
    yield from _texts("", sent, UNREAD)


def code_of(message) -> str:
    """What a message shows as code: PyTorch's words, commands, lines of Python; "" for the others."""
    return message.delta.new_element.code.code_text


def _texts(where: str, sent, unread: set[str]) -> Iterator[tuple[str, str]]:
    if isinstance(sent, dict):
        for name, value in sent.items():
            if name == "code":
                continue
            if name == "plotly_chart":
                yield from _texts(f"{where}.{name}.spec", json.loads(value.pop("spec")), UNREAD_IN_FIGURES)
            if name == "bidi_component":
                yield from _texts(f"{where}.{name}.data", _component_data(value), UNREAD_IN_COMPONENTS)
            if name not in unread:
                yield from _texts(f"{where}.{name}", value, unread)
    elif isinstance(sent, list):
        for value in sent:
            yield from _texts(f"{where}[]", value, unread)
    elif isinstance(sent, str):
        if where.endswith(".html.body"):
            yield from html_texts(where, sent)
        else:
            yield where, sent


def _component_data(sent: dict) -> object:
    """The texts that a component is sent: as JSON, or in the bytes of a head grid."""
    if packed := sent.pop("bytes", ""):
        return read_message(base64.b64decode(packed))[0]
    return json.loads(sent.pop("json", "null"))


class _Html(HTMLParser):
    """Texts and read-out attributes; what stands in `skip` is no text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []
        self.skip = 0
        self.goes_on = False

    def handle_starttag(self, tag, attrs):
        self.goes_on = tag == "wbr"  # the text only may be broken here
        self.skip += tag in ("style", "script", "code")
        self.found += [
            (name, value)
            for name, value in attrs
            if name in ("title", "aria-label", "alt", "data-label", "placeholder")
        ]

    def handle_endtag(self, tag):
        self.skip -= tag in ("style", "script", "code")

    def handle_data(self, data):
        if self.skip:
            return
        if self.goes_on:
            data = self.found.pop()[1] + data
        self.found.append(("text", data))
        self.goes_on = False


def html_texts(where: str, body: str) -> Iterator[tuple[str, str]]:
    parser = _Html()
    parser.feed(body)
    parser.close()
    yield from ((f"{where} {name}", text) for name, text in parser.found)


def pieces(text: str) -> list[str]:
    """What stands between blanks, brackets and other signs."""
    return [piece.strip("“”‘’'.:*·|/!?_…").rstrip("₀₁₂₃₄₅₆₇₈₉") for piece in re.split(r"[\s(){}\[\],;=-]+", text)]


def words_outside(text: str, allowed: set[str]) -> list[str]:
    """The words of a text that stand outside the brackets and are not among those allowed."""
    text = re.sub(rf"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", " ", text)
    text = unescape(NOT_PROSE.sub(" ", text))
    if text.strip() in allowed or COLOUR.fullmatch(text):
        return []
    words = (piece for piece in pieces(text) if WORD.search(piece))
    return [word for word in words if word not in allowed and not FORMULA.fullmatch(word)]


# Of our scripts: keys, classes of nodes, and attributes of SVG.
NO_ENGLISH = {"viewBox", "userSpaceOnUse", "currentColor", "Enter", "Escape", "axis down", "axis right", "quiet note"}


def english_in_script(script: str) -> list[str]:
    """Strings of a JavaScript file that look like words for a reader."""
    script = re.sub(r"//.*", "", script)
    strings = re.findall(r'"([^"\n]*)"', script)
    strings += [re.sub(r"\$\{[^}]*\}", "", text) for text in re.findall(r"`([^`]*)`", script)]
    return [text for text in strings if re.search(r"[A-Z][a-z]|[a-z]+ [a-z]+", text) and text not in NO_ENGLISH]
