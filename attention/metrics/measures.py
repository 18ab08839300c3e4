"""The table of all measures that compare two heads: what each is called, which way it points and what it is blind to.

    for measure in MEASURES.values():
        measured = measure(layer)              # a `LayerHeads`
        measured.values, measured.chance       # (heads, heads), NaN = undefined

M and N in `unchanged_under` are what a head can be re-based with: (W_Q · M, W_K · M⁻ᵀ) and (W_V · N, N⁻¹ · W_O)
compute the same function. A measure that changes under them says something about the basis, not about the head.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from attention.metrics.cka import Cka, contribution_cka, linear_cka
from attention.metrics.cosines import contribution_cosine, map_cosine, output_cosine, pattern_cosine, query_cosine
from attention.metrics.divergence import common_column, jensen_shannon, total_variation
from attention.metrics.layer_heads import LayerHeads

Pairs = Float[np.ndarray, "heads heads"]


class Measured(NamedTuple):
    """A measure over all pairs of heads.

    Attributes:
        values: NaN = undefined.
        chance: what heads that have nothing in common would get, where known.
        comparable: of a measure of maps, which pairs may look at a column in common. The others are as far apart as can
            be whatever they do, and belong into no mean.
    """

    values: Pairs
    chance: Pairs | None = None
    comparable: Bool[np.ndarray, "heads heads"] | None = None

    @property
    def compared(self) -> Pairs:
        """The values of the pairs that can be compared, NaN elsewhere."""
        return self.values if self.comparable is None else np.where(self.comparable, self.values, np.nan)


@dataclass(frozen=True)
class Measure:
    """One way to compare two heads.

    Attributes:
        name: in code and addresses.
        symbol: what is compared, as a formula.
        compute: from all heads of a layer to all pairs.
        low, high: the least and the largest value there can be.
        alike: the value of two heads that are the same; the other end of the range is "as different as can be", and of
            a signed cosine the middle, 0, is "nothing in common".
        unit: of the values; "" for none.
        of_maps: whether it compares attention rows alone.
        unchanged_under: what a head can be changed by without the measure noticing, as a formula; "" for nothing.
        finds_copies: whether it recognises a copy of a head in every basis.
        sees_values: whether it notices a head that looks at the same places and contributes something else.
        sources: where it comes from.
    """

    name: str
    symbol: str
    compute: Callable[[LayerHeads], Pairs | Cka]
    low: float
    high: float
    alike: float
    unchanged_under: str
    finds_copies: bool
    sees_values: bool
    sources: str
    unit: str = ""
    of_maps: bool = False

    def __call__(self, layer: LayerHeads) -> Measured:
        """All pairs of heads of one layer."""
        if self.of_maps:
            return Measured(self.compute(layer), comparable=common_column(layer.allowed))
        result = self.compute(layer)
        return Measured(*result) if isinstance(result, Cka) else Measured(result)

    @property
    def higher_is_alike(self) -> bool:
        """Whether larger values mean "more alike"; the other way round for divergences."""
        return self.alike == self.high

    def as_similarity(self, values: Pairs) -> Pairs:
        """Values turned so that 1 means "the same": what `effective_heads` wants."""
        return values if self.higher_is_alike else 1.0 - values

    def as_distance(self, values: Pairs) -> Pairs:
        """Values turned so that 0 means "the same": what `cluster_order` wants."""
        return 1.0 - self.as_similarity(values)


_KORNBLITH = "Kornblith et al. 2019, section 3; chance: Kazi-Aoual et al. 1995"

_TABLE = (
    Measure(
        name="query_cosine",
        symbol="cos(Q, Q′)",
        compute=lambda layer: query_cosine(layer.queries),
        low=-1.0,
        high=1.0,
        alike=1.0,
        unchanged_under="N",
        finds_copies=False,
        sees_values=False,
        sources="the usual picture; for its blind spot see the changes of basis above",
    ),
    Measure(
        name="query_map_cosine",
        symbol="cos(W_Q, W_Q′)",
        compute=lambda layer: map_cosine(layer.projections.w_q, layer.projections.b_q),
        low=-1.0,
        high=1.0,
        alike=1.0,
        unchanged_under="N",
        finds_copies=False,
        sees_values=False,
        sources="Cordonnier et al. 2020 (arXiv 2006.16362) ask what such maps have in common",
    ),
    Measure(
        name="pattern_cosine",
        symbol="cos(W_Q·W_Kᵀ, W_Q′·W_K′ᵀ)",
        compute=lambda layer: pattern_cosine(layer.projections.w_q, layer.projections.b_q, layer.projections.w_k),
        low=-1.0,
        high=1.0,
        alike=1.0,
        unchanged_under="M, N",
        finds_copies=True,
        sees_values=False,
        sources="Elhage et al. 2021, the QK circuit",
    ),
    Measure(
        name="jensen_shannon",
        symbol="JS(A, A′)",
        compute=lambda layer: jensen_shannon(layer.weights, layer.allowed),
        low=0.0,
        high=1.0,
        alike=0.0,
        unchanged_under="M, N",
        finds_copies=True,
        sees_values=False,
        sources="Lin 1991, section IV; Clark et al. 2019, section 6",
        of_maps=True,
        unit="bits",
    ),
    Measure(
        name="total_variation",
        symbol="TV(A, A′)",
        compute=lambda layer: total_variation(layer.weights, layer.allowed),
        low=0.0,
        high=1.0,
        alike=0.0,
        unchanged_under="M, N",
        finds_copies=True,
        sees_values=False,
        sources="Levin and Peres 2017, section 4.1",
        of_maps=True,
    ),
    Measure(
        name="output_cosine",
        symbol="cos(A·V, A′·V′)",
        compute=lambda layer: output_cosine(layer.mixed),
        low=-1.0,
        high=1.0,
        alike=1.0,
        unchanged_under="M",
        finds_copies=False,
        sees_values=True,
        sources="Li et al. 2018 (arXiv 1810.10183), disagreement on outputs",
    ),
    Measure(
        name="contribution_cosine",
        symbol="cos(A·V·W_O, A′·V′·W_O′)",
        compute=lambda layer: contribution_cosine(layer.mixed, layer.projections.w_o),
        low=-1.0,
        high=1.0,
        alike=1.0,
        unchanged_under="M, N",
        finds_copies=True,
        sees_values=True,
        sources="Elhage et al. 2021, the OV circuit, on the inputs at hand",
    ),
    Measure(
        name="query_cka",
        symbol="CKA(Q, Q′)",
        compute=lambda layer: linear_cka(layer.queries),
        low=0.0,
        high=1.0,
        alike=1.0,
        unchanged_under="N, and M if it is a rotation",
        finds_copies=False,
        sees_values=False,
        sources=_KORNBLITH,
    ),
    Measure(
        name="contribution_cka",
        symbol="CKA(A·V·W_O, A′·V′·W_O′)",
        compute=lambda layer: contribution_cka(layer.mixed, layer.projections.w_o),
        low=0.0,
        high=1.0,
        alike=1.0,
        unchanged_under="M, N, and rotations of the contributions",
        finds_copies=True,
        sees_values=True,
        sources=_KORNBLITH,
    ),
)

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _TABLE}


def measure_all(layer: LayerHeads) -> dict[str, Measured]:
    """Every measure of the table, for all pairs of heads of one layer."""
    return {name: measure(layer) for name, measure in MEASURES.items()}
