"""Operators over parameters alone that a predictor cannot compute before the first run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import paddle

    from exporter.paddle.private import Value

#: What a program is given; each run may have another value. An operator with blocks of its own counts as such, too.
_GIVEN = ("pd_op.data", "pd_op.feed")
#: Their kernels of oneDNN do not run there (`ConvertPirAttribute2RuntimeAttribute`, 3.3.1).
_RESIZES = "_interp"


def keep_unfolded(program: paddle.static.Program) -> None:
    """Split an operand into one part, of each operator over parameters that the predictor would fail at.

    `constant_folding_pass` computes whatever no input decides, in each predictor. It casts all results of an operator,
    and a kernel leaves those without memory that inference does not need: `norm(queries)`, of a batch norm or a layer
    norm, fails with `Tensor holds no memory`, or with another's dtype. Lists of tensors, as of `split`, it leaves alone
    (constant_folding_pass.cc, 3.3.1).
    """
    import paddle

    folded: set[str] = set()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program):
            for operator in program.global_block().ops:
                if not _is_folded(operator, folded):
                    continue
                operands = operator.operands()
                if _fails(operator) and operands and _has_parts(operands[0].source()):
                    paddle.pir.set_insertion_point(operator)
                    operands[0].set_source(paddle.split(operands[0].source(), 1)[0])
                else:
                    folded.update(result.id for result in operator.results())
    finally:
        paddle.disable_static()


def _is_folded(operator: Value, folded: set[str]) -> bool:
    if operator.name() in _GIVEN or any(True for _ in operator.blocks()):
        return False
    sources = [source for source in operator.operands_source() if source.initialized()]
    return all(source.id in folded for source in sources)


def _fails(operator: Value) -> bool:
    """Return whether one of several results is read by none, or it is an operator that cannot run there."""
    results = operator.results()
    unread = len(results) > 1 and any(result.initialized() and result.use_empty() for result in results)
    return unread or operator.name().endswith(_RESIZES)


def _has_parts(value: Value) -> bool:
    """Return whether it is a tensor with an axis; a list that grows in a loop is none, and is never folded."""
    return bool(value.is_dense_tensor_type() and value.shape)
