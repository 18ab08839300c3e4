"""Failures that raise nothing: every shape fits, and the answer is wrong.

Each demonstration runs live, takes no argument that it needs, and returns one `SilentFailure`: the damage as numbers,
a small picture, the wrong line of code and the right one. The models that ship are run with the fault; the fault
itself is written out in the demonstration, never in the model.

>>> failure = SILENT_FAILURES["tiled_kv"]()
>>> [(number.name, number.right, number.wrong) for number in failure.numbers]
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from attention.experiments.silent_failures.averaging import averaged_maps
from attention.experiments.silent_failures.batches import repeat_order, view_order
from attention.experiments.silent_failures.demonstration import Curve, Damage, Map, SilentFailure
from attention.experiments.silent_failures.kv_heads import broadcast_head, tiled_kv
from attention.experiments.silent_failures.loaded_heads import loaded_head_counts
from attention.experiments.silent_failures.scores import inverted_mask, unscaled_scores

SILENT_FAILURES: Mapping[str, Callable[[], SilentFailure]] = MappingProxyType(
    {
        "broadcast_head": broadcast_head,
        "view_order": view_order,
        "repeat_order": repeat_order,
        "tiled_kv": tiled_kv,
        "loaded_head_counts": loaded_head_counts,
        "inverted_mask": inverted_mask,
        "unscaled_scores": unscaled_scores,
        "averaged_maps": averaged_maps,
    }
)

__all__ = ["SILENT_FAILURES", "Curve", "Damage", "Map", "SilentFailure"]
