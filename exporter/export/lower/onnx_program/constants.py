"""What no input decides and ONNX has no operator for is computed by Paddle's own kernels, and stored as its value.

What ONNX can only say as a Loop (`ops.FOLDED`) is stored as well.

A spatial transformer inverts the matrix of its fixed points at each call, as in PaddleOCR's TPS.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from exporter.base.readers.program import Block, Operator, TensorType
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.effects import flat, written_in_place
from exporter.export.lower.onnx_program.excerpt import Source
from exporter.paddle.programs import run_program
from exporter.process.scratch import scratch

#: Elements: larger constants would weigh more in the file than the network that computes them.
LARGEST = 1 << 20
_FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
_DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", *_FLOATS)
#: Operators whose results are no constants, whatever their operands. Of those that draw only the ones that do not by
#: Paddle's generator: of the others :func:`run_program` tells.
_VARIES = ("data", "parameter", "class_center_sample", "top_p_sampling")


class Constants:
    """The values of a program that are the same at every call. `told` is its JSON, `block` its main block."""

    def __init__(self, told: Any, block: Block) -> None:
        self._told = told
        operators = list(flat(block))
        self._makers = {value.id: one for one in operators for value in one.results if value.id}
        self._writers: dict[int, int] = {}  # by value: the first operator that writes into it
        for one in operators:
            if (at := written_in_place(one)) is not None:
                self._writers.setdefault(one.operands[at], one.index)

    def of(self, operator: Operator) -> list[Array] | None:
        """The results of an operator; None where something behind them varies or draws, or they are too large."""
        behind = self._behind(operator)
        numbers = [value.id for value in operator.results]
        if behind is None or not all(_stores(value.type) for value in operator.results):
            return None
        with scratch() as folder:
            (folder / "model.json").write_bytes(self._source.excerpt(behind, {}, (), numbers))
            arrays = run_program(folder / "model.json")
        return arrays if arrays is not None and sum(array.size for array in arrays) <= LARGEST else None

    @cached_property
    def _source(self) -> Source:
        return Source.of(self._told)

    def _behind(self, operator: Operator) -> list[Operator] | None:
        """The operator and all that it depends on, in order; None where one of them varies."""
        found, pending = {operator.index: operator}, [operator]
        while pending:
            one = pending.pop()
            if one.blocks or one.name in _VARIES:
                return None
            for number in filter(None, one.operands):
                maker = self._makers.get(number)
                if maker is None or self._writers.get(number, one.index) < one.index:
                    return None
                if maker.index not in found:
                    found[maker.index] = maker
                    pending.append(maker)
        return [found[index] for index in sorted(found)]


def _stores(declared: object) -> bool:
    return isinstance(declared, TensorType) and declared.dtype in _DTYPES
