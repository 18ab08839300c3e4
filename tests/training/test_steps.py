import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import loky
import pytest
import torch
from all_ways import WAYS, random_model
from loky.backend import get_context

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.jobs.worker import run_chunk
from attention.tasks import get_task
from attention.training import TrainingSettings, advance, start
from attention.training.evaluation import evaluate
from attention.training.steps import make_optimisers


def settings(**changes) -> TrainingSettings:
    config = ModelConfig(
        encoder=StackConfig(d_model=22, num_heads=2, num_layers=1),
        decoder=StackConfig(d_model=26, num_heads=13, num_layers=1),
        src_vocab_size=29,
        tgt_vocab_size=29,
        bias=True,
        dropout=changes.pop("dropout", 0.0),
    )
    return TrainingSettings(**{"task": "reverse", "config": config, "num_steps": 30, "batch_size": 7, **changes})


def assert_same(one, other):
    """Bit for bit."""
    assert one.step == other.step
    assert one.history == other.history
    assert torch.equal(one.generator, other.generator)
    assert one.weights.keys() == other.weights.keys()
    assert all(torch.equal(one.weights[name], other.weights[name]) for name in one.weights)
    for first, second in zip(one.optimisers, other.optimisers, strict=True):
        assert pickle.dumps(first["param_groups"]) == pickle.dumps(second["param_groups"])
        assert first["state"].keys() == second["state"].keys()
        for number, moments in first["state"].items():
            assert all(torch.equal(moments[name], second["state"][number][name]) for name in moments)


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_in_pieces_equals_at_once(dropout):
    whole = advance(start(settings(dropout=dropout)), 30)
    pieces = start(settings(dropout=dropout))
    for num_steps in (1, 0, 7, 11, 11):
        pieces = pickle.loads(pickle.dumps(advance(pieces, num_steps)))
    assert_same(whole, pieces)


def test_nothing_else_is_touched():
    state = advance(start(settings()), 5)
    before, rng = pickle.dumps(state), torch.get_rng_state()
    torch.manual_seed(1)
    one = advance(state, 5)
    torch.manual_seed(2)
    other = advance(state, 5)
    assert_same(one, other)
    assert pickle.dumps(state) == before
    torch.set_rng_state(rng)
    advance(state, 2)
    start(settings())
    assert torch.equal(torch.get_rng_state(), rng)


@pytest.mark.slow
def test_across_processes_as_in_one():
    """300 steps here equal 6 times 50, each in a process of its own, with one thread everywhere."""
    plan = settings(num_steps=300)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        whole = advance(start(plan), 300)
    finally:
        torch.set_num_threads(threads)
    chunk, pids = None, set()
    with loky.ProcessPoolExecutor(2, context=get_context("loky")) as pool:
        for _ in range(6):
            chunk = pool.submit(run_chunk, plan, chunk and chunk.state, 50).result()
            pids |= {pool.submit(os.getpid).result() for _ in range(2)}
    assert os.getpid() not in pids
    assert_same(whole, pickle.loads(chunk.state))


@pytest.mark.slow
def test_thirty_threads_at_once_get_what_one_gets():
    """Each training has a random generator of its own: none draws from what another one seeded."""
    wanted = [settings(seed=seed, dropout=0.1) for seed in range(3)]
    alone = [advance(start(plan), 4) for plan in wanted]
    with ThreadPoolExecutor(30) as pool:
        together = list(pool.map(lambda number: advance(start(wanted[number % 3]), 4), range(30)))
    for number, state in enumerate(together):
        assert_same(state, alone[number % 3])


def test_seed_decides_weights_and_batches():
    one, same, other = (advance(start(settings(seed=seed)), 3) for seed in (1, 1, 2))
    assert_same(one, same)
    assert one.history[0].loss != other.history[0].loss


def test_the_schedule_ends():
    state = advance(start(settings()), 1_000)
    assert state.done
    assert state.step == 30
    assert [report.step for report in state.history] == list(range(30))
    assert_same(advance(state, 10), state)


def test_the_share_of_the_rates_rises_and_falls_to_zero():
    plan = settings(num_steps=100, warmup=9)
    rates = [plan.share_of_rate_at(step) for step in range(101)]
    assert rates[:4] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert rates[9] == 1.0 == max(rates)
    assert rates[100] == 0.0
    assert all(a > b for a, b in pairwise(rates[9:]))
    assert all(a > 0 for a in rates[:100])
    assert settings(num_steps=5, warmup=100).share_of_rate_at(4) > 0


def test_all_rates_follow_the_same_share():
    plan = settings(num_steps=30, warmup=4, learning_rate=0.03, matrix_rate=0.05, embedding_rate=7.0)
    state = advance(start(plan), 3)  # the last step that was taken is number 2
    muon, adamw = state.optimisers
    embeddings, vectors = adamw["param_groups"]
    assert [muon["param_groups"][0]["lr"], embeddings["lr"], vectors["lr"]] == pytest.approx(
        [0.05 * 3 / 5, 7 * 0.03 * 3 / 5, 0.03 * 3 / 5]
    )


@pytest.mark.parametrize("way", WAYS)
def test_each_weight_belongs_to_one_optimiser(way):
    """Muon has exactly the weights of linear layers."""
    model = random_model(way)
    muon, adamw = make_optimisers(model, settings())
    matrices = {id(p) for group in muon.param_groups for p in group["params"]}
    others = [id(p) for group in adamw.param_groups for p in group["params"]]
    assert matrices == {id(part.weight) for part in model.modules() if isinstance(part, torch.nn.Linear)}
    assert sorted([*matrices, *others]) == sorted(map(id, model.parameters()))


def quintic(x):
    """Five iterations of Newton and Schulz with Jordan's polynomial, on singular values."""
    u, s, vt = torch.linalg.svd(x / x.norm(), full_matrices=False)
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return u * s @ vt


def test_one_step_against_plain_pytorch():
    """Loss, clipping, AdamW and Muon written out, with the batch that the state's generator gives."""
    plan = settings(num_steps=9, warmup=0, weight_decay=0.3, learning_rate=0.01, matrix_rate=0.02)
    state = start(plan)
    generator = torch.Generator()
    generator.set_state(state.generator)
    src_ids, tgt_in, tgt_out = get_task("reverse").sample_batch(generator, 7)

    model = EncoderDecoder(plan.config, plan.seed)
    log_p = model(src_ids, tgt_in).logits.log_softmax(-1).gather(-1, tgt_out[..., None])[..., 0]
    real = tgt_out != 0
    loss = -(log_p * real).sum() / real.sum()
    loss.backward()
    norm = sum((p.grad.double() ** 2).sum() for p in model.parameters()).sqrt()
    after = advance(state, 1)
    assert after.history[0].loss == pytest.approx(loss.item(), abs=1e-5)

    for name, p in model.named_parameters():
        gradient = p.grad * min(1.0, 1.0 / norm.item())
        if p.ndim > 1 and "embedding" not in name:
            with torch.no_grad():
                length = 0.02 * 0.2 * max(p.shape) ** 0.5
                expected = p * (1 - 0.02 * 0.3) - length * quintic(gradient.double()).float()
            torch.testing.assert_close(after.weights[name], expected, atol=2e-5, rtol=0)
            continue
        decay = 0.3 if p.ndim > 1 else 0.0
        # Adam's first step: both moments, corrected for their bias, are the gradient and its square
        expected = p.data * (1 - 0.01 * decay) - 0.01 * gradient / (gradient.abs() + 1e-8)
        # where a gradient is near zero its sign is a matter of rounding
        clear = gradient.abs() > 1e-6
        torch.testing.assert_close(after.weights[name][clear], expected[clear], atol=2e-5, rtol=0)


@pytest.mark.slow
def test_it_learns():
    config = ModelConfig(StackConfig(64, 4, num_layers=1), StackConfig(64, 8, num_layers=1), src_vocab_size=29,
                         tgt_vocab_size=29)  # fmt: skip
    task = get_task("reverse")
    state = advance(start(TrainingSettings("reverse", config, num_steps=200, batch_size=64)), 200)
    scores = evaluate(state.model(), task, task.held_out(limit=200))
    untrained = evaluate(EncoderDecoder(config), task, task.held_out(limit=200))
    assert untrained.token_accuracy < 0.1
    assert scores.token_accuracy > 0.9
    assert max(scores.alignment[0]) > 3 * scores.diagonal
    assert state.history[-1].token_accuracy > 0.9


def test_models_made_from_a_state_are_its_own():
    state = start(settings())
    model = state.model()
    assert not model.training
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert any(tensor.any() for tensor in state.weights.values())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_steps": 0}, r"num_steps \(0\) must be at least 1"),
        ({"batch_size": -3}, r"batch_size \(-3\) must be at least 1"),
        ({"learning_rate": -1.0}, r"learning_rate \(-1.0\) must not be negative"),
        ({"matrix_rate": -0.5}, r"matrix_rate \(-0.5\) must not be negative"),
        ({"learning_rate": float("nan")}, r"learning_rate \(nan\) must not be negative"),
        ({"task": "speling"}, "there is no task 'speling'"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        settings(**changes)


def test_settings_are_a_key():
    assert hash(settings()) == hash(settings())
    assert settings() == settings() != settings(seed=1)
    task = get_task("spelling")
    quick = TrainingSettings.quick(task, settings().config, seed=5)
    assert (quick.num_steps, quick.batch_size, quick.seed) == (task.num_steps, task.batch_size, 5)
    assert (quick.learning_rate, quick.matrix_rate) == (task.learning_rate, task.matrix_rate)
