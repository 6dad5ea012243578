"""Reading a line of text: a CRNN with CTC, on rendered Chinese and Latin characters; the last net of the OCR chain.

Real data: `data/read/train.txt` and `data/read/held_out.txt`, an image's path (below `data/read`), a tab and its text a
line, as PaddleOCR's lists have; characters that the alphabet of `recipes/ocr/lines.py` lacks are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import pairs, picture, real
from recipes.ocr.lines import ALPHABET, HEIGHT, WIDTH, edits, ink, numbers, placed, scanned, text

EPOCHS = 2
BATCH = 16
LINES = 6400


class Reader(nn.Layer):
    """Line [batch, 1, 24, width], ink from 0 to 1, to logits [batch, width / 2, characters + 1]; 0 is the blank."""

    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(
            *_block(1, 16, nn.MaxPool2D(2)),
            *_block(16, 32, nn.MaxPool2D((2, 1))),
            *_block(32, 64, nn.MaxPool2D((2, 1))),
            nn.Conv2D(64, 96, (3, 1)),
            nn.ReLU(),
        )
        self.gru = nn.GRU(96, 64, direction="bidirect")
        self.logits = nn.Linear(128, len(ALPHABET) + 1)

    def forward(self, line: paddle.Tensor) -> paddle.Tensor:
        """Score every character at every second column."""
        columns = self.look(line).squeeze(2).transpose([0, 2, 1])
        read, _ = self.gru(columns)
        return self.logits(read)


def _block(inputs: int, outputs: int, pool: nn.Layer) -> list[nn.Layer]:
    convolution = nn.Conv2D(inputs, outputs, 3, padding=1, bias_attr=False)
    return [convolution, nn.BatchNorm2D(outputs), nn.ReLU(), pool]


def build() -> nn.Layer:
    """The factory that `specs/ocr-read.yaml` names."""
    return Reader()


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of lines; new ones in each epoch of training."""
    if (folder := real("read")) is not None:
        listed = [(picture(folder / path), said) for path, said in pairs(folder / f"{part}.txt")]
        known = [(image, "".join(filter(ALPHABET.__contains__, said))[:8]) for image, said in listed]
        lines = [(placed(image[:HEIGHT, :WIDTH]), said) for image, said in known]
        for start in range(0, len(lines), BATCH):
            yield _batch(lines[start : start + BATCH])
        return
    dice = np.random.RandomState(np.random.randint(2**31) if part == "train" else 1)
    for _ in range((LINES if part == "train" else 320) // BATCH):
        said = [text(dice) for _ in range(BATCH)]
        yield _batch([(scanned(placed(ink(line, part, dice), dice), dice), line) for line in said])


def _batch(lines: list[tuple[np.ndarray, str]]) -> dict[str, np.ndarray]:
    image = np.stack([image for image, _ in lines])[:, None]
    return {"line": image, "characters": np.array([numbers(said) for _, said in lines], np.int64)}


def loss(logits: paddle.Tensor, characters: paddle.Tensor) -> paddle.Tensor:
    """CTC over all columns."""
    frames = paddle.full([logits.shape[0]], logits.shape[1], "int64")
    lengths = (characters != 0).astype("int64").sum(axis=1)
    by_column = logits.transpose([1, 0, 2])
    return nn.functional.ctc_loss(by_column, characters.astype("int32"), frames, lengths, blank=0)


def decode(logits: np.ndarray) -> str:
    """The text of one line's logits [columns, classes]: the best class of each, repeats joined, blanks left out."""
    best = logits.argmax(axis=-1)
    joined = best[np.flatnonzero(np.diff(best, prepend=0))]
    return "".join(ALPHABET[number - 1] for number in joined if number)


def right(logits: np.ndarray, characters: np.ndarray) -> float:
    """The share of characters that are right: 1 less the edits that the read lines need."""
    said = ["".join(ALPHABET[number - 1] for number in line if number) for line in characters]
    wrong = sum(edits(decode(line), truth) for line, truth in zip(logits, said, strict=True))
    return 1 - wrong / sum(map(len, said))


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam, whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(3e-3, T_max=EPOCHS)
    clip = nn.ClipGradByGlobalNorm(5.0)
    return paddle.optimizer.Adam(rate, parameters=layer.parameters(), grad_clip=clip)


recipe = Recipe(
    build=build,
    data=data,
    inputs=("line",),
    labels=("characters",),
    loss=loss,
    metric=right,
    metric_name="characters_right",
    optimizer=optimizer,
    epochs=EPOCHS,
    schedule_by="epoch",
    floor=0.95,
)
