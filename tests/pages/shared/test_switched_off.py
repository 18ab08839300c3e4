"""Heads that are off, to the address and back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from told import told

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.ablation.silence import mean_contributions, without_heads
from attention.inspection.batch import held_out_batch
from attention.inspection.heads import Head, all_heads
from attention.tasks import get_task
from pages.shared.models import NUM_WORDS, model_of, record_of
from pages.shared.settings import Settings
from pages.shared.switched_off import format_off, parse_off


def config(**changes):
    decoder = StackConfig(d_model=7, num_heads=4, head_dim=5, num_layers=3, num_kv_heads=changes.pop("dec_kv", 2))
    encoder = StackConfig(d_model=11, num_heads=6, head_dim=5, num_layers=2, num_kv_heads=changes.pop("enc_kv", 3))
    return ModelConfig(encoder, decoder, src_vocab_size=19, tgt_vocab_size=23, **changes)


CONFIGS = (config(), config(enc_kv=6, dec_kv=4), config(kv="grouped", enc_kv=2), config(kv="direct", enc_kv=1))


def test_by_hand():
    heads, refused = parse_off("cross.2.3-encoder.1.kv.2", config())
    assert heads == (Head("encoder", 0, 2), Head("encoder", 0, 3), Head("cross", 1, 2)) and refused == []
    assert format_off(heads, config()) == "encoder.1.kv.2-cross.2.3"
    assert parse_off("cross.2.1.2", config())[0] == parse_off("cross.2.kv.1", config())[0]
    assert parse_off("encoder.2.kv.5", CONFIGS[1])[0] == (Head("encoder", 1, 4),)  # each head has its own
    assert len(parse_off("cross.3.kv.1", CONFIGS[3])[0]) == 4  # one K/V head serves all
    assert parse_off("", config()) == ((), []) and format_off((), config()) == ""


@given(st.sampled_from(CONFIGS), st.data())
def test_there_and_back(of, data):
    heads = data.draw(st.lists(st.sampled_from(all_heads(of)), unique=True))
    text = format_off(heads, of)
    assert parse_off(text, of) == (tuple(head for head in all_heads(of) if head in heads), [])
    assert all(letter.isalnum() or letter in ".-" for letter in text)  # nothing that an address would escape


@given(st.text(max_size=200) | st.from_regex(r"(cross|encoder|head)[-+. ,]?[0-9kv.\-]{0,40}", fullmatch=True))
def test_an_address_is_input_like_any_other(text):
    heads, refused = parse_off(text, config())
    assert set(heads) <= set(all_heads(config())) and len(refused) <= 2


@pytest.mark.parametrize("joint", ["-", "+", ",", " ", ", "])
def test_however_the_parts_are_joined(joint):
    assert len(parse_off(joint.join(["cross.1.1", "cross.1.3", "decoder.3.4"]), config())[0]) == 3


def test_what_is_not_there_is_said_and_the_rest_is_kept():
    heads, (missing, unread) = parse_off("cross.2.3.9-encoder.3.1-encoder.1.kv.4-cross.0.1-head.2-cross.2", config())
    assert heads == (Head("cross", 1, 2),)
    said = told("address", missing)
    assert said.startswith("off=cross.2.9-encoder.3.1-en… is not in this model")
    assert "layers 1 to 2 with heads 1 to 6, its decoder layers 1 to 3 with heads 1 to 4" in said
    assert told("address", unread).startswith("off=head.2-cross.2 is not understood")


@torch.no_grad()
def test_a_record_has_the_heads_and_what_they_add_instead():
    record, task = record_of(Settings(enc_heads=2, dec_heads=4, text="box")), get_task("spelling")
    off = (Head("cross", 1, 0), Head("cross", 1, 3))
    batch = held_out_batch(task, NUM_WORDS).batch
    whole = EncoderDecoder(record.config, record.seed).eval()
    means = mean_contributions(whole, batch)
    for off_by, given_means in (("zero", None), ("mean", means)):
        found = model_of(record.without_heads(off, off_by))(batch.src_ids, batch.tgt_in).logits
        expected = without_heads(whole, off, given_means)(batch.src_ids, batch.tgt_in).logits
        assert torch.equal(found, expected)
    assert record.without_heads((), "mean") == record
