"""Faults as a lowering makes them: what is changed in the nodes of an ONNX file, kind by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

Node = Any
Model = Any


@dataclass(frozen=True)
class Fault:
    """One change: its kind, the number of the node in the graph, and what plants it in a copy of the model."""

    kind: str
    node: int
    what: str
    plant: Callable[[Model], None]


def faults(model: Model) -> Iterator[Fault]:
    """Every fault of every kind that the main graph offers; some make a file that does not load."""
    for number, node in enumerate(model.graph.node):
        for kind, what, change in [*_of_attributes(node), *_of_constants(node, model), *_of_kinds(node)]:
            yield Fault(kind, number, f"{node.name}: {what}", _at(number, change))


_Change = Callable[[Model, Node], None]
_Planted = tuple[str, str, _Change]


def _at(number: int, change: _Change) -> Callable[[Model], None]:
    return lambda model: change(model, model.graph.node[number])


def _attribute(node: Node, name: str, default: Any = None) -> Any:
    return next((helper.get_attribute_value(one) for one in node.attribute if one.name == name), default)


def _set(name: str, value: Any) -> _Change:
    def change(_: Model, node: Node) -> None:
        kept = [one for one in node.attribute if one.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute(name, value)])

    return change


#: By operator: the attribute, the kind of fault, and its other values, from the one it has.
_OTHER_VALUES: dict[str, list[tuple[str, str, Callable[[Any], list[Any]]]]] = {
    "Softmax": [("axis", "axis", lambda axis: [1 if axis in (-1, 2, 3) else -1])],
    "LogSoftmax": [("axis", "axis", lambda axis: [2 if axis == 1 else 1])],
    "ArgMax": [
        ("axis", "axis", lambda axis: [1 if axis != 1 else 2]),
        ("select_last_index", "tie", lambda _: [1]),
    ],
    "CumSum": [("exclusive", "bounds", lambda _: [1]), ("reverse", "bounds", lambda _: [1])],
    "TopK": [("largest", "order", lambda _: [0])],
    "LayerNormalization": [("epsilon", "epsilon", lambda given: [given * 10, 0.0])],
    "InstanceNormalization": [("epsilon", "epsilon", lambda given: [given * 10, 0.0])],
    "BatchNormalization": [("epsilon", "epsilon", lambda given: [given * 10])],
    "LeakyRelu": [("alpha", "number", lambda given: [given * 1.01])],
    "Elu": [("alpha", "number", lambda given: [given * 1.01])],
    "HardSigmoid": [("alpha", "number", lambda _: [0.2]), ("beta", "number", lambda given: [given * 1.01])],
    "Selu": [("alpha", "number", lambda given: [given * 1.001])],
    "Resize": [
        ("coordinate_transformation_mode", "positions", lambda given: [_OTHER_POSITIONS.get(given, b"half_pixel")]),
        ("nearest_mode", "rounding mode", lambda _: [b"ceil"]),
    ],
    "AveragePool": [("count_include_pad", "padding", lambda given: [1 - (given or 0)])],
    "Pad": [("mode", "padding", lambda _: [b"edge"])],
    "Mod": [("fmod", "rounding mode", lambda given: [1 - (given or 0)])],
    "GRU": [("linear_before_reset", "gate order", lambda given: [1 - (given or 0)])],
    "ReduceMean": [("axes", "axis", lambda axes: [[axis - 1 for axis in axes]] if axes and 0 not in axes else [])],
    "ReduceMax": [("axes", "axis", lambda axes: [[axis - 1 for axis in axes]] if axes and 0 not in axes else [])],
    "Transpose": [("perm", "axis", lambda perm: [[*perm[:-2], perm[-1], perm[-2]]])],
    "Concat": [("axis", "axis", lambda axis: [axis - 1] if axis > 0 else [])],
}
_OTHER_POSITIONS = {
    b"align_corners": b"half_pixel",
    b"half_pixel": b"asymmetric",
    b"pytorch_half_pixel": b"asymmetric",
    b"asymmetric": b"half_pixel",
}


def _of_attributes(node: Node) -> Iterator[_Planted]:
    for name, kind, others in _OTHER_VALUES.get(node.op_type, []):
        given = _attribute(node, name)
        if given is None and name in ("alpha", "beta", "perm", "epsilon"):
            continue
        if name == "nearest_mode" and _attribute(node, "mode") != b"nearest":
            continue
        for value in others(given):
            yield kind, f"{name} {value!r} for {given!r}", _set(name, value)
    pads = _attribute(node, "pads")
    if pads and list(pads[: len(pads) // 2]) != list(pads[len(pads) // 2 :]):
        half = len(pads) // 2
        yield "padding", "begins and ends swapped", _set("pads", [*pads[half:], *pads[:half]])
        paired = [pads[at] for begin in range(half) for at in (begin, begin + half)]
        if paired != list(pads):
            yield "padding", "begin and end of each axis side by side", _set("pads", paired)
    for name in ("dilations", "strides"):
        steps = _attribute(node, name)
        if steps and len(set(steps)) > 1:
            yield "axis", f"{name} in reverse", _set(name, list(reversed(steps)))


def _of_constants(node: Node, model: Model) -> Iterator[_Planted]:
    constants = {one.name: one for one in model.graph.initializer}
    for place, name in enumerate(node.input):
        if name not in constants:
            continue
        value = numpy_helper.to_array(constants[name])
        if node.op_type in ("LSTM", "GRU", "RNN") and place in (1, 2, 3):
            if node.op_type != "RNN":
                yield "gate order", f"rows of input {place}", _replaced(place, _gates_turned(node, value, place == 3))
        elif value.size == 1 and value.dtype.kind == "f" and np.isfinite(value).all() and value.any():
            small = 0 < abs(float(value.ravel()[0])) <= 1e-3
            other = value * np.float32(10.0) if small else value * np.float32(1.01)
            said = f"input {place} is {float(other.ravel()[0]):.6g}, not {float(value.ravel()[0]):.6g}"
            yield "epsilon" if small else "number", said, _replaced(place, other)
        elif node.op_type == "Pad" and place == 1:
            half = value.size // 2
            yield "padding", "begins and ends swapped", _replaced(1, np.concatenate([value[half:], value[:half]]))
        elif node.op_type == "PRelu" and place == 1:
            yield "number", "slopes of other channels", _replaced(1, np.roll(value, 1, axis=0))
        elif node.op_type in ("ReduceSum", "CumSum") and place == 1 and value.all():
            yield "axis", "the axis before", _replaced(1, value - 1)


def _gates_turned(node: Node, value: Any, bias: bool) -> Any:
    """The second and third gate of each block of rows exchanged, as where another framework's order is taken."""
    count = 4 if node.op_type == "LSTM" else 3
    blocks = np.split(value, count * (2 if bias else 1), axis=1)
    for begin in range(0, len(blocks), count):
        blocks[begin + 1], blocks[begin + 2] = blocks[begin + 2], blocks[begin + 1]
    return np.concatenate(blocks, axis=1)


def _replaced(place: int, value: Any) -> _Change:
    def change(model: Model, node: Node) -> None:
        name = f"{node.name}.fault"
        model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        node.input[place] = name

    return change


#: The same inputs in another operator.
_OTHER_KINDS = {
    "Greater": ("tie", "GreaterOrEqual"),
    "GreaterOrEqual": ("tie", "Greater"),
    "Less": ("tie", "LessOrEqual"),
    "LessOrEqual": ("tie", "Less"),
    "Floor": ("rounding mode", "Ceil"),
    "Ceil": ("rounding mode", "Floor"),
    "Erf": ("function", "Tanh"),
    "Max": ("function", "Min"),
    "Relu": ("function", "Abs"),
    "HardSwish": ("function", "Relu"),
    "Softplus": ("function", "Relu"),
    "ReduceMax": ("function", "ReduceMin"),
    "ReduceLogSumExp": ("function", "ReduceLogSum"),
    "Sigmoid": ("function", "HardSigmoid"),
}


def _of_kinds(node: Node) -> Iterator[_Planted]:
    if node.op_type in _OTHER_KINDS:
        kind, other = _OTHER_KINDS[node.op_type]
        yield kind, f"{other} instead", lambda _, given: given.ClearField("op_type") or setattr(given, "op_type", other)
    if node.op_type in ("Sub", "Div", "Pow"):
        yield "order", "operands swapped", lambda _, given: given.input.__setitem__(slice(0, 2), given.input[1::-1])
    if node.op_type == "Where":
        yield "order", "branches swapped", lambda _, given: given.input.__setitem__(slice(1, 3), given.input[2:0:-1])
    if node.op_type == "Round":
        yield "tie", "a half goes up", _half_up
        yield "rounding mode", "Floor instead", lambda _, given: setattr(given, "op_type", "Floor")


def _half_up(model: Model, node: Node) -> None:
    """Round as floor(x + 0.5): another integer at every second tie."""
    half, moved = f"{node.name}.half", f"{node.name}.moved"
    model.graph.initializer.append(numpy_helper.from_array(np.array(0.5, np.float32), half))
    place = next(at for at, one in enumerate(model.graph.node) if one.name == node.name)
    before = helper.make_node("Add", [node.input[0], half], [moved], name=f"{node.name}.fault")
    node.op_type, node.input[0] = "Floor", moved
    model.graph.node.insert(place, before)
