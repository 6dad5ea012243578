"""Models that take their process down."""

from __future__ import annotations

import ctypes
import os
import time

import numpy as np
import paddle
from models.sound import Mlp
from paddle import nn


class Segfault(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        ctypes.string_at(0)
        return super().forward(x)


class Endless(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        while True:
            time.sleep(0.01)
        return super().forward(x)


class Deaf(Mlp):
    """Loops for ever and takes no interrupt."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        while True:
            try:
                time.sleep(0.01)
            except KeyboardInterrupt:
                continue
        return super().forward(x)


class Hungry(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        held = []
        while True:
            held.append(np.ones(4 << 20))  # 32 MB, touched
            time.sleep(0.02)
        return super().forward(x)


class Leaving(Mlp):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        os._exit(0)


def exits() -> nn.Layer:
    raise SystemExit(0)
