"""The app without a browser: open a page at an address, touch its widgets, read what it says."""

from functools import cache
from pathlib import Path
from unittest.mock import patch

from streamlit.components.v2 import manifest_scanner
from streamlit.navigation.page import Page
from streamlit.testing.v1 import AppTest

from pages.playground import heads
from pages.shared import settings
from pages.shared.every_page import all_declared
from pages.shared.settings import Settings
from pages.shared.situations import GROUPS

APP = Path(__file__).parents[2] / "app.py"
SPOKEN = ("title", "markdown", "caption", "header", "subheader", "code", "latex")

# Nothing is painted here, so nothing has to be waited for; and no package is installed from one test to the next.
heads.SECONDS_TO_PAINT = 0
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def open_page(page: str = "", **address) -> AppTest:
    """The app at an address; `page` is the folder of another page than the playground."""
    opened, run = [], Page.run

    def run_and_note(self: Page) -> None:
        opened.append(self.url_path)
        run(self)

    app = AppTest.from_file(APP, default_timeout=120)
    for name, value in address.items():
        app.query_params[name] = str(value)
    if page:
        app.switch_page(f"pages/{page}/{page}.py")
    with patch.object(Page, "run", run_and_note):
        checked(app.run())
    assert opened[-1] == page  # for a file that is no page, Streamlit shows the first one without a word
    return app


def go(app: AppTest, page: str) -> AppTest:
    """Follow a link of the navigation to the page of this folder: Streamlit opens it with a bare address."""
    return _open(app, page, {})


def back(app: AppTest, page: str, address: dict[str, str]) -> AppTest:
    """The browser's Back, to an address of the page of this folder."""
    with patch("pages.shared.session.went_back", lambda: True):
        return _open(app, page, address)


def _open(app: AppTest, page: str, address: dict[str, str]) -> AppTest:
    app.query_params.clear()
    app.query_params.update(address)
    app.switch_page(f"pages/{page}/{page}.py")
    return checked(app.run())


def address_of(app: AppTest) -> dict[str, str]:
    """What the address bar says. AppTest has a text where it was put in, and a list where the app has written it."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in app.query_params.items()}


def checked(app: AppTest) -> AppTest:
    """The app, if its last run went well."""
    assert not app.exception, [error.value for error in app.exception]
    return app


def components(app: AppTest) -> list:
    """The components of the page; without those that every page has."""
    own = ("copy_", "outer_address_", "scripts")
    return [one for one in app.get("bidi_component") if not one.key.startswith(own)]


def texts(app: AppTest) -> str:
    """Everything the page says, in one string."""
    said = [element.proto.body for element in app.get("html") if not element.proto.body.startswith("<script>")]
    said += [element.value for kind in SPOKEN for element in app.get(kind)]
    said += [element.proto.text for element in app.get("progress")]
    return "\n".join(said)


def read_address(params: dict[str, str]) -> tuple[Settings, list[str]]:
    """What an address says, with the parameters of all pages, and the notices in English."""
    found, notices = settings.read_address(params, all_declared())
    return found, [notice.english for notice in notices]


def settings_of(app: AppTest) -> Settings:
    return app.session_state["settings"]


def choose_situation(app: AppTest, name: str) -> AppTest:
    """Choose one in the sidebar."""
    (group,) = (group for group, names in GROUPS.items() if name in names)
    return checked(app.pills(key=f"situation_{group}").set_value(name).run())


def situation_shown(app: AppTest) -> str | None:
    """The one that is chosen in the sidebar."""
    shown = [value for group in GROUPS if (value := app.pills(key=f"situation_{group}").value)]
    assert len(shown) <= 1
    return shown[0] if shown else None


def press(app: AppTest, key: str, value) -> AppTest:
    """Choose in a row of buttons."""
    return checked(app.segmented_control(key=key).set_value(value).run())


def click(app: AppTest, label: str) -> AppTest:
    """Press the one button with this label, whether it is marked as leading to a trained model or not."""
    (button,) = (button for button in app.button if button.label.removesuffix("\u2009●") == label)
    return checked(button.click().run())
