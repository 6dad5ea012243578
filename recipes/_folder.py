"""Where a recipe looks for real data: `data/NAME` in the working folder, instead of what the recipe makes itself."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np


def real(name: str) -> Path | None:
    """The folder with real data for a recipe; None where there is none."""
    folder = Path("data", name)
    return folder if folder.is_dir() else None


def table(file: Path) -> np.ndarray:
    """The numbers of a CSV file with one line of headings: [lines, columns], float32."""
    return np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.float32, ndmin=2)


def pairs(file: Path) -> list[tuple[str, str]]:
    """The lines of a UTF-8 file with two columns and a tab between, as PaddleOCR's and ChnSentiCorp's lists have."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [(line[0], line[1]) for line in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]


def picture(file: Path) -> np.ndarray:
    """An image file as ink: [height, width], 0 where it is white and 1 where it is black."""
    from PIL import Image

    return (1 - np.asarray(Image.open(file).convert("L")) / 255).astype(np.float32)
