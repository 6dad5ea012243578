"""Lines of Chinese and Latin characters, rendered in Debian's fonts; what the three nets of the chain learn from.

Training and held-out lines differ in text, in the size of the font and in noise. A glyph is ink, from 0 (paper) to 1.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from exporter.recipe.base import Part

CHINESE = "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学"
LATIN = "abcdefghijklmnopqrstuvwxyz0123456789"
#: A class of the reader is a place in it, counted from 1; 0 is CTC's blank.
ALPHABET = CHINESE + LATIN
HEIGHT, WIDTH = 24, 128
SIZES: dict[Part, tuple[int, ...]] = {"train": (13, 14, 16, 18), "held_out": (15, 17)}
FONTS = Path("/usr/share/fonts")
#: A font for Chinese and one for the rest; a face of Noto's collections (2) is simplified Chinese.
PAIRS = (
    ("opentype/noto/NotoSansCJK-Regular.ttc", "truetype/dejavu/DejaVuSans.ttf"),
    ("opentype/noto/NotoSerifCJK-Regular.ttc", "truetype/dejavu/DejaVuSerif.ttf"),
)


def pairs_here() -> list[tuple[Path, Path]]:
    """The pairs of fonts that are installed; raises FileNotFoundError with the packages to install if none is."""
    found = [(FONTS / chinese, FONTS / latin) for chinese, latin in PAIRS]
    found = [pair for pair in found if all(path.is_file() for path in pair)]
    if not found:
        raise FileNotFoundError(f"no fonts below {FONTS}: apt-get install fonts-noto-cjk fonts-dejavu-core")
    return found


@cache
def _font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, size, index=2 if path.suffix == ".ttc" else 0)


@cache
def glyph(character: str, pair: int, size: int) -> np.ndarray:
    """The ink of a character, [HEIGHT, its width], on a base line that all sizes share."""
    chinese, latin = pairs_here()[pair]
    font = _font(chinese if character in CHINESE else latin, size)
    image = Image.new("L", (round(font.getlength(character)), HEIGHT))
    ImageDraw.Draw(image).text((0, HEIGHT - 6), character, 255, font=font, anchor="ls")
    return (np.asarray(image) / 255).astype(np.float32)


def text(dice: np.random.RandomState) -> str:
    """Four to seven characters, Chinese and Latin ones by turns of one to three: no word that could be learned."""
    wanted, made, chinese = dice.randint(4, 8), "", bool(dice.randint(2))
    while len(made) < wanted:
        known = CHINESE if chinese else LATIN
        made += "".join(known[dice.randint(len(known))] for _ in range(min(dice.randint(1, 4), wanted - len(made))))
        chinese = not chinese
    return made


def ink(line: str, part: Part, dice: np.random.RandomState) -> np.ndarray:
    """A line in one of the fonts and sizes of the part, cut to its ink: [height, width], at most 24×128."""
    sizes = SIZES[part]
    pair, size = dice.randint(len(pairs_here())), sizes[dice.randint(len(sizes))]
    drawn = np.concatenate([glyph(character, pair, size) for character in line], axis=1)
    rows, columns = (np.flatnonzero(drawn.max(axis=axis) > 0) for axis in (1, 0))
    return drawn[rows[0] : rows[-1] + 1, columns[0] : min(columns[-1] + 1, columns[0] + WIDTH)]


def placed(drawn: np.ndarray, dice: np.random.RandomState | None = None) -> np.ndarray:
    """A line of ink in an image of 24×128: in the middle of the height, at the left; moved a little by the dice."""
    height, width = drawn.shape
    top, left = (HEIGHT - height) // 2, min(2, WIDTH - width)
    if dice is not None:
        top += dice.randint(-min(top, 2), min(HEIGHT - height - top, 2) + 1)
        left = dice.randint(0, min(5, WIDTH - width + 1))
    image = np.zeros((HEIGHT, WIDTH), np.float32)
    image[top : top + height, left : left + width] = drawn
    return image


def scanned(image: np.ndarray, dice: np.random.RandomState) -> np.ndarray:
    """Paler ink and noise, as a scanner adds them; from 0 to 1."""
    noisy = image * dice.uniform(0.7, 1.0) + dice.normal(0, 0.04, image.shape)
    return noisy.clip(0, 1).astype(np.float32)


def numbers(line: str, length: int = 8) -> list[int]:
    """The classes of a line's characters, filled up with 0."""
    return [ALPHABET.index(character) + 1 for character in line] + [0] * (length - len(line))


def edits(one: str, other: str) -> int:
    """How many characters have to be put in, taken out or changed to make one text of the other (Levenshtein)."""
    row = list(range(len(other) + 1))
    for number, character in enumerate(one, 1):
        before, row[0] = row[0], number
        for place, against in enumerate(other, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (character != against))
    return row[-1]
