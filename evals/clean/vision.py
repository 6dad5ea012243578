"""Networks of paddle.vision with two classes, narrow where they can be."""

from __future__ import annotations

from paddle.vision import models


def lenet() -> models.LeNet:
    return models.LeNet(num_classes=3)


def squeezenet() -> models.SqueezeNet:
    return models.squeezenet1_1(num_classes=2)


def mobilenet_v1() -> models.MobileNetV1:
    return models.mobilenet_v1(scale=0.25, num_classes=2)


def shufflenet() -> models.ShuffleNetV2:
    return models.shufflenet_v2_x0_25(num_classes=2)
