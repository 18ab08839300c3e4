"""The app without a browser: open a page at an address, touch its widgets, read what it says."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.parts.settings import Settings

APP = Path(__file__).parents[2] / "app.py"
SPOKEN = ("title", "markdown", "caption", "header", "subheader", "code", "latex")


def open_page(page: str = "", **address) -> AppTest:
    """The app at an address; `page` is the file name of another page than the playground."""
    app = AppTest.from_file(APP, default_timeout=120)
    for name, value in address.items():
        app.query_params[name] = str(value)
    if page:
        app.switch_page(f"pages/{page}.py")
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    """The app, if its last run went well."""
    assert not app.exception, [error.value for error in app.exception]
    return app


def texts(app: AppTest) -> str:
    """Everything the page says, in one string."""
    said = [element.proto.body for element in app.get("html")]
    said += [element.value for kind in SPOKEN for element in app.get(kind)]
    said += [element.proto.text for element in app.get("progress")]
    return "\n".join(said)


def settings_of(app: AppTest) -> Settings:
    return app.session_state["settings"]


def press(app: AppTest, key: str, value) -> AppTest:
    """Choose in a row of buttons."""
    return checked(app.segmented_control(key=key).set_value(value).run())


def click(app: AppTest, label: str) -> AppTest:
    """Press the one button with this label."""
    (button,) = (button for button in app.button if button.label == label)
    return checked(button.click().run())
