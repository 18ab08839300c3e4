"""`.streamlit/config.toml`: the settings exist, and its colours can be read."""

import re
import tomllib
from pathlib import Path

import pytest
from streamlit import config as streamlit_config

from attention.figures import colors

SETTINGS = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
READABLE = 4.5  # WCAG 2 AA, text of ordinary size


def rgb(color):
    return tuple(bytes.fromhex(color.removeprefix("#")))


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
        assert colors.contrast(text, ground) >= 7
        assert colors.contrast(rgb(theme["linkColor"]), ground) >= READABLE
        # A chosen segment is written in the accent colour on a ground with a tenth of it.
        tinted = [0.9 * below + 0.1 * above for below, above in zip(ground, accent, strict=True)]
        assert colors.contrast(accent, tinted) >= READABLE


@pytest.mark.parametrize(("name", "dark"), [("light", False), ("dark", True)])
def test_zero_has_the_colour_of_the_page(name, dark):
    assert colors.sequential(dark)[0] == SETTINGS["theme"][name]["backgroundColor"]
