"""Random tensors, weights and biases for tests, in float64, from a seed and never from the global generator."""

import torch
from torch import Tensor, nn


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def random_mask(*shape: int, seed: int = 0) -> Tensor:
    """About two thirds True, and True in the first column, so that no row is empty."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 2 / 3
    mask[..., 0] = True
    return mask


@torch.no_grad()
def randomise(module: nn.Module, seed: int = 0) -> nn.Module:
    """Make a module float64 and give every parameter a number of ordinary size that is neither 0 nor 1.

    Matrices keep the size of what they are given, so that maps are far from uniform and far from one-hot; norms
    scale by about 1; biases are never left at zero, where a forgotten one would not show.
    """
    module.double()
    for offset, (name, parameter) in enumerate(module.named_parameters()):
        numbers = randn(*parameter.shape, seed=1000 * seed + offset)
        if parameter.dim() == 2:
            numbers *= 1.5 / parameter.shape[1] ** 0.5
        else:
            numbers = 0.3 * numbers + (1.0 if "norm" in name and name.endswith("weight") else 0.0)
        parameter.copy_(numbers)
    return module


@torch.no_grad()
def copy_linear(target: nn.Module, weight: Tensor, bias: Tensor | None) -> None:
    """Give a linear layer these numbers; shapes have to agree exactly, without broadcasting."""
    assert target.weight.shape == weight.shape
    target.weight.copy_(weight)
    if bias is None:
        assert target.bias is None
    else:
        assert target.bias.shape == bias.shape
        target.bias.copy_(bias)
