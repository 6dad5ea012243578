"""Pre-processing as users write it, by Pillow and NumPy alone, for the chains of the planted faults."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

MEAN, STD = np.asarray([0.485, 0.456, 0.406], "float32"), np.asarray([0.229, 0.224, 0.225], "float32")


def opened(content: Any) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(content.tobytes())).convert("RGB")


def classification(content: Any) -> Any:
    """The shorter side to 36 by Pillow's bilinear, the middle 32 x 32, ImageNet's scaling, channels first."""
    from PIL import Image

    picture = opened(content)
    factor = 36 / min(picture.size)
    size = (round(picture.width * factor), round(picture.height * factor))
    whole = np.asarray(picture.resize(size, Image.Resampling.BILINEAR))
    top, left = (whole.shape[0] - 32) // 2, (whole.shape[1] - 32) // 2
    part = whole[top : top + 32, left : left + 32].astype("float32")
    return ((part / np.float32(255) - MEAN) / STD).transpose(2, 0, 1)


def detection(content: Any) -> Any:
    """64 x 96 by Pillow's bicubic, ImageNet's scaling, channels first; with the size and the factors."""
    from PIL import Image

    picture = opened(content)
    whole = np.asarray(picture.resize((96, 64), Image.Resampling.BICUBIC)).astype("float32")
    factors = np.asarray([64 / picture.height, 96 / picture.width], "float32")
    value = ((whole / np.float32(255) - MEAN) / STD).transpose(2, 0, 1)
    return {"value": value, "im_shape": np.asarray([64, 96], "float32"), "scale_factor": factors}


def recognition(content: Any) -> Any:
    """BGR, height 16 by Pillow's bilinear, halves, channels first, zeros at the right up to 96."""
    from PIL import Image

    picture = opened(content)
    wide = min(math.ceil(16 * picture.width / picture.height), 96)
    line = np.asarray(picture.resize((wide, 16), Image.Resampling.BILINEAR))[:, :, ::-1].astype("float32")
    value = np.zeros((3, 16, 96), "float32")
    value[:, :, :wide] = ((line / np.float32(255) - 0.5) / 0.5).transpose(2, 0, 1)
    return value


def tokens(content: Any) -> Any:
    """Small letters by their place from 2 on, 1 for others, 0 up to twelve."""
    ids = [
        2 + "abcdefghijklmnopqrstuvwxyz".find(one) if one.isalpha() else 1 for one in content.tobytes().decode().lower()
    ]
    return np.asarray((ids + [0] * 12)[:12], dtype="int64")


def squared(value: Any) -> Any:
    """No declared step gives it."""
    return value.astype("float32") ** 2


def with_size(value: Any) -> Any:
    """The value, and its shape beside it."""
    return {"value": value, "size": np.asarray(value.shape)}


def halved(value: Any) -> Any:
    return value / np.float32(2)


def doubled(state: Any) -> Any:
    """Of the value, or behind a model of the value of the state."""
    value = state["value"] if isinstance(state, dict) else state
    return value * np.float32(2)
