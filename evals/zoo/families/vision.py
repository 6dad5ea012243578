"""The networks of `paddle.vision.models`."""

from __future__ import annotations

from evals.zoo.network import Network, image

_VISION_SIZES = {"alexnet": 224, "googlenet": 224, "inception_v3": 96}


def networks() -> list[Network]:
    """All of paddle.vision.models."""
    import paddle

    models = paddle.vision.models
    names = [name for name in models.__all__ if name[0].islower()]
    listed = [Network("vision", name, getattr(models, name), image(_VISION_SIZES.get(name, 64))) for name in names]
    return [*listed, Network("vision", "LeNet", models.LeNet, image(28, channels=1))]
