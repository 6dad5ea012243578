import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self, n=2):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(8, 8) for _ in range(n)])

    def forward(self, x, output_hidden_states=False, output_attentions=False, return_dict=None):
        return_dict = return_dict if return_dict is not None else False
        all_hidden = () if output_hidden_states else None
        for layer in self.layers:
            if output_hidden_states:
                all_hidden = all_hidden + (x,)
            x = F.gelu(layer(x))
        if not return_dict:
            return tuple(v for v in (x, all_hidden) if v is not None)
        return {"last": x, "hidden": all_hidden}


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(58)
    return [
        ((rng.standard_normal((n, t, 8)) + s).astype("float32"),)
        for n, t, s in ((2, 6, 0.0), (1, 4, 1.5), (3, 9, -1.5), (5, 5, 0.5))
    ]
