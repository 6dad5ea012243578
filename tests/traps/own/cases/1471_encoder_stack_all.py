import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, output_hidden=True):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8))
        self.output_hidden = output_hidden

    def forward(self, x, mask=None):
        hidden = []
        out = x
        for mod in self.encoder.layers:
            out = mod(out, src_mask=mask)
            hidden.append(out)
        if self.encoder.norm is not None:
            hidden[-1] = self.encoder.norm(hidden[-1])
        if self.output_hidden:
            return tuple(hidden)
        return hidden[-1]


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(16)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
