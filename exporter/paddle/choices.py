"""Which of equal elements an operator takes: noticed, or decided, while a layer runs eagerly.

Paddle promises no order among them (3.3.1: `topk` of eight equal numbers takes places 6, 5 and 4, ONNX Runtime 0, 1
and 2), so what hangs on it is not what a file can be held to. `argmax`, `argmin` and `argsort(stable=True)` take the
first, as ONNX does, and are not among these operators.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from exporter.base.tensors import Array

#: Operators of which nobody promises which of equal elements comes first.
CHOOSE = frozenset("argsort topk kthvalue mode median nanmedian unique nms multiclass_nms3".split())
#: What may be taken in place of Paddle's own choice.
FIRST, LAST = "first", "last"
#: The places of the chosen elements by either choice.
_Places = tuple[Array, Array]


@contextlib.contextmanager
def choosing(among_equals: str = "") -> Iterator[set[str]]:
    """Collect the operators that choose between equal elements while this lasts.

    They take the first or the last of these if asked to, else what Paddle takes. Detection's own operators are not
    watched: `nms` with scores sorts by `argsort`, `multiclass_nms3` by a stable sort.
    """
    from exporter.paddle.private import c_ops

    tied: set[str] = set()
    saved: dict[str, Any] = {}

    def watched(name: str, old: Callable[..., Any], places: Callable[..., _Places | None]) -> Callable[..., Any]:
        def run(x: Any, *arguments: Any, **named: Any) -> Any:
            values, index = old(x, *arguments, **named)
            found = places(_numbers(x), _numbers(values), *arguments) if x.ndim and x.size else None
            if found is None or np.array_equal(*found):
                return values, index
            tied.add(name)
            return values, _like(index, found[among_equals == LAST]) if among_equals else index

        return run

    try:
        for name, places in _PLACES.items():
            saved[name] = getattr(c_ops, name)
            setattr(c_ops, name, watched(name, saved[name], places))
        yield tied
    finally:
        for name, old in saved.items():
            setattr(c_ops, name, old)


def _numbers(tensor: Any) -> Array:
    wide = tensor.cast("float32") if "bfloat16" in str(tensor.dtype) else tensor
    return np.asarray(wide.numpy())


def _like(index: Any, places: Array) -> Any:
    import paddle

    return paddle.to_tensor(places.reshape(index.shape), dtype=index.dtype)


def _topk(x: Array, _: Array, k: Any, axis: int = -1, largest: bool = True, *_more: Any) -> _Places | None:
    found, most = _sorted(x, axis, descending=largest), np.asarray(k).item()  # a number, or a tensor of one
    return found and (found[0].take(range(most), axis), found[1].take(range(most), axis))


def _argsort(x: Array, _: Array, axis: int = -1, descending: bool = False, stable: bool = False) -> _Places | None:
    return None if stable else _sorted(x, axis, descending)


def _sorted(x: Array, axis: int, descending: bool) -> _Places | None:
    """The places of all elements in order, the first of equal ones first, and the last first; NaN has no order."""
    if x.dtype.kind == "f" and np.isnan(x).any():
        return None
    first = x.argsort(axis, kind="stable")
    last = x.shape[axis] - 1 - np.flip(x, axis).argsort(axis, kind="stable")
    return (np.flip(last, axis), np.flip(first, axis)) if descending else (first, last)


def _kthvalue(x: Array, values: Array, _k: Any, axis: int = -1, keepdim: bool = False) -> _Places | None:
    return _mode(x, values, axis, keepdim)


def _mode(x: Array, values: Array, axis: int = -1, keepdim: bool = False) -> _Places | None:
    """The first and the last place of the value that was chosen."""
    same = x == (values if keepdim else np.expand_dims(values, axis))
    last = x.shape[axis] - 1 - np.flip(same, axis).argmax(axis)
    return (same.argmax(axis), last) if same.any(axis).all() else None


def _median(x: Array, values: Array, axis: Any = (), keepdim: bool = False, mode: str = "avg") -> _Places | None:
    """The first and the last place of the lower median of one axis; a mean has no place that Paddle's API gives."""
    return _mode(x, values, axis[0], keepdim) if mode == "min" and len(axis) == 1 else None


#: By the name in `_C_ops`, whose arguments come by position (Paddle 3.0 to 3.3).
_PLACES: dict[str, Callable[..., _Places | None]] = {
    "argsort": _argsort,
    "kthvalue": _kthvalue,
    "median": _median,
    "mode": _mode,
    "nanmedian": _median,
    "topk": _topk,
}
