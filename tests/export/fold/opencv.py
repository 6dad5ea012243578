"""What OpenCV makes of some pictures, as hashes.

`python -m tests.export.fold.opencv` writes them anew where OpenCV is installed.

It is no dependency of ours. The hashes are of OpenCV 4.10.0, and 5.0.0 gives the same.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("opencv.json")
#: Rows and columns before and after: smaller, larger, both at once, halves, the same, one pixel, large.
SIZES = (
    ((37, 53), (24, 31)),
    ((24, 31), (37, 53)),
    ((20, 90), (61, 17)),
    ((64, 48), (32, 24)),
    ((64, 48), (32, 48)),
    ((19, 23), (19, 23)),
    ((1, 7), (5, 1)),
    ((5, 1), (1, 9)),
    ((33, 47), (11, 94)),
    ((480, 641), (224, 224)),
    ((300, 200), (999, 32)),
)


def picture(rows: int, columns: int, channels: int = 3) -> np.ndarray:
    """Noise: uint8 [rows, columns, channels]. `RandomState`: numpy promises its stream for ever."""
    dice = np.random.RandomState(rows * 4099 + columns)
    return dice.randint(0, 256, (rows, columns, channels)).astype(np.uint8)


def key(how: str, before: tuple[int, int], after: tuple[int, int]) -> str:
    return f"{how} {before[0]}x{before[1]} to {after[0]}x{after[1]}"


def digest(value: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()


def recorded() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text()))


if __name__ == "__main__":
    import cv2

    ways = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR}
    hashes = {
        key(how, before, after): digest(cv2.resize(picture(*before), after[::-1], interpolation=way))
        for how, way in ways.items()
        for before, after in SIZES
    }
    FILE.write_text(json.dumps({"opencv": cv2.__version__, "sha256": hashes}, indent=1) + "\n")
