"""`to_static(full_graph=False)`: Paddle follows the bytecode (SOT) and runs what it can as programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.deploy.modes.base import Mode
from exporter.deploy.modes.kinds._layer import TracedMode

if TYPE_CHECKING:
    import paddle


class Sot(TracedMode):
    """Code that cannot be a program runs in Python, between programs."""

    title = "to_static, SOT"

    def trace(self, layer: paddle.nn.Layer) -> None:
        from paddle.jit import to_static

        to_static(layer, full_graph=False)


plugin: Mode = Sot()
