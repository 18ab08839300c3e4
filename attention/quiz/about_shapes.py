"""Questions about shapes: the ledger of a pass answers them, or a model that is really built."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from attention.config import ModelConfig, StackConfig
from attention.cross_attention import fits
from attention.model import EncoderDecoder
from attention.quiz.question import Question, a_number, a_shape, in_order, message, offered, question
from attention.shapes import trace_shapes
from attention.shapes.ledger import LedgerStep, Trace

HEADS, DIMS, WIDTHS = (2, 4, 8, 16), (4, 8, 16, 32), (48, 64, 96, 128)
WAYS = ("reproject", "direct", "projection", "grouped", "extra")
STOPS = ("pool", "make_own", "scores", "project")  # steps at which a pass may stop; the last is W_O


def two_sides(rng: Random, kv: str = "reproject") -> ModelConfig:
    """Encoder and decoder that differ in heads, head size and width."""
    sides = zip(*(rng.sample(options, 2) for options in (WIDTHS, HEADS, DIMS)), strict=True)
    return ModelConfig(*(StackConfig(*side, num_layers=1) for side in sides), kv=kv)


def sizes_of(config: ModelConfig) -> dict[str, int]:
    """What a question names of a configuration."""
    sides = (("enc", config.encoder), ("dec", config.decoder))
    found = {}
    for side, stack in sides:
        found |= {f"{side}_heads": stack.num_heads, f"{side}_dim": stack.head_dim, f"{side}_width": stack.d_model}
    return found


def cross_steps(trace: Trace) -> list[LedgerStep]:
    """Those of cross-attention."""
    return [step for step in trace.steps if step.part == "cross"]


def _traced(rng: Random) -> tuple[ModelConfig, dict[str, int], list[LedgerStep]]:
    """A textbook model, what a question names of it, and its cross-attention."""
    config, (source, target) = two_sides(rng), rng.sample(range(5, 12), 2)
    steps = cross_steps(trace_shapes(config, source, target))
    return config, sizes_of(config) | {"source": source, "target": target}, steps


def queries_in_heads(rng: Random) -> Question:
    config, values, steps = _traced(rng)
    enc, dec, target = config.encoder, config.decoder, values["target"]
    (step,) = (step for step in steps if (step.name, step.symbol) == ("split", "Q"))
    wrong = (
        (1, target, dec.num_heads, dec.head_dim),
        (1, enc.num_heads, target, enc.head_dim),
        (1, dec.num_heads, target, dec.d_model),
        (1, dec.num_heads, values["source"], dec.head_dim),
    )
    return question("queries_in_heads", values, offered(rng, step.output.sizes, wrong, a_shape), steps[:2])


def keys_in_heads(rng: Random) -> Question:
    config, values, steps = _traced(rng)
    enc, dec, source = config.encoder, config.decoder, values["source"]
    (step,) = (step for step in steps if (step.name, step.symbol) == ("split", "K"))
    wrong = (
        (1, enc.num_heads, source, enc.head_dim),
        (1, dec.num_heads, values["target"], dec.head_dim),
        (1, enc.num_heads, source, dec.head_dim),
        (1, dec.num_heads, source, enc.head_dim),
    )
    shown = [one for one in steps if one.symbol == "K"]
    return question("keys_in_heads", values, offered(rng, step.output.sizes, wrong, a_shape), shown)


def shape_of_maps(rng: Random) -> Question:
    config, values, steps = _traced(rng)
    enc, dec, source, target = config.encoder, config.decoder, values["source"], values["target"]
    (step,) = (step for step in steps if step.name == "weights")
    wrong = (
        (1, enc.num_heads, target, source),
        (1, dec.num_heads, source, target),
        (1, dec.num_heads, target, target),
        (1, dec.num_heads, target, dec.head_dim),
    )
    shown = [one for one in steps if one.name in ("scores", "weights")]
    return question("shape_of_maps", values, offered(rng, step.output.sizes, wrong, a_shape), shown)


def shape_of_w_o(rng: Random) -> Question:
    config = two_sides(rng)
    dec = config.decoder
    while dec.total_width == dec.d_model:  # otherwise it is square, and there is nothing to ask
        config = two_sides(rng)
        dec = config.decoder
    right = tuple(EncoderDecoder(config).decoder.layers[0].cross.w_o.weight.shape)
    wrong = (right[::-1], (dec.d_model, dec.d_model), (dec.total_width, dec.total_width))
    steps = cross_steps(trace_shapes(config))[-2:]
    return question("shape_of_w_o", sizes_of(config), offered(rng, right, wrong, a_shape), steps)


def shape_of_w_k(rng: Random) -> Question:
    config = two_sides(rng)
    enc, dec = config.encoder, config.decoder
    right = tuple(EncoderDecoder(config).decoder.layers[0].cross.kv_way.w_k.weight.shape)
    wrong = ((dec.total_width, dec.d_model), (enc.total_width, enc.d_model), (enc.d_model, enc.d_model), right[::-1])
    steps = [step for step in cross_steps(trace_shapes(config)) if step.symbol == "K"]
    return question("shape_of_w_k", sizes_of(config), offered(rng, right, wrong, a_shape), steps)


def head_size(rng: Random) -> Question:
    width, (heads, more) = rng.choice((64, 128, 256, 512)), sorted(rng.sample(HEADS, 2))
    right = StackConfig(width, more).head_dim
    wrong = (StackConfig(width, heads).head_dim, right * 2, more, width)
    values = {"width": width, "heads": heads, "more": more}
    return question("head_size", values, offered(rng, right, wrong, a_number), right=right)


def total_width(rng: Random) -> Question:
    width, (heads, more) = rng.choice((64, 128, 256, 512)), sorted(rng.sample(HEADS, 2))
    before = StackConfig(width, heads)
    right = replace(before, num_heads=more, num_kv_heads=more).total_width
    values = {"width": width, "heads": heads, "dim": before.head_dim, "more": more}
    wrong = (width, before.head_dim, right * 2, width * more)
    return question("total_width", values, offered(rng, right, wrong, a_number), right=right)


# ---- what fits ----


def runs(config: ModelConfig) -> bool:
    """Whether a whole pass runs."""
    return trace_shapes(config).ok


def does_it_run(rng: Random) -> Question:
    config = _either(rng)
    trace = trace_shapes(config)
    values = sizes_of(config) | {"kv": config.kv}
    return question("does_it_run", values, in_order("yes" if trace.ok else "no", ("yes", "no")), trace.steps[-1:])


def _either(rng: Random) -> ModelConfig:
    """One that should run or one that should not, as likely, whatever else is drawn."""
    wanted = rng.random() < 0.5
    while True:
        config = two_sides(rng, rng.choice(WAYS))
        if rng.random() < 0.6:  # heads of one size, so that head counts decide
            config = replace(config, decoder=replace(config.decoder, head_dim=config.encoder.head_dim))
        if fits(config) == wanted:
            return config


def decoder_that_fits(rng: Random) -> Question:
    """One decoder of four meets the encoder's keys as they are."""
    config = two_sides(rng, "direct")
    enc, dec = config.encoder, config.decoder
    sizes = {(heads, dim) for heads in (enc.num_heads, dec.num_heads) for dim in (enc.head_dim, dec.head_dim)}
    return _one_that_fits("decoder_that_fits", rng, config, sizes)


def decoder_that_shares(rng: Random) -> Question:
    """One number of heads of four can be put into even groups."""
    config = two_sides(rng, "grouped")
    enc = replace(config.encoder, num_heads=rng.choice((3, 4, 5, 6)), num_kv_heads=None)
    heads = {enc.num_heads * rng.choice((2, 3, 4)), *(enc.num_heads * 2 + more for more in (-1, 1, 2))}
    return _one_that_fits("decoder_that_shares", rng, replace(config, encoder=enc), {(n, enc.head_dim) for n in heads})


def _one_that_fits(kind: str, rng: Random, config: ModelConfig, sizes: set[tuple[int, int]]) -> Question:
    by_end: dict[bool, list] = {True: [], False: []}
    for heads, dim in sorted(sizes):
        decoder = replace(config.decoder, num_heads=heads, num_kv_heads=heads, head_dim=dim)
        by_end[runs(replace(config, decoder=decoder))].append((heads, dim))
    right = rng.choice(by_end[True])
    choices = offered(rng, right, by_end[False], lambda size: message("heads_of_size", heads=size[0], dim=size[1]))
    return question(kind, sizes_of(config), choices, right_heads=right[0], right_dim=right[1])


def where_it_stops(rng: Random) -> Question:
    """The step that PyTorch refuses."""
    config, heads = two_sides(rng, rng.choice(("direct", "grouped", "extra"))), rng.choice((4, 6, 8))
    dim = config.encoder.head_dim
    encoder = replace(config.encoder, num_heads=heads, num_kv_heads=heads)
    asking = {"direct": (1, heads * 2), "grouped": (heads - 1, heads + 1), "extra": (1, heads - 1)}[config.kv]
    asking = rng.choice(asking)
    decoder = replace(config.decoder, num_heads=asking, num_kv_heads=asking, head_dim=dim)
    config = replace(config, encoder=encoder, decoder=decoder)
    failure = trace_shapes(config).failure
    values = sizes_of(config) | {"kv": config.kv}
    return question("where_it_stops", values, in_order(failure.name, STOPS), [failure])


def pytorch_says(rng: Random) -> Question:
    """PyTorch's own sentence, among sentences that it says of other shapes."""
    config = two_sides(rng, "direct")
    dim, (handed, asking) = config.encoder.head_dim, rng.sample(HEADS, 2)

    def error_of(handed: int, asking: int, dim_asked: int) -> LedgerStep:
        encoder = replace(config.encoder, num_heads=handed, num_kv_heads=handed)
        decoder = replace(config.decoder, num_heads=asking, num_kv_heads=asking, head_dim=dim_asked)
        return trace_shapes(replace(config, encoder=encoder, decoder=decoder)).failure

    failure = error_of(handed, asking, dim)
    others = (error_of(asking, handed, dim), error_of(handed, asking * 2 + 1, dim), error_of(handed, handed, dim * 2))
    choices = offered(rng, failure.error, (one.error for one in others), lambda error: message("verbatim", text=error))
    values = {"handed": handed, "asking": asking, "dim": dim}
    return question("pytorch_says", values, choices, [failure])


def only_way(rng: Random) -> Question:
    """One K/V way of three runs."""
    return _one_way("only_way", rng, ("direct", "grouped", "extra"), wanted=True)


def only_way_that_fails(rng: Random) -> Question:
    """One K/V way of three does not run."""
    return _one_way("only_way_that_fails", rng, ("projection", "grouped", "extra"), wanted=False)


def _one_way(kind: str, rng: Random, ways: tuple[str, ...], wanted: bool) -> Question:
    while True:
        config = two_sides(rng)
        handed, asking = rng.sample((3, 4, 6, 8, 12, 16), 2)
        encoder = replace(config.encoder, num_heads=handed, num_kv_heads=handed)
        decoder = StackConfig(config.decoder.d_model, asking, encoder.head_dim, 1)
        config = replace(config, encoder=encoder, decoder=decoder)
        each = {way: replace(config, kv=way, kv_variant=None) for way in ways}
        if sum(fits(one) == wanted for one in each.values()) != 1:
            continue
        (right,) = (way for way, one in each.items() if runs(one) == wanted)
        return question(kind, sizes_of(config), in_order(right, ways), right=right)


def sizes_that_clash(rng: Random) -> Question:
    """W_O built for the width, though heads × head size is another number."""
    config = two_sides(rng)
    while config.decoder.total_width == config.decoder.d_model or config.encoder.total_width != config.encoder.d_model:
        config = two_sides(rng)
        config = replace(config, encoder=replace(config.encoder, head_dim=None, num_heads=4, num_kv_heads=None))
    failure = trace_shapes(config, fault="w_o_expects_d_model").failure
    dec, (clash,) = config.decoder, failure.clashes
    wrong = (
        (dec.num_heads, config.encoder.num_heads),
        (dec.head_dim, dec.d_model),
        (config.encoder.d_model, dec.d_model),
        (dec.total_width, config.encoder.d_model),
    )
    choices = offered(rng, clash.sizes, wrong, lambda pair: message("pair", one=pair[0], other=pair[1]))
    return question("sizes_that_clash", sizes_of(config), choices, [failure])


ABOUT_SHAPES: dict[str, Callable[[Random], Question]] = {
    make.__name__: make
    for make in (
        queries_in_heads,
        keys_in_heads,
        shape_of_maps,
        shape_of_w_o,
        shape_of_w_k,
        head_size,
        total_width,
        does_it_run,
        decoder_that_fits,
        decoder_that_shares,
        where_it_stops,
        pytorch_says,
        only_way,
        only_way_that_fails,
        sizes_that_clash,
    )
}
