"""The models that ship: their scores computed again, and everything that must not load."""

import json
import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig
from attention.checkpoints import (
    DIRECTORY,
    Card,
    CheckpointError,
    find,
    load,
    load_weights,
    make,
    read_card,
    save,
    shipped,
)
from attention.evaluation import Scores, evaluate
from attention.tasks import get_task
from attention.training import TrainingSettings

CARDS = {card.name: card for card in shipped().values()}


def config(task: str, enc: tuple[int, int], dec: tuple[int, int], kv: str = "reproject") -> ModelConfig:
    return ModelConfig(
        encoder=StackConfig(64, *enc),
        decoder=StackConfig(64, *dec),
        kv=kv,
        src_vocab_size={"spelling": 29, "reverse": 29, "dates": 41, "pinyin": 3_624}[task],
        tgt_vocab_size={"spelling": 43, "reverse": 29, "dates": 14, "pinyin": 1_194}[task],
        bias=True,
    )


def recomputed(card: Card, limit: int | None) -> Scores:
    model, _ = load(card.task, card.config)
    task = get_task(card.task)
    return evaluate(model, task, task.held_out(limit))


def flat(scores: Scores) -> list[float]:
    heads = [score for layer in scores.alignment for score in layer]
    return [scores.token_accuracy, scores.sequence_accuracy, scores.diagonal, scores.same_index, *heads]


# What ships


@pytest.mark.parametrize("task", ["spelling", "reverse", "dates", "pinyin"])
@pytest.mark.parametrize(
    ("enc", "dec"),
    [((4, 16), (4, 16)), ((4, 16), (8, 8)), ((8, 8), (8, 8)), ((8, 8), (16, 4)), ((8, 8), (16, 8))],
)
def test_the_page_finds_a_trained_model(task, enc, dec):
    card = find(task, config(task, enc, dec))
    model, same_card = load(task, config(task, enc, dec))
    assert card is same_card
    assert model.config == card.config == config(task, enc, dec)
    assert not model.training
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_dropout_does_not_matter_for_finding_a_model():
    assert find("reverse", replace(config("reverse", (4, 16), (4, 16)), dropout=0.1)) is not None


def test_other_models_do_not_ship():
    assert find("spelling", config("spelling", (2, 32), (2, 32))) is None
    assert load("spelling", config("spelling", (2, 32), (2, 32))) is None
    assert find("nothing", config("spelling", (4, 16), (4, 16))) is None
    wide = replace(config("spelling", (4, 16), (4, 16)), encoder=StackConfig(64, 4, 32))
    assert find("spelling", wide) is None


def test_each_load_is_a_model_of_its_own():
    one, other = (load("reverse", config("reverse", (4, 16), (4, 16)))[0] for _ in range(2))
    with torch.no_grad():
        one.decoder.to_logits.weight.zero_()
    assert other.decoder.to_logits.weight.any()


def test_files_are_small_and_complete():
    files = [path for path in DIRECTORY.iterdir() if path.suffix in (".json", ".safetensors")]
    assert sum(path.stat().st_size for path in files) < 20_000_000
    assert {path.name for path in files} == {f"{name}.{end}" for name in CARDS for end in ("json", "safetensors")}


def test_the_script_makes_exactly_what_ships():
    assert {name: card.settings for name, card in CARDS.items()} == make.recipes()


@pytest.mark.parametrize("name", CARDS)
def test_the_card_says_what_the_model_is(name):
    data = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    task = get_task(data["task"])
    assert ModelConfig.from_dict(data["config"]) == CARDS[name].config
    assert data["steps"] == CARDS[name].settings.num_steps
    assert data["seed"] == CARDS[name].settings.seed
    first = {"spelling": "a", "reverse": "a", "dates": "␣", "pinyin": "一"}[data["task"]]
    assert data["source_vocabulary"][:4] == ["<pad>", "<s>", "</s>", first]
    assert data["target_vocabulary"] == list(task.tgt_vocab.tokens)
    assert data["torch"].startswith("2.")
    assert data["scores"]["num_examples"] == len(task.held_out())
    assert Card.from_dict(data) == CARDS[name]


# Scores


@pytest.mark.parametrize("name", ["spelling-4x16-4x16", "reverse-4x16-8x8"])
def test_scores_are_those_computed_again(name):
    card = CARDS[name]
    assert flat(recomputed(card, limit=None)) == pytest.approx(flat(card.scores), abs=1e-3)


@pytest.mark.parametrize("name", CARDS)
def test_scores_fit_a_sample(name):
    card = CARDS[name]
    again = recomputed(card, limit=500)
    stored = card.scores.sequence_accuracy
    assert abs(again.sequence_accuracy - stored) <= 4 * (stored * (1 - stored) / 500) ** 0.5 + 0.002
    # about 3,000 tokens, of which those of one word are not independent
    for found, expected in zip(flat(again), flat(card.scores), strict=True):
        if math.isnan(expected):  # a head that does not read the source
            assert math.isnan(found) and card.config.kv == "extra"
            continue
        assert abs(found - expected) <= 8 * (max(expected * (1 - expected), 0.002) / 3_000) ** 0.5


@pytest.mark.parametrize("name", CARDS)
def test_models_are_good_and_some_head_beats_the_diagonal(name):
    scores = CARDS[name].scores
    tokens, sequences = {
        "spelling": (0.935, 0.69),
        "reverse": (0.99, 0.98),
        "dates": (0.99, 0.97),
        "pinyin": (0.9, 0.76),
    }[CARDS[name].task]
    if name == "spelling-4x16-4x16":  # the one that others are compared with
        tokens, sequences = 0.94, 0.70
    assert scores.token_accuracy >= tokens
    assert scores.sequence_accuracy >= sequences
    best = max(score for layer in scores.alignment for score in layer if not math.isnan(score))
    if CARDS[name].task == "pinyin":  # one syllable for each character: nothing beats the straight way
        assert scores.diagonal == 1.0
        assert best > 0.9
    else:
        assert best > scores.diagonal + 0.05


def test_other_heads_would_load_silently_and_answer_nonsense():
    """The danger that the stored head counts are there for: every shape fits."""
    card = CARDS["reverse-8x8-8x8"]
    weights = load_file(DIRECTORY / f"{card.name}.safetensors")
    wrong = EncoderDecoder(config("reverse", (8, 8), (16, 4)))
    wrong.load_state_dict({name: tensor.float() for name, tensor in weights.items()})  # strict, and no error
    task = get_task("reverse")
    assert evaluate(wrong, task, task.held_out(limit=200)).sequence_accuracy < card.scores.sequence_accuracy - 0.1


# What must not load


@pytest.mark.parametrize(
    ("enc", "dec", "says"),
    [
        ((8, 8), (16, 4), "8 decoder heads of size 8; 16 decoder heads of size 4 were asked for"),
        ((8, 8), (4, 16), "8 decoder heads of size 8; 4 decoder heads of size 16 were asked for"),
        ((16, 4), (8, 8), "8 encoder heads of size 8; 16 encoder heads of size 4 were asked for"),
        ((8, 8), (8, 16), "8 decoder heads of size 8; 8 decoder heads of size 16 were asked for"),
    ],
)
def test_other_head_counts_are_refused_with_both_numbers(enc, dec, says):
    with pytest.raises(ConfigError) as caught:
        load_weights(DIRECTORY / "spelling-8x8-8x8.safetensors", config("spelling", enc, dec))
    assert says in str(caught.value)
    assert "start from fresh weights" in str(caught.value)


def test_fewer_key_value_heads_are_refused():
    wanted = replace(config("spelling", (8, 8), (8, 8)), decoder=StackConfig(64, 8, 8, num_kv_heads=1))
    with pytest.raises(CheckpointError, match="8 decoder heads of size 8; 8 decoder heads of size 8 on 1 K/V heads"):
        load_weights(DIRECTORY / "spelling-8x8-8x8.safetensors", wanted)


def test_another_way_of_feeding_is_refused():
    with pytest.raises(CheckpointError, match="kv=reproject; direct was asked for"):
        load_weights(DIRECTORY / "spelling-8x8-8x8.safetensors", config("spelling", (8, 8), (8, 8), "direct"))


def test_another_task_is_refused():
    with pytest.raises(CheckpointError, match=r"shape \(29, 64\) where this model has \(43, 64\)"):
        load_weights(DIRECTORY / "reverse-8x8-8x8.safetensors", config("spelling", (8, 8), (8, 8)))


def test_a_swapped_description_is_noticed(tmp_path, monkeypatch):
    """The card says 16 heads of 4, the weights beside it have 8 of 8: same shapes everywhere."""
    for name, weights in (("spelling-8x8-16x4", "spelling-8x8-8x8"),):
        (tmp_path / f"{name}.json").write_bytes((DIRECTORY / f"{name}.json").read_bytes())
        (tmp_path / f"{name}.safetensors").write_bytes((DIRECTORY / f"{weights}.safetensors").read_bytes())
    monkeypatch.setattr("attention.checkpoints.DIRECTORY", tmp_path)
    shipped.cache_clear()
    try:
        with pytest.raises(CheckpointError, match="8 decoder heads of size 8; 16 decoder heads of size 4"):
            load("spelling", config("spelling", (8, 8), (16, 4)))
    finally:
        shipped.cache_clear()


def tiny() -> ModelConfig:
    encoder, decoder = StackConfig(22, 2, num_layers=1), StackConfig(26, 13, num_layers=1)
    return ModelConfig(encoder, decoder, src_vocab_size=29, tgt_vocab_size=29)


def tiny_card(name: str = "tiny") -> Card:
    scores = Scores(0.5, 0.25, 3, ((0.1,) * 13,), 0.2, 0.3, 17)
    return Card(name, TrainingSettings("reverse", tiny(), num_steps=3, batch_size=5), scores, "2.0")


def test_saving_and_loading_gives_the_16_bit_weights(tmp_path):
    model = EncoderDecoder(tiny(), seed=3)
    save(model, tiny_card(), tmp_path)
    again = load_weights(tmp_path / "tiny.safetensors", tiny())
    for name, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor.half().float())
    assert read_card(tmp_path / "tiny.json") == tiny_card()


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "absent"])
def test_a_damaged_file_is_one_sentence(tmp_path, damage):
    save(EncoderDecoder(tiny()), tiny_card(), tmp_path)
    path = tmp_path / "tiny.safetensors"
    whole = path.read_bytes()
    if damage == "absent":
        path.unlink()
    else:
        path.write_bytes({"cut": whole[:-100], "empty": b"", "text": b"version https://git-lfs.github.com/"}[damage])
    with pytest.raises(CheckpointError, match=r"tiny.safetensors cannot be read"):
        load_weights(path, tiny())


def rewritten(tmp_path, change) -> None:
    save(EncoderDecoder(tiny()), tiny_card(), tmp_path)
    path = tmp_path / "tiny.safetensors"
    weights = load_file(path)
    header = {"encoder.num_heads": "2", "encoder.head_dim": "11", "encoder.num_kv_heads": "2"}
    header |= {"decoder.num_heads": "13", "decoder.head_dim": "2", "decoder.num_kv_heads": "13"}
    header |= {"kv": "reproject", "kv_variant": "None"}
    change(weights, header)
    save_file(weights, path, metadata=header)
    load_weights(path, tiny())


def test_a_rewritten_file_loads_when_nothing_is_changed(tmp_path):
    rewritten(tmp_path, lambda weights, header: None)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda weights, header: weights.pop("decoder.to_logits.weight"), "decoder.to_logits.weight is missing"),
        (lambda weights, header: weights.update(more=torch.ones(2)), "more is not part of this model"),
        (
            lambda weights, header: weights.update({"decoder.to_logits.weight": torch.ones(3, 26)}),
            r"decoder.to_logits.weight has shape \(3, 26\) where this model has \(29, 26\)",
        ),
        (
            lambda weights, header: weights.update({"decoder.to_logits.weight": torch.full((29, 26), torch.nan)}),
            "decoder.to_logits.weight has numbers that are not finite",
        ),
        (lambda weights, header: header.pop("decoder.num_heads"), "does not say its decoder.num_heads"),
        (
            lambda weights, header: header.update({"decoder.num_heads": "many"}),
            "trained with many decoder heads of size 2 on 13 K/V heads; 13 decoder heads of size 2 were",
        ),
    ],
)
def test_weights_that_do_not_belong_are_one_sentence(tmp_path, change, says):
    with pytest.raises(CheckpointError, match=says):
        rewritten(tmp_path, change)


def test_weights_that_16_bit_cannot_hold_are_not_saved(tmp_path):
    model = EncoderDecoder(tiny())
    with torch.no_grad():
        model.decoder.to_logits.weight[0, 0] = 1e6
    with pytest.raises(CheckpointError, match="not finite"):
        save(model, tiny_card(), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data.pop("scores"), "tiny.json: .*'scores'"),
        (lambda data: data["config"].pop("encoder"), "tiny.json: .*encoder"),
        (lambda data: data.update(task="speling"), "tiny.json: .*there is no task 'speling'"),
        (lambda data: data.update(target_vocabulary=["<pad>"]), "tiny.json: tiny was trained with another vocabulary"),
    ],
)
def test_a_damaged_card_is_one_sentence(tmp_path, change, says):
    data = tiny_card().to_dict()
    change(data)
    (tmp_path / "tiny.json").write_text(json.dumps(data))
    with pytest.raises(CheckpointError, match=says):
        read_card(tmp_path / "tiny.json")
    (tmp_path / "tiny.json").write_text(json.dumps(data)[:-9])
    with pytest.raises(CheckpointError, match=r"tiny.json is damaged"):
        read_card(tmp_path / "tiny.json")


# Making them


def test_making_a_model_trains_rounds_scores_and_saves(tmp_path, capsys, monkeypatch):
    task = get_task("reverse")
    examples = task.held_out(limit=40)
    monkeypatch.setattr(type(task), "held_out", lambda self, limit=None: examples)
    make.make("tiny", TrainingSettings("reverse", tiny(), num_steps=12, batch_size=7), tmp_path)
    card = read_card(tmp_path / "tiny.json")
    assert card.scores == evaluate(load_weights(tmp_path / "tiny.safetensors", card.config), task, examples)
    assert card.settings.num_steps == 12
    assert "step 12, loss" in capsys.readouterr().out
