"""The article page: every claim with its verdicts, each experiment against something worked out here."""

import re
from dataclasses import replace

import pytest
import torch
from app_test import checked, open_page, settings_of, texts

from attention import EncoderDecoder
from attention.experiments.comparison.differences import Difference
from attention.experiments.comparison.findings import Finding
from attention.shapes import trace_shapes
from pages.article.address import TRIED
from pages.article.experiments import EXPERIMENTS
from pages.article.situation import OF_CLAIM, settings_for
from pages.shared import claims
from pages.shared.claims import CLAIMS, STORED, VERDICTS, ByRuns, reason, verdict
from pages.shared.findings import stored_answer, stored_findings
from pages.shared.settings import Settings
from pages.shared.situations import SITUATIONS, scaled
from pages.shared.texts import catalogue, label, prose

PARTS = [(claim, part) for claim, parts in CLAIMS.items() for part in parts]


def said(app) -> str:
    return re.sub(r"<[^>]*>", " ", texts(app))


def rows(app, first: str) -> list[list[str]]:
    """The cells of the table whose head begins so."""
    tables = [html.proto.body for html in app.get("html") if "<table" in html.proto.body]
    (table,) = [table for table in tables if f'<th scope="col">{first}</th>' in table.split("</thead>")[0]]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    return [[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells]


def test_all_claims_are_there_in_order_each_part_with_its_verdict():
    app = open_page("article")
    assert list(CLAIMS) == [f"A{number}" for number in range(1, 16)]
    assert [header.value.split(" · ")[0] for header in app.header] == list(CLAIMS)
    table = rows(app, label("article", "no"))
    assert [row[-2:] for row in table] == [
        [label("claim_part", f"{claim}_{part}"), f"{VERDICTS[name]} {label('verdict_name', name)}"]
        for claim, part in PARTS
        for name in [verdict(claim, part)]
    ]
    for claim, part in PARTS:
        assert reason(claim, part) in texts(app)


def test_there_are_six_verdicts_and_each_occurs():
    assert {verdict(*part) for part in PARTS} == set(VERDICTS) == set(catalogue()["verdict_name"])
    assert len(VERDICTS) == 6


def test_every_part_has_its_words_and_none_is_left_over():
    names = {f"{claim}_{part}" for claim, part in PARTS}
    assert set(prose("article")) == set(catalogue()["claim_part"]) == names >= set(STORED)
    assert set(catalogue()["claim"]) == set(catalogue()["claim_title"]) == set(CLAIMS)
    assert set(TRIED.allowed) == set(EXPERIMENTS) == set(catalogue()["claim_try"]) == set(OF_CLAIM)
    assert set(CLAIMS) - set(EXPERIMENTS) == {"A14"}


@pytest.mark.parametrize("part", PARTS, ids="_".join)
def test_the_reason_is_two_sentences(part):
    text = re.sub(r"\[[^]]*\]\([^)]*\)|et al\.|\d\.\d+", "", prose("article")["_".join(part)])
    assert len(re.findall(r"[^.]\.(?=\s|$)", text)) == 2


def finding(what: str, base: str | None, measure: str, values: tuple, *names: str) -> Finding:
    return Finding(what, base, measure, Difference(values, family=7), names)


@pytest.mark.parametrize(
    ("changes", "broader", "pays"),
    [
        ((0.04, 0.041, 0.042), "fails", "holds"),
        ((-0.04, -0.041, -0.042), "holds", "fails"),
        ((-0.04, 0.041, 0.01), "untested", "untested"),
        ((0.04, 0.05, 0.07), "untested", "untested"),  # leaves out 0 by itself, and not among seven
        ((), "untested", "untested"),
    ],
)
def test_a_verdict_by_runs_follows_what_the_runs_say(monkeypatch, changes, broader, pays):
    found = {
        "sweep": (finding("width", None, "entropy", changes, "A6"),) if changes else (),
        "fixes": (finding("grouped", "equal_direct", "sequence_accuracy", changes, "A12"),) if changes else (),
    }
    monkeypatch.setattr(claims, "stored_findings", found.__getitem__)
    assert (verdict("A6", "local"), verdict("A15", "pays")) == (broader, pays)
    assert verdict("A9", "diverse") == "untested"


def test_one_fix_that_pays_beside_one_that_does_not_is_enough_to_say_it_can(monkeypatch):
    up, down = (0.04, 0.041, 0.042), (-0.04, -0.041, -0.042)
    both = tuple(finding(what, "equal_direct", "sequence_accuracy", values, claim)
                 for what, values, claim in (("projection", down, "A11"), ("grouped", up, "A12")))  # fmt: skip
    monkeypatch.setattr(claims, "stored_findings", lambda kind: both)
    assert verdict("A15", "pays") == "holds"


def test_other_pages_say_the_same_of_the_same_runs():
    article, compare = texts(open_page("article")), texts(open_page("compare"))
    for claim in ("A7", "A11", "A12", "A13"):
        assert label("claim", claim) in compare and stored_answer(claim, "fixes") in article
        assert stored_answer(claim, "fixes") in compare
    wild = texts(open_page("wild"))
    for claim, part in (("A1", "llm"), ("A1", "usual"), ("A13", "t5"), ("A14", "xl"), ("A14", "gpt4")):
        assert reason(claim, part) in wild and reason(claim, part) in article
    assert any(isinstance(given, ByRuns) for parts in CLAIMS.values() for given in parts.values())
    assert stored_findings("fixes") and stored_findings("sweep")


@pytest.mark.sample(3)
@pytest.mark.parametrize("claim", list(OF_CLAIM))
def test_a_situation_is_one_click_away_and_nothing_changes_before(claim):
    situation, page = OF_CLAIM[claim]
    app = open_page("article", text="cat", enc_heads=4, seed=3)
    before = settings_of(app)
    small = settings_for(situation, before)
    checked(app.button(key=f"{page}_{claim}").click().run())
    after = settings_of(app)
    assert after.same_model(small) and (after.text, after.seed) == ("cat", 3)
    assert app.session_state["page"] == ("" if page == "playground" else page)
    app = open_page("article", text="cat", enc_heads=4, seed=3)
    checked(app.button(key=f"shapes_{claim}").click().run())
    assert settings_of(app).same_model(scaled(small, up=True)) and app.session_state["page"] == "shapes"


def test_all_situations_are_there_and_what_is_said_of_them_is_what_happens():
    assert {situation for situation, _ in OF_CLAIM.values()} == {*SITUATIONS, "fewer"}
    text = texts(open_page("article"))
    for claim, (situation, _) in OF_CLAIM.items():
        small = settings_for(situation, Settings())
        for one in (small, scaled(small, up=True)):
            assert trace_shapes(one.config).ok == (situation not in ("mismatch", "problem_3")), claim
    assert text.count("8 × 8 → 16 × 8 ✗ does not run; in its own size 8 × 64 → 16 × 64 ✗ does not run") == 2
    assert "8 × 8 → 16 × 4 ✓ runs; in its own size 8 × 64 → 16 × 32 ✓ runs" in text


def test_nothing_is_run_before_it_is_opened_and_what_is_open_is_in_the_address(monkeypatch):
    run = []
    for claim in EXPERIMENTS:
        monkeypatch.setitem(EXPERIMENTS, claim, lambda theme, claim=claim: run.append(claim))
    app = open_page("article", task="reverse", text="abc")
    assert run == []
    before = settings_of(app)
    app.session_state["try_A5"] = True
    app = open_page("article", claim="A5-A13")
    assert run == ["A5", "A13"]
    assert replace(settings_of(app), of_pages=()) == Settings() and before.task == "reverse"
    assert "claim=A5-A99 is not known" in texts(open_page("article", claim="A5-A99"))
    assert run[2:] == ["A5"]


# ---- what is tried ----


def test_a_textbook_decoder_of_any_number_of_heads_runs_with_as_many_weights():
    table = rows(open_page("article", claim="A1"), "decoder heads")
    assert [row[0] for row in table] == ["1", "4", "8", "16", "64"]
    encoder = torch.nn.TransformerEncoderLayer(64, 8, 256, bias=False)
    weights = set()
    for heads, size, _, maps, count in table:
        layer = torch.nn.MultiheadAttention(64, int(heads), batch_first=True)
        memory = encoder(torch.zeros(6, 1, 64)).transpose(0, 1)
        seen = layer(torch.zeros(1, 5, 64), memory, memory, average_attn_weights=False)[1].shape
        assert maps == f"{seen[1]} × {seen[2]} × {seen[3]}" and int(size) * int(heads) == 64
        weights.add(count)
    assert len(weights) == 1


def test_what_the_mismatch_does_is_what_pytorch_does():
    app = open_page("article", claim="A5")
    (error,) = {code.value for code in app.code}
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(1, 16, 5, 64) @ torch.zeros(1, 8, 64, 6)
    assert str(refusal.value) == error
    heads = (1, 2, 4, 8, 16)
    for row in rows(app, label("claim_run", "pairs_axes")):
        assert [cell == "✓" for cell in row[1:]] == [int(row[0]) in (1, asking) for asking in heads]


def test_ranks_are_those_of_the_head_sizes():
    table = rows(open_page("article", claim="A6"), "decoder heads")
    assert table == [["8 × 64", "0\u00a0%", "64", "100"], ["16 × 32", "0\u00a0%", "32", "100"]]


def test_problem_2_costs_what_a_model_of_its_size_has():
    table = rows(open_page("article", claim="A7"), "decoder, d_model 512")
    for row, situation in zip(table, ("equal", "problem_1", "problem_2"), strict=True):
        config = scaled(settings_for(situation, Settings()), up=True).config
        width, total = 512, config.decoder.total_width
        assert row[1:] == [f"{2 * 2 * (width + 1) * total:,}", f"{_weights(config):,}"]  # two layers, K and V


def _weights(config) -> int:
    with torch.device("meta"):
        return sum(weight.numel() for weight in EncoderDecoder(config, seed=None).parameters())


def test_groups_keep_half_of_what_a_layer_of_its_own_keeps_and_once_for_all():
    table = {row[0]: row[2] for row in rows(open_page("article", claim="A12"), "K and V from")}
    assert table == {
        "the decoder itself": f"{2 * 2 * 16 * 64:,}",  # layers, K and V, heads, size
        "encoder heads, projected": f"{2 * 2 * 16 * 64:,}",
        "encoder heads, in groups": f"{2 * 8 * 64:,}",
        "encoder heads + its own": f"{2 * 8 * 64:,}",
    }


def test_keys_beside_the_encoder_s_do_not_help():
    app = open_page("article", claim="A13")
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(1, 16, 5, 8) @ torch.zeros(1, 8, 8, 10)
    assert str(refusal.value) in [code.value for code in app.code]


@pytest.mark.slow
def test_without_its_anchor_the_model_is_lost():
    app = open_page("article", claim="A2")
    table = rows(app, "memory")
    shares = [int(row[3].removesuffix("\u00a0%")) for row in table]
    assert [row[2] for row in table][::3] == ["0.00", "–"]
    assert shares[0] > max(shares[1:3]) > shares[3] and shares[3] < 5
    assert "no difference seen" in said(app)


@pytest.mark.slow
def test_heads_on_the_same_keys_are_told_to_be_as_alike_as_the_table_says():
    app = open_page("article", claim="A8")
    pairs = [(float(row[1]), float(row[2])) for row in rows(app, "layer")]
    apart = sum(shared - other for shared, other in pairs) / len(pairs)
    (word,) = re.findall(r"Heads on the same keys look \*\*([a-z ]+)\*\*", texts(app))
    assert {"more": apart < -0.01, "less": apart > 0.01, "no more": abs(apart) < 0.03}[word]


@pytest.mark.slow
def test_all_experiments_side_by_side():
    app = open_page("article", claim="-".join(TRIED.allowed))
    assert len(app.get("plotly_chart")) == 3
