"""What was chosen is still there when one comes back, is in the address, and changes only with a word."""

import json
from dataclasses import replace
from unittest.mock import patch

import pytest
from app_test import (
    address_of,
    back,
    checked,
    choose_situation,
    components,
    go,
    open_page,
    press,
    read_address,
    settings_of,
    texts,
)

from attention.checkpoints import shipped
from attention.jobs.training_service import Progress
from attention.tasks import get_task
from pages.anchors import experiment
from pages.anchors.address import HIDDEN, LOADED, OTHER, STRENGTH, name_of
from pages.redundancy.address import PAIR
from pages.shapes.address import DEMO, LEDGER
from pages.shared import session
from pages.shared.answer import output_text
from pages.shared.parameters import END
from pages.shared.settings import Settings
from pages.shared.training_panel import _running
from pages.shared.widgets import taken

PAGES = ("playground", "shapes", "anchors", "compare", "redundancy", "wild", "article")


@pytest.mark.sample(2)
@pytest.mark.parametrize("other", [page for page in PAGES if page != "shapes"])
def test_shapes_is_as_it_was_left(other):
    app = open_page("shapes")
    checked(app.slider(key="ledger").set_value(7).run())
    checked(app.pills(key="demo").set_value(DEMO.allowed[0]).run())
    go(go(app, other), "shapes")
    assert app.slider(key="ledger").value == 7
    assert app.pills(key="demo").value == DEMO.allowed[0]
    assert "7 of 11: " in texts(app)


def test_another_ledger_is_looked_at_from_its_beginning():
    app = press(open_page("shapes", ledger=7), "kind", "encoder")
    assert settings_of(app)[LEDGER] is None
    assert app.slider(key="ledger").value == 1


def test_a_box_that_was_open_is_open_with_its_content():
    app = open_page("redundancy", part="pairs")
    app.session_state["boxes"] = {"what_effective": True}
    checked(app.run())
    explained = texts(app)
    go(go(app, "compare"), "redundancy")
    assert texts(app) == explained


def test_anchors_keeps_what_is_done_to_the_anchor_and_has_it_in_the_address(monkeypatch):
    monkeypatch.setattr(experiment, "NUM_WORDS", 9)  # it is not about how many words come out right
    app = open_page("anchors", enc_heads=8, dec_heads=16, experiment="noise_each")
    checked(app.slider(key="strength").set_value(0.9).run())
    press(app, "page_experiment", "noise_once")
    assert app.slider(key="strength").value == 0.9
    press(app, "page_experiment", "hidden")
    app.session_state["settings"] = settings_of(app).put(HIDDEN, (2, END))  # as a click in the player does
    checked(app.run())
    press(app, "page_experiment", "misuse")
    press(app, "loaded", 8)
    press(app, "page_experiment", "other")
    checked(app.selectbox(key="other_decoder").select("8 × 8").run())
    settings = settings_of(app)
    wanted = {STRENGTH: 0.9, HIDDEN: (2, END), LOADED: 8, OTHER: "8x8-8x8"}
    assert {parameter: settings[parameter] for parameter in wanted} == wanted
    address = address_of(app)
    assert (address["strength"], address["hidden"], address["loaded"], address["other"]) == (
        "0.9", "2-end", "8", "8x8-8x8",
    )  # fmt: skip
    assert settings_of(go(go(app, "redundancy"), "anchors")) == settings
    assert settings_of(open_page("anchors", **address)) == settings


def test_the_names_of_shipped_models_tell_them_apart():
    for task in {task for task, _ in shipped()}:
        names = [name_of(config) for other, config in shipped() if other == task]
        assert len(set(names)) == len(names)
    assert "8x8-16x4" in OTHER.allowed


def test_what_is_hidden_is_named():
    said = texts(open_page("anchors", experiment="hidden", hidden="1-3-end"))
    assert "Hidden: k 1, i 3, ‹/s›" in said
    assert "The same places are hidden in each of these words: 1, 3, end." in said
    assert "Nothing is hidden" in texts(open_page("anchors", experiment="hidden", hidden="none"))


def test_each_task_keeps_its_own_text():
    app = open_page()
    checked(app.text_input(key="text").set_value("extraordinarily").run())
    press(app, "task", "reverse")
    checked(app.text_input(key="text").set_value("abc").run())
    assert settings_of(press(app, "task", "spelling")).text == "extraordinarily"
    assert settings_of(press(app, "task", "reverse")).text == "abc"


def test_a_head_that_is_not_there_goes_to_the_nearest_with_a_sentence_and_comes_back():
    app = open_page(enc_heads=4, dec_heads=16, head=12)
    press(app, "dec_heads", 8)
    assert settings_of(app).head == 8 and "There is no head 12 here: head 8 is shown." in texts(app)
    press(app, "dec_heads", 16)
    assert settings_of(app).head == 12 and "There is no head" not in texts(app)
    press(app, "kind", "encoder")
    assert settings_of(app).head == 4 and "There is no head 12 here: head 4 is shown." in texts(app)
    assert settings_of(press(app, "kind", "cross")).head == 12


def test_a_layer_comes_back_when_it_is_there_again():
    app = open_page(enc_layers=1, dec_layers=3, layer=3)
    press(app, "kind", "encoder")
    assert settings_of(app).layer == 1 and "There is no layer 3 here" in texts(app)
    assert settings_of(press(app, "kind", "decoder")).layer == 3


@pytest.mark.parametrize(("page", "key"), [("anchors", "anchors_layer"), ("redundancy", "cards_layer")])
def test_a_page_of_cross_attention_shows_its_nearest_layer_and_leaves_another_kind_s_alone(page, key):
    app = open_page(page, kind="encoder", layer=3, enc_layers=3, dec_layers=2, part="shared")
    assert app.segmented_control(key=key).value == 2
    assert (settings_of(app).kind, settings_of(app).layer) == ("encoder", 3)
    assert settings_of(go(app, "playground")).layer == 3
    app = press(go(app, page), key, 1)
    assert (settings_of(app).kind, settings_of(app).layer) == ("cross", 1)


def test_what_is_hidden_is_shown_again_when_its_letters_are_others():
    def told():
        (player,) = components(app)
        (sent,) = json.loads(player.proto.json)
        return sent["hidden"], sent["runs"][1]["title"]

    app = open_page("anchors", text="photograph", experiment="hidden", hidden="3-4-end")
    shown = address_of(app)
    assert told() == ([3, 4, END], "Hidden: o 3, t 4, ‹/s›")
    press(app, "task", "dates")
    hidden, title = told()
    assert hidden == [3, 4, END] and "o 3" not in title
    back(app, "anchors", shown)
    assert told() == ([3, 4, END], "Hidden: o 3, t 4, ‹/s›")
    assert settings_of(app)[HIDDEN] == (3, 4, END)


def test_k_v_heads_come_back_when_they_divide_the_heads_again():
    app = open_page(dec_heads=16, dec_kv_heads=8)
    press(app, "dec_heads", 4)
    assert settings_of(app).dec_kv_heads is None
    assert "8 K/V heads do not divide 4 decoder heads: 4 K/V heads are used." in texts(app)
    press(app, "dec_heads", 8)
    assert "do not divide" not in texts(app)
    assert settings_of(press(app, "dec_heads", 16)).dec_kv_heads == 8


def test_a_situation_is_as_it_is_described_whatever_was_wanted_before():
    app = press(open_page(dec_heads=16, dec_kv_heads=8), "dec_heads", 8)
    choose_situation(app, "problem_2")
    assert settings_of(app).dec_heads == 16 and settings_of(app).dec_kv_heads is None


@pytest.mark.parametrize(("heads", "other"), [(4, 4), (8, 7), (2, 2)])
def test_another_head_that_is_not_there_is_the_nearest(heads, other):
    app = open_page("redundancy", part="pairs", dec_heads=heads, pair=7)
    assert app.selectbox(key="pair_b").value == other
    assert settings_of(app)[PAIR] == 7
    assert ("There is no head 7 here" in texts(app)) == (heads < 7)


def test_going_back_to_a_bare_address_gives_what_was_shown_there():
    app = go(open_page(text="phone", enc_heads=8, dec_heads=8), "anchors")
    shown = settings_of(go(app, "redundancy"))
    assert settings_of(back(app, "redundancy", {})) == shown != Settings()
    assert read_address(address_of(app))[0] == shown  # and the address says so again
    assert settings_of(back(app, "anchors", {})) == shown


def test_the_first_page_s_bare_address_is_the_first_visit():
    app = open_page()
    first = settings_of(app)
    press(app, "dec_heads", 16)
    assert settings_of(back(app, "playground", {})) == first


def test_going_back_at_once_is_believed_and_an_address_from_before_a_click_is_not():
    app = open_page(text="phone")
    checked(app.text_input(key="text").set_value("box").run())
    app.query_params.clear()
    app.query_params["text"] = "phone"
    assert settings_of(checked(app.run())).text == "box"  # a late echo
    assert settings_of(back(app, "playground", {"text": "phone"})).text == "phone"


def test_a_callback_whose_widget_has_gone_does_nothing():
    with patch.object(session.st, "session_state", {}):
        taken("gone", lambda value: pytest.fail("nothing was chosen"))


@pytest.mark.slow
def test_five_seeds_stay_five():
    app = open_page("compare")
    press(app, "compare_dec_heads", 8)
    press(app, "compare_dec_heads", 16)
    assert app.number_input(key="compare_num_seeds").value == 5
    assert "compare" not in address_of(app)  # the stored comparison again


def test_an_experiment_on_another_task_says_so():
    app = press(open_page("compare"), "compare_experiment", "sweep")
    assert "The task is now “Reverse”, not “Spelling → sound”" in texts(app)


@pytest.mark.parametrize("page", PAGES[1:2] + PAGES[5:6])
def test_a_refused_text_is_told_where_another_is_drawn(page):
    assert "Shown instead: “knight”" in texts(open_page(page, text="你好"))


def test_old_addresses_are_still_read():
    old = {"task": "reverse", "text": "abc", "enc_heads": "8", "dec_heads": "16", "part": "twins", "demo": "repeat"}
    settings, notices = read_address({**old, "measure": "query_cka", "step": "2", "lines": "one"})
    assert (settings.task, settings.text, settings.enc_heads, settings.dec_heads) == ("reverse", "abc", 8, 16)
    assert [notice for notice in notices if "demo" not in notice] == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("enc_head", "enc_heads"), ("num_heads", "enc_heads and dec_heads"), ("heads", "enc_heads and dec_heads"),
        ("Enc_heads", "enc_heads"), ("kv_varient", "kv_variant"), ("strenght", "strength"),
    ],
)  # fmt: skip
def test_a_misspelt_name_is_told_with_the_one_that_was_meant(name, meant):
    settings, notices = read_address({name: "8"})
    assert notices == [f"{name} is not a setting; did you mean {meant}?"]
    assert replace(settings, of_pages=()) == Settings()
    assert f"{name} is not a setting; did you mean {meant}?" in texts(open_page(**{name: "8"}))


@pytest.mark.parametrize("name", ["embed", "embed_options", "utm_source", "fbclid", "__theme", "gclid", "xyzzy", "ref"])
def test_names_of_others_are_no_mistakes(name):
    assert read_address({name: "8"})[1] == []


@pytest.mark.parametrize("page", ["playground", "anchors", "redundancy"])
def test_heads_that_are_off_belong_to_the_model_on_every_page(page):
    app = open_page("" if page == "playground" else page, enc_heads=8, dec_heads=16, off="cross.2.3.16", off_by="mean")
    assert "2 heads are switched off (heads 3 and 16 of cross-attention in layer 2); each adds its mean." in texts(app)
    assert "trained; 2 heads switched off since" in texts(app)
    press(app, "dec_heads", 8)
    assert "1 head is switched off (head 3 of cross-attention in layer 2) and adds its mean." in texts(app)
    assert address_of(app)["off"] == "cross.2.3"
    assert address_of(press(app, "dec_heads", 16))["off"] == "cross.2.3.16"


def test_the_first_in_the_queue_is_told_so():
    waiting = Progress(status="waiting", step=0, num_steps=900, place=0)
    assert _running("spelling", waiting) == "Waiting: next in turn, 900 steps to go"
    assert _running("spelling", replace(waiting, place=2)).startswith("Waiting: 2 before this one")


@pytest.mark.parametrize("answer", [(), ("n",)])
def test_an_empty_answer_says_that_it_is_one(answer):
    assert output_text(get_task("spelling"), answer) == ("(nothing)" if not answer else "n")
