"""Weights loaded into another number of heads: a state dict holds no head count, so every shape fits."""

import torch

from attention.anchors import misload
from attention.checkpoints import DIRECTORY, CheckpointError, find, load_weights
from attention.silent.result import Curve, Damage, SilentFailure, frozen
from attention.silent.runs import DECODER_HEADS, config_for, held_out, letters_right, trained

HEAD_COUNTS = (1, 4, 8, 16, 32, 64)  # heads × head size is 64 for all of them


@torch.no_grad()
def loaded_head_counts(head_counts: tuple[int, ...] = HEAD_COUNTS) -> SilentFailure:
    """The shipped weights of 8 decoder heads in decoders of other head counts, and how many letters stay right.

    W_Q, W_K, W_V and W_O have the same shapes whatever the number of heads; only where they are cut differs.
    """
    model, task = trained()
    strings = held_out(task)
    encoded = model.encode(strings.src_ids, need_maps=False)  # the encoder is the same for all
    found = {}
    for heads in sorted({DECODER_HEADS, *head_counts}):
        other = model if heads == DECODER_HEADS else misload(model, heads)  # strict, and without a word
        logits = other.decode(strings.tgt_in, encoded, need_maps=False).logits
        found[heads] = letters_right(logits, strings.tgt_out)
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
        facts=(("heads", DECODER_HEADS), ("refusal", _refusal(task, 2 * DECODER_HEADS))),
    )


def _refusal(task, heads: int) -> str:
    """What this package's own loading says to the same attempt: the head counts are stored beside the weights."""
    card = find(task.name, config_for(task))
    try:
        load_weights(DIRECTORY / f"{card.name}.safetensors", config_for(task, heads))
    except CheckpointError as error:
        return str(error)
    raise RuntimeError(f"{card.name} was loaded into {heads} decoder heads without complaint")
