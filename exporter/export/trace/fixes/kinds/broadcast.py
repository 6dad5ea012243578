"""paddle.matmul, einsum and linalg.solve of a dim that varies and a 1."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program, is_variable

#: The operators, and those of a legacy program.
_LEGACY = {"matmul": "matmul_v2", "einsum": "einsum", "solve": "solve"}


def _product(self: Layer, x: Tensor) -> Tensor:
    import paddle

    y = paddle.matmul(x, self.bank, transpose_y=True)
    return paddle.reshape(y, [y.shape[0], -1])


def _operator(self: Layer, x: Tensor) -> Tensor:
    y = self.bank @ x
    return y.reshape([y.shape[0], -1])


def _labelled(self: Layer, x: Tensor) -> Tensor:
    import paddle

    y = paddle.einsum("...ij,...kj->...ik", x, self.bank)
    return paddle.reshape(y, [y.shape[0], -1])


def _solved(self: Layer, x: Tensor) -> Tensor:
    import paddle

    y = paddle.linalg.solve(self.bank, x)
    return paddle.reshape(y, [y.shape[0], -1])


def _bank() -> Value:
    import paddle

    return paddle.rand([1, 3, 3]) + 2 * paddle.eye(3)


class Broadcast(Fix):
    """The size that is inferred for a dynamic batch and a batch of 1 is 1, which `y.shape` then gives as a number.

    einsum takes the size of a label from its last operand (`phi/infermeta`: MatmulInferMeta, EinsumInferMeta, …).
    """

    apis = ("paddle.matmul", "paddle.einsum", "paddle.linalg.solve")
    seen = ("3.0.0", "3.3.1")
    examples = tuple(
        Example(forward, (("n", 3, 3),), {"bank": _bank}) for forward in (_product, _operator, _labelled, _solved)
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        """Behind the C++ entries, which operators of tensors hold too, and behind each operator of a legacy program."""
        from exporter.paddle.private import Block, c_ops

        entries = [(name, getattr(c_ops, name)) for name in _LEGACY]
        patches.references([(entry, _replacement(name, entry)) for name, entry in entries])
        names = {legacy: name for name, legacy in _LEGACY.items()}
        stock = Block.append_op

        def append_op(block: Value, *args: Value, **kwargs: Value) -> Value:
            operator = stock(block, *args, **kwargs)
            if kwargs.get("type") in names:
                values = [*kwargs["inputs"].values(), *(kwargs.get("attrs") or {}).values()]
                _widen(next(_tensors(kwargs["outputs"]["Out"])), _sizes(names[kwargs["type"]], values))
            return operator

        patches.attribute(Block, "append_op", append_op)


def _replacement(name: str, entry: Callable[..., Value]) -> Callable[..., Value]:
    from exporter.paddle.private import NAMES

    def replacement(*args: Value, **kwargs: Value) -> Value:
        results = entry(*args, **kwargs)
        result = next(_tensors(results))
        if in_program(result) and not is_variable(result):
            _widen(result, _sizes(name, [*args, *kwargs.values()]))
        return results

    replacement.__name__ = replacement.__qualname__ = name
    replacement.__module__ = NAMES["c_ops"].path  # dy2static transcribes what is not of Paddle's own modules
    return replacement


def _sizes(operator: str, values: Sequence[Value]) -> list[set[int]]:
    """The sizes that meet in each of the leading dims of the result."""
    first, *others = (list(tensor.shape) for tensor in _tensors(values))
    if operator == "einsum":
        return _of_labels(next(value for value in values if isinstance(value, str)), [first, *others])
    pairs = zip_longest(reversed(first[:-2]), reversed(others[0][:-2]), fillvalue=1)
    return [set(pair) for pair in pairs][::-1]


def _of_labels(equation: str, shapes: Sequence[Sequence[int]]) -> list[set[int]]:
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    met: dict[str, set[int]] = defaultdict(set)
    spread = 0
    for term, shape in zip(terms, shapes, strict=True):
        dots = len(shape) - len(term.replace(".", ""))
        spread = max(spread, dots)
        for label, size in zip(_labels(term, dots), shape, strict=True):
            met[label].add(size)
    return [met[label] for label in _labels(right, spread)]


def _labels(term: str, dots: int) -> list[str]:
    """One a dim: those that `...` stands for are counted from the right."""
    before, found, after = term.partition("...")
    return [*before, *(f"...{place}" for place in range(dots, 0, -1) if found), *after]


def _widen(result: Value, sizes: Sequence[set[int]]) -> None:
    """Declare a dim of the result as one that varies where a dim that varies met a 1."""
    from exporter.paddle.private import create_shaped_type

    shape = list(result.shape)
    for axis, met in enumerate(sizes):
        shape[axis] = -1 if shape[axis] == 1 and -1 in met else shape[axis]
    if shape == list(result.shape):
        return
    if is_variable(result):
        result.desc.set_shape(shape)
    else:
        result.set_type(create_shaped_type(result.type(), shape))


def _tensors(values: Value) -> Iterator[Value]:
    """Those among the values, and in lists of them."""
    for value in values if isinstance(values, (list, tuple)) else [values]:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif hasattr(value, "shape"):
            yield value


plugin: Fix = Broadcast()
