"""Layers whose weights a writer multiplies by what follows them: each kind of convolution, in groups, with norms."""

from __future__ import annotations

import itertools

import paddle
from paddle import nn

KINDS = {
    "conv": ((nn.Conv1D, nn.BatchNorm1D), (nn.Conv2D, nn.BatchNorm2D), (nn.Conv3D, nn.BatchNorm3D)),
    "deconv": (
        (nn.Conv1DTranspose, nn.BatchNorm1D),
        (nn.Conv2DTranspose, nn.BatchNorm2D),
        (nn.Conv3DTranspose, nn.BatchNorm3D),
    ),
}
GROUPS, NORMS, BIASES, FOLLOWING = (1, 2, 4), ("none", "fresh", "trained", "two"), (True, False), ("", "plus", "vector")


def norm_of(kind: str, norm: type[nn.Layer], channels: int) -> nn.Layer:
    """A batch norm as a factory leaves it, as a training leaves it, or one of each."""
    if kind == "two":
        return nn.Sequential(norm_of("trained", norm, channels), norm_of("fresh", norm, channels))
    layer = norm(channels, epsilon=1e-5 if kind == "fresh" else 1e-3)
    if kind == "trained":
        layer.weight.set_value(paddle.uniform([channels], min=0.5, max=2.0))
        layer.bias.set_value(paddle.uniform([channels]))
        layer._mean.set_value(paddle.uniform([channels]))
        layer._variance.set_value(paddle.uniform([channels], min=0.1, max=3.0))
    return layer


class Branch(nn.Layer):
    """One convolution, what follows it, and the mean of each map."""

    def __init__(self, kind: str, dims: int, groups: int, norm: str, bias: bool, following: str) -> None:
        super().__init__()
        conv, of_batch = KINDS[kind][dims - 1]
        self.conv = conv(8, 12, 3, padding=1, groups=groups, bias_attr=None if bias else False)
        self.norm = nn.Identity() if norm == "none" else norm_of(norm, of_batch, 12)
        self.vector = self.create_parameter([12, *[1] * dims], default_initializer=nn.initializer.Normal())
        self.following = following
        self.axes = list(range(2, 2 + dims))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = self.conv(x)
        if self.following == "vector":
            y = y + self.vector
        y = self.norm(y)
        return (y + 2.0 if self.following == "plus" else y).mean(self.axes)


class Branches(nn.Layer):
    """All of one kind and number of dimensions, beside each other."""

    def __init__(self, kind: str, dims: int) -> None:
        super().__init__()
        paddle.seed(3)
        choices = itertools.product(GROUPS, NORMS, BIASES, FOLLOWING)
        self.branches = nn.LayerList([Branch(kind, dims, *choice) for choice in choices])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return paddle.stack([branch(x) for branch in self.branches], 1)


class Computed(nn.Layer):
    """Weights that the graph computes of parameters, before a norm goes into them."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        normal = nn.initializer.Normal()
        self.weight = self.create_parameter([6, 8, 3, 3], default_initializer=normal)
        self.gain, self.shift = (self.create_parameter([6, 1, 1, 1], default_initializer=normal) for _ in "ab")
        self.fresh, self.trained = (norm_of(kind, nn.BatchNorm2D, 6) for kind in ("fresh", "trained"))

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        weight, fresh, trained = self.weight, self.fresh, self.trained

        def convolved(by: paddle.Tensor) -> paddle.Tensor:
            return nn.functional.conv2d(x, by)

        return (
            convolved(weight * self.gain * self.shift),
            convolved(weight * self.gain + self.shift),
            fresh(convolved(-weight)),
            trained(convolved(weight.transpose([0, 1, 3, 2]))),
            fresh(convolved(weight * self.gain)),
            trained(trained(convolved(weight))),
        )


def conv1() -> nn.Layer:
    return Branches("conv", 1)


def conv2() -> nn.Layer:
    return Branches("conv", 2)


def conv3() -> nn.Layer:
    return Branches("conv", 3)


def deconv1() -> nn.Layer:
    return Branches("deconv", 1)


def deconv2() -> nn.Layer:
    return Branches("deconv", 2)


def deconv3() -> nn.Layer:
    return Branches("deconv", 3)


def computed() -> nn.Layer:
    return Computed()
