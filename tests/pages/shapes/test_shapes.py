"""The page of shapes: every situation, every kind of failure, every suggestion, the steps, and the silent failures."""

import re
from dataclasses import replace

import pytest
from app_test import checked, click, go, open_page, press, settings_of, situation_shown, texts
from random_settings import any_settings, settings_that_fit

from attention.cache import kept_kv
from attention.checkpoints import load
from attention.cross_attention import fits
from attention.experiments.other_values import with_other_values
from attention.experiments.silent_failures import SILENT_FAILURES
from attention.shapes import trace_shapes
from attention.shapes.costs import num_kv_parameters
from attention.tasks import TASKS, get_task
from pages.shapes.address import DEMO, FAULT
from pages.shapes.situations import BREAKS, apply_break, break_of
from pages.shared.ledger import dim_name, note_text
from pages.shared.models import decoding_of, record_of
from pages.shared.settings import KV_HEADS, Settings
from pages.shared.shape_picture import shape_flow
from pages.shared.situations import SITUATIONS, apply_situation, is_full_size, scaled, situation_of
from pages.shared.texts import catalogue, label, percent, prose


def pick(app, key, value):
    """Choose one of the page's settings or silent failures."""
    widget = app.pills(key=key) if key == "demo" else app.selectbox(key=key)
    return checked(widget.set_value(value).run())


def flow(app) -> str:
    """The picture."""
    (found,) = (html.proto.body for html in app.get("html") if 'class="flow"' in html.proto.body)
    return found


def suggestions(app):
    return [button for button in app.button if button.key and button.key.startswith("suggestion_")]


@pytest.mark.parametrize("name", SITUATIONS)
def test_each_situation_is_one_click_and_says_what_is_claimed_and_what_happens(name):
    app = pick(open_page("shapes"), "shapes_situation", name)
    assert situation_of(settings_of(app)) == name
    said = texts(app)
    for sentence in prose("shapes")[name].splitlines():
        assert sentence.partition("{")[0] in said
    runs = trace_shapes(settings_of(app).config).ok
    assert runs == (name not in ("mismatch", "problem_3")) == ("attention does not run" not in said)
    assert runs == (' clash"' not in flow(app))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [name for name in SITUATIONS if name != "equal"])
def test_the_article_s_own_size_is_traced_in_full(name):
    app = pick(open_page("shapes"), "shapes_situation", name)
    small = settings_of(app)
    click(app, catalogue()["shapes"]["full"])
    full = settings_of(app)
    shown = app.selectbox(key="shapes_situation").value
    assert is_full_size(full) and situation_of(full) == name == shown == situation_shown(app)
    assert full.dec_heads * full.dec_dim == 8 * small.dec_heads * small.dec_dim
    assert f"features {full.dec_heads * full.dec_dim}" in flow(app) and prose("shapes")[name].splitlines()[0] in texts(
        app
    )
    click(app, catalogue()["shapes"]["small"])
    assert settings_of(app) == small


def test_the_article_s_figures_are_those_of_the_full_size():
    one, two = (scaled(apply_situation(Settings(), name), up=True) for name in ("problem_1", "problem_2"))
    assert (one.enc_heads, one.enc_dim, one.dec_heads, one.dec_dim, one.dec_width) == (8, 64, 16, 32, 512)
    assert (two.enc_heads, two.enc_dim, two.dec_heads, two.dec_dim, two.dec_width) == (8, 64, 16, 64, 512)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", list(BREAKS))
def test_each_kind_of_failure_is_shown_marked_and_has_suggestions(name):
    app = pick(open_page("shapes"), "shapes_break", name)
    settings = settings_of(app)
    failure = trace_shapes(settings.config, 7, 4, settings[FAULT]).failure
    assert failure.kind == name == break_of(settings) and settings.kind == failure.part
    assert failure.error in texts(app) and note_text(failure.note) in texts(app)
    for clash in failure.clashes:  # red in the picture and in the box, at the dimension that clashes
        assert f'class="dim clash">{dim_name(clash.dim, short=True)} {clash.sizes[0]}' in flow(app)
        assert f"**{dim_name(clash.dim)} {clash.sizes[0]}** ✗" in texts(app)
    count = len(suggestions(app))
    assert count == len(failure.suggestions) and (count or settings[FAULT])
    for number in range(count):
        app = pick(open_page("shapes"), "shapes_break", name)
        label = suggestions(app)[number].label
        checked(suggestions(app)[number].click().run())
        assert fits(settings_of(app).config) and "attention does not run" not in texts(app), label
        assert ' clash"' not in flow(app)
        assert "Changed: " in texts(app) and "→" in texts(app)
    if settings[FAULT]:
        click(app, catalogue()["failure"]["without_fault"])
        assert settings_of(app)[FAULT] is None and "attention does not run" not in texts(app)
        assert re.search(rf"Changed: .*Coding fault {name} → –\.", texts(app))


def test_every_break_fails_in_its_own_way():
    for name in BREAKS:
        settings = apply_break(Settings(), name)
        assert trace_shapes(settings.config, fault=settings[FAULT]).failure.kind == name


def test_a_suggestion_of_k_v_heads_says_what_it_changed():
    app = open_page("shapes", enc_heads=8, enc_dim=8, enc_kv_heads=2, dec_heads=8, dec_dim=8, kv="direct")
    click(app, "use 8 encoder K/V heads")
    assert "Changed: Encoder K/V heads 2 → 8." in texts(app)
    app = open_page("shapes", enc_heads=4, enc_dim=8, dec_heads=8, dec_dim=8, kv="direct")
    click(app, "use 8 encoder heads")
    assert "Changed: Encoder heads 4 → 8." in texts(app)


def test_what_a_suggestion_has_changed_is_said_until_something_else_changes():
    app = pick(open_page("shapes"), "shapes_break", "heads")
    click(app, "use 8 decoder heads")
    assert "Changed: Decoder heads 16 → 8." in texts(app)
    assert "Changed" in texts(checked(app.run()))
    assert "Changed" not in texts(press(app, "kind", "encoder"))


def test_stepping_with_buttons_and_slider():
    app = open_page("shapes", enc_heads=8, dec_heads=8)
    slider = app.slider[0]
    assert (slider.value, slider.max) == (1, 11)
    assert "1 of 11: project to Q" in texts(app)
    assert next(button for button in app.button if button.label == "◀").disabled
    click(app, "▶")
    assert "2 of 11: split Q into heads" in texts(app) and 'class="block later' in flow(app)
    checked(app.slider[0].set_value(7).run())
    assert "7 of 11: scores" in texts(app)
    assert r"$S_i = Q_i\,K_{i}^{\top} / \sqrt{8}$" in texts(app)
    checked(app.slider[0].set_value(11).run())
    assert next(button for button in app.button if button.label == "▶").disabled
    press(app, "kind", "encoder")
    assert app.slider[0].value == 1


def test_a_pass_that_stops_begins_where_it_stops():
    app = open_page("shapes", enc_heads=8, dec_heads=8)
    checked(app.slider[0].set_value(3).run())
    press(app, "dec_heads", 16)
    checked(app.selectbox(key="kv").set_value("direct").run())
    assert app.slider[0].value == app.slider[0].max == 7
    assert "Cross-attention stops at step 7, scores: " in texts(app)


def test_where_it_stops_is_told_from_a_part_that_is_never_reached():
    app = open_page("shapes", enc_heads=8, dec_heads=8, fault="indivisible", kind="cross")
    assert "The pass stops earlier, in encoder self-attention" in texts(app)
    click(app, "Show where it stops")
    assert settings_of(app).kind == "encoder" and "Encoder self-attention does not run" in texts(app)


def test_a_fault_whose_numbers_agree_is_said_to_wait():
    app = open_page("shapes", enc_heads=8, dec_heads=8, fault="w_o_expects_d_model")
    assert "its two numbers agree here" in texts(app)
    click(app, catalogue()["failure"]["without_fault"])
    assert settings_of(app)[FAULT] is None


def test_with_a_fault_there_is_no_situation_and_other_pages_say_that_they_are_without_it():
    app = open_page("shapes", enc_heads=8, enc_dim=8, dec_heads=8, dec_dim=8, fault="indivisible", kind="encoder")
    assert situation_shown(app) is app.selectbox(key="shapes_situation").value is None
    assert "nothing to match" not in texts(app) and "everything on this page is without it" not in texts(app)
    for page in ("playground", "anchors", "redundancy", "compare", "wild"):
        said = texts(go(app, page))
        assert f"({label('ledger_fault', 'indivisible')}); everything on this page is without it" in said
        assert "nothing to match" not in said
    assert settings_of(go(app, "shapes"))[FAULT] == "indivisible"


def test_sizes_that_are_not_quite_the_article_s_are_no_situation():
    equal = scaled(apply_situation(Settings(), "equal"), up=True)
    assert situation_of(equal) == "equal" and situation_of(replace(equal, enc_dim=65)) is None


@pytest.mark.parametrize("faults", [["w_k_expects_decoder_width"], ["indivisible", "w_o_expects_d_model"]])
def test_taking_a_fault_out_gives_back_what_there_was_before(faults):
    app = open_page("shapes", enc_heads=8, enc_dim=8, dec_heads=12, dec_dim=5, kind="decoder", layer=1, head=3)
    before = settings_of(app)
    for fault in faults:
        pick(app, "shapes_break", fault)
        assert settings_of(app)[FAULT] == fault and not settings_of(app).same_model(before)
    press(app, "kind", "decoder" if faults[-1] == "w_o_expects_d_model" else "cross")
    click(app, catalogue()["failure"]["without_fault"])
    assert settings_of(app) == before
    assert f"Decoder heads {8 if len(faults) == 1 else 16} → 12" in texts(app)


def test_a_fault_in_a_model_that_was_changed_since_is_taken_out_of_that():
    app = pick(open_page("shapes", dec_heads=12), "shapes_break", "w_o_expects_d_model")
    press(app, "dec_dim", 16)
    changed = settings_of(app)
    click(app, catalogue()["failure"]["without_fault"])
    assert settings_of(app) == changed.sound()


def test_the_table_says_what_the_picture_shows():
    app = open_page("shapes", enc_heads=8, enc_dim=8, dec_heads=16, dec_dim=8, kv="direct")
    (table,) = (html.proto.body for html in app.get("html") if "<table>" in html.proto.body)
    assert "<mark>heads 16 ✗</mark>" in table and "<mark>heads 8 ✗</mark>" in table
    assert "The size of tensor a (16) must match the size of tensor b (8)" in table


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", list(SILENT_FAILURES))
def test_each_silent_failure_is_run_when_it_is_chosen(name, failures):
    app = open_page("shapes")
    assert catalogue()["silent"]["wrong_code"] not in texts(app)
    pick(app, "demo", name)
    said = texts(app)
    assert failures[name].wrong_code in said and failures[name].right_code in said
    assert "{" not in prose("silent")[name].format(**dict(failures[name].facts))
    assert app.get("plotly_chart")
    pick(app, "demo", None)
    assert settings_of(app)[DEMO] is None and not app.get("plotly_chart")


def test_an_unknown_demo_or_fault_of_the_address_is_named():
    app = open_page("shapes", fault="typo", demo="<b>")
    said = texts(app)
    assert "fault=typo is not known: indivisible" in said and "demo=&lt;b&gt; is not known" in said


def test_what_is_kept_is_what_its_sentence_says():
    """At 100 settings: the encoder's once, or what each layer makes once for each layer."""
    for settings in settings_that_fit(100):
        config = settings.config
        enc, dec = config.encoder, config.decoder
        makes = {"reproject": dec.num_kv_heads, "projection": dec.num_heads}.get(config.kv, 0)
        if (config.kv, config.kv_variant) == ("grouped", "pool") and dec.num_heads < enc.num_kv_heads:
            makes = dec.num_heads
        of_each_layer, of_the_encoder = makes * dec.head_dim, enc.num_kv_heads * enc.head_dim
        assert kept_kv(config) == 2 * (dec.num_layers * of_each_layer if makes else of_the_encoder)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_situation_says_truly_whether_it_runs(name):
    said = catalogue()["situation_text"][name]
    for task in TASKS:
        runs = fits(apply_situation(Settings(task=task), name).config)
        assert runs == ("It does not run" not in said) and (runs or "It runs" not in said)


def test_equal_counts_of_heads_of_one_size_always_fit_whatever_the_way():
    for seed in range(100):
        settings = any_settings(seed)
        equal = {"dec_heads": settings.enc_heads, "dec_dim": settings.enc_dim, **dict.fromkeys(KV_HEADS)}
        assert fits(replace(settings, **equal).config)


def test_groups_work_where_they_come_out_even_and_heads_have_one_size():
    """So fix 2 helps with problem 2 and not with problem 1."""
    for seed in range(100):
        settings = replace(any_settings(seed), kv="grouped", enc_kv_heads=None).fitted()
        enc, dec = settings.enc_heads, settings.dec_heads
        even = dec % enc == 0 or enc % dec == 0
        assert fits(settings.config) == (even and settings.enc_dim == settings.dec_dim)
    problems = [apply_situation(Settings(), name) for name in ("problem_1", "problem_2")]
    assert [fits(replace(problem, kv="grouped").fitted().config) for problem in problems] == [False, True]


@pytest.mark.parametrize(
    ("name", "variant"), [("fix_1", None), ("fix_2", None), ("fix_3", "slots"), ("fix_3", "states")]
)
def test_the_picture_reads_in_the_order_of_the_steps(name, variant):
    """Rows from top to bottom, and each from left to right."""
    settings = apply_situation(Settings(), name)
    steps = [step for step in trace_shapes(replace(settings, kv_variant=variant).config).steps if step.part == "cross"]
    picture = shape_flow(tuple(steps))
    numbers = [int(number) for number in re.findall(r'class="step">(\d+)\. ', picture)]
    assert numbers == list(range(1, len(steps) + 1))
    lanes = re.findall(r'class="lane (\w+)"', picture)
    assert lanes == ["q", "k", "v", "meet"]
    (most,) = re.findall(r"--most:(\d+)", picture)
    rows = [lane.count('class="block') for lane in picture.split('class="lane ')[1:]]
    assert int(most) == max(rows) <= 6


def test_each_step_reads_only_what_is_made_before_it():
    """So the order of the numbers is one in which the pass can run, whatever the way."""
    for settings in settings_that_fit(50):
        made = {"x", "y", "memory", "slots"}
        for step in trace_shapes(settings.config).steps:
            given = {shape.symbol for shape in step.inputs if not shape.symbol.startswith("W_")}
            assert given <= made
            made.add(step.output.symbol)


def test_problem_3_says_what_differs_and_leads_to_the_groups():
    app = pick(open_page("shapes"), "shapes_situation", "problem_3")
    assert "What differs from the article" in texts(app) and settings_of(app).enc_heads == settings_of(app).dec_heads
    click(app, catalogue()["shapes"]["shared_keys"])
    assert situation_of(settings_of(app)) == "fix_2"


def test_other_values_change_no_weight():
    settings = apply_situation(Settings(text="knight"), "equal")
    model = load("spelling", settings.config)[0]
    found = with_other_values(model, get_task("spelling"), tuple("knight"), layer=1)
    assert found.num_changed == 0 and found.num_weights == 8 * 4 * 7  # heads, n aɪ t </s>, k n i g h t </s>
    said = label("shapes", "values_tried", layer=2, weights=224, changed=0, change=percent(found.output_change))
    assert said in texts(open_values())
    assert catalogue()["shapes"]["values_not_here"] in texts(open_values(kv="direct", dec_heads="16"))


def open_values(**address):
    """The page for 8 × 8 heads on both sides, with the part about values open."""
    app = open_page("shapes", **{**dict.fromkeys(("enc_heads", "enc_dim", "dec_heads", "dec_dim"), "8"), **address})
    app.session_state["values"] = True
    return checked(app.run())


def test_costs_by_hand():
    settings = apply_situation(Settings(), "fix_1")  # 8 × 8 → 16 × 8 at width 64, 2 layers, biases
    assert num_kv_parameters(settings.config) == 2 * 64 * 65 + 2 * 2 * (64 * 128 + 128)
    assert kept_kv(settings.config) == 2 * 128 * 2
    grouped = apply_situation(Settings(), "fix_2").config
    assert (num_kv_parameters(grouped), kept_kv(grouped)) == (2 * 64 * 65, 2 * 64)
    textbook = apply_situation(Settings(), "problem_2").config
    assert (num_kv_parameters(textbook), kept_kv(textbook)) == (2 * 2 * (64 * 128 + 128), 2 * 128 * 2)


def test_a_page_asked_for_by_its_file_runs_the_app():
    app = open_page("shapes", enc_heads=8)
    assert settings_of(app).enc_heads == 8 and app.segmented_control(key="task")


# An answer that is not what is generated (shipped model), one that is not known, and random weights up to the limit.
@pytest.mark.parametrize(
    ("text", "heads"), [("photographically", (8, 8, 16, 8)), ("qqx", (8, 8, 16, 8)), ("box", (2, 4, 3, 5))]
)
def test_the_pass_is_as_long_as_what_is_generated(text, heads):
    address = {"text": text, **dict(zip(("enc_heads", "enc_dim", "dec_heads", "dec_dim"), heads, strict=True))}
    app = open_page("shapes", **address)
    settings = settings_of(app)
    decoding = decoding_of(record_of(settings), tuple(text))
    drawn = f"heads {heads[2]}, target {len(decoding.output)}, source {len(text) + 1}"
    said = texts(checked(app.slider(key="ledger").set_value(8).run()))
    assert drawn in said and "Target: what this model generates" in said
    app.session_state["values"] = True
    weights = heads[2] * len(decoding.output) * (len(text) + 1)
    assert f"Of the {weights:,} weights" in texts(checked(app.run()))


@pytest.mark.parametrize("text", ["knight", "qqx"])
def test_a_pass_that_stops_has_the_same_lengths_on_every_page(text):
    def told(page):
        said = texts(open_page(page, text=text, enc_heads=8, enc_dim=8, dec_heads=16, dec_dim=8, kv="direct"))
        return set(re.findall(r"(?:source|target) \d+", said.partition(catalogue()["failure"]["torch_says"])[0]))

    here = told("")
    assert here == {f"source {len(text) + 1}", "target 4" if text == "knight" else "target 1"}
    for page in ("anchors", "redundancy"):
        assert told(page) == here
    assert here <= told("shapes")
