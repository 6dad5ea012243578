"""The first operator of a traced program that is off, by the values that the lines of eager code leave.

A trace may write a number down with fewer digits, or as it was once: then the file is wrong in every engine alike. The
program's own operators compute what they say, so none of them is off at its own inputs; what they should give is known
where a line of eager code leaves a value in a variable, passes it to a sublayer or returns it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from exporter.base.numbers.norms import FLOOR_64, error
from exporter.base.readers.program import Block, Operator
from exporter.base.tensors import Array, TensorMap
from exporter.paddle.user_line import is_users
from exporter.prove.root_cause.align import look

#: What rounding moves at most in a kernel that is the same in both, by float32 and by float64.
_ROUNDING = {"float64": 16 * FLOOR_64}
_ROUNDING_32 = 2.0**-18
#: A value that is further off is another value.
_NEAR = 0.1
#: Bytes of values that are kept, and how many operators are named.
_MOST_BYTES, _MOST_NAMED = 1 << 28, 4
#: Operators that hand numbers on as they are.
_MOVES = frozenset(
    {"reshape", "transpose", "squeeze", "unsqueeze", "flatten", "assign", "share_data_", "combine", "slice"}
)


@dataclass(frozen=True)
class Left:
    """A value that a line of the user's code leaves; `line` is `path:line`, empty of what comes from outside."""

    value: Array
    line: str = ""


@dataclass
class Lines:
    """What the lines of the user's code leave, in the order in which they run; for `sys.settrace`."""

    values: list[Left] = field(default_factory=list)
    _seen: dict[tuple[int, int], Any] = field(default_factory=dict)
    _ran: dict[int, int] = field(default_factory=dict)
    _bytes: int = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow frames of the user's files alone; of every layer's `forward`, keep what it takes."""
        if event == "call":
            if frame.f_code.co_name == "forward":
                self._keep(frame.f_locals.values(), "")
            return self if is_users(frame.f_code.co_filename) else None
        line = self._ran.pop(id(frame), frame.f_lineno)  # the line that ran before this event left them
        self._keep(frame.f_locals.values(), f"{frame.f_code.co_filename}:{line}")
        if event == "return":
            self._keep([argument], f"{frame.f_code.co_filename}:{frame.f_lineno}")
        else:
            self._ran[id(frame)] = frame.f_lineno
        return self

    def _keep(self, values: Any, line: str) -> None:
        for tensor in _tensors(values, 2):
            key = (id(tensor), tensor.inplace_version)
            if key in self._seen or self._bytes > _MOST_BYTES or not tensor._is_initialized():
                continue
            value = tensor.numpy().copy()
            self._seen[key], self._bytes = tensor, self._bytes + value.nbytes
            self.values.append(Left(value, line))


def _tensors(values: Any, depth: int) -> Iterator[Any]:
    import paddle

    for value in values:
        if isinstance(value, paddle.Tensor):
            yield value
        elif depth and isinstance(value, (list, tuple)):
            yield from _tensors(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from _tensors(value.values(), depth - 1)


@dataclass(frozen=True)
class Suspects:
    """Operators that may be off first, in the program's order; `lines` are those that left values it does not have."""

    operators: tuple[Operator, ...]
    lines: tuple[str, ...] = ()

    def told(self, line_of: Callable[[Operator], str]) -> tuple[Operator, ...]:
        """Those that the first of the lines calls that calls any; else all of them."""
        called = {operator.index: line_of(operator) for operator in self.operators}
        of_line = next((line for line in self.lines if line in called.values()), None)
        return tuple(operator for operator in self.operators if of_line in (None, called[operator.index]))


def first_off(eager: Sequence[Left], values: TensorMap, program: Block) -> Suspects:
    """Return operators of a program one of which is off first; none where every output is right.

    `eager` are the values of the lines in their order, `values` what the program computes, by its names.
    """
    known = [left for left in eager if left.value.size and left.value.dtype.kind in "fiub"]
    right, lines = [left.value for left in known], []
    for left in known:
        alike = {name: other for name, other in values.items() if look(other) == look(left.value)}
        if any(_same(left.value, other) for other in alike.values()):
            continue
        distances = {name: _distance(left.value, other) for name, other in alike.items()}
        name = min(distances, key=distances.__getitem__, default=None)
        if name is not None and distances[name] <= _NEAR:
            return Suspects(_behind(name, right, values, program))
        lines.append(left.line)
    outputs = [str(operator.attributes["name"]) for operator in program.operators if operator.name == "fetch"]
    wrong = [name for name in outputs if not any(_same(value, values[name]) for value in right)]
    return Suspects(_behind(wrong[0], right, values, program) if wrong else (), tuple(lines))


def in_words(operators: Sequence[Operator]) -> str:
    """Name operators by kind and number."""
    told = ", ".join(f"{operator.name} (number {operator.index})" for operator in operators[-_MOST_NAMED:])
    if len(operators) > _MOST_NAMED:
        told = f"{told} and {len(operators) - _MOST_NAMED} before them"
    return f"operator {told}" if len(operators) == 1 else f"one of the operators {told}"


def _behind(name: str, known: Sequence[Array], values: TensorMap, program: Block) -> tuple[Operator, ...]:
    """The operators between values that are right and one that is not."""
    made = {result.id: operator for operator in program.operators for result in operator.results}
    fetched = {
        str(operator.attributes["name"]): operator.operands[0]
        for operator in program.operators
        if operator.name == "fetch"
    }
    named = {number: name for name, number in fetched.items()}
    start = fetched[name] if name in fetched else int(name.removeprefix("%"))
    suspects: dict[int, Operator] = {}
    left = [start]
    while left:
        number = left.pop()
        operator = made.get(number)
        if operator is None or operator.index in suspects or operator.name in ("data", "parameter"):
            continue
        value = values.get(f"%{number}", values.get(named.get(number, "")))
        if number != start and value is not None and any(_same(right, value) for right in known):
            continue
        suspects[operator.index] = operator
        left += operator.operands
    computed = [operator for operator in suspects.values() if operator.name not in _MOVES]
    telling = [operator for operator in computed if _varies(operator, [*suspects.values()])]
    return tuple(sorted(telling, key=lambda operator: operator.index))


def _varies(operator: Operator, among: Sequence[Operator]) -> bool:
    """Whether an operator is no constant that one of the others reads."""
    if operator.operands:
        return True
    results = {result.id for result in operator.results}
    return not any(results & set(reader.operands) for reader in among)


def _distance(value: Array, other: Array) -> float:
    off = error(value, other)[0]
    return float("inf") if np.isnan(off) else off


def _same(value: Array, other: Array) -> bool:
    if look(value) != look(other):
        return False
    if value.dtype.kind != "f":
        return np.array_equal(value, other)
    return np.array_equal(value, other, equal_nan=True) or (
        _distance(value, other) <= _ROUNDING.get(value.dtype.name, _ROUNDING_32)
    )
