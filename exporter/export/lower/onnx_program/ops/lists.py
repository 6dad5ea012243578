"""Lists that a loop appends to: ONNX carries them as vectors, since a loop of it changes nothing outside.

`create_array`, `array_write_` at its end and the loops themselves stand in `walk.py`: they change what a value means.
"""

from __future__ import annotations

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Growing, Tensor


def empty(b: Builder, dtype: str) -> Growing:
    """A list without members."""
    return Growing(b.constant([], dtype), b.constant([], "int64"), b.constant([0]))


def appended(b: Builder, grown: Growing, x: Tensor) -> Growing:
    """The list with one more member."""
    numbers = b.emit("Concat", grown.numbers, b.reshape(x, [-1], [-1]), axis=0, shape=[-1])
    sizes = b.emit("Concat", grown.sizes, b.shape_of(x), axis=0, shape=[-1])
    return Growing(numbers, sizes, b.emit("Add", grown.count, 1, shape=[1]))


def _length(c: Call) -> Tensor:
    return c.growing(0).count


def _joined(c: Call) -> list[Tensor | None]:
    """All members in one tensor: side by side along a new axis, where all are as large; or along their first."""
    b, grown, axis, declared = c.b, c.growing(0), int(c.attr("axis")), c.result()
    rank = len(declared.shape)
    if c.attr("use_stack"):
        member = b.slice(grown.sizes, [0], [rank - 1], [0])
        order = [at + 1 for at in range(rank - 1)]
        order.insert(axis % rank, 0)
        shape = [-1, *(size for at, size in enumerate(declared.shape) if at != axis % rank)]
        return [b.transpose(b.reshape(grown.numbers, b.concat([grown.count, member]), shape), order), None]
    if axis % rank:
        raise c.refuse("members of a list that grows are joined along their first axis only")
    table = b.reshape(grown.sizes, [-1, rank], [-1, rank])
    total = b.reduce("ReduceSum", b.slice(table, [0], [1], [1]), [0, 1], keep=False)
    member = b.slice(grown.sizes, [1], [rank], [0])
    return [b.reshape(grown.numbers, b.concat([b.unsqueeze(total, [0]), member]), list(declared.shape)), None]


OPERATORS: dict[str, Lowering] = {"array_length": _length, "array_to_tensor": _joined}
