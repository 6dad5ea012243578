import numpy as np
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        state = {
            name: np.full(p.shape, 0.02 * i + 0.1, "float32") for i, (name, p) in enumerate(self.named_parameters())
        }
        self.set_state_dict(state)
        for name, p in self.named_parameters():
            if name.endswith("bias"):
                p.stop_gradient = True

    def forward(self, x):
        return self.fc(x)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(75)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
