"""An operator of a graph as rules see it: shapes, attributes, and where the rows of its inputs lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: What an attribute holds, as far as rules read it.
Attribute = int | float | str | list[int] | None


class Mixes(Exception):
    """A row of the result follows from several rows, or may; the text says how."""


@dataclass(frozen=True)
class Value:
    """A tensor: its shape, the axis along which its rows lie, and its numbers where they are few and known.

    Without an `axis` no row of an input is in it; `counted` says that it follows from how many rows there are, and
    `computed` that it is more than sizes that were picked, so that it may do so though it is the same for two numbers.
    """

    shape: tuple[int, ...]
    axis: int | None = None
    counted: bool = False
    data: Array | None = None
    computed: bool = False

    @property
    def rank(self) -> int:
        """How many sizes it has."""
        return len(self.shape)

    @property
    def from_end(self) -> int:
        """The place of the rows counted from the last axis, which is 1; broadcasting aligns by it."""
        return self.rank - (self.axis or 0)

    def size_from_end(self, place: int) -> int:
        """The size at a place counted from the last axis; 1 where the tensor has none."""
        return self.shape[-place] if place <= self.rank else 1


@dataclass(frozen=True)
class Operator:
    """One operator of a graph; an input that is left out is None.

    `shapes` are those of its outputs, and `grown` the axis of each that is longer where there are more rows; None where
    it is none, or several.
    """

    kind: str
    attributes: Mapping[str, Attribute]
    inputs: Sequence[Value | None]
    shapes: Sequence[tuple[int, ...]]
    grown: Sequence[int | None]
    opset: int

    def rows(self) -> list[Value]:
        """The inputs that hold rows."""
        return [value for value in self.inputs if value is not None and value.axis is not None]

    def taken(self, at: int) -> Value | None:
        """An input by its place."""
        return self.inputs[at] if at < len(self.inputs) else None

    def pair(self) -> tuple[Value, Value]:
        """The first two inputs, which such an operator always has."""
        first, second = self.taken(0), self.taken(1)
        if first is None or second is None:
            raise Mixes("it has not the inputs that it should")
        return first, second

    def integer(self, name: str, default: int) -> int:
        """An attribute that is a whole number."""
        value = self.attributes.get(name, default)
        return value if isinstance(value, int) else default

    def numbers(self, name: str, at: int) -> list[int] | None:
        """Whole numbers that are an attribute in older opsets and an input in newer ones; None where they are left out.

        Raises:
            Mixes: the input is computed from something else than sizes.
        """
        value = self.attributes.get(name)
        if isinstance(value, list):
            return value
        numbers = self.taken(at)
        if numbers is None:
            return None
        if numbers.data is None:
            raise Mixes(f"its {name} are computed while the model runs")
        return [int(number) for number in numbers.data.ravel()]

    def only(self, *places: int) -> list[Value]:
        """The inputs with rows, which may stand at these places alone; every other one has to be a constant."""
        for at, value in enumerate(self.inputs):
            if value is not None and at not in places and (value.axis is not None or value.counted):
                raise Mixes("what it computes every row with follows from the rows")
        return [value for at in places if (value := self.taken(at)) is not None and value.axis is not None]


def normal(axis: int, rank: int) -> int:
    """Count an axis from the first one."""
    return axis + rank if axis < 0 else axis


def one_axis(values: Sequence[Value]) -> int:
    """Return the axis that counts rows in all of these.

    Raises:
        Mixes: it is not one.
    """
    axes = {value.axis for value in values if value.axis is not None}
    if len(axes) != 1:
        raise Mixes("its inputs count their rows along different axes")
    return axes.pop()


def axis_of(operator: Operator, default: int, rank: int) -> int:
    """Return the attribute `axis`, counted from the first one."""
    return normal(operator.integer("axis", default), rank)
