"""Maps averaged over heads: what no head did."""

import numpy as np
import torch

from attention.experiments.silent_failures.demonstration import Damage, SilentFailure, attention_map
from attention.experiments.silent_failures.shipped_model import shipped_model
from attention.metrics import entropy


@torch.no_grad()
def averaged_maps(word: str = "knight") -> SilentFailure:
    """The mean over heads of the encoder's last layer beside the heads themselves, in the shipped spelling model.

    `nn.MultiheadAttention` returns this mean unless it is told not to. (Michel et al. 2019 and Voita et al. 2019 are
    about how differently heads behave.)
    """
    model, task = shipped_model("spelling")
    src_ids = torch.tensor([task.encode_source(task.read(word))])
    weights = model.encode(src_ids).recordings[-1].weights[0].numpy()  # (heads, len, len)
    average = weights.mean(0)
    everywhere = np.ones(average.shape, dtype=bool)
    heads_entropy = entropy(weights, everywhere)
    sharpest = int(heads_entropy.argmin())
    missed = weights.argmax(-1) != average.argmax(-1)  # (heads, len)

    tokens = task.src_vocab.decode(src_ids[0].tolist())
    heads = tuple(
        attention_map("head", head, tokens, tokens, attention="encoder", at=number)
        for number, head in enumerate(weights, start=1)
    )
    return SilentFailure(
        name="averaged_maps",
        wrong_code="output, weights = mha(x, x, x)  # (batch, q_len, kv_len)",
        right_code="output, weights = mha(x, x, x, average_attn_weights=False)  # (batch, heads, q_len, kv_len)",
        numbers=(
            Damage("entropy_mean", float(heads_entropy.mean()), float(entropy(average[None], everywhere)[0]), "number"),
            Damage("peak", float(weights.max(-1).mean()), float(average.max(-1).mean()), "number"),
            Damage("rows_missed", 0.0, float(missed.mean())),
            Damage("rows_missed_sharpest", 0.0, float(missed[sharpest].mean())),
        ),
        weights="trained",
        maps=(*heads, attention_map("average", average, tokens, tokens, attention="encoder")),
        facts=(("word", word), ("heads", len(weights)), ("sharpest", sharpest + 1)),
    )
