"""Weights in files: what is saved comes back, and whatever does not belong is refused in one sentence."""

import json
import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig
from attention.checkpoints import DIRECTORY
from attention.tasks import get_task
from attention.training import TrainingSettings
from attention.training.evaluation import Accuracy, Apart, Scores
from attention.training.stored import Card, CheckpointError, load_weights, packed, read_card, save


def spelling(enc: tuple[int, int], dec: tuple[int, int], kv: str = "reproject") -> ModelConfig:
    stacks = StackConfig(64, *enc), StackConfig(64, *dec)
    return ModelConfig(*stacks, kv=kv, src_vocab_size=29, tgt_vocab_size=43, bias=True)


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
        load_weights(DIRECTORY / "spelling-8x8-8x8.safetensors", spelling(enc, dec))
    assert says in str(caught.value)
    assert "start from fresh weights" in str(caught.value)


def test_fewer_key_value_heads_are_refused():
    wanted = replace(spelling((8, 8), (8, 8)), decoder=StackConfig(64, 8, 8, num_kv_heads=1))
    with pytest.raises(CheckpointError, match="8 decoder heads of size 8; 8 decoder heads of size 8 on 1 K/V heads"):
        load_weights(DIRECTORY / "spelling-8x8-8x8.safetensors", wanted)


def test_another_kv_way_is_refused():
    with pytest.raises(CheckpointError, match="kv=reproject; direct was asked for"):
        load_weights(DIRECTORY / "spelling-8x8-8x8.safetensors", spelling((8, 8), (8, 8), "direct"))


def test_another_task_is_refused():
    with pytest.raises(CheckpointError, match=r"shape \(29, 64\) where this model has \(43, 64\)"):
        load_weights(DIRECTORY / "reverse-8x8-8x8.safetensors", spelling((8, 8), (8, 8)))


def tiny() -> ModelConfig:
    encoder, decoder = StackConfig(22, 2, num_layers=1), StackConfig(26, 13, num_layers=1)
    return ModelConfig(encoder, decoder, src_vocab_size=29, tgt_vocab_size=29)


def tiny_card(name: str = "tiny") -> Card:
    scores = Scores(0.5, 0.25, 3, ((0.1,) * 13,), 0.2, 0.3, 17)
    apart = Apart(Accuracy(0.7, 0.5, 2), Accuracy(0.1, 0.0, 1))
    return Card(name, TrainingSettings("reverse", tiny(), num_steps=3, batch_size=5), scores, "2.0", apart)


def test_a_file_made_for_taking_away_loses_nothing_and_is_short_where_it_can_be(tmp_path):
    card = replace(tiny_card(), scores=None, apart=None, reached=0)
    exact = EncoderDecoder(tiny(), seed=3).state_dict()
    rounded = {name: tensor.half().float() for name, tensor in exact.items()}
    sizes = []
    for weights in (exact, rounded):
        path = tmp_path / "tiny.safetensors"
        path.write_bytes(packed(weights, card))
        assert read_card(path) == card
        loaded = load_weights(path, tiny()).state_dict()
        assert all(loaded[name].equal(tensor) for name, tensor in weights.items())
        sizes.append(sum(tensor.nbytes for tensor in load_file(path).values()))
    whole = sum(tensor.nbytes for tensor in rounded.values())
    assert sizes[1] == whole / 2 < sizes[0] <= whole


def stored_card(path) -> dict:
    """The card in a file's header, read byte by byte as the format has it: a length, JSON, weights."""
    whole = path.read_bytes()
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    return json.loads(header["__metadata__"]["card"], parse_constant=pytest.fail)  # NaN is no JSON


def write_card(path, card: str) -> None:
    save_file(load_file(path), path, metadata={"card": card})


def test_saving_and_loading_gives_the_16_bit_weights(tmp_path):
    model = EncoderDecoder(tiny(), seed=3)
    save(model, tiny_card(), tmp_path)
    again = load_weights(tmp_path / "tiny.safetensors", tiny())
    for name, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor.half().float())
    assert read_card(tmp_path / "tiny.safetensors") == tiny_card()
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.safetensors"]


def test_readers_without_this_package_find_all_they_need_in_the_file(tmp_path):
    save(EncoderDecoder(tiny()), tiny_card(), tmp_path)
    card = stored_card(tmp_path / "tiny.safetensors")
    assert (card["name"], card["task"], card["steps"], card["torch"]) == ("tiny", "reverse", 3, "2.0")
    assert card["config"]["decoder"]["num_heads"] == 13
    assert card["apart"]["rest"] == {"token_accuracy": 0.1, "sequence_accuracy": 0.0, "num_examples": 1}
    assert card["source_vocabulary"][:4] == ["<pad>", "<s>", "</s>", "a"]
    assert card["target_vocabulary"] == list(get_task("reverse").tgt_vocab.tokens)


def test_what_is_no_number_is_stored_as_null(tmp_path):
    scores = Scores(0.5, 0.25, 3, ((0.1, math.nan),), math.nan, 0.3, 17)
    card = replace(tiny_card(), scores=scores, apart=Apart(Accuracy(0.5, 0.25, 3), Accuracy(math.nan, math.nan, 0)))
    save(EncoderDecoder(tiny()), card, tmp_path)
    path = tmp_path / "tiny.safetensors"
    assert stored_card(path)["scores"]["alignment"] == [[0.1, None]]
    again = read_card(path)
    assert math.isnan(again.scores.diagonal) and math.isnan(again.scores.alignment[0][1])
    assert math.isnan(again.apart.rest.token_accuracy) and again.apart.rest.num_examples == 0
    assert again.to_dict() == card.to_dict()


def test_equal_weights_and_cards_give_equal_bytes_whatever_their_order(tmp_path):
    model, files = EncoderDecoder(tiny(), seed=3), []
    weights = model.state_dict()
    for name, order in (("one", list(weights)), ("other", sorted(weights, reverse=True))):
        (tmp_path / name).mkdir()
        model.state_dict = lambda order=order: {key: weights[key] for key in order}
        save(model, tiny_card(), tmp_path / name)
        files.append((tmp_path / name / "tiny.safetensors").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "absent"])
def test_a_damaged_file_is_one_sentence(tmp_path, damage):
    save(EncoderDecoder(tiny()), tiny_card(), tmp_path)
    path = tmp_path / "tiny.safetensors"
    whole = path.read_bytes()
    if damage == "absent":
        path.unlink()
    else:
        path.write_bytes({"cut": whole[:-100], "empty": b"", "text": b"version https://git-lfs.github.com/"}[damage])
    for read in (read_card, lambda path: load_weights(path, tiny())):
        with pytest.raises(CheckpointError, match=r"tiny.safetensors cannot be read"):
            read(path)


def rewritten(tmp_path, change) -> None:
    save(EncoderDecoder(tiny()), tiny_card(), tmp_path)
    path = tmp_path / "tiny.safetensors"
    weights, header = load_file(path), {"card": json.dumps(stored_card(path))}
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
        (lambda weights, header: header.clear(), "tiny.safetensors has no card"),
        (lambda weights, header: header.update(card=header["card"][:-9]), "the card of tiny.safetensors is damaged"),
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
        (lambda data: data.pop("scores"), "safetensors: .*'scores'"),
        (lambda data: data["config"].pop("encoder"), "safetensors: config lacks its key 'encoder'"),
        (
            lambda data: data["config"]["decoder"].pop("num_heads"),
            "safetensors: config.decoder lacks .*'num_heads'",
        ),
        (lambda data: data.update(sead=3), "safetensors: a card has an unknown key 'sead'; its keys are .*seed"),
        (lambda data: data["config"].update(heads=3), "safetensors: config has an unknown key 'heads'"),
        (
            lambda data: data["config"]["encoder"].update(heads=3),
            "safetensors: config.encoder .* unknown key 'heads'",
        ),
        (lambda data: data["training"].update(seed=3), "safetensors: training has an unknown key 'seed'"),
        (lambda data: data["scores"].update(loss=3), "safetensors: scores has an unknown key 'loss'"),
        (lambda data: data.update(seed="3"), r"safetensors: seed \('3'\) must be a whole number"),
        (lambda data: data.update(seed=True), r"safetensors: seed \(True\) must be a whole number"),
        (lambda data: data.update(seed=0.5), r"safetensors: seed \(0.5\) must be a whole number"),
        (lambda data: data.update(steps=None), r"safetensors: steps \(None\) must be a whole number"),
        (
            lambda data: data["training"].update(warmup="1"),
            r"safetensors: training.warmup \('1'\) must be a number",
        ),
        (
            lambda data: data["scores"].update(diagonal="1"),
            r"safetensors: scores.diagonal \('1'\) must be a number",
        ),
        (lambda data: data.update(training=[]), r"safetensors: training \(\[\]\) must be a table of batch_size, "),
        (lambda data: data["config"].update(encoder=7), r"safetensors: config.encoder \(7\) must be a table"),
        (lambda data: data["apart"].pop("rest"), "safetensors: apart lacks its key 'rest'"),
        (lambda data: data["apart"]["rest"].pop("num_examples"), "safetensors: apart.rest lacks .*'num_examples'"),
        (
            lambda data: data["apart"]["rest"].update(token_accuracy="1"),
            r"safetensors: apart.rest.token_accuracy \('1'\) must be a number",
        ),
        (lambda data: data["config"]["decoder"].update(num_heads="many"), r"num_heads \('many'\) must be a whole"),
        (lambda data: data.update(task="speling"), "safetensors: .*there is no task 'speling'"),
        (lambda data: data.update(target_vocabulary=["<pad>"]), "safetensors was trained with another vocabulary"),
    ],
)
def test_a_damaged_card_is_one_sentence(tmp_path, change, says):
    save(EncoderDecoder(tiny()), tiny_card(), tmp_path)
    path = tmp_path / "tiny.safetensors"
    data = stored_card(path)
    change(data)
    write_card(path, json.dumps(data))
    for read in (read_card, lambda path: load_weights(path, tiny())):
        with pytest.raises(CheckpointError, match=says):
            read(path)


def test_what_has_a_usual_value_may_be_left_out_of_a_card():
    """Cards that were written before there was such a setting are read as what it was then."""
    data = tiny_card().to_dict()
    del data["training"]["embedding_rate"], data["training"]["matrix_rate"], data["config"]["num_slots"]
    assert Card.from_dict(data) == tiny_card()
