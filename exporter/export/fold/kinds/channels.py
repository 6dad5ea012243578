"""Channels in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator
from exporter.export.fold.constants import whole
from exporter.steps.kinds.channels import Channels

if TYPE_CHECKING:
    import paddle


class FoldedChannels(Operator[Channels]):
    """Gathers along the axis of the channels."""

    def run(self, step: Channels, value: paddle.Tensor) -> paddle.Tensor:
        import paddle

        axis = 1 if step.axis == "first" else 3
        return paddle.gather(value, whole(step.order), axis=axis)


plugin: Operator[Channels] = FoldedChannels()
