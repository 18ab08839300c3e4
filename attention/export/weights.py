"""The weights of what does not run: as much of a model as can be made."""

from dataclasses import replace

from torch import Tensor, nn

from attention.config import ModelConfig
from attention.layers import initialise
from attention.model import Decoder, Encoder


def reached_weights(config: ModelConfig, seed: int) -> dict[str, Tensor]:
    """What a model has of weights whose encoder and decoder do not fit together, so that it cannot be made.

    Each follows from the seed and its own name, as in a model that can.
    """
    try:
        decoder = Decoder(config)
    except RuntimeError:  # fewer decoder heads than are handed over: the surplus that reads K/V of its own is negative
        decoder = Decoder(replace(config, kv="direct", kv_variant=None))
    parts = nn.ModuleDict({"encoder": Encoder(config), "decoder": decoder})
    initialise(parts, config, seed)
    return parts.state_dict()
