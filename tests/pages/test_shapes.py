"""The page of shapes: every situation, every kind of failure, every mend, the steps, and the silent failures."""

import pytest
from app_test import checked, click, open_page, press, settings_of, texts

from attention.comparison.costs import kept_kv
from attention.cross_attention import fits
from attention.silent import SILENT_FAILURES
from attention.trace import trace_shapes
from pages.parts.breaks import BREAKS, apply_break, break_of, is_full_size, scaled, situation_in_any_size
from pages.parts.costs import num_kv_weights
from pages.parts.flow import PARTS
from pages.parts.settings import PRESETS, Settings, apply_preset
from pages.parts.words import catalogue, prose


def pick(app, key, value):
    return checked(app.pills(key=key).set_value(value).run())


def flow(app) -> str:
    """The picture."""
    (found,) = (html.proto.body for html in app.get("html") if 'class="flow"' in html.proto.body)
    return found


def mends(app):
    return [button for button in app.button if button.key and button.key.startswith("mend_")]


@pytest.mark.parametrize("name", PRESETS)
def test_each_situation_is_one_click_and_says_what_is_claimed_and_what_happens(name):
    app = pick(open_page("shapes"), "shapes_situation", name)
    assert situation_in_any_size(settings_of(app)) == name
    said = texts(app)
    for sentence in prose("shapes")[name].splitlines():
        assert sentence in said
    runs = trace_shapes(settings_of(app).config).ok
    assert runs == (name not in ("mismatch", "problem_3")) == ("attention does not run" not in said)
    assert runs == (' clash"' not in flow(app))


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "equal"])
def test_the_article_s_own_size_is_traced_in_full(name):
    app = pick(open_page("shapes"), "shapes_situation", name)
    small = settings_of(app)
    click(app, catalogue()["shapes"]["full"])
    full = settings_of(app)
    assert is_full_size(full) and situation_in_any_size(full) == name
    assert full.dec_heads * full.dec_dim == 8 * small.dec_heads * small.dec_dim
    assert f"features {full.dec_heads * full.dec_dim}" in flow(app) and prose("shapes")[name].splitlines()[0] in texts(
        app
    )
    click(app, catalogue()["shapes"]["small"])
    assert settings_of(app) == small


def test_the_article_s_figures_are_those_of_the_full_size():
    one, two = (scaled(apply_preset(Settings(), name), up=True) for name in ("problem_1", "problem_2"))
    assert (one.enc_heads, one.enc_dim, one.dec_heads, one.dec_dim, one.dec_width) == (8, 64, 16, 32, 512)
    assert (two.enc_heads, two.enc_dim, two.dec_heads, two.dec_dim, two.dec_width) == (8, 64, 16, 64, 512)


@pytest.mark.parametrize("name", BREAKS)
def test_each_kind_of_failure_is_shown_marked_and_can_be_mended(name):
    app = pick(open_page("shapes"), "shapes_break", name)
    settings = settings_of(app)
    failure = trace_shapes(settings.config, 7, 4, settings.fault).failure
    assert failure.kind == name == break_of(settings) and PARTS[settings.kind] == failure.part
    assert failure.error in texts(app) and failure.note in texts(app)
    for clash in failure.clashes:  # red in the picture and in the box, at the dimension that clashes
        assert f'class="dim clash">{clash.dim.replace("heads × head size", "features")} {clash.sizes[0]}' in flow(app)
        assert f"**{clash.dim} {clash.sizes[0]}** ✗" in texts(app)
    count = len(mends(app))
    assert count == len(failure.mends) and (count or settings.fault)
    for number in range(count):
        app = pick(open_page("shapes"), "shapes_break", name)
        label = mends(app)[number].label
        checked(mends(app)[number].click().run())
        assert fits(settings_of(app).config) and "attention does not run" not in texts(app), label
        assert ' clash"' not in flow(app)
        assert "Changed: " in texts(app) and "→" in texts(app)
    if settings.fault:
        click(app, catalogue()["failure"]["fault_mend"])
        assert settings_of(app).fault is None and "attention does not run" not in texts(app)
        assert f"Changed: Coding fault {name} → –." in texts(app)


def test_every_break_fails_in_its_own_way():
    for name in BREAKS:
        settings = apply_break(Settings(), name)
        assert trace_shapes(settings.config, fault=settings.fault).failure.kind == name


def test_a_mend_of_k_v_heads_says_what_it_changed():
    app = open_page("shapes", enc_heads=8, enc_dim=8, enc_kv_heads=2, dec_heads=8, dec_dim=8, kv="direct")
    click(app, "use 8 encoder K/V heads")
    assert "Changed: Encoder K/V heads 2 → 8." in texts(app)
    app = open_page("shapes", enc_heads=4, enc_dim=8, dec_heads=8, dec_dim=8, kv="direct")
    click(app, "use 8 encoder heads")
    assert "Changed: Encoder heads 4 → 8." in texts(app)


def test_what_a_mend_has_changed_is_said_once():
    app = pick(open_page("shapes"), "shapes_break", "heads")
    click(app, "use 8 decoder heads")
    assert "Changed: Decoder heads 16 → 8." in texts(app)
    assert "Changed" not in texts(checked(app.run()))


def test_stepping_with_buttons_and_slider():
    app = open_page("shapes", enc_heads=8, dec_heads=8)
    slider = app.slider[0]
    assert slider.value == slider.max == 11  # the whole picture first
    click(app, "◀")
    assert "10 of 11: merge heads" in texts(app) and 'class="arrow later' in flow(app)
    checked(app.slider[0].set_value(7).run())
    assert "7 of 11: scores" in texts(app)
    assert r"$S_i = Q_i\,K_{i}^{\top} / \sqrt{8}$" in texts(app)
    checked(app.slider[0].set_value(1).run())
    assert next(button for button in app.button if button.label == "◀").disabled
    press(app, "kind", "encoder")
    assert app.slider[0].value == 11


def test_a_failure_is_stepped_to_by_itself():
    app = open_page("shapes", enc_heads=8, dec_heads=8)
    checked(app.slider[0].set_value(3).run())
    press(app, "dec_heads", 16)
    checked(app.selectbox(key="kv").set_value("direct").run())
    assert app.slider[0].value == app.slider[0].max and "scores" in texts(app)


def test_where_it_stops_is_told_from_a_part_that_is_never_reached():
    app = open_page("shapes", enc_heads=8, dec_heads=8, fault="indivisible", kind="cross")
    assert "The pass stops earlier, in encoder self-attention" in texts(app)
    click(app, "Show where it stops")
    assert settings_of(app).kind == "encoder" and "Encoder self-attention does not run" in texts(app)


def test_a_fault_whose_numbers_agree_is_said_to_wait():
    app = open_page("shapes", enc_heads=8, dec_heads=8, fault="w_o_expects_d_model")
    assert "its two numbers agree here" in texts(app)


def test_the_table_says_what_the_picture_shows():
    app = open_page("shapes", enc_heads=8, enc_dim=8, dec_heads=16, dec_dim=8, kv="direct")
    (table,) = (html.proto.body for html in app.get("html") if "<table>" in html.proto.body)
    assert "<mark>heads 16 ✗</mark>" in table and "<mark>heads 8 ✗</mark>" in table
    assert "The size of tensor a (16) must match the size of tensor b (8)" in table


@pytest.mark.parametrize("name", SILENT_FAILURES)
def test_each_silent_failure_is_run_when_it_is_chosen(name):
    app = open_page("shapes")
    assert catalogue()["silent"]["wrong_code"] not in texts(app)
    pick(app, "demo", name)
    said = texts(app)
    assert SILENT_FAILURES[name]().wrong_code in said and SILENT_FAILURES[name]().right_code in said
    assert "{" not in prose("silent")[name].format(**dict(SILENT_FAILURES[name]().facts))
    assert app.get("plotly_chart")
    pick(app, "demo", None)
    assert settings_of(app).demo is None and not app.get("plotly_chart")


def test_an_unknown_demo_or_fault_of_the_address_is_named():
    app = open_page("shapes", fault="typo", demo="<b>")
    said = texts(app)
    assert "fault=typo is not known: indivisible" in said and "demo=&lt;b&gt; is not known" in said


def test_costs_by_hand():
    settings = apply_preset(Settings(), "fix_1")  # 8 × 8 → 16 × 8 at width 64, 2 layers, biases
    assert num_kv_weights(settings.config) == 2 * 64 * 65 + 2 * 2 * (64 * 128 + 128)
    assert kept_kv(settings.config) == 2 * 128 * 2
    grouped = apply_preset(Settings(), "fix_2").config
    assert (num_kv_weights(grouped), kept_kv(grouped)) == (2 * 64 * 65, 2 * 64)
    textbook = apply_preset(Settings(), "problem_2").config
    assert (num_kv_weights(textbook), kept_kv(textbook)) == (2 * 2 * (64 * 128 + 128), 2 * 128 * 2)


def test_a_page_asked_for_by_its_file_runs_the_app():
    app = open_page("shapes", enc_heads=8)
    assert settings_of(app).enc_heads == 8 and app.segmented_control(key="task")
