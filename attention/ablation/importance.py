"""Importance of heads from one backward pass: the mean absolute first-order effect of each on the loss."""

import numpy as np
import torch
import torch.nn.functional as F

from attention.ablation.sharing import sharing_copy
from attention.config import ATTENTION_KINDS, PAD
from attention.model import EncoderDecoder
from attention.tasks import Batch


def gradient_importance(model: EncoderDecoder, batch: Batch) -> dict[str, np.ndarray]:
    """Michel et al. (2019, section 4.1): mean over examples of |∂loss/∂ξ| with ξ = 1 a factor on the head's output.

    A first-order guess at what leave-one-out measures: fast, and wrong where removing a head changes much.

    Args:
        batch: the loss of an example is the mean cross-entropy of its target tokens, in nats.

    Returns:
        (layers, heads) float64 for each kind, 0 or more, in nats.
    """
    model = sharing_copy(model)  # its weights take part in gradients even where the caller's are frozen
    with torch.enable_grad():
        encoded = model.encode(batch.src_ids)
        logits, own, cross = model.decoder(batch.tgt_in, encoded.memory)
        losses = F.cross_entropy(logits.mT, batch.tgt_out, ignore_index=PAD, reduction="none")  # (batch, tgt_len)
        loss = (losses.sum(1) / (batch.tgt_out != PAD).sum(1)).sum()  # no example's loss depends on another example
        kinds = dict(zip(ATTENTION_KINDS, (encoded.recordings, own, cross), strict=True))
        mixed = {kind: [recording.mixed for recording in layers] for kind, layers in kinds.items()}
        gradients = iter(torch.autograd.grad(loss, [x for layers in mixed.values() for x in layers]))
    # The factor ξ scales the whole output, so ∂loss/∂ξ = Σ output · ∂loss/∂output.
    with torch.no_grad():
        return {
            kind: torch.stack([(x * next(gradients)).sum((2, 3)).abs().double().mean(0) for x in layers]).numpy()
            for kind, layers in mixed.items()
        }
