"""What calls of Paddle give: its layers and containers of them, its functions; and what calling a layer gives."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from exporter.check.catalogue import entry
from exporter.check.domain.call import Call
from exporter.check.domain.contents import is_pair, register
from exporter.check.domain.join import element, join_all
from exporter.check.domain.value_numbers import numbered
from exporter.check.domain.values import (
    UNKNOWN,
    Const,
    Container,
    Extent,
    External,
    Layer,
    Mapping,
    Sequence,
    Tensor,
    Value,
)
from exporter.check.interpret.calls import hooked_after, hooked_before
from exporter.check.interpret.events import capture, emit_call, made_here, tensor_written
from exporter.check.interpret.items import iterate
from exporter.check.models.python import make_dict
from exporter.check.models.shapes import apply_layer, apply_operator, stated_sizes
from exporter.check.state.run import Run

_CONTAINERS = ("paddle.nn.LayerList", "paddle.nn.ParameterList", "paddle.nn.Sequential", "paddle.nn.LayerDict")
_NOT_LAYERS = frozenset(
    "ParamAttr Parameter Layer BeamSearchDecoder ClipGradByNorm ClipGradByValue ClipGradByGlobalNorm".split()
)
_OUTSIDE = (
    "paddle.nn.MultiHeadAttention.",
    "paddle.nn.initializer.",
    "paddle.vision.datasets.",
    "paddle.vision.transforms.",
)
#: Functions that give Python values, or nothing.
_PLAIN = frozenset(
    "in_dynamic_mode in_dynamic_or_pir_mode is_tensor rank get_device get_default_dtype seed set_device no_grad "
    "enable_grad set_grad_enabled is_compiled_with_cuda is_compiled_with_xpu device_count is_grad_enabled amp_guard "
    "auto_cast iinfo finfo in_static_mode is_floating_point is_integer is_complex synchronize to_static "
    "not_to_static broadcast_shape get_world_size get_rank is_initialized enable_static disable_static "
    "in_dygraph_mode backward save load summary flops".split()
)

#: Where functions give tensors, as far as nothing else is known of them; of `paddle` itself all do.
_OF_OPERATORS = tuple(
    f"paddle.{space}"
    for space in "nn.functional tensor linalg fft signal sparse geometric vision.ops incubate static.nn fluid.layers "
    "static.create _C_ops audio.functional strings distribution nn.quant nn.utils".split()
)


def is_weightless(name: str, keywords: dict[str, Value]) -> bool:
    """Whether a layer of Paddle's, made with these keywords, has no parameters, or is a container."""
    known = entry(name.rpartition(".")[2])
    bare = known.has("affine") and all(keywords.get(each) == Const(False) for each in ("weight_attr", "bias_attr"))
    return bare or known.has("weightless")


@cache
def is_layer_class(name: str) -> bool:
    """Whether a qualified name is one of Paddle's layer classes, `paddle.nn.LSTM` as well as `paddle.nn.Linear`."""
    last = name.rpartition(".")[2]
    if not name.startswith("paddle.") or name.startswith(_OUTSIDE) or not last[:1].isupper() or last in _NOT_LAYERS:
        return False
    is_known = ".nn." in name or name.startswith("paddle.vision.")
    return is_known or (".meta_parallel." in name and entry(last).sizes != "")


def _is_plain(name: str) -> bool:
    """Whether a function gives no tensor, or lies where nothing says that it does: `paddle.framework.…`."""
    space, _, last = name.rpartition(".")
    if last in _PLAIN or last[:1].isupper() or last.startswith(("is_", "_")):
        return True
    return space != "paddle" and not name.startswith(_OF_OPERATORS)


def _paddle(run: Run, call: Call) -> Value:
    if call.name in _CONTAINERS:
        return _registered(_container(run, call))
    if is_layer_class(call.name):  # a model is put into evaluation once it is built
        weightless = is_weightless(call.name, call.keywords)
        return Layer(call.name, call.arguments, call.keywords, training=run.forward, weightless=weightless)
    if call.name.startswith("paddle.nn.MultiHeadAttention."):  # its caches are named tuples
        return Sequence("tuple", call.every)
    if (special := _SPECIAL.get(call.last)) and (made := special(run, call)) is not None:
        return made
    if _is_plain(call.name):
        return _plain(run, call)
    return _operator(run, call)


def _operator(run: Run, call: Call) -> Value:
    for value in call.every:
        if isinstance(value, Container):
            capture(run, element(value), call.node, "container")
    return operate(run, call)


def operate(run: Run, call: Call) -> Value:
    """What an operator gives; one that works in place writes into its tensor, and gives that."""
    value = numbered(apply_operator(call), call)
    in_place = call.last == "set_value" or (call.last.endswith("_") and not call.last.endswith("__"))
    if in_place and isinstance(call.first, Tensor):
        tensor_written(run, call.first, call.node)
        return call.first
    return made_here(run, value, call.node) if isinstance(value, Tensor) else value


def _plain(run: Run, call: Call) -> Value:
    """What a function gives that gives no tensor; the methods of a distribution are known by name."""
    if run.forward and call.last in ("in_dynamic_mode", "in_dygraph_mode"):
        return Const(False)  # so the trace goes
    if not call.name.startswith("paddle.distribution."):
        return UNKNOWN
    run.consume(*call.every)
    return External(call.name)


def _shape(run: Run, call: Call) -> Value | None:
    if not isinstance(call.first, Tensor):
        return None
    rank = len(call.first.sizes) if call.first.closed else Extent.UNKNOWN
    return Tensor((rank,), True, call.first.inputs, shaped=True)


def _assign(run: Run, call: Call) -> None:
    """`paddle.assign(x, output)` also writes into its output."""
    for target in call.arguments[1:]:
        if isinstance(target, Tensor):
            tensor_written(run, target, call.node)


def _made_dynamic(run: Run, call: Call) -> Value:
    """`set_dynamic_shape` tells a trace which sizes of a tensor vary."""
    if isinstance(call.first, Tensor) and (sizes := stated_sizes(call.given(1, "shape_list"))[0]):
        varying = tuple(Extent.DYNAMIC if size == -1 else size for size in sizes)
        run.heap.change(call.first, sizes=varying)
    return Const(None)


#: Functions that do more, or something else, than give a new tensor; None: go on as for any operator.
_SPECIAL: dict[str, Callable[[Run, Call], Value | None]] = {
    **dict.fromkeys(("spectral_norm", "weight_norm", "remove_weight_norm"), lambda run, call: call.first),
    "set_dynamic_shape": _made_dynamic,
    "shape": _shape,
    "assign": _assign,
}


def _registered(container: Container) -> Value:
    """A container of layers; whatever it holds is a sublayer of it."""
    for value in container.parts():
        register(value)
    return container


def _container(run: Run, call: Call) -> Container:
    kind = "paddle.nn.LayerList" if call.last == "ParameterList" else call.name
    first = call.first
    if not call.arguments:
        return Mapping(fixed=True, registers=True) if call.last == "LayerDict" else Sequence(kind)
    if call.last == "LayerDict":
        return replace(make_dict(run, replace(call, keywords={})), registers=True)
    if len(call.arguments) == 1 and isinstance(first, Sequence) and first.kind in ("list", "tuple", "generator"):
        return Sequence(kind, first.items, first.rest, fixed=True)  # made of nothing it is meant to be empty
    if call.last == "Sequential":
        layers = tuple(value.parts()[1] if is_pair(value) else value for value in call.arguments)
        return Sequence(kind, (), join_all(layers)) if _of_unknown_number(call) else Sequence(kind, layers)
    return Sequence(kind, (), iterate(run, first, call.node, "list"))


def _of_unknown_number(call: Call) -> bool:
    """Whether a `*list` stands for one of the arguments, so that there may be any number of them."""
    nodes = call.node.args if isinstance(call.node, ast.Call) else []
    return any(isinstance(each, ast.Starred) for each in nodes) and len(nodes) == len(call.arguments)


def _call_layer(run: Run, layer: Layer, call: Call) -> Value:
    call = hooked_before(run, layer, call)
    emit_call(run, f"{layer.name}.forward", call, layer)
    value = apply_layer(layer, call)
    if isinstance(value, Tensor) and not value.value_number and "Dropout" not in layer.name:
        value.value_number = ("layer", layer, *call.every)
    return hooked_after(run, layer, call, value)


PACKAGES = {"paddle": _paddle}
CALLERS = {Layer: _call_layer}
