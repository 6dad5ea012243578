"""Eager: each operator of the layer runs when Python comes to it (dygraph)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.deploy.modes.base import Mode
from exporter.deploy.modes.kinds._layer import LayerMode

if TYPE_CHECKING:
    import paddle


class Eager(LayerMode):
    """The layer as it is; what all other modes are held against."""

    title = "eager"

    def trace(self, layer: paddle.nn.Layer) -> None:
        del layer


plugin: Mode = Eager()
