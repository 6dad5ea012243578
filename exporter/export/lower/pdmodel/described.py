"""Functions of `_C_ops` as legacy operators, by what the installed Paddle itself says of both.

Most functions that only C++ knows have a legacy operator of the same meaning. Which one it is, and what its slots and
attributes are called, stands in a table of Paddle's (`phi_ops_map`, 3.0 to 3.3); the order of the parameters in its
headers (:mod:`exporter.paddle.functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

from exporter.paddle.functions import Parameter, parameters_of, results_of
from exporter.paddle.refusal import CannotLower, cannot_lower
from exporter.paddle.values import constant_of, is_variable, joined

#: An argument of a call: a variable of the program, a number, a text, or a list of them.
Argument: TypeAlias = Any
#: The same legacy operator writes a tensor into a part of another, in its slot for a value.
_SETS = ("set_value_with_tensor", "set_value_with_tensor_")
_SET_VALUE = {"x": "Input", "values": "ValueTensor"}
#: Attributes that a legacy operator insists on, and no function has or a tensor gives.
_INSISTS: Mapping[str, Mapping[str, Argument]] = {
    "unpool": {"unpooling_type": "max"},
    "pad3d": {"paddings": [0] * 6},
}
#: Attributes of which Paddle's table does not say that the legacy operator calls them otherwise.
_CALLED: Mapping[str, Mapping[str, str]] = {
    "one_hot": {"num_classes": "depth"},
    "increment": {"value": "step"},
    "mish": {"lambda": "threshold"},
}
#: Operators whose kernel reads a size that is computed as int32 alone.
_READ_AS_INT32 = ("sequence_mask",)
_USE_PIR = "write it with operators that have a Python body, or export this model as `pir`"
#: How an attribute of a legacy operator is stored, by the number of its type in `framework.proto`.
_STORED: Mapping[int, Callable[[Argument], Argument]] = {
    0: int,
    1: float,
    2: str,
    3: lambda value: list(map(int, _list(value))),
    4: lambda value: list(map(float, _list(value))),
    6: bool,
    7: lambda value: list(map(bool, _list(value))),
    9: int,
    11: lambda value: list(map(int, _list(value))),
    12: lambda value: list(map(float, _list(value))),
    15: float,
}


@dataclass(frozen=True)
class Described:
    """A legacy operator: its type, and its names of the function's inputs, attributes and outputs.

    `slots` are those of its inputs in their order; `tensors` those of attributes that a tensor may give, and `lists`
    those of attributes that may be a list of tensors. `variable` are the attributes that hold tensors themselves;
    `listed` are the outputs that are lists.
    """

    type: str
    inputs: Mapping[str, str]
    slots: tuple[str, ...]
    attributes: Mapping[str, str]
    tensors: Mapping[str, str]
    lists: Mapping[str, str]
    stored: Mapping[str, int]
    variable: frozenset[str]
    outputs: tuple[str, ...]
    listed: frozenset[str]


@cache
def described(function: str) -> Described | None:
    """Return the legacy operator of a function; None where Paddle names none."""
    from exporter.paddle.private import OpProtoHolder, op_map

    named: dict[str, Argument] = op_map
    wanted = "set_value" if function in _SETS else function
    kind = next((kind for kind, names in named.items() if names["phi_name"] == wanted), wanted)
    names = named.get(kind, {})
    inputs = _SET_VALUE if function in _SETS else names.get("inputs", {})
    try:
        proto = OpProtoHolder.instance().get_op_proto(kind)
    except ValueError:  # Operator "..." has not been registered
        return None
    slots = {**names.get("int_array", {}), **names.get("scalar", {})}
    stored = {attribute.name: int(attribute.type) for attribute in proto.attrs}
    known = [slot.name for slot in proto.outputs]
    first = [slot for slot in names.get("outputs", {}).values() if slot in known]
    return Described(
        kind,
        dict(inputs),
        tuple(slot.name for slot in proto.inputs),
        {**names.get("attrs", {}), **_CALLED.get(function, {})},
        {name: about["tensor_name"] for name, about in slots.items() if "tensor_name" in about},
        {name: about["tensors_name"] for name, about in slots.items() if "tensors_name" in about},
        stored,
        frozenset(attribute.name for attribute in proto.attrs if attribute.support_tensor),
        (*first, *(slot for slot in known if slot not in first)),
        frozenset(slot.name for slot in proto.outputs if slot.duplicable),
    )


def lower(function: str, args: Sequence[Argument]) -> Argument:
    """Append the operator of a call to the block in work; return what the function returns.

    Raises:
        CannotLower: no legacy operator says the same.
    """
    operator, parameters = described(function), parameters_of(function)
    if operator is None or parameters is None or len(args) > len(parameters):
        raise only_in_c(function)
    if operator.type == "deformable_conv" and args[3] is None:
        operator = replace(operator, type="deformable_conv_v1")  # the one without a mask
    inputs: dict[str, Argument] = {}
    attributes: dict[str, Argument] = {}
    tensors = [parameter.name for parameter in parameters if parameter.is_tensor]
    # By place where the table lacks a name, or knows that of an older Paddle: `input` was called `x`.
    slots = {**dict(zip(tensors, operator.inputs.values() or operator.slots, strict=False)), **operator.inputs}
    for parameter, value in zip(parameters, args, strict=False):
        if parameter.is_tensor:
            if value is not None:
                inputs[slots.get(parameter.name, parameter.name)] = _list(value)
        elif parameter.type != "Place":
            _say(operator, parameter, value, inputs, attributes)
    lists = (value for parameter, value in zip(parameters, args, strict=False) if parameter.is_list and value)
    try:
        results = _append(operator, inputs, attributes, len(next(lists, ())))
    except CannotLower:
        raise
    except (ValueError, TypeError, RuntimeError, NotImplementedError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
        telling = next((line for line in lines if "Error" in line), lines[-1])
        raise cannot_lower(f"paddle._C_ops.{function}", telling[:300], _USE_PIR) from error
    count = results_of(function)
    return results[0] if count == 1 else tuple(results[:count])


def only_in_c(function: str, hint: str = _USE_PIR) -> CannotLower:
    """Return the refusal of a function that no legacy operator stands for."""
    return cannot_lower(f"paddle._C_ops.{function}", "runs only in C++, where no legacy program can be built", hint)


def _say(
    operator: Described,
    parameter: Parameter,
    value: Argument,
    inputs: dict[str, Argument],
    attributes: dict[str, Argument],
) -> None:
    """Put one argument that is no tensor into its attribute; or where it is computed, into the slot for that."""
    name = parameter.name
    attribute = operator.attributes.get(name, name)
    if attribute in operator.tensors:
        name = attribute
    if isinstance(value, (list, tuple)) and name in operator.lists and _computed(value):
        inputs[operator.lists[name]] = [joined([part], "int32") for part in value]
        value = [-1 if is_variable(part) else part for part in value]
    elif _computed(value):
        if name in operator.tensors:
            whole = joined(value, "int32") if isinstance(value, (list, tuple)) else value
            inputs[operator.tensors[name]] = [whole.astype("int32") if operator.type in _READ_AS_INT32 else whole]
            return
        if attribute in operator.variable:
            attributes[attribute] = _variables(value)
            return
        value = _known(value, operator, name)
    if attribute in operator.stored:
        attributes[attribute] = _stored(value, operator.stored[attribute], parameter)


def _variables(value: Argument) -> Argument:
    """Return what an attribute that may be computed holds: a tensor, or a list of nothing but tensors."""
    import paddle

    if not isinstance(value, (list, tuple)):
        return value
    return [part if is_variable(part) else paddle.full([1], part, "int32") for part in value]


def _computed(value: Argument) -> bool:
    return any(map(is_variable, _list(value)))


def _known(value: Argument, operator: Described, name: str) -> Argument:
    constants: list[Argument] = [constant_of(part) if is_variable(part) else part for part in _list(value)]
    if any(constant is None for constant in constants):
        why = f"'{name}' is computed, and the legacy operator {operator.type} wants a number"
        raise cannot_lower(f"paddle._C_ops.{operator.type}", why, _USE_PIR)
    plain = [_plain(constant) for constant in constants]
    return plain if isinstance(value, (list, tuple)) else plain[0]


def _plain(constant: Argument) -> Argument:
    """Return a constant as a number, or as a list of more than one; what is no array is plain already."""
    if not hasattr(constant, "tolist"):
        return constant
    return constant.item() if constant.size == 1 else constant.tolist()


def _stored(value: Argument, kind: int, parameter: Parameter) -> Argument:
    from exporter.paddle.private import convert_to_proto_type

    if parameter.type == "DataType":
        return -1 if value is None else int(convert_to_proto_type(value))
    return _STORED.get(kind, lambda same: same)(value)


def _append(
    operator: Described, inputs: dict[str, Argument], attributes: dict[str, Argument], length: int
) -> list[Argument]:
    """Append an operator; a list that it gives is as long as the first list that it takes, as the states of an RNN."""
    from exporter.paddle.private import LayerHelper

    helper = LayerHelper(operator.type)
    first = next((value for values in inputs.values() for value in values if is_variable(value)), None)
    dtype = first.dtype if first is not None else "float32"
    # An operator that updates an input, as the mean of a batch norm, writes it into the same variable.
    updated = {f"{slot}Out": values[0] for slot, values in inputs.items()}
    attributes = {**_INSISTS.get(operator.type, {}), **attributes}
    if operator.type == "set_value":
        attributes["dtype"] = dtype
    outputs: dict[str, list[Argument]] = {
        slot: [updated[slot]]
        if slot in updated
        else [
            helper.create_variable_for_type_inference(dtype=dtype)
            for _ in range(length if slot in operator.listed else 1)
        ]
        for slot in operator.outputs
    }
    helper.append_op(
        type=operator.type,
        inputs=inputs,
        outputs=outputs,
        attrs=attributes,
    )
    return [variables if slot in operator.listed else variables[0] for slot, variables in outputs.items()]


def _list(value: Argument) -> list[Argument]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
