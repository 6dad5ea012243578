"""Small pages with two or three lines of text, some of them upside down; where each lies, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exporter.recipe.base import Part
from recipes.ocr.lines import ink, scanned, text

HEIGHT, WIDTH = 96, 160
#: Of a box's height and width, how much of the map is marked at each side less: so that lines do not touch in the map.
INSET = 0.2


@dataclass(frozen=True)
class Line:
    """A line on a page: its box in pixels, whether it is upside down, and its text."""

    top: int
    left: int
    bottom: int
    right: int
    turned: bool
    said: str


def page(part: Part, dice: np.random.RandomState) -> tuple[np.ndarray, list[Line]]:
    """A page [HEIGHT, WIDTH], ink from 0 to 1, and its lines from the top down."""
    image = np.zeros((HEIGHT, WIDTH), np.float32)
    lines, top = [], dice.randint(2, 10)
    for _ in range(dice.randint(2, 4)):
        said, turned = text(dice), bool(dice.randint(2))
        drawn = ink(said, part, dice)
        height, width = drawn.shape
        if top + height + 2 > HEIGHT:
            break
        left = dice.randint(2, WIDTH - width - 1)
        image[top : top + height, left : left + width] = drawn[::-1, ::-1] if turned else drawn
        lines.append(Line(top, left, top + height, left + width, turned, said))
        top += height + dice.randint(6, 16)
    return scanned(image, dice), lines


def marked(lines: list[Line]) -> np.ndarray:
    """The map that the detector learns, [HEIGHT / 2, WIDTH / 2]: 1 in the middle of each line's height, else 0."""
    drawn = np.zeros((HEIGHT // 2, WIDTH // 2), np.float32)
    for line in lines:
        inset = INSET * (line.bottom - line.top)
        top, bottom = round((line.top + inset) / 2), round((line.bottom - inset) / 2)
        drawn[top : max(bottom, top + 1), line.left // 2 : (line.right + 1) // 2] = 1
    return drawn


def boxes(logits: np.ndarray, least: int = 8) -> list[tuple[int, int, int, int]]:
    """Where a map [HEIGHT / 2, WIDTH / 2] is over 0: top, left, bottom, right of each patch in pixels of the page.

    Patches of less than `least` points are noise. From the top down; what :data:`INSET` took away is put back.
    """
    there = logits > 0
    found = []
    for row, column in np.argwhere(there):
        if there[row, column]:
            patch = _taken(there, int(row), int(column))
            if len(patch) >= least:
                found.append(_box(patch))
    return sorted(found)


def _taken(there: np.ndarray, row: int, column: int) -> np.ndarray:
    """The points that hang together with one, [points, 2]; they are taken out of the map."""
    waiting, patch = [(row, column)], []
    there[row, column] = False
    while waiting:
        row, column = waiting.pop()
        patch.append((row, column))
        for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= near[0] < there.shape[0] and 0 <= near[1] < there.shape[1] and there[near]:
                there[near] = False
                waiting.append(near)
    return np.array(patch)


def _box(patch: np.ndarray) -> tuple[int, int, int, int]:
    (top, left), (bottom, right) = patch.min(axis=0) * 2, (patch.max(axis=0) + 1) * 2
    more = round((bottom - top) * INSET / (1 - 2 * INSET)) + 1
    return max(top - more, 0), max(left - 2, 0), min(bottom + more, HEIGHT), min(right + 2, WIDTH)
