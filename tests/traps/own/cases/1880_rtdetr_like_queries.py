import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, num_queries=4, layers=2):
        super().__init__()
        self.num_queries = num_queries
        self.score = nn.Linear(8, 3)
        self.box = nn.LayerList([nn.Linear(8, 4) for _ in range(layers)])
        self.cls = nn.LayerList([nn.Linear(8, 3) for _ in range(layers)])
        self.attn = nn.LayerList([nn.MultiHeadAttention(8, 2) for _ in range(layers)])
        self.eval_idx = layers - 1

    def forward(self, x):
        bs = paddle.shape(x)[0]
        _, ind = paddle.topk(self.score(x).max(-1), self.num_queries, axis=1)
        batch = paddle.arange(end=bs).astype(ind.dtype).unsqueeze(-1).tile([1, self.num_queries])
        target = paddle.gather_nd(x, paddle.stack([batch, ind], axis=-1))
        ref = F.sigmoid(self.box[0](target))
        boxes, logits = [], []
        for i, (attn, box, cls) in enumerate(zip(self.attn, self.box, self.cls)):
            target = target + attn(target, x, x)
            ref = F.sigmoid(box(target) + paddle.log(ref / (1 - ref + 1e-5) + 1e-5))
            if self.training:
                logits.append(cls(target))
                boxes.append(ref)
            elif i == self.eval_idx:
                logits.append(cls(target))
                boxes.append(ref)
                break
            if self.training:
                ref = ref.detach()
        return paddle.stack(boxes), paddle.stack(logits)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 12, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(37)
    return [
        ((rng.standard_normal((n, 12, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
