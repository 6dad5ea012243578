"""`to_static(full_graph=True)`: Paddle rewrites the source of `forward` and runs it as one program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.deploy.modes.base import Mode
from exporter.deploy.modes.kinds._layer import TracedMode

if TYPE_CHECKING:
    import paddle


class Ast(TracedMode):
    """What `training.to_static` of a recipe does, too."""

    title = "to_static, AST"

    def trace(self, layer: paddle.nn.Layer) -> None:
        from paddle.jit import to_static

        to_static(layer, full_graph=True)


plugin: Mode = Ast()
