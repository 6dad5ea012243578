"""Chinese reviews of any length, good or bad: characters, a bidirectional GRU over the real length, and attention.

The corpus is written here from templates with negation ("一点也不干净") and contrast ("虽然…，但是…", where the
second half decides); held out are sentences about things that no training sentence speaks of. Real data:
`data/text/train.tsv` and `data/text/held_out.tsv`, a label (0 bad, 1 good), a tab and the text a line, no headings.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import pairs, real
from recipes._scores import accuracy

EPOCHS = 2
BATCH = 32
LONGEST = 32
WIDTH = 24

#: Training sentences, and held-out ones: places and what belongs to them.
THINGS = {
    "train": (
        "酒店的房间 饭馆的菜 手机的屏幕 电影的画面 商店的衣服".split()
        + "公司的服务 学校的食堂 飞机的座位 医院的大厅 公园的小路".split(),
        "这家 那个 我们去的 上次的 朋友说的 今天的".split(),
    ),
    "held_out": ("旅馆的浴室 电脑的键盘 车站的厕所 书店的桌子 餐厅的地板".split(), "昨天的 他们去的 附近的".split()),
}
GOOD = "干净 舒服 漂亮 方便 好看 安静 不错 满意 便宜 新鲜".split()
BAD = "很脏 难受 难看 麻烦 糟糕 吵闹 很差 失望 太贵 陈旧".split()
DEGREES = ["", "真的", "非常", "特别", "实在", "比较"]
NEGATIONS = ["一点也不", "并不", "没有那么", "完全不"]


def characters() -> dict[str, int]:
    """Numbers of characters: ASCII, punctuation and the 3,755 commonest of GB 2312; 0 is padding, 1 any other."""
    common = bytes(byte for high in range(0xB0, 0xD8) for low in range(0xA1, 0xFF) for byte in (high, low))
    text = "".join(map(chr, range(0x20, 0x7F))) + "，。！？；：、（）《》“”" + common.decode("gb2312", "ignore")
    return {character: number for number, character in enumerate(text, 2)}


class Review(nn.Layer):
    """Characters [batch, seq], 0 behind the end, to logits [batch, 2]."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(characters()) + 2, WIDTH, padding_idx=0)
        self.gru = nn.GRU(WIDTH, WIDTH, direction="bidirect")
        self.attention = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1, bias_attr=False))
        self.logits = nn.Linear(2 * WIDTH, 2)

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        """Score bad and good; padding changes neither."""
        there = ids != 0
        lengths = there.astype("int64").sum(axis=1).clip(min=1)
        read, _ = self.gru(self.embedding(ids), sequence_length=lengths)
        weight = self.attention(read).squeeze(-1)
        weight = nn.functional.softmax(paddle.where(there, weight, paddle.full_like(weight, -1e4)))
        return self.logits((read * weight.unsqueeze(-1)).sum(axis=1))


def build() -> nn.Layer:
    """The factory that `specs/text.yaml` names."""
    return Review()


def sentences(part: Part, count: int) -> Iterator[tuple[str, str]]:
    """Labels and sentences: of held-out ones neither the thing nor the place is in the training corpus."""
    dice = np.random.RandomState(1 if part == "train" else 2)
    things, places = THINGS[part]

    def pick(words: list[str]) -> str:
        return words[dice.randint(len(words))]

    def judged(good: bool) -> str:
        if dice.rand() < 0.4:  # what is denied is the other thing
            return pick(NEGATIONS) + pick(GOOD if not good else ["麻烦", "难看", "糟糕", "吵闹"])
        return pick(DEGREES) + pick(GOOD if good else BAD)

    for _ in range(count):
        good = bool(dice.randint(2))
        text = f"{pick(places)}{pick(things)}"
        if dice.rand() < 0.4:
            text += f"虽然{judged(not good)}，但是{judged(good)}"
        else:
            text += judged(good)
        yield str(int(good)), text + pick(["", "。", "！"])


def numbers(text: str, known: dict[str, int]) -> list[int]:
    """A text as numbers, cut off or filled up to :data:`LONGEST`."""
    found = [known.get(character, 1) for character in text[:LONGEST]]
    return found + [0] * (LONGEST - len(found))


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of sentences, filled up with 0."""
    count = 3200 if part == "train" else 600
    lines = list(sentences(part, count)) if (folder := real("text")) is None else pairs(folder / f"{part}.tsv")
    known = characters()
    ids = np.array([numbers(text, known) for _, text in lines], np.int64)
    label = np.array([int(label) for label, _ in lines], np.int64)
    order = np.random.permutation(len(label)) if part == "train" else np.arange(len(label))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        yield {"ids": ids[rows], "label": label[rows]}


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam at one rate."""
    return paddle.optimizer.Adam(4e-3, parameters=layer.parameters())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("ids",),
    labels=("label",),
    loss=nn.functional.cross_entropy,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=EPOCHS,
    floor=0.95,
)
