"""Python's walks along a dimension that varies are ended: a traced tensor never says that there are no more rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from exporter.paddle.patches import Patches

if TYPE_CHECKING:
    import paddle

#: Rows that one walk may take. Whoever takes a few of them (`next(iter(x))`, `zip(x, names)`) stays far below.
MOST_ROWS = 2000


@contextmanager
def walks_ended() -> Iterator[None]:
    """Within the block a comprehension, `list` or `*` over such a tensor fails at its line; stock goes on (3.3.1)."""
    from exporter.paddle.private import Value, Variable

    patches = Patches()
    for kind in (Value, Variable):
        patches.attribute(kind, "__iter__", _rows)
    try:
        yield
    finally:
        patches.undo()


def _rows(tensor: paddle.Tensor) -> Iterator[paddle.Tensor]:
    sizes = tuple(tensor.shape)
    if not sizes:
        raise TypeError("iteration over a 0-d tensor")
    for row in range(MOST_ROWS if sizes[0] < 0 else sizes[0]):
        yield tensor[row]
    if sizes[0] < 0:
        raise TypeError(
            f"Python walks along a dimension that varies, and {MOST_ROWS:,} rows did not end it: compute on the whole "
            "tensor, or use a plain `for` statement over it"
        )
