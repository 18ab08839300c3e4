"""PyTorch's layers, minus the random numbers they draw when they are made, and the one place that draws them.

`nn.Linear()` and `nn.Embedding()` fill themselves from the global generator, which thirty visitors would share.
Here a new layer is left empty, and `initialise` fills a whole model from its seed.
"""

import hashlib
import math
from numbers import Integral

import torch
from torch import nn

from attention.config import ModelConfig

# Of the token embeddings: half as loud as the sinusoids added to them, whose mean square is 1/2. Where tokens drown out
# their positions, the task `reverse` takes twice as many steps to learn.
EMBEDDING_STD = math.sqrt(1 / 2) / 2


class Linear(nn.Linear):
    """`nn.Linear`, empty until `initialise` fills it."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


class Embedding(nn.Embedding):
    """`nn.Embedding`, empty until `initialise` fills it."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


@torch.no_grad()
def initialise(model: nn.Module, config: ModelConfig, seed: int) -> None:
    """Fill every weight from `seed` and the weight's own name; the global generator is left alone.

    Matrices are normal with variance 1 / inputs, which keeps random scores at about unit size. What a residual
    branch adds at its end (W_O and the second feed-forward matrix) is divided by √(2 · layers), as in GPT-2
    (Radford et al. 2019, section 2.3), so that a deep stack starts out no louder than a shallow one.
    """
    for name, module in model.named_modules():
        # Addresses of untrained models were shared when this part had another name; their pictures must not change.
        name = name.replace(".cross.kv_way.", ".cross.feed.")
        if isinstance(module, Embedding):
            module.weight.normal_(std=EMBEDDING_STD, generator=named_generator(seed, name))
        elif isinstance(module, Linear):
            std = module.in_features**-0.5
            if name.endswith(("w_o", "w_down")):
                side = config.encoder if name.startswith("encoder") else config.decoder
                std /= math.sqrt(2 * side.num_layers)
            module.weight.normal_(std=std, generator=named_generator(seed, name))
            if module.bias is not None:
                module.bias.zero_()


def named_generator(seed: int, name: str) -> torch.Generator:
    """A generator that belongs to one name: its numbers do not depend on what else is drawn, or in which order."""
    if isinstance(seed, bool) or not isinstance(seed, Integral):  # "7" and 7.0 would give other numbers than 7
        raise ValueError(f"seed ({seed!r}) must be a whole number")
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
