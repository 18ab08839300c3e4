"""Heads that are folded into the batch in the wrong order, so that words see with, or read, each other's letters."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from attention.config import PAD
from attention.cross_attention import Memory
from attention.cross_attention.base import KeyValuePair
from attention.cross_attention.reproject import Reproject
from attention.experiments.silent_failures.demonstration import Damage, SilentFailure, attention_map
from attention.experiments.silent_failures.shipped_model import (
    DECODER_HEADS,
    accuracy,
    batch_of,
    held_out,
    mean_share_on,
    shipped_model,
)
from attention.model import EncoderDecoder, Output
from attention.tasks import Batch, Task, Tokens
from attention.training.accuracy import token_accuracy

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class LengthFirst(Reproject):
    """The textbook way, but K and V are split as if the memory were (src_len, batch, width); it is batch first."""

    def source_kv(self, memory: Memory) -> KeyValuePair:
        return self._split(self.w_k(memory.hidden)), self._split(self.w_v(memory.hidden))

    def _split(self, x: Float[Tensor, "batch src_len width"]) -> Float[Tensor, "batch heads src_len head_dim"]:
        batch, src_len, width = x.shape
        heads = self.num_kv_heads
        x = x.view(src_len, batch * heads, width // heads).transpose(0, 1)  # (batch * heads, src_len, head_dim)
        return x.unflatten(0, (batch, heads))


def give_kv_way(model: EncoderDecoder, way: type[Reproject]) -> None:
    """Give every decoder layer of the caller's own model a faulty K/V way with the weights that it has."""
    for layer in model.decoder.layers:
        faulty = way(model.config)
        faulty.load_state_dict(layer.cross.kv_way.state_dict())
        layer.cross.kv_way = faulty


def tokens_read(batch: int, src_len: int) -> Int[Tensor, "batch src_len"]:
    """Which token each slot of each word really holds after the wrong view, counted through the whole batch.

    Slot s of word b lies at (s, b) of a (src_len, batch) table whose memory is that of a (batch, src_len) one.
    """
    return torch.arange(src_len) * batch + torch.arange(batch)[:, None]


@torch.no_grad()
def view_order(words: Sequence[str] = ("bird", "frog", "moth")) -> SilentFailure:
    """Heads folded into the batch by a `view` that takes the batch for the length: words read each other's keys.

    The words shown have to be equally long, so that nothing is padded; ValueError if they are not.
    """
    if len(set(map(len, words))) != 1:
        raise ValueError(f"words ({', '.join(words)}) must all have the same number of letters")
    model, task = shipped_model()
    batch, strings = batch_of(task, words), held_out(task)
    right, right_accuracy = model(batch.src_ids, batch.tgt_in), accuracy(model, strings)
    alone = model(batch.src_ids[:1], batch.tgt_in[:1]).logits
    give_kv_way(model, LengthFirst)
    wrong = model(batch.src_ids, batch.tgt_in)

    num_words, src_len = batch.src_ids.shape
    tokens = tokens_read(num_words, src_len)
    foreign = tokens // src_len != torch.arange(num_words)[:, None]  # (batch, src_len)
    real = torch.ones_like(batch.tgt_out, dtype=torch.bool)

    # The first word's row of attention, laid out over all tokens of the batch.
    read_right, read_wrong = torch.zeros(2, batch.tgt_in.shape[1], num_words * src_len)
    read_right[:, :src_len] = right.maps.cross[-1][0, 0]
    read_wrong[:, tokens[0]] = wrong.maps.cross[-1][0, 0]
    rows = task.tgt_vocab.decode(batch.tgt_out[0].tolist())
    columns = numbered_letters(task, batch.src_ids)
    return SilentFailure(
        name="view_order",
        wrong_code="k = w_k(memory).view(src_len, batch * heads, head_dim).transpose(0, 1)",
        right_code="k = w_k(memory).view(batch, src_len, heads, head_dim).transpose(1, 2).flatten(0, 1)",
        numbers=(
            Damage("read_other_words", 0.0, mean_share_on(wrong.maps.cross, foreign[:, None, None], real)),
            Damage("letters_right", right_accuracy, accuracy(model, strings)),
            Damage("company", _company(right.logits[0], alone[0]), _company(wrong.logits[0], alone[0])),
        ),
        weights="trained",
        maps=(
            attention_map("batch_right", read_right, rows, columns),
            attention_map("batch_wrong", read_wrong, rows, columns),
        ),
        facts=(("word", words[0]), ("words", ", ".join(words))),
    )


def numbered_letters(task: Task, src_ids: Int[Tensor, "batch src_len"]) -> Tokens:
    """All letters of a batch in one row, each with the number of its word: o₁ w₁ l₁ … x₃; padding is left out."""
    return tuple(
        letter + str(number).translate(_SUBSCRIPTS)
        for number, ids in enumerate(src_ids, start=1)
        for letter in task.src_vocab.decode(ids[ids != PAD].tolist())
    )


def _company(together: Tensor, alone: Tensor) -> float:
    """The most that any probability changes when other words come into the batch."""
    return float((together.softmax(-1) - alone.softmax(-1)).abs().max())


def repeated_wrongly(per_word: Shaped[Tensor, "batch *rest"], heads: int) -> Shaped[Tensor, "batch heads *rest"]:
    """What each head of each word is given when the batch is repeated: words 0, 1, 0, 1 where 0, 0, 1, 1 is right."""
    return per_word.repeat(heads, *[1] * (per_word.dim() - 1)).unflatten(0, (len(per_word), heads))


class WordsRepeated(Reproject):
    """The textbook way, but K and V are repeated for the heads word after word; each word should stay together."""

    def source_kv(self, memory: Memory) -> KeyValuePair:
        k, v = super().source_kv(memory)  # (batch, heads, src_len, head_dim)
        whose, heads = repeated_wrongly(torch.arange(len(k)), self.num_kv_heads), torch.arange(self.num_kv_heads)
        return k[whose, heads], v[whose, heads]


@torch.no_grad()
def repeat_order(words: Sequence[str] = ("owl", "tiger", "ox")) -> SilentFailure:
    """Keys and values repeated for the heads in the wrong order: most heads of a word get those of another word.

    With heads folded into the batch, entry i belongs to word i // heads; `repeat` gives it word i % batch. The same
    slip with nothing but the mask is measured too: `nn.MultiheadAttention` wants one per word and head, in that order.
    """
    model, task = shipped_model()
    batch, strings = batch_of(task, words), held_out(task)
    right, right_accuracy = model(batch.src_ids, batch.tgt_in), accuracy(model, strings)
    masked = _with_repeated_masks(model, batch)
    masked_accuracy = token_accuracy(_with_repeated_masks(model, strings).logits, strings.tgt_out)
    give_kv_way(model, WordsRepeated)
    wrong = _with_repeated_masks(model, batch)  # the mask goes where the keys go
    accuracies = right_accuracy, token_accuracy(_with_repeated_masks(model, strings).logits, strings.tgt_out)

    whose = repeated_wrongly(torch.arange(len(words)), DECODER_HEADS)  # (batch, heads)
    foreign = whose != torch.arange(len(words))[:, None]
    padding, real = (batch.src_ids == PAD)[:, None, None], batch.tgt_out != PAD
    head = int(foreign[0].float().argmax())  # the first of the first word's heads that reads another word
    read_right, read_wrong = torch.zeros(2, *batch.tgt_in.shape[1:], *batch.src_ids.shape)  # (tgt_len, words, src_len)
    read_right[:, 0] = right.maps.cross[-1][0, head]
    read_wrong[:, whose[0, head]] = wrong.maps.cross[-1][0, head]
    rows = task.tgt_vocab.decode(batch.tgt_out[0, real[0]].tolist())
    columns = numbered_letters(task, batch.src_ids)
    return SilentFailure(
        name="repeat_order",
        wrong_code="k = k.repeat(num_heads, 1, 1)  # words 0, 1, 2, 0, 1, 2, …",
        right_code="k = k.repeat_interleave(num_heads, dim=0)  # words 0, 0, …, 1, 1, …",
        numbers=(
            Damage("foreign_heads", 0.0, float(foreign.float().mean())),
            Damage("letters_right", *accuracies),
            Damage("on_padding", *(mean_share_on(out.maps.cross, padding, real) for out in (right, masked))),
            Damage("letters_right_mask", right_accuracy, masked_accuracy),
        ),
        weights="trained",
        maps=tuple(
            attention_map(name, read[real[0]][:, batch.src_ids != PAD], rows, columns)
            for name, read in (("batch_right", read_right), ("batch_wrong", read_wrong))
        ),
        facts=(("word", words[0]), ("words", ", ".join(words)), ("head", head + 1)),
    )


def _with_repeated_masks(model: EncoderDecoder, batch: Batch) -> Output:
    """A forward pass in which the padding mask of cross-attention is repeated in the wrong order."""
    encoded = model.encode(batch.src_ids)
    mask = repeated_wrongly(encoded.memory.mask[:, 0], DECODER_HEADS)  # (batch, heads, 1, src_len)
    return model.decode(batch.tgt_in, encoded._replace(memory=encoded.memory._replace(mask=mask)))
