import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    pad_id = 0

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.cls = nn.Linear(8, 2)

    def forward(self, ids, attention_mask=None, position_ids=None):
        if attention_mask is None:
            attention_mask = (ids != self.pad_id).astype("float32")
        elif attention_mask.ndim == 4:
            attention_mask = attention_mask.squeeze([1, 2])
        if position_ids is None:
            ones = paddle.ones_like(ids, dtype="int64")
            position_ids = paddle.cumsum(ones, axis=-1) - ones
        h = self.embed(ids) + position_ids.unsqueeze(-1).astype("float32") * 0.01
        pooled = (h * attention_mask.unsqueeze(-1)).sum(1) / (attention_mask.sum(1, keepdim=True) + 1e-6)
        return self.cls(pooled)


def make():
    return Net()


SPECS = [
    {"name": "ids", "shape": [None, None], "dtype": "int64"},
]


def inputs():
    rng = np.random.default_rng(48)
    return [
        (rng.integers(0, 20, (n, t)).astype("int64"),)
        for n, t, _s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
