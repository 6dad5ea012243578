"""In a child: tensors and layers with a gradient that no optimizer changes, or no checkpoint holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from exporter.train.finding import Finding
from exporter.train.passes import ROOT, Passes

if TYPE_CHECKING:
    import paddle

#: The attributes in which a layer has what it owns.
_OWNED = ("_parameters", "_buffers", "_sub_layers")


def loose_tensors(layer: paddle.nn.Layer) -> dict[str, paddle.Tensor]:
    """By its place each tensor with a gradient in the attributes of a sublayer that is no parameter of the layer.

    A parameter or a layer in a plain list or dict is none either.
    """
    known = {id(parameter) for parameter in layer.parameters()}
    return {
        name: value
        for path, sublayer in layer.named_sublayers(include_self=True)
        if not type(sublayer).__module__.startswith("paddle.")  # its RNNs keep their weights in a list besides
        for attribute, held in {**vars(sublayer), **sublayer._buffers}.items()
        if attribute not in _OWNED
        for name, value in _inside(f"{path}.{attribute}" if path else attribute, held)
        if not value.stop_gradient and id(value) not in known
    }


def never_trained(loose: Mapping[str, paddle.Tensor], layer: paddle.nn.Layer, passes: Passes) -> Iterator[Finding]:
    """`loose` are the tensors of :func:`loose_tensors` before forward ran.

    What forward computes anew is left out: a weight norm leaves its weight as an attribute.
    """
    told: set[int] = set()
    for name, value in loose_tensors(layer).items():
        if loose.get(name) is value and id(value) not in told:
            told.add(id(value))
            yield _loose(name, value)
    for stranger, caller, made in passes.strangers:
        parameters = {id(parameter) for parameter in stranger.parameters()}
        if not parameters & told:
            yield _stranger(type(stranger).__name__, caller, made=made)


def not_in(optimizer: paddle.optimizer.Optimizer | None, layer: paddle.nn.Layer) -> Iterator[Finding]:
    """Parameters that the optimizer does not change."""
    if optimizer is None:
        return
    given = optimizer._parameter_list or []  # groups are dicts (optimizer.py, Paddle 3.0-3.3)
    flat = [value for group in given for value in (group["params"] if isinstance(group, dict) else (group,))]
    known = {id(parameter) for parameter in flat}
    for name, parameter in layer.named_parameters():
        if not parameter.stop_gradient and id(parameter) not in known:
            yield Finding("error", name, "the optimizer was not given it", "give it layer.parameters()")


def _loose(name: str, value: Any) -> Finding:
    if hasattr(value, "trainable"):  # of a parameter alone (Paddle 3.0 to 3.3)
        what = "its layer does not own it, being in a plain list or dict: parameters() and the checkpoint lack it"
        return Finding("error", name, what, "use nn.LayerList, nn.LayerDict or nn.ParameterList")
    if value.is_leaf:
        what, hint = "it has a gradient and is no parameter", "make it by create_parameter"
    else:
        what, hint = "it was computed of parameters once, and does not follow them", "compute it in forward"
    return Finding("error", name, f"it is never trained: {what}", hint)


def _stranger(kind: str, caller: str, *, made: bool) -> Finding:
    if made:
        what = f"its code makes a {kind} each time it runs, whose weights are drawn anew and never trained"
        return Finding("error", caller, what, "make the layer in __init__, as an attribute")
    what = f"its code calls a {kind} that belongs to no layer, so it is neither trained nor in the checkpoint"
    where = "the layer" if caller == ROOT else caller
    return Finding("error", caller, what, f"make it an attribute of {where}")


def _inside(name: str, held: Any) -> Iterator[tuple[str, Any]]:
    """Tensors in an attribute, in lists and dicts, and in layers within these, by their places."""
    import paddle

    if isinstance(held, paddle.Tensor):
        yield name, held
    elif isinstance(held, paddle.nn.Layer):
        yield from ((f"{name}.{inner}", value) for inner, value in held.named_parameters())
    elif isinstance(held, (list, tuple)):
        for number, value in enumerate(held):
            yield from _inside(f"{name}[{number}]", value)
    elif isinstance(held, dict):
        for key, value in held.items():
            yield from _inside(f"{name}[{key!r}]", value)
