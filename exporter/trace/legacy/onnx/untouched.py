"""Programs that would be the same with the rewrites: paddle2onnx gets the PIR file, and nothing is traced again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from exporter.trace.legacy.onnx import REWRITES
from exporter.trace.legacy.onnx.supported import IN_PLACE, SUPPORTED

Operator: TypeAlias = Mapping[str, Any]

#: In other dtypes operators are widened, or refused with the user's line.
_DTYPES = frozenset(("0.t_f32", "0.t_i64", "0.t_i32", "0.t_bool"))
_PARAMETER, _PLAIN = "p", frozenset(("data", "fetch"))


def untouched(content: bytes) -> bool:
    """Whether tracing anew with the rewrites would give this same program (`.json` of PIR).

    It is so where no operator is one that a rewrite may put others in the place of. An entry's operator bears the
    entry's name, so the tables themselves tell; of the few in `_IDLE` the rewrite leaves common forms alone.
    """
    operators = json.loads(content)["program"]["regions"][0]["blocks"][0]["ops"]
    return all(one["#"] == _PARAMETER or _same(one) for one in operators)


def _same(operator: Operator) -> bool:
    dialect, _, name = operator["#"].partition(".")
    if operator.get("regions") or not _dtypes(operator) <= _DTYPES:
        return False
    if dialect == "0" or name in _PLAIN:
        return dialect in ("0", "1")
    plain = name.removesuffix(IN_PLACE)
    if dialect != "1" or not {name, plain} & SUPPORTED:
        return False
    idle = _IDLE.get(name)
    return idle(operator) if idle else not {name, plain} & REWRITES.keys()


def _dtypes(operator: Operator) -> set[str]:
    """The dtypes of the results, but for masks and workspaces, which nothing reads in inference."""
    results = operator["O"][:1] if operator["#"] in ("1.dropout", "1.batch_norm_") else operator["O"]
    return {one["#"] for result in results for one in _elements(result.get("TT"))}


def _elements(kind: Any) -> Iterator[Any]:
    """The element types in a type: one of a tensor, those of all tensors in a list of them, none where it has none."""
    if kind is None or kind["#"] == "NULL":
        return
    if kind["#"] == "0.t_vec":
        for one in kind["D"]:
            yield from _elements(one)
    else:
        yield kind["D"][0]


def _attribute(operator: Operator, name: str) -> Any:
    return next((one["AT"].get("D") for one in operator["A"] if one["N"] == name), None)


def _channels_first(operator: Operator) -> bool:
    return str(_attribute(operator, "data_format")) in ("NCHW", "NCDHW", "NCL")


def _running(operator: Operator) -> bool:
    """A batch norm by its running statistics."""
    return _channels_first(operator) and bool(
        _attribute(operator, "is_test") and _attribute(operator, "use_global_stats")
    )


def _over_one_axis(operator: Operator) -> bool:
    sizes: list[int] = operator["O"][0]["TT"]["D"][1]
    return bool(_attribute(operator, "begin_norm_axis") == len(sizes) - 1)


def _ordinary_pool(operator: Operator) -> bool:
    sizes = operator["O"][0]["TT"]["D"][1][2:]
    return _channels_first(operator) and (not _attribute(operator, "adaptive") or sizes == [1, 1])


def _small_number(operator: Operator) -> bool:
    """A float, or an integer that float32 holds exactly; an infinity has its own way of being written."""
    value = _attribute(operator, "value")
    return isinstance(value, (int, float)) and (_dtypes(operator) == {"0.t_f32"} or abs(value) <= 1 << 24)


_IDLE: Mapping[str, Callable[[Operator], bool]] = {
    "conv2d": _channels_first,
    "depthwise_conv2d": _channels_first,
    "batch_norm_": _running,
    "layer_norm": _over_one_axis,
    "pool2d": _ordinary_pool,
    "full": _small_number,
}
