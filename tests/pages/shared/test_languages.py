"""Each language has what English has: the same texts with the same placeholders, and its signs and plural forms."""

import string
import tomllib
from pathlib import Path

import pytest

from pages.shared.texts import LANGUAGES


def texts_of(folder: Path) -> dict[str, set[str]]:
    """All texts of a language by file, section and name, with the placeholders that occur in any of their forms."""
    found: dict[str, set[str]] = {}
    for path in folder.glob("*.toml"):
        for section, texts in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found |= {f"{path.name} [{section}] {name}": placeholders(text) for name, text in texts.items()}
    for path in folder.glob("*.md"):
        for part in path.read_text(encoding="utf-8").split("\n## ")[1:]:
            heading, _, body = part.partition("\n")
            name = f"{path.name} {heading.partition(': ')[0]}"
            found[name] = found.get(name, set()) | placeholders(body)
    return found


def placeholders(text) -> set[str]:
    if isinstance(text, dict):
        return set().union(*(placeholders(form) for name, form in text.items() if name != "by"))
    return {field for _, field, _, _ in string.Formatter().parse(text) if field} if isinstance(text, str) else set()


def differences(folder: Path) -> dict[str, str]:
    """What is missing in a language, is not in English, or asks for a value that the English text does not get."""
    english, other = texts_of(LANGUAGES / "en"), texts_of(folder)
    found = {name: "missing" for name in english.keys() - other.keys()}
    found |= {name: "not in English" for name in other.keys() - english.keys()}
    unknown = {name: other[name] - english[name] for name in english.keys() & other.keys() if "[language]" not in name}
    return found | {name: f"unknown {{{', '.join(sorted(fields))}}}" for name, fields in unknown.items() if fields}


@pytest.mark.parametrize("language", sorted(path.name for path in LANGUAGES.iterdir() if path.is_dir()))
def test_a_language_has_all_texts(language):
    assert not differences(LANGUAGES / language)


def test_what_is_missing_or_too_much_is_named(tmp_path):
    for path in (LANGUAGES / "en").iterdir():
        text = path.read_text(encoding="utf-8")
        text = text.replace('\nkeep = "When', '\nkept = "When').replace('one = "{heads} query', 'one = "{hedas} query')
        (tmp_path / path.name).write_text(text.replace("## direct\n", "## as_it_is\n"), encoding="utf-8")
    assert differences(tmp_path) == {
        "shared.toml [sidebar] keep": "missing",
        "shared.toml [sidebar] kept": "not in English",
        "shared.toml [sidebar] kv_heads_shared": "unknown {hedas}",
        "playground.md direct": "missing",
        "playground.md as_it_is": "not in English",
    }
