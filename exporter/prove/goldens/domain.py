"""Indices beyond their table and lengths beyond their sequence, named before a kernel reads what is not there.

Paddle's CPU kernels check some of them (`embedding`, `gather`); others read memory of other tensors without a word
(`x[index]`, `embedding` of -1) or corrupt it (an LSTM's `sequence_length`), all measured on 3.3.1. So while the eager
layer is recorded, the operators that take places are watched, and each call is checked before it runs.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from exporter.base.errors import ModelError, UsageError
from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import EngineRefused
from exporter.prove.goldens.cases import Case
from exporter.spec.model import Spec


@dataclass(frozen=True)
class _Use:
    """One use of places: their values, the lowest and the highest that are there, and what they are places of."""

    places: Array
    lowest: int
    highest: int
    what: str


class OutOfRange(EngineRefused):
    """A value is no place of the table or sequence that it is used for; `value` and `limits` say which."""

    def __init__(self, value: int, use: _Use, layer: str, names: list[str]) -> None:
        whence = f"input '{names[0]}' holds {value}" if names else f"forward computes {value}"
        owner = f" of {layer}" if layer else ""
        super().__init__(f"{whence}, and {use.what}{owner} allows {use.lowest} to {use.highest}")
        self.names, self.lowest, self.highest = names, use.lowest, use.highest
        self.length = "sequence" in use.what

    def for_user(self, spec: Spec, case: Case) -> UsageError | ModelError:
        """The error of the command line: what to write in place of the values."""
        if not self.names:
            hint = "keep the places that forward computes within the table, or give other values"
            return ModelError(str(self), where=f"case {case.name}", hint=hint)
        name = self.names[0]
        cure = self._cure(spec.inputs[name].values, case)
        return UsageError(str(self), where=f"inputs.{name}, case {case.name}", hint=cure)

    def _cure(self, source: str, case: Case) -> str:
        highest = str(self.highest + 1)  # `integers` ends before its second number
        dims = [name for name, size in case.dims.items() if size == self.highest]
        if self.length and dims:  # of several that are as long in this case the author knows which
            highest = " or ".join(f"{name}+1" for name in dims)
        wish = f"values: integers({max(self.lowest, 1 if self.length else 0)},{highest})"
        if source == "dataset":
            return f"correct the recipe's held-out data or make the table larger; or write {wish}"
        if source.endswith(".npy"):
            return f"correct {source} or make the table larger; or write {wish}"
        return f"write {wish}"


@contextlib.contextmanager
def checked_places(layer: Any, inputs: TensorMap) -> Iterator[None]:
    """While this lasts, raise `OutOfRange` before an operator is given a place that is not there.

    `layer` is the eager layer, whose sublayers are named in the message, and `inputs` the case, in which the value is
    looked for: a place that `forward` computes belongs to no input.
    """
    import paddle

    from exporter.paddle.private import c_ops

    paths = {id(sublayer): path or "." for path, sublayer in layer.named_sublayers(include_self=True)}
    saved: list[tuple[Any, str, Any]] = []

    def patch(owner: Any, name: str, uses: Callable[..., Iterator[_Use]]) -> None:
        if (old := getattr(owner, name, None)) is None:
            return

        def checking(*arguments: Any, **named: Any) -> Any:
            for use in uses(*arguments):
                _refuse_beyond(use, paths, inputs)
            return old(*arguments, **named)

        saved.append((owner, name, old))
        setattr(owner, name, checking)

    for name, uses in _OPERATORS.items():
        patch(c_ops, name, uses)
    patch(paddle.Tensor, "__getitem__", _item)
    try:
        yield
    finally:
        for owner, name, old in reversed(saved):
            setattr(owner, name, old)


def _refuse_beyond(use: _Use, paths: dict[int, str], inputs: TensorMap) -> None:
    if not use.places.size:
        return
    for value in (int(use.places.max()), int(use.places.min())):
        if not use.lowest <= value <= use.highest:
            integers = {name: held for name, held in inputs.items() if held.dtype.kind in "iu"}
            same = [name for name, held in integers.items() if np.array_equal(held.ravel(), use.places.ravel())]
            holding = [name for name, held in integers.items() if (held == value).any()]
            raise OutOfRange(value, use, _calling(paths), same or holding)


def _calling(paths: dict[int, str]) -> str:
    """The innermost sublayer whose method is running, as `path (class)`; "" if none is."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        owner = frame.f_locals.get("self")
        if id(owner) in paths:
            return f"{paths[id(owner)]} ({type(owner).__name__})"
        frame = frame.f_back
    return ""


def _embedding(ids: Any, weight: Any, *_: Any) -> Iterator[_Use]:
    yield _Use(_values(ids), 0, weight.shape[0] - 1, f"the table of {weight.shape[0]} rows")


def _along(x: Any, index: Any, axis: Any = 0, *_: Any) -> Iterator[_Use]:
    if (at := _axis(axis)) is not None and x.ndim:
        size = x.shape[at]
        yield _Use(_values(index), -size, size - 1, f"the dimension {at} of {size}")


def _sampled(x: Any, index: Any, *_: Any) -> Iterator[_Use]:
    yield _Use(_values(index), 0, x.shape[1] - 1, f"the row of {x.shape[1]}")


def _nd(x: Any, index: Any, *_: Any) -> Iterator[_Use]:
    values = _values(index)
    for at in range(values.shape[-1] if values.ndim else 0):
        yield _Use(values[..., at], -x.shape[at], x.shape[at] - 1, f"the dimension {at} of {x.shape[at]}")


def _one_hot(x: Any, classes: Any, *_: Any) -> Iterator[_Use]:
    count = int(classes)
    yield _Use(_values(x), 0, count - 1, f"the one-hot code of {count} classes")


def _recurrent(x: Any, _state: Any, _weights: Any, lengths: Any = None, *_: Any) -> Iterator[_Use]:
    if lengths is not None:  # x is [time, batch, features]
        yield _Use(_values(lengths), 0, x.shape[0], f"the sequence of {x.shape[0]} steps")


def _item(x: Any, index: Any) -> Iterator[_Use]:
    """`x[index]` and `x[:, index]`; of other forms nothing is said."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(part is None or part is Ellipsis or str(getattr(part, "dtype", "")).endswith("bool") for part in parts):
        return
    for at, part in enumerate(parts):
        if str(getattr(part, "dtype", "")).rpartition(".")[2].startswith(("int", "uint")) and at < x.ndim:
            size = x.shape[at]
            yield _Use(_values(part), -size, size - 1, f"the dimension {at} of {size}")


def _axis(axis: Any) -> int | None:
    return int(axis) if np.ndim(axis) == 0 else None


def _values(tensor: Any) -> Array:
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)


#: By the name in `_C_ops`, whose arguments come by position (Paddle 3.0 to 3.3).
_OPERATORS: dict[str, Callable[..., Iterator[_Use]]] = {
    "embedding": _embedding,
    "gather": _along,
    "index_select": _along,
    "take_along_axis": _along,
    "index_sample": _sampled,
    "gather_nd": _nd,
    "one_hot": _one_hot,
    "rnn": _recurrent,
}
