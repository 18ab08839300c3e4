"""Muon against singular value decompositions, and against itself written out matrix by matrix in NumPy."""

import pickle

import numpy as np
import pytest
import torch

from attention.training.muon import Muon, orthogonal

SHAPES = ((13, 13), (7, 29), (29, 7), (13, 13), (5, 11), (7, 29))


def random_matrices(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in SHAPES]


def give_gradients(parameters: list[torch.nn.Parameter], seed: int) -> None:
    for parameter, gradient in zip(parameters, random_matrices(seed), strict=True):
        parameter.grad = gradient


def with_singular_values(rows: int, columns: int, values: torch.Tensor, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    u = torch.linalg.qr(torch.randn(rows, rows, generator=generator))[0][:, : len(values)]
    v = torch.linalg.qr(torch.randn(columns, columns, generator=generator))[0][:, : len(values)]
    return u @ values.diag() @ v.T


@pytest.mark.parametrize(("rows", "columns"), [(17, 17), (11, 31), (31, 11)])
@pytest.mark.parametrize("least", [1.0, 0.1, 0.03])
def test_an_update_is_near_the_orthogonal_factor_of_the_momentum(rows, columns, least):
    """Same singular vectors, and singular values within the band that `orthogonal` states."""
    values = torch.logspace(0, np.log10(least), min(rows, columns)) * 1e-3  # the size does not matter
    matrix = with_singular_values(rows, columns, values, seed=rows)
    u, _, vt = torch.linalg.svd(matrix, full_matrices=False)
    (found,) = orthogonal(matrix[None])
    inner = u.T @ found @ vt.T
    assert inner.diagonal().min() > 0.65 and inner.diagonal().max() < 1.25
    torch.testing.assert_close(inner, inner.diagonal().diag(), atol=2e-3, rtol=0)
    assert torch.equal(orthogonal(torch.zeros(1, rows, columns))[0], torch.zeros(rows, columns))


def test_many_at_once_equal_one_by_one():
    together, alone = ([torch.nn.Parameter(matrix) for matrix in random_matrices(0)] for _ in range(2))
    all_of_them, one_by_one = Muon(together), [Muon([parameter]) for parameter in alone]
    for seed in (1, 2):
        for parameters in (together, alone):
            give_gradients(parameters, seed)
        for optimiser in (all_of_them, *one_by_one):
            optimiser.step()
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def by_hand(weights: list, gradients: list[list], rate: float, momentum: float, decay: float) -> list:
    """Muon in NumPy, 64 bits."""
    means = [np.zeros_like(w) for w in weights]
    for step in gradients:
        for number, g in enumerate(step):
            means[number] = momentum * means[number] + (1 - momentum) * g
            x = momentum * means[number] + (1 - momentum) * g
            x = x / np.sqrt((x**2).sum())
            for _ in range(5):
                xxt = x @ x.T
                x = 3.4445 * x - 4.7750 * xxt @ x + 2.0315 * xxt @ xxt @ x
            length = rate * 0.2 * np.sqrt(max(x.shape))
            weights[number] = weights[number] * (1 - rate * decay) - length * x
    return weights


def test_three_steps_against_numpy():
    parameters = [torch.nn.Parameter(matrix.clone()) for matrix in random_matrices(0)]
    optimiser = Muon(parameters, lr=0.03, momentum=0.9, weight_decay=0.7)
    for seed in (1, 2, 3):
        give_gradients(parameters, seed)
        optimiser.step()
    as_arrays = [[matrix.double().numpy() for matrix in random_matrices(seed)] for seed in (1, 2, 3)]
    expected = by_hand([m.double().numpy() for m in random_matrices(0)], as_arrays, 0.03, 0.9, 0.7)
    for parameter, weights in zip(parameters, expected, strict=True):
        np.testing.assert_allclose(parameter.detach().numpy(), weights, atol=1e-5, rtol=0)


def test_against_pytorchs_own():
    """`torch.optim.Muon` counts in 16 bits, so its singular values are off by some hundredths."""
    ours, theirs = ([torch.nn.Parameter(matrix.clone()) for matrix in random_matrices(0)] for _ in range(2))
    settings = {"lr": 0.03, "momentum": 0.9, "weight_decay": 0.7}
    optimisers = Muon(ours, **settings), torch.optim.Muon(theirs, **settings, adjust_lr_fn="match_rms_adamw")
    for parameters, optimiser in zip((ours, theirs), optimisers, strict=True):
        give_gradients(parameters, 1)
        optimiser.step()
    for one, other, before in zip(ours, theirs, random_matrices(0), strict=True):
        change = (one - before * (1 - 0.03 * 0.7)).norm()
        assert (one - other).norm() < 0.05 * change


def test_a_parameter_without_a_gradient_stays():
    parameters = [torch.nn.Parameter(matrix) for matrix in random_matrices(0)]
    before = parameters[1].detach().clone()
    for parameter in parameters[2:]:
        parameter.grad = torch.ones_like(parameter)
    optimiser = Muon(parameters)
    optimiser.step()
    assert torch.equal(parameters[1], before)
    assert len(optimiser.state_dict()["state"]) == len(SHAPES) - 2


def test_the_state_goes_on_after_pickling():
    """Plain tensors: one mean of gradients for each matrix."""

    def stepped(optimiser, parameters, seeds):
        for seed in seeds:
            give_gradients(parameters, seed)
            optimiser.step()

    whole = [torch.nn.Parameter(matrix) for matrix in random_matrices(0)]
    stepped(Muon(whole), whole, (1, 2, 3))
    pieces = [torch.nn.Parameter(matrix) for matrix in random_matrices(0)]
    first = Muon(pieces)
    stepped(first, pieces, (1, 2))
    stored = pickle.loads(pickle.dumps(first.state_dict()))
    assert {name: tuple(mean.shape) for name, mean in stored["state"][1].items()} == {"momentum": (7, 29)}
    second = Muon(pieces)
    second.load_state_dict(stored)
    stepped(second, pieces, (3,))
    assert all(torch.equal(one, other) for one, other in zip(whole, pieces, strict=True))


def test_only_matrices_are_taken():
    with pytest.raises(ValueError, match=r"a parameter of shape \(3,\) is no matrix"):
        Muon([torch.nn.Parameter(torch.ones(2, 3)), torch.nn.Parameter(torch.ones(3))])
