"""Replay a program operator by operator, and put the right values in the place of what its operators give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.errors import ModelError
from exporter.base.readers.program import Operator
from exporter.base.tensors import Array, TensorMap
from exporter.engines.paddle import border, call_layer
from exporter.export.sources.recorded import Run, watched_by
from exporter.export.sources.values import Value

if TYPE_CHECKING:
    import paddle

#: What it gives is memory that nobody has written yet: another in each run, and zero in a replay and in ONNX.
_UNWRITTEN = "empty"
#: What all values of one case may take, in bytes.
_MOST_BYTES = 1 << 31


@dataclass
class Replayed:
    """What each value is when its operator reads the right ones, by its number.

    With nothing to put in their place values are what the program computes. `failed` says of operators that did not
    run, by their index, why.
    """

    values: dict[int, Array] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)


def replay(
    layer: paddle.nn.Layer,
    order: Sequence[str],
    inputs: TensorMap,
    right: Mapping[int, Array],
    around: AbstractContextManager[None] | None = None,
) -> Replayed:
    """Run a layer of :func:`exporter.export.sources.program.build`; `right` are values by their numbers there.

    An operator that does not run on right inputs is noted, and the others read what is right in its place.

    Raises:
        ModelError: the values do not fit into memory.
        EngineRefused: an operator does not run, and nothing is known to go on with.
    """
    watch = _Watch(right)
    with around or nullcontext(), watched_by(watch), border():
        call_layer(layer, tuple(order), inputs)
    return watch.seen


class _Watch:
    def __init__(self, right: Mapping[int, Array]) -> None:
        self.seen = Replayed()
        self._right, self._bytes = right, 0

    def __call__(self, operator: Operator, reads: Sequence[Value], run: Run) -> Sequence[Value]:
        """Run an operator, and give what is right in the place of what it gave."""
        del reads
        numbers = [result.id for result in operator.results]
        try:
            results = list(run())
        except Exception as error:  # of any type: Paddle raised it
            if not numbers or not set(numbers) <= set(self._right):
                raise
            self.seen.failed[operator.index] = str(error).strip().rpartition("\n")[2][:200]
            return [_tensor(self._right[number]) for number in numbers]
        if operator.name == _UNWRITTEN:
            results = [_zeros(value) for value in results]
        return [self._kept(number, value) for number, value in zip(numbers, results, strict=False)] + results[
            len(numbers) :
        ]

    def _kept(self, number: int, value: Value) -> Value:
        import paddle

        if not isinstance(value, paddle.Tensor) or not value._is_initialized():
            return value
        array = np.array(value.numpy())
        if array.dtype.kind not in "fiub":
            return value
        self._bytes += array.nbytes
        if self._bytes > _MOST_BYTES:
            raise ModelError(
                "the values of one case take more than 2 GB", hint="verify with a smaller case: --case NAME"
            )
        self.seen.values[number] = array
        right = self._right.get(number)
        return value if right is None else _tensor(right)


def _zeros(value: Value) -> paddle.Tensor:
    import paddle

    return paddle.zeros_like(value)


def _tensor(value: Array) -> paddle.Tensor:
    import paddle

    return paddle.to_tensor(value)
