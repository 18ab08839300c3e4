"""The page about published models, driven without a browser: every preset, every link, every figure on it."""

import re
from html import unescape
from urllib.parse import parse_qsl, urlencode

import app_test
import numpy as np
import pytest
from app_test import checked, read_address
from grid_sent import grid_of
from streamlit.testing.v1 import AppTest

from attention.experiments.published import BART_LARGE, PUBLISHED_MODELS, WHISPER_LARGE_V3, miniature, sent_by
from attention.tasks import get_task
from pages.playground.miniature import what_was_scaled
from pages.shared.settings import RANGES, Settings
from pages.wild.published import miniature_of
from pages.wild.sent import in_words

ALL = pytest.mark.parametrize("model", PUBLISHED_MODELS, ids=lambda model: model.key)


def open_page(page: str = "wild", **address) -> AppTest:
    return app_test.open_page(page, **address)


def texts(app: AppTest) -> str:
    return unescape(app_test.texts(app))


def links(app: AppTest) -> list[str]:
    bodies = "".join(element.proto.body for element in app.get("html"))
    return [unescape(link) for link in re.findall(r'href="(\./\?[^"]*)"', bodies)]


def num_heads(app: AppTest) -> int:
    return len(grid_of(app)["weights"])


@pytest.mark.sample(3)
@pytest.mark.parametrize("model", PUBLISHED_MODELS, ids=lambda model: model.key)
def test_a_click_opens_the_miniature_in_the_playground(model):
    app = open_page(text="cat", seed="3")
    checked(app.button(key=f"mini_{model.key}").click().run())
    settings = app.session_state["settings"]
    task = get_task("spelling")
    assert settings.config == miniature(model, len(task.src_vocab), len(task.tgt_vocab))
    assert (settings.text, settings.seed, settings.kind, settings.layer) == ("cat", 3, "cross", 2)
    assert num_heads(app) == settings.dec_heads
    said = texts(app)
    assert "Miniature of " in said
    assert model.name in said
    assert what_was_scaled(model) in said
    assert "random weights" in said
    assert "Cross-attention does not run" not in said
    assert read_address(dict(app.query_params)) == (settings, [])


def link_to(address: dict[str, str]) -> str:
    """Of a page where nothing is locked and nothing presented."""
    return f"./?{urlencode(address)}"


@ALL
def test_a_link_is_an_address_of_the_miniature_and_nothing_in_it_is_refused(model):
    wanted = miniature_of(model, Settings(task="reverse", text="a&b=<c>"))
    link = link_to(wanted.to_address())
    assert link.startswith("./?")
    assert read_address(dict(parse_qsl(link[3:])))[1] == []
    assert read_address(dict(parse_qsl(link[3:])))[0].same_model(wanted)
    for name, (low, high) in RANGES.items():
        value = getattr(wanted, name)
        assert (value is None and name == "moment") or low <= value <= high


def test_every_model_is_in_the_table_with_its_link_and_its_source():
    app = open_page(text="cat")
    assert links(app) == [
        link_to(miniature_of(model, read_address({"text": "cat"})[0]).to_address()) for model in PUBLISHED_MODELS
    ]
    said = texts(app)
    for model in PUBLISHED_MODELS:
        assert f'scope="row">{model.name}</th>' in said
        for _, source in model.sources:
            assert f'href="{source.url}"' in said
    for name in ("BART-large 16 / 16", "Whisper-large-v3 20 / 20", "Marian 16 / 16", "M2M100 16 / 16", "DETR 8 / 8"):
        assert name in said


def test_an_opened_link_shows_the_same_maps_as_the_click():
    app = open_page()
    clicked = checked(app.button(key="mini_t5gemma").click().run())
    (link,) = {link for link in links(open_page()) if link == link_to(clicked.session_state["settings"].to_address())}
    opened = open_page(page="", **dict(parse_qsl(link[3:])))
    np.testing.assert_array_equal(grid_of(clicked)["weights"], grid_of(opened)["weights"])


def test_grouped_heads_of_a_miniature_are_named():
    app = checked(open_page().button(key="mini_llama_vision").click().run())
    assert "32 query heads read 8 K/V heads, 4 of them each (grouped-query attention)" in texts(app)


def test_models_with_equal_figures_are_both_named():
    app = checked(open_page().button(key="mini_trocr_base").click().run())
    assert "Miniature of TrOCR-base and MusicGen S" in texts(app)


def test_another_head_count_is_no_longer_a_miniature():
    app = checked(open_page().button(key="mini_trocr_base").click().run())
    checked(app.segmented_control(key="dec_heads").set_value(8).run())
    assert "Miniature of" not in texts(app)


def test_what_was_scaled_says_every_figure():
    sentence = {model.key: what_was_scaled(model) for model in PUBLISHED_MODELS}
    assert sentence["trocr_base"] == (
        "As published: 12 → 16 heads. Scaled: encoder width 768 → 96, encoder head size 64 → 8, decoder width "
        "1,024 → 128, decoder head size 64 → 8. 2 layers on each side, this task's vocabulary."
    )
    assert sentence["t5_11b"].startswith("128 → 128 heads, more than this page shows; its ratios stay.")
    assert "encoder heads 128 → 32" in sentence["t5_11b"]
    assert "K/V heads of decoder self-attention 4 → 16" in sentence["dia"]


def test_bytes_of_bart_whisper_and_the_visitor_s_own_configuration():
    said = texts(open_page(enc_heads="4", dec_heads="8", text="cat"))
    for bart_and_whisper in ("2.1 MB", "50.3 MB", "3.8 MB", "245.8 MB", "24 times", "64 times"):
        assert bart_and_whisper in said
    assert "12 × 2 × 16 heads × 64 × 1,024 tokens × 2 bytes" in said
    assert "512 bytes" in said  # c, a, t, </s>: 4 tokens × width 64 × 2 bytes
    assert "2.0 kB" in said  # 2 layers × 2 × 8 heads × 8 × 4 tokens × 2 bytes = 2,048
    assert "2 × 2 × 8 heads × 8 × 4 tokens × 2 bytes" in said


def test_keys_and_values_that_are_handed_over_count_once():
    said = texts(open_page(enc_heads="8", enc_dim="8", enc_kv_heads="4", dec_heads="4", dec_dim="8", kv="direct"))
    assert "1 × 2 × 4 heads × 8 × 7 tokens × 2 bytes" in said
    assert "shared by all 2 decoder layers" in said


def test_all_bars_are_to_one_scale():
    """Whisper's K and V are the longest of the six bars; half of them would be half as long."""
    said = texts(open_page(enc_heads="4", dec_heads="8", text="cat"))
    widths = [float(width) for width in re.findall(r'class="bar \w+" style="width: ([\d.]+)%"', said)]
    most = WHISPER_LARGE_V3.kv_bytes
    sizes = [size for sent in (BART_LARGE, WHISPER_LARGE_V3) for size in (sent.memory_bytes, sent.kv_bytes)]
    assert widths == pytest.approx([100 * size / most for size in (*sizes, 512, 2048)], abs=1e-4)


def test_bytes_in_words():
    assert [in_words(number) for number in (2, 999, 1_000, 50_331_648)] == ["2 bytes", "999 bytes", "1.0 kB", "50.3 MB"]
    own = sent_by(Settings().config, tokens=7)
    assert BART_LARGE.bytes_per_number == own.bytes_per_number == 2


def test_typed_text_is_shown_as_typed_or_replaced_with_a_text_that_works():
    said = texts(open_page(text="<b>x</b>"))
    assert "<b>x</b>" not in said.split('class="sent"')[-1]


def test_a_value_of_the_address_that_is_refused_is_said_here_too():
    assert "dec_kv_heads=3 is not possible" in texts(open_page(dec_kv_heads="3"))


def test_the_settings_of_other_pages_are_shown_and_last():
    app = open_page(dec_heads=16)
    assert "2 × 2 × 16 heads × 4 × 7 tokens × 2 bytes" in texts(app)
    assert not list(app.segmented_control)  # none here would have an effect but on one bar
    checked(app.switch_page("pages/playground/playground.py").run())
    assert app.session_state["settings"].dec_heads == 16
    assert num_heads(app) == 16


def test_every_chart_has_a_text_for_those_who_do_not_see_it():
    (chart,) = open_page().get("plotly_chart")
    alt = chart.proto.alt
    for model in PUBLISHED_MODELS:
        assert model.name in alt
    assert "TrOCR-base, MusicGen S 12 against 16" in alt
    assert "T5-11b 128 against 128" in alt
