"""How numbers travel to the browser; `nodes.js` unpacks them.

A message has its texts as JSON, and behind them the weights in 10 bits each and the mask in single bits:

    4 bytes      length of the JSON, little-endian
    …            JSON in UTF-8; its "cells" are the numbers of weights and of mask bits that follow
    1 each       the low 8 bits of each weight in thousandths, the three decimals that are shown
    1 for four   their high 2 bits, the first of four lowest; apart, as they are mostly 0 and deflate well
    1 for eight  the mask, the first of eight lowest
"""

import base64
import json
from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float

THOUSANDTHS = 1000


def message(texts: Mapping[str, object], weights: np.ndarray, allowed: np.ndarray | None) -> bytes:
    """Texts (plain JSON types), weights between 0 and 1 and a mask as bytes; weights lose what is behind 3 decimals."""
    cells = [weights.size, 0 if allowed is None else allowed.size]
    head = json.dumps({**texts, "cells": cells}, ensure_ascii=False, separators=(",", ":")).encode()
    # A float32 times 1000 is exact in float64, so a tie goes to the even digit, as it does in Python's ".3f".
    shown = np.rint(np.clip(weights, 0, 1).astype(np.float64).ravel() * THOUSANDTHS).astype(np.uint16)
    high = np.pad(shown >> 8, (0, -shown.size % 4)).reshape(-1, 4).astype(np.uint8)
    high = high[:, 0] | high[:, 1] << 2 | high[:, 2] << 4 | high[:, 3] << 6
    mask = b"" if allowed is None else np.packbits(allowed.ravel(), bitorder="little").tobytes()
    return b"".join((len(head).to_bytes(4, "little"), head, shown.astype(np.uint8).tobytes(), high.tobytes(), mask))


def read_message(packed: bytes) -> tuple[dict, Float[np.ndarray, " weights"], Bool[np.ndarray, " cells"]]:
    """The inverse of `message`, for tests and exports: its texts, the weights one after the other, and the mask."""
    begin = 4 + int.from_bytes(packed[:4], "little")
    texts = json.loads(packed[4:begin])
    count, masked = texts.pop("cells")
    octets = np.frombuffer(packed, np.uint8, offset=begin)
    low, high, mask = np.split(octets, [count, count + -(-count // 4)])
    shifted = (high[:, None] >> np.arange(0, 8, 2, dtype=np.uint8)) & 3
    shown = low + (shifted.ravel()[:count].astype(np.uint16) << 8)
    return texts, shown / THOUSANDTHS, np.unpackbits(mask, count=masked, bitorder="little").astype(bool)


def pack(array: np.ndarray) -> str:
    """An array as base64: booleans and bytes as uint8, everything else as little-endian float32."""
    array = np.asarray(array)
    kind = "u1" if array.dtype.kind in "bu" else "<f4"
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def unpack(text: str, shape: tuple[int, ...], dtype: str = "<f4") -> np.ndarray:
    """The inverse of `pack`, for tests and exports."""
    return np.frombuffer(base64.b64decode(text), dtype=dtype).reshape(shape)
