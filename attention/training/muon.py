"""Muon: momentum whose every matrix is made orthogonal before it is added (Jordan et al. 2024).

    https://kellerjordan.github.io/posts/muon
    Liu et al. 2025, Muon is scalable for LLM training: https://arxiv.org/abs/2502.16982

Of the momentum U·Σ·Vᵀ about U·Vᵀ is taken, so that the directions seldom seen in gradients are learnt as fast as the
frequent ones. The same as `torch.optim.Muon`, but for many small matrices: all of one shape are made orthogonal at
once, in 32 bits, where PyTorch's goes matrix by matrix in 16.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor

# x ↦ a·x + b·x³ + c·x⁵, Jordan's: steep at 0, and leaves singular values that are near 1 near it.
QUINTIC = (3.4445, -4.7750, 2.0315)
NUM_ITERATIONS = 5
ADAMW_RMS = 0.2  # of an update of AdamW, usually, where its learning rate is 1


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum and decoupled weight decay, for matrices alone.

    An update is lr · 0.2 · √max(rows, columns) times an orthogonal matrix. The root mean square of its numbers is then
    about 0.2 · lr, which is what AdamW's usually have (Liu et al. 2025, section 2.2; "match_rms_adamw" in PyTorch): a
    matrix of any shape takes the same learning rate, and one that suits AdamW is a good guess.

    Args:
        params: matrices, or groups of them.
        lr: learning rate.
        momentum: share of the running mean of gradients that is kept at each step.
        weight_decay: each step takes lr · weight_decay of the weights away.

    Raises:
        ValueError: a parameter is no matrix.
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict],
        lr: float = 7e-3,
        momentum: float = 0.95,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"a parameter of shape {tuple(p.shape)} is no matrix")

    @torch.no_grad()
    def step(self, closure=None) -> float | None:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._step([p for p in group["params"] if p.grad is not None], **group)
        return loss

    def _step(self, matrices: list[Tensor], lr: float, momentum: float, weight_decay: float, **_) -> None:
        if lr * weight_decay:
            torch._foreach_mul_(matrices, 1 - lr * weight_decay)
        for alike in _by_shape(matrices):
            gradients = torch.stack([_wide(p.grad) for p in alike])
            states = [self.state[p] for p in alike]
            means = torch.stack(
                [s["momentum"] if s else torch.zeros_like(_wide(p)) for p, s in zip(alike, states, strict=True)]
            )
            means.lerp_(gradients, 1 - momentum)
            ahead = gradients.lerp_(means, momentum)  # Nesterov's: the mean as one step later, roughly
            length = lr * ADAMW_RMS * max(alike[0].shape) ** 0.5
            torch._foreach_add_([_wide(p) for p in alike], list(orthogonal(ahead)), alpha=-length)
            for state, mean in zip(states, means, strict=True):
                state["momentum"] = mean


def orthogonal(matrices: Float[Tensor, "batch rows columns"]) -> Float[Tensor, "batch rows columns"]:
    """About U·Vᵀ of each U·Σ·Vᵀ: `NUM_ITERATIONS` of Newton and Schulz, for all matrices at once.

    Singular values come out between 0.65 and 1.25, but for those below two thousandths of the matrix's norm.
    """
    a, b, c = QUINTIC
    x = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)  # then no singular value is above 1
    for _ in range(NUM_ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


def _by_shape(matrices: list[Tensor]) -> Iterable[list[Tensor]]:
    """Those of one shape together; a shape and its transpose are one."""
    groups: dict[tuple[int, ...], list[Tensor]] = {}
    for matrix in matrices:
        groups.setdefault(_wide(matrix).shape, []).append(matrix)
    return groups.values()


def _wide(matrix: Tensor) -> Tensor:
    """The matrix, or its transpose if it is taller than wide: X·Xᵀ is then the smaller of the two products."""
    return matrix.mT if matrix.shape[0] > matrix.shape[1] else matrix
