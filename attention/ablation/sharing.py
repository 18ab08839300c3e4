"""A changed model beside the one it came from: only what changes has memory of its own."""

import copy
from collections.abc import Iterable

from torch import nn

from attention.model import EncoderDecoder


def sharing_copy(model: EncoderDecoder, own: Iterable[nn.Parameter] = ()) -> EncoderDecoder:
    """A copy of `model` whose parameters in `own` may be written to; all others lie in the model's memory.

    Gradients are never shared, and all parameters of the copy can have them.
    """
    own = set(map(id, own))
    shared = {id(x): nn.Parameter(x.detach()) for x in model.parameters() if id(x) not in own}
    return copy.deepcopy(model, shared).requires_grad_(True)
