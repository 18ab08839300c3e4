"""Each page opened by its address on a server that was asked for nothing before: all is there in the end."""

import pytest
from whole_page import ADDRESSES, expect_whole

from benchmarks.browser import Servers

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # plain pytest walks through all pages: test_journeys_in_browser
pytest.importorskip("playwright.sync_api")

SETTINGS = {
    "anchors": "text=psychology&step=3",
    "shapes": "enc_heads=8&dec_heads=16&kv=grouped&keep=size",
    "redundancy": "part=layers",
    "wild": "text=cat",
}


@pytest.mark.parametrize("name", list(ADDRESSES)[1:])
def test_the_first_address_asked_of_a_server_may_be_any_page(browser, new_page, tmp_path, name):
    servers = Servers(tmp_path)
    try:
        url, page = servers("app.py"), new_page()
        page.goto(f"{url}/{ADDRESSES[name]}?{SETTINGS.get(name, '')}")
        expect_whole(page, name)
        assert servers.unexpected(url) == []
    finally:
        servers.stop()
