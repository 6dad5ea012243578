"""From a call of a sunk API to an operator of the legacy program."""

from __future__ import annotations

from typing import Any

from packaging.version import Version

from exporter.export.lower.pdmodel.attributes import LEAVE_OUT
from exporter.export.lower.pdmodel.call import Call
from exporter.export.lower.pdmodel.dtypes import cast
from exporter.export.lower.pdmodel.entry import Sunk
from exporter.paddle.in_place import now_means
from exporter.paddle.programs import append
from exporter.paddle.refusal import CannotLower, cannot_lower
from exporter.paddle.values import constant_of, is_variable


def lower(entry: Sunk, args: Any, kwargs: Any, target: Version | None) -> Any:
    """Append the operator of `entry` to the current block; the Variable it writes.

    Raises:
        CannotLower: the arguments have no equivalent.
    """
    call = Call(entry.api, {name: _variable(value) for name, value in entry.bind(args, kwargs).items()}, target)
    out = call["out"]
    if out is not None and not is_variable(out):
        raise cannot_lower(f"paddle.{entry.api}", "`out` is not a Tensor of the traced program", "use what it returns")
    result = entry.instead(call) if entry.instead else None
    if result is None:
        result = _append(entry, call)
    if entry.writes_x:
        now_means(call["x"], result)
    return result if out is None else _copy_into(result, out)


def _append(entry: Sunk, call: Call) -> Any:
    dtype = entry.dtype.apply(call)
    computed_in = entry.computed_in.get(dtype.name)
    if computed_in is not None:
        call["x"] = call["x"].astype(computed_in)
    inputs = {slot: _listed(call[name]) for slot, name in entry.inputs.items()}
    attributes = {}
    unknown = {name: slot for name, slot in entry.tensors.items() if _unknown(call[name])}
    for name, attribute in entry.attributes.items():
        if attribute.source in unknown:
            continue
        value = attribute.compute(call)
        if value is not LEAVE_OUT:
            attributes[name] = value
    for name, slot in unknown.items():
        inputs[slot] = _listed(call[name])
    try:
        result = append(entry.operator, inputs, attributes, call["x"].dtype if computed_in else dtype, entry.output)
    except CannotLower:
        raise
    except (ValueError, TypeError, RuntimeError, NotImplementedError) as error:
        # Shape inference of the operator refused the inputs: eager would, too, with a message about its own function.
        reason = str(error).strip().splitlines()[-1]
        raise cannot_lower(f"paddle.{entry.api}", reason, "does the call work in eager mode?") from error
    return cast(result, dtype)


def _variable(value: Any) -> Any:
    """Eager tensors that meet the program (a closure's, a list's) become its constants, as in Paddle's append_op."""
    from exporter.paddle.private import convert_into_variable, in_dygraph_mode

    if isinstance(value, (list, tuple)):
        return type(value)(_variable(item) for item in value)
    return value if in_dygraph_mode() else convert_into_variable(value)


def _unknown(value: Any) -> bool:
    return is_variable(value) and constant_of(value) is None


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _copy_into(result: Any, out: Any) -> Any:
    import paddle

    return paddle.assign(result, output=out)
