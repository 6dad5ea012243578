"""Every index of every axis bears a label; what an operator ties together must go together, or stay together.

A parameter's axes begin with labels of their own. A rule says what an operator's results bear, and which labels it
ties: an addition ties the channels of both sides, a convolution the input's channels to its weight's second axis.
Label 0 is pinned: inputs, outputs, and whatever an operator does that no rule understands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from exporter.base.tensors import Array
from exporter.weights.prune.program import Operation, Program

#: The labels of one axis; None where nothing can be removed from it.
Labels: TypeAlias = "Array | None"
Axes: TypeAlias = tuple[Labels, ...]


@dataclass(frozen=True)
class Term:
    """FLOPs of one operator: `factor` times the product of the sizes of these axes."""

    factor: float
    axes: tuple[Array, ...]


@dataclass
class Tracker:
    """What the rules have said so far. Ties are kept as pairs of arrays of labels and resolved once, in the end.

    `made` holds the labels of weights' output axes: only what a weight makes can be removed. `counts` names counts
    that a sublayer keeps: the weight's value, the attribute, the labels that are counted, and how many share one.
    `literal` holds labels that pass an operator whose sizes may stand in the code as numbers.
    """

    program: Program
    axes: dict[int, Axes] = field(default_factory=dict)
    ties: list[tuple[Array, Array]] = field(default_factory=list)
    made: list[Array] = field(default_factory=list)
    literal: list[Array] = field(default_factory=list)
    counts: list[tuple[int, str, Array, int]] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    origin: dict[int, int] = field(default_factory=dict)
    unknown: dict[str, list[Array]] = field(default_factory=dict)
    used: int = 1

    def begin(self) -> None:
        """Give every axis of every parameter labels of its own."""
        for value, names in self.program.parameters.items():
            shape = self.program.shapes[value]
            self.axes[value] = tuple(self._fresh(size) if size > 1 and names else None for size in shape)
            self.origin[value] = value

    def _fresh(self, count: int) -> Array:
        self.used += count
        return np.arange(self.used - count, self.used)

    def of(self, value: int | None) -> Axes:
        """The labels of a value's axes."""
        return () if value is None else self.axes.get(value, (None,) * len(self.shape(value)))

    def shape(self, value: int | None) -> tuple[int, ...]:
        """The sizes of a value; () where it is none."""
        return () if value is None else self.program.shapes.get(value, ())

    def tie(self, one: Labels, other: Labels) -> Labels:
        """Two axes of one size that keep the same indices; pinned where one of them is."""
        if one is None or other is None:
            self.pin(one)
            self.pin(other)
            return None
        one, other = np.broadcast_arrays(one, other)
        self.ties.append((one.ravel(), other.ravel()))
        return one

    def pin(self, labels: Labels) -> None:
        """Nothing with these labels may go."""
        if labels is not None:
            self.ties.append((labels.ravel(), np.zeros(labels.size, dtype=int)))

    def pin_all(self, operation: Operation) -> None:
        """No rule understands this operator: everything that it reads must stay as it is."""
        for value in operation.inputs:
            for labels in self.of(value):
                if labels is not None:
                    self.pin(labels)
                    self.unknown.setdefault(operation.name, []).append(labels)

    def weigh(self, factor: float, axes: Axes, sizes: Sequence[int]) -> None:
        """Add `factor` times the number of elements of these axes to the FLOPs."""
        fixed = [size for labels, size in zip(axes, sizes, strict=True) if labels is None]
        self.terms.append(Term(factor * float(np.prod(fixed)), tuple(one for one in axes if one is not None)))

    def sizes(self, value: int, alive: Array) -> tuple[int, ...]:
        """The shape of a value once only the labels that are `alive` are left."""
        axes = self.of(value)
        return tuple(
            size if labels is None else int(alive[labels].sum())
            for size, labels in zip(self.shape(value), axes, strict=True)
        )

    def classes(self) -> Array:
        """For each label the smallest that it is tied to; 0 for all that must stay."""
        root = np.arange(self.used)

        def find(one: int) -> int:
            while root[one] != one:
                root[one] = root[root[one]]
                one = int(root[one])
            return one

        for left, right in self.ties:
            for pair in set(zip(left.tolist(), right.tolist(), strict=True)):
                one, other = sorted((find(pair[0]), find(pair[1])))
                root[other] = one
        return np.array([find(one) for one in range(self.used)])
