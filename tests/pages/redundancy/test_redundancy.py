"""The page about redundancy, driven without a browser: every part, every measure, a pair, a removal, a twin."""

import base64
import json
import time
from dataclasses import replace

import numpy as np
import pytest
from app_test import checked, click, open_page, press, read_address, settings_of, texts

from attention import EncoderDecoder
from attention.ablation.removal import score
from attention.ablation.silence import mean_contributions, without_heads
from attention.checkpoints import load
from attention.inspection.batch import collect, held_out_batch
from attention.inspection.heads import Head
from attention.inspection.per_head import head_figures
from attention.jobs import removal_service
from attention.metrics.measures import MEASURES
from attention.metrics.structure import cluster_order, effective_heads
from attention.tasks import get_task
from attention.tasks.reverse import Reverse
from pages.redundancy import pairs as lab_pairs
from pages.redundancy import twins as lab_twins
from pages.redundancy.measured import MEASURABLE
from pages.redundancy.shared_keys import comparable, key_sharing, sharing_sentence
from pages.shared import heads_away, models
from pages.shared.settings import Settings
from pages.shared.situations import SITUATIONS
from pages.shared.texts import catalogue, prose

SMALL = {"task": "reverse", "width": 16, "enc_heads": 2, "dec_heads": 4}
PARTS = ("removal", "pairs", "layers", "twins", "shared")
ATTENTION_KINDS = ("encoder", "decoder", "cross")


def opened(part="pairs", **address):
    return press(open_page("redundancy", **address), "page_part", part)


def charts(app):
    """Of each chart its first trace, by the end of its key."""
    found = {}
    for element in app.get("plotly_chart"):
        found[element.proto.id.rsplit("-", 1)[-1]] = json.loads(element.proto.spec)
    return found


def numbers(trace):
    """What a heat map shows, (rows, columns)."""
    z = trace["z"]
    shape = [int(n) for n in z["shape"].split(",")]
    return np.frombuffer(base64.b64decode(z["bdata"]), "<" + z["dtype"]).reshape(shape)


@pytest.fixture(scope="module")
def shipped():
    model, _ = load("spelling", Settings().config)
    return model, collect(model, held_out_batch(get_task("spelling"), 64).batch)


def test_three_maps_with_their_own_head_counts_show_what_the_library_measures():
    app = opened(enc_heads=4)
    shown = charts(app)
    model, _ = load("spelling", settings_of(app).config)
    collected = collect(model, held_out_batch(get_task("spelling"), 64).batch)
    for kind, heads in zip(ATTENTION_KINDS, (4, 8, 8), strict=True):
        values = numbers(shown[f"pairs_{kind}"]["data"][0])
        expected = MEASURES["query_cosine"](getattr(collected, kind)[1]).values
        assert values.shape == (heads, heads)
        np.testing.assert_allclose(values, expected, atol=1e-6)
    assert "no finding" not in texts(app)


def test_the_page_opens_on_taking_heads_away_and_measures_come_after():
    heads_away.removal_service.cache_clear()  # in which another test may have had this model studied
    app = open_page("redundancy")
    assert app.segmented_control(key="page_part").value == "removal"
    assert app.segmented_control(key="page_part").options[:2] == ["Take heads away", "Which heads are alike"]
    assert "none switched off yet" in texts(app) and not charts(app)


def test_every_measure_has_its_map_and_says_a_click_away_what_it_cannot_see(shipped):
    app = opened()
    for name in MEASURES:
        says, blind = prose("redundancy")[name].split("\n\n")
        assert len(says) < 120 and blind not in texts(app)
    app.session_state["boxes"] = {"blind": True}
    for name, measure in MEASURES.items():
        checked(app.selectbox(key="page_measure").set_value(name).run())
        trace = charts(app)["pairs_cross"]["data"][0]
        np.testing.assert_allclose(numbers(trace), measure(shipped[1].cross[1]).values, atol=1e-6)
        assert (trace["zmin"], trace["zmax"]) == (measure.low, measure.high)
        says, blind = prose("redundancy")[name].split("\n\n")
        assert says in texts(app) and blind in texts(app)
        assert ("chance level" in texts(app)) == name.endswith("cka")


def test_heads_can_be_put_in_the_order_of_their_likeness(shipped):
    app = press(opened(), "page_order", "by_likeness")
    values = MEASURES["query_cosine"](shipped[1].cross[1]).values
    order = cluster_order(1 - values)
    trace, axis = charts(app)["pairs_cross"]["data"][0], charts(app)["pairs_cross"]["layout"]["xaxis"]
    np.testing.assert_allclose(numbers(trace), values[np.ix_(order, order)], atol=1e-6)
    assert axis["ticktext"] == [str(head + 1) for head in order]


def test_a_pair_shows_both_maps_and_their_difference():
    app = opened()
    checked(app.selectbox(key="pair_a").set_value(3).run())
    checked(app.selectbox(key="pair_b").set_value(6).run())
    assert settings_of(app).head == 3
    shown = charts(app)
    first, second = (numbers(shown[f"pair_map_{head}"]["data"][0]) for head in (2, 5))
    np.testing.assert_allclose(numbers(shown["pair_difference"]["data"][0]), first - second, atol=1e-6)
    assert "head 3 less head 6" in texts(app)
    assert len(shown["pairs_cross"]["layout"]["shapes"]) == 2  # the pair and its mirror image
    checked(app.selectbox(key="pair_a").set_value(6).run())  # they change places
    assert (app.selectbox(key="pair_a").value, app.selectbox(key="pair_b").value) == (6, 3)


def test_a_cell_of_another_kind_is_a_pair_of_that_kind():
    app = opened()
    press(app, "kind", "encoder")
    assert "head 1 less head 2" in texts(app)
    assert charts(app)["pair_difference"]["layout"]["xaxis"]["title"]["text"] == "key (encoder)"


def test_a_layer_with_one_head_has_no_pair_and_no_twin():
    app = opened(enc_heads=1, dec_heads=1)
    assert catalogue()["lab"]["only_one"] in texts(app)
    press(app, "page_part", "twins")
    assert catalogue()["twin"]["one_head"] in texts(app)


def test_random_weights_are_never_a_finding():
    app = opened(enc_heads=2, dec_heads=4, seed=1)
    assert catalogue()["lab"]["not_a_finding"] in texts(app)
    assert texts(app).count(catalogue()["lab"]["map_mark"]) >= 5  # at three maps, and at both heads
    for part in ("layers", "removal"):
        press(app, "page_part", part)
        assert catalogue()["lab"]["map_mark"] in texts(app)
        assert catalogue()["lab"]["not_a_finding"] in texts(app)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["fix_3", "problem_1", "mismatch", "fix_1", "fix_2"])
def test_every_part_of_a_situation_opens(name):
    app = opened(**SITUATIONS[name])
    for part in PARTS:
        press(app, "page_part", part)
        fails = name == "mismatch" and part != "shared"
        assert ("Cross-attention does not run" in texts(app)) == fails


def test_a_model_that_is_too_large_is_refused_in_a_sentence():
    app = opened(enc_width=512, dec_width=512, enc_heads=32, dec_heads=32, enc_dim=32, dec_dim=32, enc_layers=6)
    assert f"the limit is {MEASURABLE // 10**6} million" in texts(app)


def test_typed_text_stays_text():
    app = opened(text="**x**")
    assert "<b>" not in texts(app)


def test_switching_heads_off_shows_the_answer_and_the_score_without_them(shipped):
    app = opened("removal")
    gone = [Head("cross", 1, 2), Head("cross", 1, 5)]
    checked(app.pills(key="off_cross_1").set_value([2, 5]).run())
    batch = held_out_batch(get_task("spelling"), 64).batch
    before, after = score(shipped[0], batch), score(without_heads(shipped[0], gone), batch)
    assert "without 2 heads" in texts(app)
    for one in (before, after):
        assert f"{100 * one.token_accuracy:.1f}\u00a0%" in texts(app) and f"{one.loss:.3f}" in texts(app)
    click(app, catalogue()["switches"]["reset"])
    assert app.pills(key="off_cross_1").value == []


def test_a_head_may_go_on_adding_its_mean(shipped):
    app = opened("removal")
    batch = held_out_batch(get_task("spelling"), 64).batch
    checked(app.pills(key="off_decoder_0").set_value([0, 1, 2, 3]).run())
    gone = [Head("decoder", 0, head) for head in range(4)]
    by_zero = score(without_heads(shipped[0], gone), batch)
    by_mean = score(without_heads(shipped[0], gone, mean_contributions(shipped[0], batch)), batch)
    assert f"{by_zero.loss:.3f}" != f"{by_mean.loss:.3f}" and f"{by_zero.loss:.3f}" in texts(app)
    press(app, "page_off_by", "mean")
    assert f"{by_mean.loss:.3f}" in texts(app) and f"{by_zero.loss:.3f}" not in texts(app)
    assert catalogue()["off_by"]["study_mean"] in texts(app)
    constant = [
        np.linalg.norm(b_v @ w_o) / np.linalg.norm(mixed @ w_o, axis=-1).mean()
        for layer in shipped[1]
        for mixed, w_o, b_v in zip(layer.mixed, layer.projections.w_o, layer.projections.b_v, strict=True)
    ]
    assert f"makes up to {100 * max(constant):.0f}" in texts(app)


def test_a_kv_head_goes_with_all_that_read_it():
    app = opened("removal", enc_heads=4, dec_heads=8, dec_kv_heads=2)
    checked(app.pills(key="off_cross_1").set_value([0, 1]).run())
    checked(app.pills(key="off_cross_1_kv").set_value([1]).run())
    assert app.pills(key="off_cross_1").value == [0, 1, 4, 5, 6, 7] and "without 6 heads" in texts(app)
    checked(app.pills(key="off_cross_1").set_value([0, 1, 2, 3, 4, 5]).run())
    assert app.pills(key="off_cross_1_kv").value == [0]
    checked(app.pills(key="off_cross_1_kv").set_value([]).run())
    assert app.pills(key="off_cross_1").value == [4, 5]
    assert {pill.key for pill in app.pills if pill.key.endswith("_kv")} == {
        f"off_{kind}_{layer}_kv" for kind in ("decoder", "cross") for layer in (0, 1)
    }


def test_what_was_chosen_is_kept_while_one_looks_elsewhere():
    app = opened("removal")
    checked(app.pills(key="off_encoder_0").set_value([1]).run())
    press(app, "page_part", "pairs")
    press(app, "page_part", "removal")
    assert app.pills(key="off_encoder_0").value == [1]


@pytest.mark.slow
def test_all_heads_are_taken_away_in_the_background():
    app = opened("removal", enc_heads=1, dec_heads=2, enc_layers=1, dec_layers=1, layer=1, task="reverse")
    app.button(key="study").click()
    checked(app.run())
    deadline = time.monotonic() + 60
    while "Missed most" not in texts(app):
        assert time.monotonic() < deadline, texts(app)
        time.sleep(0.2)
        checked(app.run())
    curve = charts(app)["removal_curve"]["data"][0]
    assert len(curve["hovertext"]) == 1 + 1 + 2 + 2
    assert "could go" not in texts(app)  # random weights are no finding


def test_a_twin_is_seen_by_the_measures_that_the_table_says():
    app = opened("twins")
    table = next(body for body in (e.proto.body for e in app.get("html")) if "before and after copying" in body)
    rows = table.split("<tr>")[2:]
    assert len(rows) == len(MEASURES)
    for (name, measure), row in zip(MEASURES.items(), rows, strict=True):
        plain, rotated, rebased, pattern = ("bad" not in cell for cell in row.split("<td")[2:])
        assert plain
        assert rotated == (measure.finds_copies or name == "query_cka")
        assert rebased == measure.finds_copies
        assert pattern == measure.sees_values
    press(app, "twin", "pattern")
    assert prose("redundancy")["fold_pattern"] in texts(app)


def test_a_twin_where_keys_are_shared_says_what_is_not_possible():
    app = opened("twins", **{**SITUATIONS["fix_2"], "enc_layers": 2, "dec_layers": 2})
    assert "shares its keys and values" in texts(app)
    assert prose("redundancy")["twins_pattern"] in texts(app)  # heads 1 and 2 read one K/V head
    (target,) = (box for box in app.selectbox if box.label == catalogue()["twin"]["replaced"])
    checked(target.set_value(16).run())
    assert prose("redundancy")["twins_pattern"] not in texts(app)  # there is no column at all


def test_heads_are_called_close_to_copies_from_the_likeness_that_is_named():
    """Heads that share keys, in every measure and layer of every model that has such."""
    found = [
        (key_sharing(card, name, layer), name)
        for card in comparable("spelling")
        for name in MEASURES
        for layer in range(2)
        if card.config.kv == "grouped"
    ]
    found += [(replace(found[0][0], within=within), "contribution_cosine") for within in (0.9, 0.899)]
    said = [sharing_sentence(one, name) for one, name in found]
    assert not any("–" in sentence or "far from" in sentence for sentence in said)
    for (one, name), sentence in zip(found, said, strict=True):
        tells = MEASURES[name].finds_copies and MEASURES[name].sees_values
        assert ("are close to copies" in sentence) == (tells and one.within >= 0.9)
        assert ("are not close to copies" in sentence) == (tells and one.within < 0.9)


def test_shared_keys_are_compared_with_the_same_pairs_where_nothing_is_shared():
    cards = comparable("spelling")
    assert {"grouped", "reproject"} <= {card.config.kv for card in cards}
    for one in (key_sharing(card, "contribution_cosine", 1) for card in cards):
        assert one.in_effect.number <= one.card.config.decoder.num_heads + 1e-9
        assert (one.group > 1) == (one.card.config.kv == "grouped")
    assert "by this measure" in texts(opened("shared"))


EXTRA = {"enc_heads": 8, "dec_heads": 16, "dec_dim": 8, "kv": "extra"}


@pytest.fixture(scope="module")
def extra():
    """The shipped model whose surplus heads read slots, and what its heads did."""
    model, _ = load("spelling", settings_at(**EXTRA).config)
    return collect(model, held_out_batch(get_task("spelling"), 64).batch)


def settings_at(**address):
    return read_address({name: str(value) for name, value in address.items()})[0]


def test_the_size_of_each_contribution_stands_beside_the_measures(extra):
    app = opened(**EXTRA)
    rows = extra.cross[1].contributions.astype(float)
    lengths = np.array([[np.sqrt((row**2).sum()) for row in head] for head in rows]).mean(1)
    shares = [f"{100 * share:.0f}\u00a0%" if share >= 0.01 else "<\u00a01\u00a0%" for share in lengths / lengths.max()]
    said = texts(app).replace(" %", "\u00a0%")
    assert ", ".join(shares) in said
    gram = np.array([[(one * other).sum() for other in rows] for one in rows])
    values = np.linalg.eigvalsh(gram / np.trace(gram))
    values = values[values > 1e-12]
    assert f"**{np.exp(-(values * np.log(values)).sum()):.1f}** contributions are in effect" in said
    small = shares.count("<\u00a01\u00a0%")
    told = {0: "", 1: "1 head adds less than 1\u00a0% of the largest."}
    told = told.get(small, f"{small} heads add less than 1\u00a0% of the largest.")
    assert told in said and (told or "less than 1\u00a0% of the largest" not in said)
    press(app, "page_part", "shared")
    assert told in texts(app).replace(" %", "\u00a0%")


def test_heads_without_a_measure_are_in_neither_number(extra):
    """In the summary, over layers and in Shared keys: 8 of the 16 heads have no W_K that reads the source."""
    found = [effective_heads(MEASURES["pattern_cosine"](layer).values) for layer in extra.cross]
    expected = [f"{number:.1f} of 8 defined heads; 8 undefined" for number in found]
    app = opened(**EXTRA, measure="pattern_cosine")
    assert f"in effect **{expected[1]}**" in texts(app)
    press(app, "page_part", "layers")
    for layer, said in enumerate(expected, start=1):
        assert f"Cross-attention, layer {layer}: {said}." in texts(app)
    assert expected[1] in charts(app)["lines_layers"]["data"][2]["hovertext"][1]
    press(app, "page_part", "shared")
    assert expected[1] in texts(app) and "8.0 of 16" not in texts(app)
    few = texts(opened(enc_heads=2, dec_heads=16, keep="size", kv="extra", measure="pattern_cosine"))
    assert few.count("2.0 of 2 defined heads; 14 undefined") == 1 and "2.0 of 16" not in few


def test_heads_that_have_no_column_in_common_are_in_no_mean_of_maps(extra):
    """8 heads read the source and 8 the slots: 64 pairs cannot be alike, whatever they do."""
    apart = MEASURES["jensen_shannon"](extra.cross[1]).values
    assert apart[:8, 8:] == pytest.approx(1, abs=1e-6)
    mean = np.mean([apart[a, b] for half in (range(8), range(8, 16)) for a in half for b in half if a < b])
    said = texts(opened(**EXTRA, measure="jensen_shannon"))
    assert f"mean {mean:.2f}, most alike" in said and said.count("64 pairs that have no column in common left out") == 1
    card = next(card for card in comparable("spelling") if card.config.kv == "extra")
    others = [apart[a, b] for half in (range(8), range(8, 16)) for a in half for b in half if a // 2 != b // 2]
    assert key_sharing(card, "jensen_shannon", 1).across == pytest.approx(1 - np.mean(others))


def test_a_head_that_looks_at_the_end_token_is_named_so():
    held_out = held_out_batch(get_task("reverse"), 64)
    model, _ = load("reverse", settings_at(task="reverse").config)
    figures = head_figures(collect(model, held_out.batch).encoder[0], held_out)
    head = next(head for head, pattern in enumerate(figures.patterns) if pattern.name == "end")
    app = opened(task="reverse", kind="encoder", layer=1, head=head + 1)
    said = texts(app).replace("\u00a0", " ")
    assert f"looks at the end token ({100 * figures.patterns[head].share:.0f} %)" in said
    assert f"{100 * figures.on_end[head]:.0f} % on `</s>`" in said


def test_no_column_of_the_twins_is_stressed():
    app = opened("twins")
    table = next(body for body in (e.proto.body for e in app.get("html")) if "before and after copying" in body)
    assert "chosen" not in table


def test_a_pair_that_is_clicked_on_the_diagonal_changes_nothing(monkeypatch):
    monkeypatch.setattr(lab_pairs.session, "change", lambda settings: pytest.fail("changed"))
    lab_pairs._pick(Settings(), "cross", 1, 3, 3)


def test_likeness_in_between_is_neither_right_nor_wrong():
    cosine = MEASURES["contribution_cosine"]
    judged = [lab_twins._judged(cosine, value, "rebased").mark for value in (1.0, 0.93, 0.5, float("nan"))]
    assert judged == ["good", "middling", "bad", ""]


def test_a_random_model_is_the_one_of_its_seed():
    app = opened(enc_heads=2, dec_heads=4, seed=3)
    settings = settings_of(app)
    model = EncoderDecoder(replace(settings.config), seed=3)
    found = collect(model.eval(), held_out_batch(get_task("spelling"), 64).batch)
    values = MEASURES["query_cosine"](found.cross[1]).values
    np.testing.assert_allclose(numbers(charts(app)["pairs_cross"]["data"][0]), values, atol=1e-6)


@pytest.mark.slow
def test_where_a_study_cannot_begin_the_button_gives_way_to_a_sentence(monkeypatch):
    def offered(**address):
        app = opened("removal", **SMALL, **address)
        return bool([button for button in app.button if button.key == "study"]), texts(app)

    assert offered()[0]
    layers = dict.fromkeys(("enc_layers", "dec_layers"), 6)
    with monkeypatch.context() as patched:
        patched.setattr(heads_away, "LARGE", 20_000)
        button, said = offered(**layers)
    assert not button and "million weights it is too large for taking all heads away" in said
    with monkeypatch.context() as patched:
        patched.setattr(heads_away, "MAX_OWN", 0)
        button, said = offered()
    assert not button and "such studies of yours are under way" in said
    monkeypatch.setattr(removal_service, "MAX_OPEN", 0)
    button, said = offered()
    assert not button and "studies are under way; try again soon" in said


@pytest.mark.slow
def test_redundancy_is_followed_through_a_training(monkeypatch):
    monkeypatch.setattr(Reverse, "num_steps", 50)
    small = {"task": "reverse", "width": 16, "enc_heads": 2, "dec_heads": 4, "enc_layers": 1, "dec_layers": 1}
    app = opened("layers", **small)
    assert "growth" not in " ".join(charts(app))
    wanted = models.training_settings(settings_of(app))
    service = models.training_service()
    service.submit(wanted)
    deadline = time.monotonic() + 120
    while service.finished(wanted) is None:
        assert time.monotonic() < deadline, service.progress(wanted)
        time.sleep(0.2)
    kept = service.snapshots(wanted)
    line = charts(checked(app.run()))["lines_growth"]["data"][2]  # cross-attention
    first = EncoderDecoder(wanted.config, wanted.seed)
    first.load_state_dict(kept[0].weights)
    found = collect(first.eval(), held_out_batch(get_task("reverse"), 64).batch)
    expected = effective_heads(MEASURES["query_cosine"](found.cross[0]).values)
    values = numbers({"z": line["y"] | {"shape": str(len(kept))}})
    assert values[0] == pytest.approx(expected, abs=1e-4)
    assert kept[0].step == 0 and kept[-1].step == 50
    assert prose("redundancy")["growth"] in texts(app)


def test_part_and_measure_are_in_the_address():
    app = opened("layers")
    checked(app.selectbox(key="page_measure").set_value("query_map_cosine").run())
    assert (app.query_params["part"], app.query_params["measure"]) == ("layers", "query_map_cosine")
    app = opened(part="pairs", text="box", measure="jensen_shannon")
    assert app.selectbox(key="page_measure").value == "jensen_shannon"
    checked(app.selectbox(key="page_measure").set_value(next(iter(MEASURES))).run())
    assert app.query_params["measure"] == next(iter(MEASURES))
    said = texts(open_page("redundancy", part="everything"))
    assert "part=everything is not known: removal, pairs, layers, twins, shared; removal is used." in said
