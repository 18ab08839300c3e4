"""Every line of the ledger against the tensors of the real model, and the coding faults it can put in."""

import pytest
import torch
import torch.nn.functional as F

from attention import EncoderDecoder, ModelConfig, StackConfig, trace_shapes
from attention.config import ATTENTION_KINDS
from attention.shapes import FAULTS

CONFIGS = {
    "plain": ((15, 3, None, None), (14, 7, None, None), "reproject"),
    "unequal everything": ((11, 2, 5, None), (13, 3, 7, None), "reproject"),
    "grouped": ((11, 6, 5, 2), (13, 4, 7, 2), "reproject"),
    "one K/V head": ((11, 3, 5, 1), (13, 5, 2, 1), "reproject"),
    "direct": ((11, 3, 5, None), (13, 3, 5, None), "direct"),
    "direct, broadcast": ((11, 1, 5, None), (13, 3, 5, None), "direct"),
    "direct, grouped": ((11, 6, 5, 3), (13, 3, 5, 1), "direct"),
    "projection": ((11, 2, 5, None), (13, 3, 7, None), "projection", "full"),
    "projection of mixed heads": ((11, 7, 5, None), (13, 3, 5, None), "projection", "mix"),
    "grouped cross-attention": ((11, 3, 5, None), (13, 6, 5, None), "grouped"),
    "pooled": ((11, 6, 5, None), (13, 3, 5, None), "grouped", "pool"),
    "dropped": ((11, 6, 5, None), (13, 2, 5, None), "grouped", "drop"),
    "extra slots": ((11, 2, 5, None), (13, 5, 5, None), "extra", "slots"),
    "extra states": ((11, 2, 5, None), (13, 5, 5, None), "extra", "states"),
    "extra, none needed": ((11, 3, 5, None), (13, 3, 5, None), "extra"),
    "case of 4 × 24 at width 64": ((48, 4, 12, None), (64, 4, 24, None), "reproject"),
    "case of 6 × 10 at width 12": ((12, 6, 10, None), (12, 6, 10, None), "direct"),
}


def make_config(enc, dec, kv, variant=None) -> ModelConfig:
    encoder, decoder = (
        StackConfig(d_model=width, num_heads=heads, head_dim=size, num_kv_heads=kv_heads, num_layers=1)
        for width, heads, size, kv_heads in (enc, dec)
    )
    return ModelConfig(encoder, decoder, kv=kv, kv_variant=variant, src_vocab_size=17, tgt_vocab_size=19, num_slots=3)


def projections_of_a_real_run(model, src_len, tgt_len):
    """Per module name: input, weight and output shape of each linear layer, and the model's output."""
    seen = {}

    def record(name):
        return lambda module, args, result: seen.update({name: (args[0].shape, module.weight.shape, result.shape)})

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_hook(record(name))
    out = model(torch.full((1, src_len), 5), torch.full((1, tgt_len), 5))
    return seen, out


def modules_of(part: str, kv: str, variant: str | None) -> dict[str, str]:
    """Which module of the model makes each letter."""
    stack = "encoder" if part == "encoder" else "decoder"
    own = f"{stack}.layers.0." + ("cross" if part == "cross" else "attention")
    makes_kv = own
    if part == "cross":
        makes_kv = f"{own}.kv_way" if kv == "reproject" else "encoder"
    modules = {"Q": f"{own}.w_q", "K": f"{makes_kv}.w_k", "V": f"{makes_kv}.w_v", "O": f"{own}.w_o"}
    if part == "cross" and variant == "full":
        modules |= {"K′": f"{own}.kv_way.map_k", "V′": f"{own}.kv_way.map_v"}
    if part == "cross" and variant == "states":
        modules |= {"own_K": f"{own}.kv_way.w_k", "own_V": f"{own}.kv_way.w_v"}
    return modules


@pytest.mark.parametrize(("src_len", "tgt_len"), [(17, 19), (1, 1), (1, 3), (6, 6)])
@pytest.mark.parametrize("arguments", CONFIGS.values(), ids=CONFIGS.keys())
def test_the_ledger_equals_the_tensors_of_the_real_model(arguments, src_len, tgt_len):
    config = make_config(*arguments)
    trace = trace_shapes(config, src_len=src_len, tgt_len=tgt_len)
    assert trace.ok and trace.failure is None
    seen, out = projections_of_a_real_run(EncoderDecoder(config), src_len, tgt_len)
    for part in ATTENTION_KINDS:
        steps = {(step.name, step.symbol): step for step in trace.steps if step.part == part}
        modules = modules_of(part, config.kv, config.kv_variant)
        for letter, module in modules.items():
            given, weight, made = seen[module]
            step = steps["project", letter]
            assert [shape.sizes for shape in step.inputs] == [given, weight] and step.output.sizes == made
        (weights,), (queries,) = getattr(out.maps, part), getattr(out.queries, part)
        assert steps["split", "Q"].output.sizes == queries.shape
        assert steps["scores", ""].output.sizes == steps["weights", ""].output.sizes == weights.shape
        assert steps["weights", ""].output.dims[1][0] == "heads"
        assert steps["merge", "Z"].output.sizes == seen[modules["O"]][0]


@pytest.mark.parametrize("arguments", CONFIGS.values(), ids=CONFIGS.keys())
def test_keys_and_values_meet_the_queries_as_in_the_real_model(arguments):
    config, seen = make_config(*arguments), []
    model = EncoderDecoder(config)
    model.decoder.layers[0].cross.kv_way.register_forward_hook(lambda module, args, result: seen.append(result))
    model(torch.full((1, 17), 5), torch.full((1, 19), 5))
    (made,) = seen
    steps = {step.name: step for step in trace_shapes(config, 17, 19).steps if step.part == "cross"}
    for step, real in (("scores", made.k), ("mix_values", made.v)):
        met = steps[step].inputs[1].sizes
        assert met[2:] == real.shape[2:] and met[1] % real.shape[1] == 0  # shared heads are repeated in the ledger


@pytest.mark.parametrize("arguments", CONFIGS.values(), ids=CONFIGS.keys())
def test_each_step_takes_what_an_earlier_one_made(arguments):
    for part in ATTENTION_KINDS:
        made = {}
        for step in trace_shapes(make_config(*arguments)).steps:
            if step.part != part:
                continue
            for shape in step.inputs:
                assert made.get(shape.symbol, shape.sizes) == shape.sizes, step
            made[step.output.symbol] = step.output.sizes
            assert step.latex and step.error is None and step.clashes == () and step.suggestions == ()


def test_the_parts_come_in_the_order_of_the_pass():
    parts = [step.part for step in trace_shapes(make_config(*CONFIGS["grouped"])).steps]
    assert list(dict.fromkeys(parts)) == ["encoder", "decoder", "cross"]
    assert parts == sorted(parts, key=list(dict.fromkeys(parts)).index)


def test_lengths_appear_by_name():
    steps = trace_shapes(make_config(*CONFIGS["unequal everything"]), src_len=17, tgt_len=19).steps
    scores = {step.part: step.output.sizes[2:] for step in steps if step.name == "scores"}
    assert scores == {
        "encoder": (17, 17), "decoder": (19, 19), "cross": (19, 17),
    }  # fmt: skip
    cross = next(step for step in steps if step.part == "cross" and step.name == "scores")
    assert dict(cross.output.dims) == {"batch": 1, "heads": 3, "target": 19, "source": 17}


def test_shared_heads_are_a_step_of_their_own():
    steps = trace_shapes(make_config(*CONFIGS["grouped"])).steps
    shared = [step for step in steps if (step.name, step.symbol) == ("share", "K")]
    assert [(step.inputs[0].sizes[1], step.output.sizes[1]) for step in shared] == [(2, 6), (2, 4), (2, 4)]
    assert [dict(step.values)["group"] for step in shared] == [3, 2, 2]


def test_the_ledger_ends_with_the_first_failure():
    trace = trace_shapes(make_config((11, 3, 5, None), (13, 2, 5, None), "direct"))
    assert [step.ok for step in trace.steps] == [True] * (len(trace.steps) - 1) + [False]
    assert trace.failure is trace.steps[-1] and not trace.ok
    assert sum(step.name == "scores" for step in trace.steps[:-1]) == 2  # both self-attentions were reached


def test_tracing_twice_gives_equal_ledgers_that_can_be_keys():
    config = make_config((11, 3, 5, None), (13, 2, 5, None), "direct")
    assert trace_shapes(config) == trace_shapes(config) and hash(trace_shapes(config)) == hash(trace_shapes(config))


PLAIN_64 = make_config((64, 4, 24, None), (64, 4, 24, None), "reproject")


def test_fault_indivisible():
    """One feature too many, and `view` refuses."""
    failure = trace_shapes(PLAIN_64, src_len=6, tgt_len=5, fault="indivisible").failure
    assert (failure.part, failure.name, failure.symbol) == ("encoder", "split", "Q")
    assert failure.inputs[0].sizes == (1, 6, 97)
    assert [(clash.sizes, clash.axes) for clash in failure.clashes] == [((97, 96), (2, None))]
    with pytest.raises(RuntimeError) as caught:
        torch.zeros(1, 6, 97).view(1, 6, 4, 24)
    assert failure.error == str(caught.value)


def test_fault_w_o_expects_d_model():
    failure = trace_shapes(PLAIN_64, src_len=6, tgt_len=5, fault="w_o_expects_d_model").failure
    assert (failure.part, failure.name, failure.symbol) == ("encoder", "project", "O")
    assert [shape.sizes for shape in failure.inputs] == [(1, 6, 96), (64, 64)]
    assert [(clash.sizes, clash.axes) for clash in failure.clashes] == [((96, 64), (2, 1))]
    with pytest.raises(RuntimeError) as caught:
        F.linear(torch.zeros(1, 6, 96), torch.zeros(64, 64))
    assert failure.error == str(caught.value)


def test_fault_w_k_expects_decoder_width():
    """An encoder of width 48 under a decoder of width 64."""
    config = make_config((48, 4, 12, None), (64, 4, 16, None), "reproject")
    failure = trace_shapes(config, src_len=6, tgt_len=5, fault="w_k_expects_decoder_width").failure
    assert (failure.part, failure.name, failure.symbol) == ("cross", "project", "K")
    assert [shape.sizes for shape in failure.inputs] == [(1, 6, 48), (64, 64)]
    assert [(clash.dim, clash.sizes, clash.axes) for clash in failure.clashes] == [("width", (48, 64), (2, 1))]
    with pytest.raises(RuntimeError) as caught:
        F.linear(torch.zeros(1, 6, 48), torch.zeros(64, 64))
    assert failure.error == str(caught.value)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_explained_and_no_configuration_helps(fault):
    config = make_config((48, 4, 16, None), (64, 4, 24, None), "reproject")
    assert trace_shapes(config).ok
    failure = trace_shapes(config, fault=fault).failure
    assert failure.note and failure.suggestions == () and failure.kind == fault


@pytest.mark.parametrize("fault", ["w_o_expects_d_model", "w_k_expects_decoder_width"])
def test_a_fault_whose_numbers_agree_goes_unnoticed(fault):
    config = make_config((64, 4, 16, None), (64, 8, 8, None), "reproject")
    assert trace_shapes(config, fault=fault) == trace_shapes(config)


@pytest.mark.parametrize("fault", ["w_o_expects_d_model", "w_k_expects_decoder_width"])
def test_an_unnoticed_fault_does_not_take_the_blame_for_another_failure(fault):
    """8 decoder heads against 4 K/V heads fail whether or not a fault that changes nothing is put in."""
    config = make_config((64, 4, 16, None), (64, 8, 8, None), "direct")
    assert trace_shapes(config, fault=fault).failure == trace_shapes(config).failure


def test_an_unknown_fault_is_refused_by_name():
    with pytest.raises(ValueError, match="nonsense") as caught:
        trace_shapes(PLAIN_64, fault="nonsense")
    assert all(fault in str(caught.value) for fault in FAULTS)
