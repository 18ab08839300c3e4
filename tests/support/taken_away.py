"""The files that a picture's menu offers, made as a click makes them: in a thread that knows no session."""

import threading
from unittest.mock import patch

from app_test import checked
from streamlit.testing.v1 import AppTest


def files(app: AppTest, picture: str) -> dict[str, bytes]:
    """What the menu of the picture with this key gives, by file name; the menu stays open."""
    offered = {}

    def note(_label, *, data, file_name, on_click, **_look) -> None:
        assert on_click == "ignore"  # a click draws nothing again
        offered[file_name] = data

    app.session_state[f"taking_{picture}"] = True
    with patch("streamlit.download_button", note):
        checked(app.run())
    made = {}

    def make() -> None:
        made.update((name, data()) for name, data in offered.items())

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    assert made.keys() == offered.keys(), "making a file has failed"
    return made
