"""The contract of a step in a graph: what the step makes of one sample, on Paddle operators and for a whole batch."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE, Step

if TYPE_CHECKING:
    import paddle

#: Tensors by the names of the state, each with a batch before the axes of the samples' arrays.
Tensors: TypeAlias = "dict[str, paddle.Tensor]"

Kind = TypeVar("Kind", bound=Step)


class Operator(ABC, Generic[Kind]):
    """A step's twin, under its name. It gives what the step gives, of each row."""

    def refuses(self, step: Kind) -> str:
        """Why a step with these options cannot be in a graph; empty where it can."""
        del step
        return ""

    def run(self, step: Kind, value: paddle.Tensor) -> paddle.Tensor:
        """What becomes of the value; raises UsageError where its sizes are open and must not be."""
        raise NotImplementedError

    def apply(self, step: Kind, state: Tensors) -> Tensors:
        """The state after the step; most only change `VALUE`."""
        return {**state, VALUE: self.run(step, state[VALUE])}


def sizes(value: paddle.Tensor, what: str) -> list[int]:
    """The sizes of a batch's arrays, without the batch.

    Raises:
        UsageError: one is open while it is traced, and `what` has to know it.
    """
    known = [int(size) for size in value.shape[1:]]
    if min(known, default=0) < 0:
        raise UsageError(
            f"{what} has to know the size of the picture, and that is open in the graph",
            where="pipeline.fold",
            hint="give the input one height and width, or resize to fixed sizes before it",
        )
    return known


def behind_batch(axis: int, value: paddle.Tensor) -> int:
    """An axis of one sample's array, as that of the batch; never below zero, of which OpenVINO loads no `arg_max`."""
    return axis + 1 if axis >= 0 else value.ndim + axis
