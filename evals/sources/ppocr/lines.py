"""Lines of text drawn with Pillow's own font, and the arrays that the three models take of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Picture = Image.Image
Floats = NDArray[np.float32]

#: Heights and widths of what is calibrated and judged; the direction model takes no other.
DIRECTION_SIZE, LINE_SIZE, PAGE_SIZE = (48, 192), (48, 320), (320, 320)
_WORDS = """
the quick brown fox jumps over lazy dog invoice paid full total number street market garden window paper machine
measure answer before after winter summer river bridge letter yellow orange purple simple double triple question
Zurich Berlin Madrid Quebec Japan Kenya Vienna Oxford Warsaw Xavier Monday Friday January
""".split()
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Line:
    """A line of a page; one that is turned stands on its head."""

    text: str
    size: int = 28
    turned: bool = False


def draw_line(line: Line, ink: int = 0, paper: int = 255) -> Picture:
    """Return a picture of the line alone, as wide as its text."""
    font = ImageFont.load_default(size=line.size)
    left, top, right, bottom = font.getbbox(line.text)
    margin = line.size // 4
    size = (round(right - left) + 2 * margin, round(bottom - top) + 2 * margin)
    picture = Image.new("RGB", size, (paper,) * 3)
    ImageDraw.Draw(picture).text((margin - left, margin - top), line.text, (ink,) * 3, font)
    return picture.rotate(180) if line.turned else picture


def draw_page(lines: Sequence[Line], height: int = 320, width: int = 640, ink: int = 0, paper: int = 255) -> Picture:
    """Return a page with the lines one below the other, evenly spaced."""
    page = Image.new("RGB", (width, height), (paper,) * 3)
    for number, line in enumerate(lines):
        drawn = draw_line(line, ink, paper)
        page.paste(drawn, (24, round((number + 0.5) * height / len(lines) - drawn.height / 2)))
    return page


def page_input(page: Picture) -> Floats:
    """Return a page as the detector takes it: BGR, by the mean and deviation of ImageNet."""
    values = np.asarray(page, np.float32)[:, :, ::-1] / 255
    return np.ascontiguousarray(((values - _MEAN) / _DEVIATION).transpose(2, 0, 1)[None].astype(np.float32))


def line_input(picture: Picture, height: int, width: int) -> Floats:
    """Return a line as the other two models take it: of the height, -1 to 1, zeros up to the width."""
    scaled = min(width, -(-picture.width * height // picture.height))
    values = np.asarray(picture.resize((scaled, height), Image.Resampling.BILINEAR), np.float32)[:, :, ::-1]
    padded = np.zeros((1, 3, height, width), np.float32)
    padded[0, :, :, :scaled] = (values / 255 - 0.5).transpose(2, 0, 1) / 0.5
    return padded


def drawn_lines(count: int, seed: int, most_letters: int = 22) -> list[tuple[Line, Picture]]:
    """Return lines of drawn letters and digits, in many sizes, inks and papers; the dark ones are light on dark."""
    draw = np.random.default_rng(seed)
    lines = []
    for number in range(count):
        line = Line(_words(draw, most_letters), int(draw.integers(18, 40)))
        ink, paper = int(draw.integers(0, 90)), int(draw.integers(170, 256))
        lines.append((line, draw_line(line, *((paper, ink) if number % 4 == 3 else (ink, paper)))))
    return lines


def line_rows(count: int, seed: int, size: tuple[int, int], *, turn: bool = False) -> Floats:
    """Return drawn lines as rows for the reader.

    With `turn` they are rows for the direction model: every second stands on its head, and all are as noisy as a photo
    in bad light. Of clean lines the model says 0 or 1, whatever the line, and no two cases could be told apart.
    """
    pictures = [picture for _, picture in drawn_lines(count, seed)]
    if turn:
        draw = np.random.default_rng([seed, 1])
        turned = [picture.rotate(180) if number % 2 else picture for number, picture in enumerate(pictures)]
        pictures = [_noisy(picture, float(draw.uniform(30, 110)), draw) for picture in turned]
    return np.concatenate([line_input(picture, *size) for picture in pictures])


def _noisy(picture: Picture, deviation: float, draw: np.random.Generator) -> Picture:
    noise = draw.normal(0, deviation, (picture.height, picture.width, 1))
    return Image.fromarray(np.clip(np.asarray(picture, np.float64) + noise, 0, 255).astype(np.uint8))


def page_rows(count: int, seed: int, size: tuple[int, int] = PAGE_SIZE) -> Floats:
    """Return drawn pages as rows for the detector, each with two to six lines."""
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        lines = [Line(_words(draw, 14), int(draw.integers(18, 34))) for _ in range(int(draw.integers(2, 7)))]
        ink, paper = int(draw.integers(0, 90)), int(draw.integers(170, 256))
        shades = (paper, ink) if number % 4 == 3 else (ink, paper)
        rows.append(page_input(draw_page(lines, *size, *shades)))
    return np.concatenate(rows)


def _words(draw: np.random.Generator, most_letters: int) -> str:
    words = [str(draw.choice(_WORDS))]
    while len(" ".join(words)) < most_letters * 0.6:
        words.append(str(draw.integers(10, 10000)) if draw.random() < 0.2 else str(draw.choice(_WORDS)))
    return " ".join(words)[:most_letters].strip()
