"""Pictures for the tests of steps: no two channels, rows or columns of one are alike."""

from __future__ import annotations

import io
from typing import Any

import numpy as np


def picture(height: int, width: int, seed: int = 0, channels: int = 3) -> Any:
    """uint8 [height, width, channels]: slopes, a rectangle and noise."""
    rng = np.random.default_rng(seed)
    down, across = np.mgrid[0:height, 0:width]
    planes = [
        60 * (at + 1) + 50 * np.sin(down / (4 + at)) + 40 * np.cos(across / (3 + 2 * at)) + rng.normal(0, 6, down.shape)
        for at in range(channels)
    ]
    whole = np.stack(planes, -1)
    whole[height // 4 : height // 2, width // 5 : width // 2] += 70 - 40 * np.arange(channels)
    return np.clip(whole, 0, 255).astype(np.uint8)


def encoded(value: Any, form: str = "PNG") -> Any:
    """The bytes of a picture's file, uint8 [size]."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(value[:, :, 0] if value.shape[2] == 1 else value).save(stream, form)
    return np.frombuffer(stream.getvalue(), dtype=np.uint8)
