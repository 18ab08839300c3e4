"""`.streamlit/config.toml`: the settings exist, and its colours can be read."""

import re
import tomllib
from pathlib import Path

import pytest
from streamlit import config as streamlit_config

from attention.figures.colors import contrast, rgb
from attention.figures.palette import THEMES

SETTINGS = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
READABLE = 4.5  # WCAG 2 AA, text of ordinary size


def flat(table, prefix=""):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def test_streamlit_knows_every_setting():
    known = streamlit_config.get_config_options()
    assert [name for name, _ in flat(SETTINGS) if name not in known] == []


def test_speed_and_privacy():
    expected = {
        "runner.postScriptGC": False,
        "server.fileWatcherType": "none",
        "server.maxUploadSize": 1,
        "browser.gatherUsageStats": False,
        "browser.serverAddress": "localhost",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "client.toolbarMode": "viewer",
    }
    assert expected.items() <= dict(flat(SETTINGS)).items()


def test_nothing_is_asked_of_outside_hosts():
    assert [value for _, value in flat(SETTINGS) if re.search("//|url", str(value))] == []


@pytest.mark.parametrize("name", ["light", "dark"])
def test_contrast(name):
    theme = SETTINGS["theme"][name]
    accent, text = rgb(theme["primaryColor"]), rgb(theme["textColor"])
    for ground in (rgb(theme["backgroundColor"]), rgb(theme["secondaryBackgroundColor"])):
        assert contrast(text, ground) >= 7
        assert contrast(rgb(theme["linkColor"]), ground) >= READABLE
        # A chosen segment is written in the accent colour on a ground with a tenth of it.
        tinted = [0.9 * below + 0.1 * above for below, above in zip(ground, accent, strict=True)]
        assert contrast(accent, tinted) >= READABLE


@pytest.mark.parametrize("name", THEMES)
def test_streamlit_has_the_colours_of_the_palette(name):
    colors, theme = THEMES[name], SETTINGS["theme"][name]
    assert theme == {
        "primaryColor": colors.accent,
        "backgroundColor": colors.page,
        "secondaryBackgroundColor": colors.sidebar,
        "textColor": colors.ink,
        "linkColor": colors.link,
    }


@pytest.mark.parametrize("name", THEMES)
def test_some_colours_are_those_of_the_scales(name):
    colors = THEMES[name]
    assert colors.sequential[0] == colors.diverging[3] == colors.page  # zero is the page
    assert colors.number in colors.sequential
    assert {colors.blue, colors.rose} < set(colors.diverging)


def test_no_colour_is_written_anywhere_but_in_the_palette():
    root = Path(__file__).parents[3]
    color = re.compile(r"(?<![\w&])#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\([\d.]")
    files = [path for folder in ("pages", "attention") for path in (root / folder).rglob("*")]
    written = [
        f"{path.relative_to(root)}: {found}"
        for path in [*files, root / "app.py"]
        if path.suffix in (".py", ".css", ".js", ".html") and path.name != "palette.py"
        for found in color.findall(path.read_text(encoding="utf-8"))
    ]
    assert written == []


def test_type_is_of_the_sizes_that_all_pages_share():
    """A stylesheet writes no size of its own; `--label` is measured by the head grid's script, and em goes along."""
    root = Path(__file__).parents[3]
    sheets = [path for folder in ("pages", "attention") for path in (root / folder).rglob("*.css")]
    names = "small|text|part|section|title|label"
    allowed = re.compile(rf"inherit|var\(--(?:{names})(?:, \d+px)?\)|calc\(var\(--(?:{names})\) / [\d.]+\)")
    written = [
        f"{path.relative_to(root)}: {size}"
        for path in sheets
        for size in re.findall(r"(?<![-\w])font(?:-size)?:\s*([^;}]+?)\s*[;}]", path.read_text(encoding="utf-8"))
        if not allowed.fullmatch(size)
    ]
    assert sheets and written == []
