"""Another size of a picture, by the rules of OpenCV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.base.errors import UsageError
from exporter.export.fold import resize
from exporter.export.fold.base import Operator, Tensors, sizes
from exporter.export.fold.constants import floats
from exporter.steps.base import VALUE
from exporter.steps.kinds.resize import Resize

if TYPE_CHECKING:
    import paddle


class FoldedResize(Operator[Resize]):
    """Bytes alone: what OpenCV computes of floats depends on the CPU. Pictures of any size go to fixed sizes only."""

    def refuses(self, step: Resize) -> str:
        if step.library != "opencv":
            return f"the order in which {step.library} rounds differs between its versions (11 and 13)"
        if step.interpolation not in ("nearest", "linear"):
            return f"`interpolation: {step.interpolation}` is computed in floats, which differ between CPUs"
        return ""

    def apply(self, step: Resize, state: Tensors) -> Tensors:
        import paddle

        value = state[VALUE]
        if not str(value.dtype).endswith("uint8"):
            hint = "put the resize before what makes floats of the picture, or leave out `fold`"
            raise UsageError("only pictures of uint8 are resized in a graph", where="pipeline.fold", hint=hint)
        if step.rule == "exact" and not step.tracks:  # the one rule that does not ask how large the picture is
            return {**state, VALUE: _resized(step, value, step.target(1, 1))}
        tall, wide, _ = sizes(value, "resize")
        height, width = step.target(tall, wide)
        after = {**state, VALUE: _resized(step, value, (height, width))}
        if step.tracks:
            batch = paddle.zeros_like(value[:, 0, 0, :1].astype("float32"))
            after["im_shape"] = batch + floats([[height, width]])
            after["scale_factor"] = batch + floats([[height / tall, width / wide]])
        return after


def _resized(step: Resize, value: paddle.Tensor, target: tuple[int, int]) -> paddle.Tensor:
    return resize.nearest(value, *target) if step.interpolation == "nearest" else resize.linear(value, *target)


plugin: Operator[Resize] = FoldedResize()
