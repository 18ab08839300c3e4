"""Questions about the weights of a model: how many there are, which grow, and where they can be loaded."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import torch

from attention.config import ModelConfig, StackConfig
from attention.model import EncoderDecoder
from attention.quiz.about_shapes import sizes_of, two_sides
from attention.quiz.question import Question, a_number, in_order, offered, question
from attention.shapes.costs import num_parameters

MATRICES = ("w_q", "w_k", "w_v", "w_o")
COMPARED = ("more", "fewer", "as_many")


def _wider(rng: Random, keep: str) -> tuple[ModelConfig, ModelConfig, dict[str, int]]:
    """A model with equal heads on both sides, and the same with more decoder heads."""
    width, heads, times = rng.choice((64, 96, 128)), rng.choice((2, 4, 8)), rng.choice((2, 4))
    before = ModelConfig(StackConfig(width, heads, num_layers=1), StackConfig(width, heads, num_layers=1))
    size = before.decoder.head_dim if keep == "size" else before.decoder.head_dim // times
    more = replace(before.decoder, num_heads=heads * times, num_kv_heads=heads * times, head_dim=size)
    values = {"width": width, "heads": heads, "dim": before.decoder.head_dim, "more": more.num_heads, "more_dim": size}
    return before, replace(before, decoder=more), values


def more_heads_same_width(rng: Random) -> Question:
    return _compared("more_heads_same_width", *_wider(rng, "width"))


def more_heads_same_size(rng: Random) -> Question:
    return _compared("more_heads_same_size", *_wider(rng, "size"))


def _compared(kind: str, before: ModelConfig, after: ModelConfig, values: dict[str, int]) -> Question:
    """Whether the whole model has more weights than before."""
    numbers = [num_parameters(config) for config in (before, after)]
    right = "as_many" if numbers[0] == numbers[1] else "more" if numbers[1] > numbers[0] else "fewer"
    return question(kind, values, in_order(right, COMPARED), before=numbers[0], after=numbers[1])


def weights_that_grow(rng: Random) -> Question:
    """Which matrices of cross-attention have more numbers than before."""
    keep = rng.choice(("width", "size"))
    before, after, values = _wider(rng, keep)
    kv = rng.choice(("reproject", "grouped")) if keep == "size" else "reproject"
    sizes = [_matrices(replace(config, kv=kv)) for config in (before, after)]
    grow = tuple(name for name in MATRICES if sizes[1].get(name, 0) > sizes[0].get(name, 0))
    sets = {MATRICES: "all_four", ("w_q", "w_o"): "q_and_o", ("w_k", "w_v"): "k_and_v", ("w_q",): "only_q", (): "none"}
    values |= {"kv": kv}
    return question("weights_that_grow", values, in_order(sets[grow], sets.values()))


def _matrices(config: ModelConfig) -> dict[str, int]:
    """How many numbers each matrix of a decoder layer's cross-attention has; the encoder's own are not among them."""
    weights = EncoderDecoder(config).decoder.layers[0].cross.named_parameters()
    return {name.split(".")[-2]: weight.numel() for name, weight in weights if name.endswith(".weight")}


def numbers_in_w_k(rng: Random) -> Question:
    config = two_sides(rng)
    right = EncoderDecoder(config).decoder.layers[0].cross.kv_way.w_k.weight.numel()
    enc, dec = config.encoder, config.decoder
    wrong = (enc.d_model * enc.total_width, dec.d_model * dec.total_width, enc.d_model * dec.head_dim, enc.d_model**2)
    return question("numbers_in_w_k", sizes_of(config), offered(rng, right, wrong, a_number), right=right)


def rows_of_w_k(rng: Random) -> Question:
    """Of a self-attention whose query heads share K/V heads."""
    heads, dim = rng.choice((4, 8, 16)), rng.choice((4, 8, 16))
    kv_heads = rng.choice([n for n in (1, 2, 4, 8) if n < heads])
    stack = StackConfig(48, heads, dim, 1, num_kv_heads=kv_heads)
    right = EncoderDecoder(ModelConfig(stack, stack)).encoder.layers[0].attention.w_k.weight.shape[0]
    wrong = (heads * dim, dim, 48, kv_heads * heads)
    values = {"heads": heads, "dim": dim, "kv_heads": kv_heads, "width": 48}
    return question("rows_of_w_k", values, offered(rng, right, wrong, a_number), right=right)


def number_of_maps(rng: Random) -> Question:
    layers, enc_heads, dec_heads = rng.choice((2, 3, 4)), rng.choice((2, 4, 8)), rng.choice((3, 6, 12))
    config = ModelConfig(StackConfig(48, enc_heads, num_layers=2), StackConfig(48, dec_heads, num_layers=layers))
    maps = EncoderDecoder(config)(torch.tensor([[3, 4, 5]]), torch.tensor([[1, 3]])).maps.cross
    right = sum(layer.shape[1] for layer in maps)
    wrong = (dec_heads, layers * enc_heads, 2 * dec_heads + layers, enc_heads * dec_heads)
    values = {"layers": layers, "enc_heads": enc_heads, "dec_heads": dec_heads}
    return question("number_of_maps", values, offered(rng, right, wrong, a_number), right=right)


@torch.no_grad()
def loaded_elsewhere(rng: Random) -> Question:
    """Weights of one number of decoder heads, loaded into another, strictly."""
    keep = rng.choice(("width", "size", "none"))
    before, after, values = _wider(rng, "size" if keep == "size" else "width")
    if keep == "none":
        after = before
        values |= {"more": before.decoder.num_heads, "more_dim": before.decoder.head_dim}
    model = EncoderDecoder(before, seed=rng.randrange(1000)).eval()
    ids = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 3, 4]])
    try:
        other = EncoderDecoder.with_weights(after, model.state_dict())
    except RuntimeError:
        right = "refused"
    else:
        same = torch.allclose(model(*ids).logits, other(*ids).logits, atol=1e-5)
        right = "loads_same" if same else "loads_other"
    return question("loaded_elsewhere", values, in_order(right, ("refused", "loads_other", "loads_same")))


ABOUT_WEIGHTS: dict[str, Callable[[Random], Question]] = {
    make.__name__: make
    for make in (
        more_heads_same_width,
        more_heads_same_size,
        weights_that_grow,
        numbers_in_w_k,
        rows_of_w_k,
        number_of_maps,
        loaded_elsewhere,
    )
}
