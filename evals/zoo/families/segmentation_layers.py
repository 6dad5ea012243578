"""What `forward` of PaddleSeg's networks is from tensor to tensor."""

from __future__ import annotations

from typing import Any

from paddle import nn


class Matting(nn.Layer):
    """How much of each pixel belongs to the foreground: matting networks take a dict."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, image):
        return self.network({"img": image})


class Edges(nn.Layer):
    """GSCNN: the classes and the edges, each once; the network itself returns both twice."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, image):
        classes, _, edges, _ = self.network(image)
        return classes, edges
