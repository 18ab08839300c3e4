"""What people see who lack one kind of cone, and how far apart two colours look to them.

After Machado, Oliveira and Fernandes (2009), severity 1; CIELAB, ΔE of 1976, of which 2.3 is what is just noticed.
"""

from itertools import pairwise

import numpy as np

LACKING = {
    "none": np.eye(3),
    "red (protanopia)": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "green (deuteranopia)": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "blue (tritanopia)": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = _TO_XYZ.sum(axis=1)


def seen(colors: np.ndarray, lacking: str) -> np.ndarray:
    """CIELAB of (…, 3) colours of 0…255, as they are seen without one kind of cone."""
    share = np.asarray(colors, dtype=float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    xyz = (np.clip(linear @ LACKING[lacking].T, 0, 1) @ _TO_XYZ.T) / _WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def steps(colors: np.ndarray, lacking: str) -> np.ndarray:
    """How far each colour looks from the next."""
    lab = seen(colors, lacking)
    return np.array([np.linalg.norm(first - second) for first, second in pairwise(lab)])
