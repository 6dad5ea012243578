"""What the outputs of a layer are: what eager gave, and not what a traced program infers.

Writers declare it in their files, and the manifest promises it. Where eager was not run, the trace's word stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.trace.structure import leaves

if TYPE_CHECKING:
    import paddle


@dataclass(frozen=True)
class Given:
    """One output in all runs of the eager layer: its dtype and sizes, -1 where they differ.

    The dtype is empty, or there is no shape, where the runs do not agree on dtype or rank.
    """

    dtype: str
    shape: tuple[int, ...] | None


@dataclass(frozen=True)
class Seen:
    """What the eager layer gave wherever it was run, in the order of `forward`; None where it was not run."""

    outputs: tuple[Given, ...] | None = None

    def with_run(self, value: object) -> Seen:
        """The same with what one more run returned; what is no tensor is left to the trace to refuse."""
        tensors = [leaf for _, leaf in leaves(value)]
        if not all(hasattr(leaf, "dtype") and hasattr(leaf, "shape") for leaf in tensors):
            return Seen()
        run = tuple(map(_given, tensors))
        if self.outputs is None:
            return Seen(run)
        if len(run) != len(self.outputs):
            return Seen()
        return Seen(tuple(_joined(*pair) for pair in zip(self.outputs, run, strict=True)))

    def promised(self, traced: Sequence[TensorSpec]) -> tuple[TensorSpec, ...]:
        """The outputs with eager's dtypes and ranks; a size is open where eager gave another than the trace says.

        Raises:
            ModelError: eager gives another number of outputs.
        """
        if self.outputs is None:
            return tuple(traced)
        if len(self.outputs) != len(traced):
            raise ModelError(
                f"the eager layer gives {len(self.outputs)} outputs, and the traced program {len(traced)}",
                hint="return as many tensors in every mode, and index what a function gives rather than unpack it",
            )
        return tuple(_promised(*pair) for pair in zip(traced, self.outputs, strict=True))


NOT_RUN = Seen()


def _given(tensor: paddle.Tensor) -> Given:
    return Given(str(tensor.dtype).removeprefix("paddle."), tuple(map(int, tensor.shape)))


def _joined(first: Given, second: Given) -> Given:
    dtype = first.dtype if first.dtype == second.dtype else ""
    if first.shape is None or second.shape is None or len(first.shape) != len(second.shape):
        return Given(dtype, None)
    return Given(dtype, tuple(a if a == b else -1 for a, b in zip(first.shape, second.shape, strict=True)))


def _promised(traced: TensorSpec, eager: Given) -> TensorSpec:
    dtype, shape = eager.dtype or traced.dtype, traced.shape
    if eager.shape is not None and len(eager.shape) != len(shape):
        shape = tuple(-1 for _ in eager.shape)
    elif eager.shape is not None:
        shape = tuple(size if size == seen else -1 for size, seen in zip(shape, eager.shape, strict=True))
    return TensorSpec(traced.name, dtype, shape)
