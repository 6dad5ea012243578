"""How much memory each sublayer keeps for the backward pass."""

from __future__ import annotations

import paddle
from paddle import nn

from exporter.train.kept import kept_by_layer


def test_each_sublayer_has_what_it_saves_and_what_has_no_memory_is_nobodys() -> None:
    """An RNN has a buffer for the state of cuDNN's dropout, which is never filled on a CPU (Paddle 3.3.1)."""

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.read, self.norm, self.act = nn.GRU(4, 6, direction="bidirect"), nn.BatchNorm1D(12), nn.Tanh()

        def forward(self, x: paddle.Tensor) -> paddle.Tensor:
            return self.act(self.norm(self.read(x)[0].mean(1)))

    net, x = Net(), paddle.rand([8, 5, 4])
    kept = kept_by_layer(net, lambda: (net(x) ** 2).sum())
    assert kept["act"] == 8 * 12 * 4, "a tanh keeps what it gave, which the square finds kept"
    assert kept["read"] >= 8 * 5 * 12 * 4 and all(size > 0 for size in kept.values())
    assert "loss" not in kept or kept["loss"] < kept["act"]
