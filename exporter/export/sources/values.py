"""What operators read and give while a program is replayed, where that is more than tensors.

Numbers and sizes that a program writes down stay what they are until somebody reads them as a tensor: a function that
takes sizes gets them, so that a trace knows them.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from exporter.base.readers.program import Operator
from exporter.paddle.values import is_variable

#: What an operator reads or gives: an eager tensor, or one of a program; a list of them; or a class of this file.
Value: TypeAlias = Any
#: The values computed so far, by their number in the program.
Values: TypeAlias = MutableMapping[int, Value]
#: What computes an operator that is no call of the function of its name.
Runner: TypeAlias = Callable[[Operator, Values], Sequence[Value]]


class Sizes(list[int]):
    """What `full_int_array` writes down: the sizes of a reshape, the ends of a slice.

    A function that takes sizes gets the list, so that a trace knows them; whatever else reads it gets a tensor.
    """

    dtype: str = "int64"


@dataclass(frozen=True)
class Filled:
    """What `full` writes down. A function that takes a number gets it; whatever else reads it gets a tensor."""

    shape: tuple[int, ...]
    value: float
    dtype: str

    @property
    def number(self) -> Value:
        """Return the number as its dtype holds it, so that float64 computes with the same."""
        import numpy as np

        return self.value if self.dtype == "bfloat16" else np.array(self.value).astype(self.dtype).item()


class Stacked(list[Value]):
    """What `stack` makes of single whole numbers: sizes, some of which are computed."""


def tensor(value: Value) -> Value:
    """Return a value as what an operator reads: a tensor, or a list of tensors."""
    import numpy as np
    import paddle

    if isinstance(value, Filled):
        return paddle.full(list(value.shape), value.value, value.dtype)
    if isinstance(value, Sizes):
        return paddle.assign(np.array(value, dtype=value.dtype))
    if isinstance(value, Stacked):
        return paddle.stack([tensor(part) for part in value])
    return [tensor(part) for part in value] if isinstance(value, list) else value


def in_dygraph() -> bool:
    """Return whether operators are computed at once; else a program is traced."""
    from exporter.paddle.private import in_dygraph_mode

    return bool(in_dygraph_mode())


def in_legacy_program() -> bool:
    """Return whether a legacy program is traced, which a `.pdmodel` holds."""
    from exporter.paddle.private import in_pir_mode

    return not in_dygraph() and not in_pir_mode()


def number_of(value: Value) -> int:
    """Return an axis as a number, which it has to be when a program is traced."""
    if isinstance(value, Sizes):
        (value,) = value
    return int(value.number if isinstance(value, Filled) else getattr(value, "item", lambda: value)())


def as_sizes(value: Value) -> Value:
    """Return what a function takes for sizes: numbers, one tensor, or where a program is traced a list of tensors.

    In such a list of PIR's all are alike, since Paddle stacks them; a legacy program has numbers among them.
    """
    if isinstance(value, Sizes):
        return list(value)
    if not isinstance(value, list):
        return tensor(value)
    if len(value) == 1 and list(getattr(value[0], "shape", [1])) not in ([], [1], [-1]):
        return tensor(value[0])  # all sizes in one tensor, which stands in a list alone
    if all(isinstance(size, (Filled, Sizes)) for size in value):
        return [int(size) for part in value for size in (part if isinstance(part, Sizes) else [part.number])]
    if in_dygraph():
        return [number_of(size) for size in value]
    if any(map(is_variable, value)):
        return [number_of(size) if isinstance(size, (Filled, Sizes)) else size for size in value]
    return [_size(size) for size in value]


def _size(value: Value) -> Value:
    """Return one size as a 0-D tensor of int64; of a number PIR's own inference goes on knowing it."""
    import paddle

    if isinstance(value, (Filled, Sizes)):
        return paddle.full([], number_of(value), "int64")
    return (value.reshape([]) if value.shape else value).astype("int64")


def dtype_of(name: str) -> Value:
    """Return Paddle's dtype of a name in a program."""
    import paddle

    return None if not name or name.lower().startswith("undefined") else getattr(paddle, name)
