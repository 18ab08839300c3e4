"""All texts of the pages: short ones from one catalogue, long ones from Markdown files, one file per language."""

import html
import tomllib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "text"
LANGUAGE = "en"


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """The short texts, by section and name."""
    return tomllib.loads((FOLDER / f"labels.{LANGUAGE}.toml").read_text(encoding="utf-8"))


def label(section: str, name: str, **values: object) -> str:
    """A short text with its {placeholders} filled in."""
    return catalogue()[section][name].format(**values)


def counted(count: int, thing: str) -> str:
    """A number with its noun, "1 run" or "30 runs"."""
    one, several = catalogue()["counted"][thing].split("|")
    return f"{count:,} {one if count == 1 else several}"


def task_label(task: str, section: str, name: str, /, **values: object) -> str:
    """A short text that calls things as the task does: {letter}, {letters}, {word}, {words}."""
    return label(section, name, **{**catalogue()[task], **values})


@cache
def prose(page: str) -> dict[str, str]:
    """The long texts of a page: what stands below each `## name` of its file."""
    parts = (FOLDER / f"{page}.{LANGUAGE}.md").read_text(encoding="utf-8").split("\n## ")[1:]
    return {name.strip(): body.strip() for name, _, body in (part.partition("\n") for part in parts)}


def task_prose(page: str, name: str, task: str, /, **values: object) -> str:
    """A long text that calls things as the task does."""
    return prose(page)[name].format(**{**catalogue()[task], **values})


def verbatim(text: str) -> str:
    """Typed text for use inside HTML: shown as it is, whatever it contains."""
    return html.escape(text)


def percent(share: float) -> str:
    """0.935 as "94 %"; "–" where it is undefined."""
    return "–" if share != share else f"{100 * share:.0f} %"


def number(value: float, digits: int = 2) -> str:
    """A number with fixed digits and a true minus sign, never "−0.00"; "–" where it is undefined."""
    if value != value:
        return "–"
    rounded = round(value, digits) + 0.0  # turns −0.0 into 0.0
    return f"{rounded:.{digits}f}".replace("-", "−")
