import logging

import numpy as np
import paddle.nn as nn
import paddle.nn.functional as F


logger = logging.getLogger(__name__)


class Net(nn.Layer):
    def __init__(self, debug=False):
        super().__init__()
        self.debug = debug
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        y = self.fc(x)
        if self.debug:
            logger.info("mean %s", float(y.mean()))
            np.save("/tmp/debug.npy", y.numpy())
        logger.debug("shape of the input %s", x.shape)
        return F.relu(y)


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 8], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(57)
    return [
        ((rng.standard_normal((n, 8)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
