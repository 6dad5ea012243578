"""What paddle2onnx cannot convert and no input decides is computed while exporting, and stored as its value.

A spatial transformer (`paddle.inverse` of its fixed points, as in PaddleOCR's TPS) needs no operator of ONNX for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exporter.trace.legacy.onnx.dispatch import dtype_name
from exporter.trace.legacy.onnx.supported import convertible, foreign_dtypes

#: Elements: a larger constant would weigh more in the file than the network that computes it.
LARGEST = 1 << 20
_DTYPES = ("bool", "int32", "int64", "float32", "float64")
#: Operators without operands whose results are no constants: inputs, weights, draws.
_VARIES = frozenset(
    """
bernoulli binomial data dropout exponential_ feed gaussian gaussian_inplace_ multinomial parameter poisson randint
randperm standard_gamma truncated_gaussian_random uniform uniform_inplace_ uniform_random_batch_size_like
""".split()
)


def fold_constants(program: Any) -> int:
    """Replace operators of the program's outer block that have no conversion by their values; how many."""
    block = program.global_block()
    known: dict[int, bool] = {}
    foreign = [operator for operator in block.ops if not _converts(operator) and _constant(operator, known)]
    count = 0
    for operator in foreign:
        if all(dtype_name(value) in _DTYPES for value in operator.results()):
            count += _replaced(program, operator)
    for operator in reversed(foreign):  # what they were computed from, such as a complex intermediate
        if all(value.use_empty() for value in operator.results()):
            block.remove_op(operator)
    return count


def is_constant(value: Any) -> bool:
    """Whether no input, parameter or draw stands behind a value of the program."""
    return _constant(value.get_defining_op(), {})


def _converts(operator: Any) -> bool:
    return convertible(operator) and not foreign_dtypes(operator)


def _constant(operator: Any, known: dict[int, bool]) -> bool:
    """Whether no input, parameter or draw stands behind the operator."""
    if operator is None or list(operator.blocks()) or operator.name().partition(".")[2] in _VARIES:
        return False
    if operator.id() not in known:
        sources = (value.get_defining_op() for value in operator.operands_source())
        known[operator.id()] = all(_constant(source, known) for source in sources)
    return known[operator.id()]


def _replaced(program: Any, operator: Any) -> bool:
    """Put the values in its place; False where they are too large. Shapes may be known by computing only."""
    import paddle
    from paddle.base.libpaddle import pir

    results = operator.results()
    arrays = _computed(program, results)
    if sum(array.size for array in arrays) > LARGEST:
        return False
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program):
            pir.set_insertion_point(operator)
            for value, array in zip(results, arrays, strict=True):
                value.replace_all_uses_with(paddle.assign(array))
            pir.set_insertion_point_to_block_end(program.global_block())
    finally:
        paddle.disable_static()
    return True


def _computed(program: Any, values: Sequence[Any]) -> list[Any]:
    """The values as arrays, by Paddle's own kernels in a scope of their own."""
    import paddle
    from paddle.static.io import normalize_pir_program

    paddle.enable_static()
    try:
        needed = normalize_pir_program(program, [], list(values))
        with paddle.static.scope_guard(paddle.static.Scope()):
            return list(paddle.static.Executor(paddle.CPUPlace()).run(needed, fetch_list=[]))
    finally:
        paddle.disable_static()
