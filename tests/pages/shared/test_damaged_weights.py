"""A file of weights that is damaged or missing: told by the model's name, and nothing else breaks."""

import shutil

import pytest
from app_test import click, open_page, press, settings_of, texts

from attention import checkpoints
from attention.checkpoints import DIRECTORY, shipped
from attention.config import KV_VARIANTS
from pages.shapes import silent_failures
from pages.shared import models
from pages.shared.settings import Settings
from pages.shared.situations import apply_situation

ASKED = apply_situation(Settings(), "fix_2").to_address()
TOLD = (
    "The weights of the trained model (Spelling → sound, encoder 8 × 8, decoder 16 × 8, K and V from encoder heads, "
    "in groups) are missing or damaged, so random ones are shown."
)


@pytest.fixture
def damaged(request, tmp_path, monkeypatch):
    """The folder of models that ship, in which one of spelling and one of reverse cannot be read."""
    folder = shutil.copytree(DIRECTORY, tmp_path / "checkpoints", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name in ("spelling-8x8-16x8-grouped", "reverse-4x16-8x8"):
        path = folder / f"{name}.safetensors"
        if request.param == "absent":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[: -100 if request.param == "cut" else 0])
    monkeypatch.setattr("attention.checkpoints.DIRECTORY", folder)
    kept = (models.model_of, models.word_view, models.decoding_of, silent_failures._run)
    for made in (checkpoints._index, shipped, *kept):
        made.cache_clear()
    yield
    for made in (checkpoints._index, shipped, *kept):
        made.cache_clear()


EACH_DAMAGE = pytest.mark.parametrize("damaged", ["cut", "empty", "absent"], indirect=True)


@pytest.mark.parametrize(
    "damaged, page", [("cut", ""), ("empty", "anchors"), ("absent", "redundancy")], indirect=["damaged"]
)
def test_a_model_that_cannot_be_read_is_named_and_shown_with_random_weights(damaged, page):
    app = open_page(page, **ASKED)
    assert TOLD in texts(app) and "random weights" in texts(app)
    assert TOLD not in texts(open_page(page, **{**ASKED, "seed": "1"}))  # which is another model
    press(app, "enc_heads", 8)
    assert texts(press(app, "dec_heads", 8)).count("damaged") == 0


@EACH_DAMAGE
def test_it_is_neither_marked_nor_offered_and_its_neighbours_are(damaged):
    app = open_page(**ASKED)
    options = dict(zip(KV_VARIANTS, app.selectbox(key="kv").options, strict=True))
    assert {way for way, name in options.items() if "●" in name} == {"reproject", "projection", "extra"}
    nearest = app.button(key="nearest")
    assert "K and V from" in nearest.label and "in groups" not in nearest.label
    app = click(app, nearest.label)
    assert settings_of(app).kv != "grouped" and "badge shipped" in texts(app)


@pytest.mark.parametrize("damaged", ["cut"], indirect=True)
def test_other_pages_go_on_without_it(damaged):
    assert "needs a trained model (Reverse, encoder 4 × 16, decoder 8 × 8)" in texts(
        open_page("shapes", demo="inverted_mask")
    )
    assert "Computed by this app" in texts(open_page("shapes", demo="tiled_kv"))
    table = texts(open_page("redundancy", part="shared"))
    assert "the encoder&#x27;s, projected" in table and "the encoder&#x27;s, in groups" not in table
