"""Putting a rewrite in the place of one of Paddle's C++ entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from exporter.trace.legacy.audit import sunk_apis
from exporter.trace.legacy.call import Call
from exporter.trace.legacy.patches import Patches
from exporter.trace.legacy.refusal import CannotLower, cannot_lower
from exporter.trace.legacy.table import TABLE

Entry: TypeAlias = Callable[..., Any]
Arguments: TypeAlias = dict[str, Any]
Refuse: TypeAlias = Callable[[CannotLower], None]

#: dtypes that ONNX Runtime computes few operators in, and the one that the arithmetic is done in instead.
_WIDER = {
    "uint8": "int32", "int8": "int32", "int16": "int32", "float16": "float32", "bfloat16": "float32",
}  # fmt: skip


@dataclass(frozen=True)
class Rewrite:
    """`compute(entry, arguments)` writes other operators and returns their result; None: the entry itself will do.

    `signature` is that of the C++ entry, for those that Paddle has not sunk: the arguments that its Python passes.
    `creates`: the call makes a tensor out of numbers alone.
    """

    compute: Callable[[Entry, Arguments], Any]
    signature: str = ""
    creates: bool = False

    def bind(self, name: str, args: Any, kwargs: Any) -> Arguments:
        """The arguments of one call by parameter name."""
        if self.signature:
            return Call.bind(name, f"{self.signature}, out=None", {}, args, kwargs)
        return TABLE[name].bind(args, kwargs)


@dataclass(frozen=True)
class Detour:
    """Calls of some entries that are made with other arguments instead.

    `wants` says of one argument whether the call is such a call. `through(name, entry, again, args, kwargs)` gives its
    result, where `again` is the entry with everything that is in its place.
    """

    names: frozenset[str]
    wants: Callable[[Any], bool]
    through: Callable[[str, Entry, Entry, Any, Any], Any]


def install(patches: Patches, rewrites: Mapping[str, Rewrite], detours: Sequence[Detour], refuse: Refuse) -> None:
    """Replace the entries that have a rewrite or a detour, such as that of small dtypes to wider ones.

    Sunk APIs have their own signatures, and are left alone by a Paddle that has not sunk them. `refuse` hears of every
    refusal.
    """
    import paddle

    held = []
    for name in sorted({*rewrites, *(name for detour in detours for name in detour.names)}):
        entry, rewrite = vars(paddle._C_ops).get(name), rewrites.get(name)
        known = name in sunk_apis() or name not in TABLE
        if entry is None or not known or (rewrite and not rewrite.signature and name not in sunk_apis()):
            continue
        replacement = _replacement(name, entry, rewrite, [detour for detour in detours if name in detour.names], refuse)
        held.append((entry, replacement))
        patches.attribute(paddle._C_ops, name, replacement)
    patches.references(held)


def _replacement(name: str, entry: Entry, rewrite: Rewrite | None, detours: Sequence[Detour], refuse: Refuse) -> Entry:
    """`entry` must stand in this function's own closure: `Patches.references` spares what the replacement holds."""
    from paddle.base.framework import in_pir_mode

    creates = rewrite is not None and rewrite.creates

    def replacement(*args: Any, **kwargs: Any) -> Any:
        if not (creates and in_pir_mode()) and not any(map(is_value, (*args, *kwargs.values()))):
            return entry(*args, **kwargs)
        for detour in detours:
            if any(map(detour.wants, (*args, *kwargs.values()))):
                return detour.through(name, entry, replacement, args, kwargs)
        result = None
        if rewrite is not None:
            try:
                call = rewrite.bind(name, args, kwargs)
                if call.get("out") is not None:
                    raise cannot_lower(
                        f"paddle.{name}", "Paddle ignores `out` while it traces", "use the result instead"
                    )
                result = rewrite.compute(entry, call)
            except CannotLower as error:
                refuse(error)
                raise
        return entry(*args, **kwargs) if result is None else result

    replacement.__name__ = replacement.__qualname__ = name
    replacement.__module__ = "paddle._C_ops"
    return replacement


def is_value(argument: Any) -> bool:
    """Whether it is a value of a PIR program, or a list that holds one."""
    import paddle

    if isinstance(argument, (list, tuple)):
        return any(isinstance(one, paddle.pir.Value) for one in argument)
    return isinstance(argument, paddle.pir.Value)


def dtype_name(value: Any) -> str:
    """`float32` for `paddle.float32` and `DataType.FLOAT32` alike."""
    return str(value.dtype).rpartition(".")[2].lower()


def _is_small(argument: Any) -> bool:
    if isinstance(argument, (list, tuple)):
        return any(map(_is_small, argument))
    return is_value(argument) and dtype_name(argument) in _WIDER


def widening(names: frozenset[str]) -> Detour:
    """Compute in int32 or float32 where a dtype is smaller."""
    return Detour(names, _is_small, _in_wider)


def _in_wider(_name: str, entry: Entry, again: Entry, args: Any, kwargs: Any) -> Any:
    """Cast, compute, and cast to what the entry itself says the result is; the entry's own operator is dropped."""
    result = again(*map(_widened, args), **{name: _widened(value) for name, value in kwargs.items()})
    like = entry(*args, **kwargs)
    if isinstance(like, (list, tuple)):
        return type(like)(map(_cast_like, result, like)) if like else like
    return _cast_like(result, like)


def _widened(argument: Any) -> Any:
    if isinstance(argument, (list, tuple)):
        return type(argument)(map(_widened, argument))
    return argument.astype(_WIDER[dtype_name(argument)]) if _is_small(argument) else argument


def _cast_like(result: Any, like: Any) -> Any:
    import paddle

    dtype = like.dtype
    if isinstance(like, paddle.pir.Value):
        like.get_defining_op().get_parent_block().remove_op(like.get_defining_op())
    return result if result is None or result.dtype == dtype else result.astype(dtype)
