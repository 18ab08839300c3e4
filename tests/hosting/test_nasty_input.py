"""Whatever comes from a browser is input: texts, values of the address, and what components and widgets send.

Over the app's own protocol, as anybody can send it. After each the page is there, nothing failed, and nothing of the
machine is told: no path, no stack trace. What is typed is never markup.
"""

import re
from urllib.parse import quote

import pytest
from awaited import awaited
from hypothesis import example, given
from hypothesis import strategies as st
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes
from websockets.exceptions import ConnectionClosedError

from benchmarks.browser import ROOT, Servers
from benchmarks.visitor import Visitor
from pages.shared.every_page import PAGES, all_declared
from pages.shared.settings import LONGEST_TEXT, read_address

NASTY = [
    "",
    " ",
    "\x00\x01\x1f",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "$\\frac{1}{0}$ **x** [y](javascript:1)",
    "'; DROP TABLE words; --",
    "../../../etc/passwd",
    "{0.__class__.__mro__}",
    "%s%n%x",
    "\u202egnirts\u202c",
    "\ud83d",
    "👩‍👩‍👧" * 50,
    "猫" * 500,
    "a" * 100_000,
    "NaN",
    "1e400",
    "-1",
    "٣",
    "null",
]
ODD = [
    None,
    True,
    0,
    -1,
    1e308,
    "x",
    [],
    {},
    [[[]]],
    {"layer": 99, "head": 99},
    {"layer": -1, "head": 0},
    {"layer": "0", "head": None, "row": {}, "col": []},
    {"layer": 0, "head": 0, "row": 10**9, "col": -5},
    {"step": "x", "head": 1e9},
]
LEAK = re.compile(rf"{re.escape(str(ROOT))}|site-packages|Traceback|/opt/|/home/|\.py\"")
NAMES = ["text", "width", "kv_variant", "layer", "head", "off", "enc_kv_heads", "dec_kv_heads", "moment"]


@example({"other": ""})  # of many models
@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=12), st.sampled_from(NASTY) | st.text(max_size=40)))
def test_any_address_is_read_as_settings_and_sentences(params):
    settings, notices = read_address(params, all_declared())
    assert settings == settings.fitted() and len(settings.text) <= LONGEST_TEXT
    assert settings.config.encoder.num_heads == settings.enc_heads
    assert all(len(told.english) < 400 for told in notices)
    again, _ = read_address(settings.to_address(all_declared()), all_declared())
    assert again.config == settings.config


@pytest.mark.parametrize("parameter", [*all_declared()], ids=lambda parameter: parameter.name)
def test_every_parameter_of_a_page_survives_whatever_is_written(parameter):
    for text in NASTY:
        settings, _ = read_address({parameter.name: text}, all_declared())
        assert settings.config


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers("app.py")
    servers.stop()


async def healthy(visitor: Visitor, run) -> None:
    """Nothing failed, and nothing is told that is none of the visitor's business."""
    assert not run.failed
    said = " ".join(visitor.texts)
    assert not LEAK.search(said), LEAK.search(said)
    assert "<script>alert" not in said and "<img src=x" not in said


def visit(url: str, script) -> None:
    async def one() -> None:
        async with Visitor.at(url) as visitor:
            await script(visitor)

    awaited(one())


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        pytest.param("", NASTY[::4], id="some"),
        *(pytest.param(page, NASTY, id=page or "all", marks=pytest.mark.slow) for page in ("", "anchors", "shapes")),
    ],
)
def test_every_text_can_be_typed_and_linked(url, page, texts):
    assert page == "" or page in PAGES

    async def script(visitor: Visitor) -> None:
        await visitor.open("", page)
        for text in texts:
            if "\ud83d" in text:
                continue  # half a character cannot be sent at all
            if "text" in visitor.elements:
                await healthy(visitor, await visitor.touch("text", string=text))
            await healthy(visitor, await visitor.open(f"text={quote(text[:2000])}", page))

    visit(url, script)


@pytest.mark.parametrize(
    "odd", [pytest.param(ODD[::4], id="some"), pytest.param(ODD, id="all", marks=pytest.mark.slow)]
)
def test_what_components_send_is_never_trusted(url, odd):
    async def script(visitor: Visitor) -> None:
        await visitor.open("text=box")
        shown = visitor.grid()[0]
        for value in odd:
            for state in (value, {"selected": value}, {"selected": value, "surplus": value}):
                await healthy(visitor, await visitor.touch("heads", json=state))
        await healthy(visitor, await visitor.touch("heads", json={"selected": {"layer": "x" * 10_000_000}}))
        await healthy(visitor, await visitor.open("text=box"))
        assert visitor.grid()[0]["cols"] == shown["cols"]

    visit(url, script)


def test_what_widgets_send_is_never_trusted(url):
    async def script(visitor: Visitor) -> None:
        await visitor.open("text=box")
        for key in ("kind", "dec_heads", "keep"):
            for text in ("nonsense", "", "99", "<b>"):
                await healthy(visitor, await visitor.touch(key, strings=[text]))
        await healthy(visitor, await visitor.open("text=box"))
        assert visitor.grid()[0]["rows"]

    visit(url, script)


def test_a_message_that_is_none_ends_one_session_and_no_other(url):
    async def script(visitor: Visitor) -> None:
        await visitor.open("text=box")
        async with Visitor.at(url) as other:
            await other.open("text=queue")
            await visitor.connection.send(b"\xff\x00 not a message")
            await healthy(other, await other.run())
            assert other.grid()[0]["cols"][:5] == list("queue")

    visit(url, script)


@pytest.mark.slow
def test_a_message_above_the_limit_ends_its_own_connection_and_harms_nobody(url):
    async def script(visitor: Visitor) -> None:
        await visitor.open("text=box")
        async with Visitor.at(url) as other:
            await other.open("text=queue")
            too_much = {"selected": {"layer": "x" * (get_max_widget_state_size_bytes() + 1)}}
            with pytest.raises(ConnectionClosedError, match="message too big"):
                await other.touch("heads", json=too_much)
        await healthy(visitor, await visitor.run())
        assert visitor.grid()[0]["cols"][:3] == list("box")

    visit(url, script)
