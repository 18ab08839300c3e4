"""What of that which an encoder hands over does a decoder read? Change one thing after another, and see.

What an answer does not depend on is lost to the decoder; whether it would have been of use is another question.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention.config import START, ModelConfig
from attention.cross_attention import Memory
from attention.model import EncoderDecoder

CHANGE = 1.0  # added to each number of what is changed
ROUNDING = 1e-9  # of 64-bit numbers: where a sequence stands in a batch may change the last bits


@dataclass(frozen=True)
class Read:
    """Of how many things that are handed over the logits depend on, which is `read`, and how many there are.

    They are K/V heads where the encoder hands over heads, and numbers of the memory's width where it does not.
    """

    handed_over: int
    read: int


@torch.no_grad()
def what_is_read(config: ModelConfig, seed: int = 0, src_len: int = 6, tgt_len: int = 4) -> Read:
    """Tried on a model with random weights, all things at once: each is another sequence of one batch.

    Raises:
        ConfigError: encoder and decoder do not fit together.
    """
    model = EncoderDecoder(config, seed).double().eval()
    generator = torch.Generator().manual_seed(seed)
    src_ids = torch.randint(3, config.src_vocab_size, (1, src_len), generator=generator)
    tgt_ids = torch.randint(3, config.tgt_vocab_size, (1, tgt_len), generator=generator)
    tgt_ids[0, 0] = START
    memory = _each_changed_once(model.encode(src_ids).memory)
    logits, _, _ = model.decoder(tgt_ids.expand(len(memory.hidden), -1), memory)
    differs = ((logits[1:] - logits[:1]).abs() > ROUNDING).flatten(1).any(1)
    return Read(len(differs), int(differs.sum()))


def _each_changed_once(memory: Memory) -> Memory:
    """A batch: the memory as it is, then with the first thing changed, with the second, and so on."""
    things = memory.hidden.shape[2] if memory.k is None else memory.k.shape[1]
    mask = memory.mask.expand(things + 1, -1, -1, -1)
    if memory.k is None:
        return Memory(_changed(memory.hidden, 2), mask)
    hidden = memory.hidden.expand(things + 1, -1, -1)
    return Memory(hidden, mask, _changed(memory.k, 1), _changed(memory.v, 1))


def _changed(x: Tensor, dim: int) -> Tensor:
    """(1, …) → (things + 1, …): item i has thing i − 1 along `dim` changed, item 0 none."""
    things = x.shape[dim]
    batch = x.repeat(things + 1, *[1] * (x.ndim - 1))
    for thing in range(things):
        batch[thing + 1].select(dim - 1, thing).add_(CHANGE)
    return batch
