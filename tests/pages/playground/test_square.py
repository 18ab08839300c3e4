"""How a square is made, as the playground tells it: the numbers of the model, the nearest cell, every K/V way."""

import re

import numpy as np
import pytest
from app_test import open_page, press, settings_of, texts
from random_settings import settings_that_fit

from attention.cross_attention import KV_WAYS
from pages.playground.square import MOST, STEPS
from pages.shared.models import record_of, word_view
from pages.shared.texts import catalogue, label, number


def made(app) -> list[str]:
    """The steps that are shown."""
    (found,) = (html.proto.body for html in app.get("html") if '<ol class="made">' in html.proto.body)
    return found.split("<li")[1:]


def numbers_of(step: str) -> list[float]:
    return [float(found.replace("−", "-")) for found in re.findall(r"<b>([−\d.]+)</b>", step)]


def test_numbers_of_every_step_follow_from_each_other_and_end_at_the_weight_of_the_map():
    app = open_page("", text="knight", layer=2, head=3, row=2, column=3, made=5)
    settings = settings_of(app)
    view = word_view(record_of(settings), tuple("knight"))
    layer = view.layers["cross"][1]
    query, key, product, score, softmax = made(app)
    q, k, products = map(numbers_of, (query, key, product))
    assert len(q) == len(k) == settings.dec_dim
    np.testing.assert_allclose(q, layer.queries[2, 1], atol=0.006)
    np.testing.assert_allclose(products, np.multiply(q, k), atol=0.03)
    total = sum(layer.queries[2, 1] * layer.keys[2, 2])
    assert f"q · k = {number(total)}" in product and f"√8 = {number(total / 8**0.5)}" in score
    assert f"is {number(layer.weights[2, 1, 2], 3)}." in softmax
    assert numbers_of(softmax) == pytest.approx(layer.weights[2, 1], abs=0.0006)
    assert softmax.count("chosen") == 1


def test_stepping_shows_one_more_at_a_time():
    app = open_page("", text="knight")
    assert len(made(app)) == 1
    for step in range(2, len(STEPS) + 1):
        press(app, "made", step)
        assert len(made(app)) == step and made(app)[-1].startswith(' class="here"')


def test_without_a_choice_it_is_the_strongest_square_of_the_first_row():
    app = open_page("", text="knight", layer=2, head=3)
    layer = word_view(record_of(settings_of(app)), tuple("knight")).layers["cross"][1]
    assert f"looks at “{layer.columns[layer.weights[2, 0].argmax()]}” with weight" in texts(app)


def test_in_a_smaller_map_the_nearest_square_is_meant():
    app = open_page("", text="knight", row=40, column=40)
    assert "predicts “&lt;/s&gt;” looks at “&lt;/s&gt;” with weight" in texts(app)


def test_a_square_that_the_mask_hides_is_told_and_not_taken_apart():
    app = open_page("", text="knight", kind="decoder", row=1, column=3)
    assert catalogue()["square"]["masked"] in texts(app)
    assert not [html for html in app.get("html") if 'class="made"' in html.proto.body]


def test_of_large_heads_the_largest_products_are_drawn_and_the_rest_is_told():
    app = open_page("", text="knight", enc_heads=2, enc_dim=64, dec_heads=2, dec_dim=64, made=3)
    query, key, product = made(app)
    assert len(numbers_of(query)) == len(numbers_of(key)) == len(numbers_of(product)) == MOST
    (rest,) = re.findall(rf"the {MOST} largest of 64; the others add ([−\d.]+)\.", product)
    (total,) = re.findall(r"q · k = ([−\d.]+)\.", product)
    rest, total = (float(text.replace("−", "-")) for text in (rest, total))
    assert sum(numbers_of(product)) + rest == pytest.approx(total, abs=0.1)


def test_it_is_told_where_the_keys_of_every_way_come_from():
    for settings in settings_that_fit(100):
        assert label("square", "key_from", maker=KV_WAYS[settings.kv].text(settings.config))


def test_heads_that_share_a_key_are_named():
    app = open_page("", kv="grouped", enc_heads=8, enc_dim=8, dec_heads=16, dec_dim=8, head=6, made=2)
    assert "Heads 5 to 6 all read it: K/V head 3." in made(app)[1]
