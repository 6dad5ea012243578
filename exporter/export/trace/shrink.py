"""In a child: make a layer the smaller one that a plan describes, or mask in place what the smaller one lacks.

Afterwards it is an ordinary layer with ordinary parameters: same classes, same names, smaller shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exporter.base.errors import UsageError
from exporter.export.trace.pruned import Plan

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array

#: What layers say of their sizes: a name, and the tensor and axis that it counts. Only printing reads them.
_SAID = (
    ("_num_features", "weight", 0),
    ("_num_channels", "weight", 0),
    ("_embedding_dim", "weight", 1),
    ("_num_parameters", "_weight", 0),
)
_HINT = "train again, or name the checkpoint of this model and of this version of its code"


def shrink(layer: paddle.nn.Layer, plan: Plan, where: str) -> None:
    """Cut every tensor down to what the plan keeps, in place, and set the counts that layers keep beside them.

    Parameters stay the same objects under the same names, so that tied weights stay tied and an optimizer made
    afterwards names its moments as always.

    Raises:
        UsageError: the plan names what the layer does not have.
    """
    for name, tensor in _checked(layer, plan, where).items():
        value = tensor.numpy()
        for axis, at in plan.kept[name].items():
            value = value.take(at, axis)
        _replace(tensor, value)
    sublayers = dict(layer.named_sublayers(include_self=True))
    for path, values in plan.attributes.items():
        if path not in sublayers or not all(hasattr(sublayers[path], name) for name in values):
            raise UsageError(f"the plan changes '{path}', which the model does not have", where=where, hint=_HINT)
        for name, count in values.items():
            setattr(sublayers[path], name, count)
    for one in sublayers.values():
        _say_sizes(one)


def mask(layer: paddle.nn.Layer, plan: Plan) -> None:
    """Keep every shape, and make what the smaller layer lacks tell nothing: weights zero, norms neutral."""
    import numpy as np

    for name, tensor in _checked(layer, plan, "").items():
        value = tensor.numpy().copy()
        neutral = 1 if name.endswith("_variance") else 0
        for axis, at in plan.kept[name].items():
            gone = np.setdiff1d(np.arange(value.shape[axis]), at)
            value[(slice(None),) * axis + (gone,)] = neutral
        tensor.set_value(value)


def _checked(layer: paddle.nn.Layer, plan: Plan, where: str) -> dict[str, paddle.Tensor]:
    own = {**layer.state_dict(), **dict(layer.named_buffers())}
    for name, axes in plan.kept.items():
        shape = list(own[name].shape) if name in own else None
        if shape is None or any(axis >= len(shape) or at[-1] >= shape[axis] for axis, at in axes.items()):
            found = f"of shape {shape}" if shape else "not in the model"
            raise UsageError(f"the plan does not fit: '{name}' is {found}", where=where, hint=_HINT)
    return {name: own[name] for name in plan.kept}


def _replace(tensor: paddle.Tensor, value: Array) -> None:
    """`set_value` refuses another shape; the tensor behind it does not (Paddle 3.0 to 3.3)."""
    import numpy as np
    import paddle

    at = tensor.place
    place = paddle.CUDAPlace(at.gpu_device_id()) if at.is_gpu_place() else paddle.CPUPlace()
    tensor.get_tensor().set(np.ascontiguousarray(value), place)


def _say_sizes(layer: Any) -> None:
    for said, tensor, axis in _SAID:
        weight = getattr(layer, tensor, None)
        if hasattr(layer, said) and weight is not None and len(weight.shape) > axis:
            setattr(layer, said, int(weight.shape[axis]))
    if not hasattr(layer, "_out_channels") or not hasattr(layer, "_groups"):
        return
    shape, groups = list(layer.weight.shape), layer._groups
    # A transposed convolution's weight begins with the input's channels; axis 1 is per group, both ways round.
    first, second = int(shape[0]), int(shape[1]) * groups
    transposed = any("Transpose" in kind.__name__ for kind in type(layer).__mro__)
    layer._in_channels, layer._out_channels = (first, second) if transposed else (second, first)
