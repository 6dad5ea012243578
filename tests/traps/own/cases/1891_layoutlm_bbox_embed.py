import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.word, self.x, self.y = nn.Embedding(20, 6), nn.Embedding(16, 6), nn.Embedding(16, 6)
        self.h, self.w = nn.Embedding(32, 6), nn.Embedding(32, 6)
        self.norm = nn.LayerNorm(6)

    def spatial(self, bbox):
        try:
            left, upper = self.x(bbox[:, :, 0]), self.y(bbox[:, :, 1])
            right, lower = self.x(bbox[:, :, 2]), self.y(bbox[:, :, 3])
        except IndexError as e:
            raise IndexError("The bbox values should be within 0-15 range.") from e
        h = self.h((bbox[:, :, 3] - bbox[:, :, 1]).abs())
        w = self.w((bbox[:, :, 2] - bbox[:, :, 0]).abs())
        return left + upper + right + lower + h + w

    def forward(self, ids, bbox=None):
        input_shape = paddle.shape(ids)
        if bbox is None:
            bbox = paddle.zeros(list(input_shape) + [4], dtype="int64")
        return self.norm(self.word(ids) + self.spatial(bbox))


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, None], "dtype": "int64"},
    {"name": "bbox", "shape": [None, None, 4], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(48)
    return [
        (
            rng.integers(0, 20, (n, t)).astype("int64"),
            rng.integers(0, 16, (n, t, 4)).astype("int64"),
        )
        for n, t, _s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
