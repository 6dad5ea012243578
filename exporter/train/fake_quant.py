"""In a child: a layer that computes, while it is fine-tuned, with the roundings that int8 will bring.

What each convolution and linear layer takes is rounded to 256 codes over its range, its weight symmetrically to 255 in
each output channel, as ONNX Runtime and oneDNN do behind a relu; the gradient passes straight through the rounding, and
stops where a value was cut off. Batch norms keep their statistics, as they will be folded into the weights. To fold one
multiplies a channel's weights and its step alike, so rounding before it or after it is the same.

`paddle.quantization.QAT` (3.3.1) knows one step for a whole weight only, and its `ImperativeQuantAware` puts layers of
its own in the place of ours, which renames the tensors of the checkpoint; neither can write what it has trained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporter.base.errors import UsageError

if TYPE_CHECKING:
    import paddle

#: Steps from the lowest to the highest of an input, and from 0 to the largest of a weight.
INPUT_STEPS, WEIGHT_STEPS = 255, 127
#: How much of a range is remembered where a batch does not reach its ends.
MEMORY = 0.99


def round_in_training(layer: paddle.nn.Layer, ranges: dict[str, list[float]], where: str) -> None:
    """Make every convolution and linear layer in `layer` round, and keep in `ranges` the [low, high] of what it takes.

    The ranges move in training only, and are what the caller saves and puts back: they hold all the state there is.
    A weight stays the float parameter that it was, under its name.

    Raises:
        UsageError: the model has no layer that could be rounded.
    """
    from paddle import nn

    kinds = (nn.Conv1D, nn.Conv2D, nn.Conv3D, nn.Linear)
    norms = (nn.BatchNorm1D, nn.BatchNorm2D, nn.BatchNorm3D, nn.BatchNorm, nn.SyncBatchNorm)
    found = 0
    for path, one in layer.named_sublayers(include_self=True):
        if isinstance(one, norms):
            one._use_global_stats = True  # what its argument sets, read at every call (nn/layer/norm.py, 3.0 to 3.3)
        # A weight that a hook computes (weight_norm) is no parameter, and left as it is.
        if isinstance(one, kinds) and "weight" in one._parameters:
            found += 1
            one.register_forward_pre_hook(_Rounding(path, ranges, axis=1 if isinstance(one, nn.Linear) else 0))
            one.register_forward_post_hook(_unshadow)
    if not found:
        raise UsageError(
            "the model has no convolution and no linear layer that could be rounded",
            where=where,
            hint="leave `ranges: trained` out: int8 has nothing to make smaller here",
        )


class _Rounding:
    """Before a layer's forward: rounds its input, and shadows its weight by the rounded one."""

    def __init__(self, path: str, ranges: dict[str, list[float]], axis: int) -> None:
        self._path, self._ranges, self._axis = path, ranges, axis

    def __call__(self, layer: Any, inputs: tuple[Any, ...]) -> Any:
        # Found before the parameter of this name, which stays what the optimizer and the checkpoint know.
        layer.__dict__["weight"] = self._weight(layer._parameters["weight"])
        if not inputs or not inputs[0].is_floating_point():
            return None  # given by keyword, which this hook is not shown: its range will be calibrated
        value = inputs[0]
        low, high = min(0.0, float(value.min())), max(0.0, float(value.max()))
        if self._path not in self._ranges:
            self._ranges[self._path] = [low, high]
        elif layer.training:
            before = self._ranges[self._path]
            self._ranges[self._path] = [
                min(low, MEMORY * before[0] + (1 - MEMORY) * low),
                max(high, MEMORY * before[1] + (1 - MEMORY) * high),
            ]
        low, high = self._ranges[self._path]
        step = (high - low) / INPUT_STEPS
        if not step:
            return None  # zeros, which are codes of any grid
        zero = round(-low / step)
        return (_rounded(value.clip(-zero * step, (INPUT_STEPS - zero) * step), step), *inputs[1:])

    def _weight(self, weight: Any) -> Any:
        axes = [axis for axis in range(weight.ndim) if axis != self._axis]
        step = weight.detach().abs().amax(axes, keepdim=True) / WEIGHT_STEPS
        return _rounded(weight, step.clip(min=1e-30))  # a channel of zeros stays one


def _rounded(value: Any, step: Any) -> Any:
    """To the nearest step; for the gradient as if nothing had been rounded."""
    import paddle

    return value + (paddle.round(value / step) * step - value).detach()


def _unshadow(layer: Any, inputs: Any, outputs: Any) -> None:
    del inputs, outputs
    layer.__dict__.pop("weight", None)
