"""What the Loops over a matrix's rows and columns are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exporter.export.lower.onnx_program.call import Call
from exporter.export.lower.onnx_program.graph import Builder, Graph, Tensor, broadcast

Step = Callable[[Tensor, list[Tensor]], tuple[list[Tensor], list[Tensor]]]


def loop(b: Builder, turns: Tensor, carried: Sequence[Tensor], step: Step) -> list[Tensor]:
    """A Loop of so many turns: `step` gets the turn and what is carried, and gives that anew and what is collected.

    What is collected comes behind what is carried, stacked along a new first dim.
    """
    outer = b.graph
    turn, going = Tensor(b.name("turn"), "int64", ()), Tensor(b.name("going"), "bool", ())
    held = [Tensor(b.name("carried"), value.dtype, value.shape) for value in carried]
    inner = b.graph = Graph(inputs=[turn, going, *held])
    new, collected = step(turn, held)
    inner.outputs = [b.emit("Identity", value, shape=value.shape) for value in (going, *new, *collected)]
    b.graph = outer
    shapes = [*(value.shape for value in carried), *((-1, *value.shape) for value in collected)]
    made = b.many("Loop", turns, None, *carried, shapes=shapes, body=inner)
    dtypes = [value.dtype for value in (*carried, *collected)]
    return [Tensor(one.name, dtype, one.shape) for one, dtype in zip(made, dtypes, strict=True)]


def length(b: Builder, x: Tensor, axis: int) -> Tensor:
    """How long an axis is, as a scalar."""
    size = x.shape[axis]
    return b.constant(size) if size >= 0 else b.reshape(b.size_of(x, axis), [], [])


def numbering(b: Builder, x: Tensor, axis: int) -> Tensor:
    """0, 1, 2, … along one of the last two axes, in a shape that broadcasts over the matrix."""
    size = x.shape[axis]
    if size >= 0:
        places = b.constant(list(range(size)))
    else:
        places = b.numbering(length(b, x, axis))
    return b.unsqueeze(places, [1] if axis == -2 else [0])


def line(b: Builder, x: Tensor, place: Tensor, axis: int) -> Tensor:
    """One row (axis -2) or column (axis -1), whose dim stays as a 1."""
    shape = [size for at, size in enumerate(x.shape) if at != x.rank + axis]
    return b.unsqueeze(b.emit("Gather", x, place, axis=x.rank + axis, shape=shape), [x.rank + axis])


def spread(b: Builder, x: Tensor, other: Tensor) -> Tensor:
    """With the outer dims of both, as they broadcast; the matrix itself stays."""
    outer = broadcast([x.shape[:-2], other.shape[:-2]])
    if x.shape[:-2] == outer and -1 not in outer:
        return x
    ones = b.constant([1, 1])
    if other.rank == 2:
        return x
    sizes = b.concat([b.emit("Shape", other, end=other.rank - 2, dtype="int64", shape=[other.rank - 2]), ones])
    return b.expand(x, sizes, [*outer, *x.shape[-2:]])


def double(c: Call, at: int) -> Tensor:
    """An operand in float64."""
    x = c.x(at)
    if x.dtype not in ("float32", "float64"):
        raise c.refuse(f"matrices of {x.dtype} are not written")
    return c.b.cast(x, "float64")


def is_single(c: Call, at: int = 0) -> bool:
    """Whether an operand is given in float32."""
    return c.raw(at).dtype == "float32"
