"""Which settings lead to trained weights: what the sidebar marks is what a click shows."""

from dataclasses import replace
from itertools import product
from math import log2

import pytest
from app_test import checked, open_page, press, settings_of
from streamlit.testing.v1 import AppTest

from attention.checkpoints import shipped
from attention.config import KV_VARIANTS
from attention.training.stored import Card
from pages.shared import trained
from pages.shared.settings import Settings
from pages.shared.situations import apply_situation
from pages.shared.trained import nearest_trained, with_model_of

MARK = "●"
PAGE = "shapes"  # a quick one


def open_at(address: dict[str, str]) -> AppTest:
    return open_page(PAGE, **address)


def marked(app: AppTest) -> set[tuple[str, str]]:
    """The options that have the mark, without it."""
    rows = {key: app.segmented_control(key=key).options for key in ("enc_heads", "dec_heads")}
    rows["kv"] = dict(zip(app.selectbox(key="kv").options, KV_VARIANTS, strict=True))
    found = {(key, name.split()[0]) for key in ("enc_heads", "dec_heads") for name in rows[key] if MARK in name}
    return found | {("kv", way) for name, way in rows["kv"].items() if MARK in name}


def choose(app: AppTest, key: str, value: str) -> AppTest:
    if key == "kv":
        return checked(app.selectbox(key="kv").set_value(value).run())
    return press(app, key, int(value))


def ships(settings: Settings) -> bool:
    """Found in the plainest way."""
    return any(
        (card.task, card.config, card.settings.seed) == (settings.task, settings.config, settings.seed)
        for card in shipped().values()
    )


STARTS = [
    {},
    apply_situation(Settings(), "problem_2").to_address(),  # keeps the head size
    {"task": "reverse", "enc_heads": "6", "dec_heads": "8"},  # 6 × 10, whose total of 64 comes back with 8
    {"enc_heads": "8", "dec_heads": "8", "dec_kv_heads": "4"},  # which fit 4 heads as they are
    {"seed": "1"},
    {"dec_layers": "3"},
]
CLICKS = [
    *product(("enc_heads", "dec_heads"), ("8", "4", "16", "1", "32", "2")),
    *(("kv", way) for way in KV_VARIANTS),
]


@pytest.mark.parametrize("number", range(len(STARTS)))
def test_the_mark_is_where_a_click_leads_to_a_model_that_ships(number):
    """A walk of clicks from each start; every click is in two of them."""
    app = open_at(STARTS[number])
    if "6" in STARTS[number].values():
        press(app, "enc_heads", 8)
        app.session_state["boxes"] = {"more": True}
        checked(app.run())
        checked(app.number_input(key="exact_enc_heads").set_value(6).run())
        app = clicked(app, "enc_heads", "8")
    for key, value in CLICKS[number % 3 :: 3]:
        app = clicked(app, key, value)


def clicked(app: AppTest, key: str, value: str) -> AppTest:
    """One click on, whose mark was right."""
    found = marked(app)
    app = choose(app, key, value)
    assert ((key, value) in found) == ships(settings_of(app)), (key, value)
    return app


def test_the_first_change_of_either_side_may_be_a_marked_one():
    found = marked(open_at({}))
    assert {("enc_heads", "8"), ("dec_heads", "8"), ("dec_heads", "16"), ("kv", "direct")} <= found


def card_of(settings: Settings) -> Card | None:
    return trained.card_of(settings.task, settings.config, settings.seed)


def test_a_card_is_that_of_exactly_these_settings():
    assert card_of(Settings()).name == "spelling-8x8-8x8"
    assert card_of(replace(Settings(), seed=1)) is card_of(replace(Settings(), enc_dim=9)) is None
    assert card_of(replace(Settings(), kv="direct")).name == "spelling-8x8-8x8-direct"


@pytest.mark.parametrize("task", ["spelling", "reverse", "dates", "pinyin"])
@pytest.mark.parametrize("kv", ["reproject", "grouped", "direct"])
def test_the_nearest_model_has_the_same_way_if_one_has_and_then_the_nearest_head_counts(task, kv):
    cards = [card for card in shipped().values() if card.task == task]
    for enc, dec, dim in product((1, 3, 6, 8, 24), (1, 4, 7, 16, 31), (4, 8, 20)):
        wanted = Settings(task=task, enc_heads=enc, dec_heads=dec, enc_dim=dim, dec_dim=dim, kv=kv).fitted()
        found = nearest_trained(wanted)
        of_the_way = [card for card in cards if card.config.kv == kv] or cards
        assert found in of_the_way

        def heads_away(card, enc=enc, dec=dec):
            return abs(log2(card.config.encoder.num_heads) - log2(enc)) + abs(
                log2(card.config.decoder.num_heads) - log2(dec)
            )

        assert heads_away(found) == pytest.approx(min(map(heads_away, of_the_way)))
        shown = with_model_of(found, wanted)
        assert card_of(shown) == found and (shown.text, shown.kind) == (wanted.text, wanted.kind)


def test_a_model_that_ships_is_its_own_nearest():
    for card in shipped().values():
        assert nearest_trained(with_model_of(card, Settings(task=card.task))) == card
