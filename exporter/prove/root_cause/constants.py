"""Values that operators with constants make of others: a writer may compute both at once, so a file may hide the first.

`conv(x) + 2.0` is one node of ONNX whose bias took in the 2.0; a convolution takes in the batch norm behind it. What a
layer puts out there is in no sound file, but what the constant makes of it is, and a fault is as large in that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from exporter.base.numbers.norms import norms
from exporter.base.readers.program import Operator, read_operators
from exporter.base.tensors import Array

#: By value of a program: the values that operators with constants make of it, where no other operator reads it.
MadeOf: TypeAlias = Mapping[str, tuple[str, ...]]

#: Operators that add or multiply by a constant, whole or by channel, if all other operands are constants.
_SCALING = frozenset({"scale", "add", "subtract", "multiply", "divide", "batch_norm", "batch_norm_"})
#: Operators that only move numbers, or hand them on.
_MOVING = frozenset({"reshape", "transpose", "squeeze", "unsqueeze", "flatten", "assign"})
#: Operators that compute nothing of a value's numbers.
_SIZES = frozenset({"shape", "shape64", "numel"})
_CONSTANT = frozenset({"parameter", "full", "full_int_array", "builtin.constant", "assign_value"})


def made_with_constants(program: Path) -> dict[str, tuple[str, ...]]:
    """Read a `.json` program, and return what operators with constants make of its values, by their names as a tap's.

    Raises:
        UsageError, BundleError: as :func:`exporter.base.readers.program.read_operators`.
    """
    operators = read_operators(program).operators
    constant = _constants(operators)
    derived: dict[int, list[int]] = {}
    others: set[int] = set()
    for operator in operators:
        varying = {value for value in operator.operands if value > 0 and value not in constant}
        if operator.name in _SIZES:
            continue
        if operator.name in _SCALING | _MOVING and len(varying) == 1 and _first(operator, varying):
            derived.setdefault(varying.pop(), []).append(operator.results[0].id)
        else:
            others |= varying
    # A tap puts out an output by its own name, and all else by its number.
    outputs = {
        operator.operands[0]: str(operator.attributes["name"]) for operator in operators if operator.name == "fetch"
    }
    read = {value for operator in operators if operator.name != "fetch" for value in operator.operands}
    names = {value: f"%{value}" for value in derived} | {
        value: name for value, name in outputs.items() if value not in read
    }
    return {
        names[value]: tuple(names.get(of, f"%{of}") for of in many)
        for value, many in derived.items()
        if value not in others
    }


def _constants(operators: Sequence[Operator]) -> set[int]:
    """The values that no input decides: constants, and what is computed of nothing else."""
    constant: set[int] = set()
    for operator in operators:
        reads = [value for value in operator.operands if value > 0]
        computed = bool(reads) and not operator.blocks and all(value in constant for value in reads)
        if operator.name in _CONSTANT or computed:
            constant |= {result.id for result in operator.results}
    return constant


def _first(operator: Operator, varying: set[int]) -> bool:
    """Return whether the value is what is scaled: `2.0 / x` is no scaling of x."""
    return operator.name in ("add", "subtract", "multiply") or operator.operands[0] in varying


def scaled_error(before: Array, after: Array, e_ref: tuple[float, float]) -> tuple[float, float]:
    """Return the relative errors, by the largest value and by the L2 norm, that errors of `before` are in `after`.

    `after` is `before`, times and plus constants, so differences between neighbours tell by how much it was scaled:
    along the axis of channels they also hold what the constants differ by, hence the least of all axes.
    """
    ratios = [1.0]
    if before.shape == after.shape and before.ndim:
        steps = [
            (norms(np.diff(after, axis=axis))[1], norms(np.diff(before, axis=axis))[1]) for axis in range(before.ndim)
        ]
        ratios = [value / other for value, other in steps if other > 0] or ratios
    scale, sizes = min(ratios), list(zip(norms(before), norms(after), strict=True))
    by_max, by_l2 = (part * scale * size / new if new else part for part, (size, new) in zip(e_ref, sizes, strict=True))
    return by_max, by_l2
