"""How much the loss would feel it if a head spoke a little more softly: importance from one backward pass."""

import copy

import numpy as np
import torch
import torch.nn.functional as F

from attention.config import PAD
from attention.metrics.heads import KINDS
from attention.model import EncoderDecoder
from attention.tasks import Batch


def gradient_importance(model: EncoderDecoder, batch: Batch, normalise: bool = False) -> dict[str, np.ndarray]:
    """Michel et al. (2019, section 4.1): mean over examples of |∂loss/∂ξ| with ξ = 1 a factor on the head's output.

    A first-order guess at what leave-one-out measures: fast, and wrong where removing a head changes much.

    Args:
        batch: the loss of an example is the mean cross-entropy of its target tokens, in nats.
        normalise: divide by the Euclidean length over the heads of a layer (as they do before ranking); 0 stays 0.

    Returns:
        (layers, heads) float64 for each kind, 0 or more, in nats.
    """
    model = copy.deepcopy(model).requires_grad_(True)  # the caller's gradients stay as they are
    with torch.enable_grad():
        encoded = model.encode(batch.src_ids)
        logits, own, cross = model.decoder(batch.tgt_in, encoded.memory)
        losses = F.cross_entropy(logits.mT, batch.tgt_out, ignore_index=PAD, reduction="none")  # (batch, tgt_len)
        loss = (losses.sum(1) / (batch.tgt_out != PAD).sum(1)).sum()  # no example's loss depends on another example
        kinds = dict(zip(KINDS, (encoded.recordings, own, cross), strict=True))
        mixed = {kind: [recording.mixed for recording in layers] for kind, layers in kinds.items()}
        gradients = iter(torch.autograd.grad(loss, [x for layers in mixed.values() for x in layers]))
    # ξ scales the whole output, so ∂loss/∂ξ = Σ output · ∂loss/∂output.
    with torch.no_grad():
        result = {
            kind: torch.stack([(x * next(gradients)).sum((2, 3)).abs().double().mean(0) for x in layers]).numpy()
            for kind, layers in mixed.items()
        }
    if not normalise:
        return result
    lengths = {kind: np.linalg.norm(x, axis=1, keepdims=True) for kind, x in result.items()}
    return {
        kind: np.divide(x, lengths[kind], out=np.zeros_like(x), where=lengths[kind] > 0) for kind, x in result.items()
    }
