import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


LOG_MIN, LOG_MAX = -5, 2


class Net(nn.Layer):
    def __init__(self, deterministic=True):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.mu, self.log_std = nn.Linear(8, 2), nn.Linear(8, 2)
        self.deterministic = deterministic

    def forward(self, x, with_logprob=True):
        h = self.trunk(x)
        mu, log_std = self.mu(h), self.log_std(h).clip(LOG_MIN, LOG_MAX)
        action = mu if self.deterministic else mu + paddle.randn(mu.shape) * log_std.exp()
        logp = None
        if with_logprob:
            logp = -0.5 * (((action - mu) / log_std.exp()) ** 2 + 2 * log_std).sum(-1)
        action = F.tanh(action)
        return (action, logp) if logp is not None else action


def make():
    return Net()


SPECS = [
    {"name": "x", "shape": [None, 6], "dtype": "float32"},
]


def inputs():
    rng = np.random.default_rng(66)
    return [
        ((rng.standard_normal((n, 6)) + s).astype("float32"),) for n, s in ((2, 0.0), (1, 1.5), (3, -1.5), (5, 0.5))
    ]
