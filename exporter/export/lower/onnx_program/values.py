"""What stands for one value of PIR: its parts, one of the same kind, and how declared complex types are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exporter.base.readers.program import Operator, TensorType, Type
from exporter.export.lower.onnx_program.call import UNWRITTEN, Lowered
from exporter.export.lower.onnx_program.graph import FLOATS_OF, Builder, Growing, Pair, Tensor


def parts_of(value: Lowered) -> tuple[Tensor, ...]:
    """A tensor, both parts of a complex value, the three of a list that grows; nothing of anything else."""
    if isinstance(value, Pair):
        return value.real, value.imag
    if isinstance(value, Growing):
        return value.parts
    return (value,) if isinstance(value, Tensor) else ()


def like(value: Lowered, parts: Iterator[Tensor]) -> Lowered:
    """Make a value of the same kind, of the next of these parts."""
    if isinstance(value, Pair):
        return Pair(next(parts), next(parts))
    if isinstance(value, Growing):
        return Growing(next(parts), next(parts), next(parts))
    return next(parts)


def inside(b: Builder, value: Lowered, name: str, declared: Type = None) -> Lowered:
    """Return what the body of a loop takes in for a value, as PIR declares it, else as it is itself."""
    if isinstance(value, Growing):
        kinds = zip(value.parts, ((-1,), (-1,), (1,)), strict=True)
        return Growing(*(Tensor(b.name("list"), part.dtype, shape) for part, shape in kinds))
    dtype, shape = parts_of(value)[0].dtype, parts_of(value)[0].shape
    if isinstance(declared, TensorType):
        dtype, shape = FLOATS_OF.get(declared.dtype, declared.dtype), declared.shape
    if isinstance(value, Pair):
        return Pair(Tensor(b.name(name), dtype, shape), Tensor(b.name(name), dtype, shape))
    return Tensor(name, dtype, shape)


def of_one_kind(first: Sequence[Lowered], second: Sequence[Lowered]) -> bool:
    """Return whether these values are in turn of the same kinds and dtypes, as both branches must give them."""
    return _kinds(first) == _kinds(second)


def _kinds(values: Sequence[Lowered]) -> list[tuple[type, list[str]]]:
    return [(type(value), [part.dtype for part in parts_of(value)]) for value in values]


def common_sizes(first: Tensor, second: Tensor) -> tuple[int, ...]:
    """Return the sizes that both have, -1 where they differ; those of the first where they have not as many dims."""
    if first.rank != second.rank:
        return first.shape
    return tuple(size if size == also else -1 for size, also in zip(first.shape, second.shape, strict=True))


def is_complex_type(declared: Type) -> bool:
    """Return whether PIR declares a complex value, or a list with one."""
    if isinstance(declared, tuple):
        return any(map(is_complex_type, declared))
    return declared is not None and declared.dtype in FLOATS_OF


def gives_complex(operator: Operator) -> bool:
    """Return whether any result of an operator is complex."""
    return any(is_complex_type(value.type) for value in operator.results)


def number_of_part(held: object, at: int) -> object:
    """The real (0) or imaginary part (1) of a number of the result, or of a list of them."""
    if isinstance(held, (list, tuple)):
        return [number[at] if isinstance(number, (list, tuple)) else number_of_part(number, at) for number in held]
    return 0.0 if at else held


def is_complex(operand: Lowered) -> bool:
    """Return whether a value is complex, or a list with one that is."""
    return isinstance(operand, Pair) or (isinstance(operand, tuple) and any(map(is_complex, operand)))


def listed(parts: Sequence[Lowered]) -> Lowered:
    """A list of tensors, or of complex values."""
    pairs = tuple(part for part in parts if isinstance(part, Pair))
    tensors = tuple(part for part in parts if isinstance(part, Tensor))
    if len(pairs) + len(tensors) != len(parts) or (pairs and tensors):
        return UNWRITTEN
    return pairs or tensors


def joined(real: Lowered, imag: Lowered) -> Lowered:
    """Join both parts into one value; lists part by part."""
    if isinstance(real, tuple) and isinstance(imag, tuple):
        return listed([joined(*parts) for parts in zip(real, imag, strict=True)])
    return Pair(real, imag) if isinstance(real, Tensor) and isinstance(imag, Tensor) else UNWRITTEN


def real_type(declared: Type) -> Type:
    """Return what PIR declares of a complex value, for one of its parts."""
    if isinstance(declared, tuple):
        return tuple(map(real_type, declared))
    if declared is None:
        return None
    return TensorType(FLOATS_OF.get(declared.dtype, declared.dtype), declared.shape)
