"""Weights loaded into another number of heads: a state dict holds no head count, so every shape fits."""

import torch

from attention.experiments.disturbed_memory import misload
from attention.experiments.silent_failures.demonstration import Curve, Damage, SilentFailure, frozen
from attention.experiments.silent_failures.shipped_model import DECODER_HEADS, WIDTH, held_out, shipped_model
from attention.training.accuracy import token_accuracy

HEAD_COUNTS = (1, 4, 8, 16, 32, 64)  # heads × head size is 64 for all of them


@torch.no_grad()
def loaded_head_counts(head_counts: tuple[int, ...] = HEAD_COUNTS) -> SilentFailure:
    """The shipped weights of 8 decoder heads in decoders of other head counts, and how many letters stay right.

    W_Q, W_K, W_V and W_O have the same shapes whatever the number of heads; only where they are cut differs.
    """
    model, task = shipped_model()
    strings = held_out(task)
    encoded = model.encode(strings.src_ids, need_maps=False)  # the encoder is the same for all
    found = {}
    for heads in sorted({DECODER_HEADS, *head_counts}):
        other = model if heads == DECODER_HEADS else misload(model, heads)  # strict, and without a word
        logits = other.decode(strings.tgt_in, encoded, need_maps=False).logits
        found[heads] = token_accuracy(logits, strings.tgt_out)
    return SilentFailure(
        name="loaded_head_counts",
        wrong_code='model.load_state_dict(saved["weights"])  # fits any num_heads that divides the width',
        right_code=(
            'if saved["num_heads"] != num_heads:\n'
            "    raise ValueError(f\"weights of {saved['num_heads']} heads cannot be used with {num_heads}\")\n"
            'model.load_state_dict(saved["weights"])'
        ),
        numbers=tuple(
            Damage("letters_right_at", found[DECODER_HEADS], found[heads], at=heads)
            for heads in head_counts
            if heads != DECODER_HEADS
        ),
        weights="trained",
        curve=Curve(
            "head_counts",
            tuple(head_counts),
            (("loaded", frozen([found[heads] for heads in head_counts])),),
            marked=DECODER_HEADS,
        ),
        facts=(
            ("heads", DECODER_HEADS),
            ("head_dim", WIDTH // DECODER_HEADS),
            ("other_heads", 2 * DECODER_HEADS),
            ("other_head_dim", WIDTH // (2 * DECODER_HEADS)),
        ),
    )
