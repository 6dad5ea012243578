"""In a child: whether the operators of a program fit the functions that compute them, by what this Paddle declares."""

from __future__ import annotations

from collections.abc import Mapping

from exporter.base.errors import BundleError
from exporter.base.readers.program import Block, Operator
from exporter.paddle.functions import parameters_of

_NUMBER = (int, float)
_SCALAR = (bool, int, float, list)  # a complex number is a list of two
#: What an attribute holds, by the type of the parameter that takes it; of a list, what each of it is.
_ONE: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "int64_t": (int,),
    "float": _NUMBER,
    "double": _NUMBER,
    "string": (str,),
    "DataType": (str,),
    "Scalar": _SCALAR,
}
_MANY: Mapping[str, tuple[type, ...]] = {
    "vector<int>": (int,),
    "vector<int64_t>": (int,),
    "IntArray": (int,),
    "vector<float>": _NUMBER,
    "vector<double>": _NUMBER,
    "vector<phi::Scalar>": _SCALAR,
}


def refuse_misfits(block: Block, program: str) -> None:
    """Make sure that each operator has the operands and the kinds of attributes that its function takes.

    What a file leaves out is not asked for: another version of Paddle may have had no such attribute.

    Raises:
        BundleError: one has not; it is named.
    """
    for operator in block.operators:
        if what := _misfit(operator):
            place = f"operator {operator.index}, {operator.name}"
            hint = "get a fresh copy of it, or save the model again by paddle.jit.save"
            raise BundleError(f"{place}: {what}", where=program, hint=hint)
        for inner in operator.blocks:
            refuse_misfits(inner, program)


def _misfit(operator: Operator) -> str:
    parameters = parameters_of(operator.name) or parameters_of(operator.name.removesuffix("_")) or ()
    if not parameters:
        return ""
    for parameter in parameters:
        value = operator.attributes.get(parameter.name)
        if not parameter.is_tensor and value is not None and not _fits(value, parameter.type):
            return f"its attribute '{parameter.name}' holds {str(value)[:40]!r}, where {parameter.type} is due"
    tensors = [parameter for parameter in parameters if parameter.is_tensor]
    computed = sum(not one.is_tensor and one.name not in operator.attributes for one in parameters)
    least = sum("optional" not in tensor.type for tensor in tensors)
    if not least <= len(operator.operands) <= len(tensors) + computed:
        due = str(least) if least == len(tensors) else f"{least} to {len(tensors)}"
        return f"it has {len(operator.operands)} operands, where {due} are due"
    return ""


def _fits(value: object, kind: str) -> bool:
    if kind in _MANY:
        return isinstance(value, list) and all(_is_one(part, _MANY[kind]) for part in value)
    return _is_one(value, _ONE[kind]) if kind in _ONE else True


def _is_one(value: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)
