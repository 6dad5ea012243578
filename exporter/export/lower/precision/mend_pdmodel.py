"""What Paddle's quantizer leaves in a `.pdmodel`, mended: served right, and no larger than need be.

oneDNN fuses a residual addition into the convolution before it and then adds the other branch at the wrong scale
(`conv_elementwise_add_onednn_fuse_pass`, 3.3.1): ResNet-18 keeps 35 dB when the file is simulated and 14 dB when it is
served. The pass looks for `elementwise_add`; the same addition written as `sum` it leaves alone, so that any Paddle
Inference computes the file right with the switches that its users know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from exporter.base.files import write_draft
from exporter.base.readers.base import Weight
from exporter.base.readers.kinds.pdiparams import read_pdiparams
from exporter.base.readers.kinds.pdmodel import read_pdmodel
from exporter.export.lower.precision.kernels import FUSES, IMMUTABLE, PRODUCTS

#: Operators that oneDNN computes in int8 where the scales of their inputs are known (3.3.1).
INT8 = (
    *("concat", "conv2d", "depthwise_conv2d", "matmul_v2", "mul", "nearest_interp_v2", "pool2d", "reshape2", "slice"),
    *("split", "transpose2"),
)
#: Attributes that tell the quantizer and the trainer something, paths of this machine among it, and an engine nothing.
_NOTES = (
    "moving_rate",
    "only_observer",
    "op_callstack",
    "op_role",
    "op_role_var",
    "op_namescope",
    "op_device",
    "quantization_type",
    "with_quant_attr",
)


def mend(model: Path, parameters: Path, limits: Mapping[str, float], *, products: bool) -> None:
    """Rewrite both files: additions as sums, declarations as stored, no rounding and no number that nothing needs.

    `limits` are the largest values that a relu may give, by what it gives. Matrix products are computed in int8 where
    `products` says so, and otherwise find no rounding before them.
    """
    from exporter.paddle.private import core

    program = core.ProgramDesc(model.read_bytes())
    block = program.block(0)
    declared = sorted(read_pdmodel(model).weights, key=lambda weight: weight.name.encode())
    stored = read_pdiparams(parameters).weights
    content = parameters.read_bytes()
    pairs = list(zip(stored, declared, strict=True))
    for have, want in pairs:
        _declare(block.find_var(want.name.encode()), have, want)
    zeros = sorted(((have.elements, want.name) for have, want in pairs if _is_zero(have, content)))
    _share_zeros(block, [name for _, name in zeros])
    for number in range(program.num_blocks()):
        _rewrite(program.block(number))
    _drop_idle_rounding(block, INT8 if products else [kind for kind in INT8 if kind not in PRODUCTS])
    _limit(block, limits)
    _drop_unused(block)
    _shorten(block)
    start, kept = 0, b""
    for have, want in pairs:  # the file holds one tensor after the other, and nothing between
        stop = have.pieces[-1][1]
        kept += content[start:stop] if block.find_var(want.name.encode()) is not None else b""
        start = stop
    write_draft(model, program.serialize_to_string())
    write_draft(parameters, kept)


def _declare(variable: Any, have: Weight, want: Weight) -> None:
    """The quantizer stores scales without a dimension and weights as int8, and declares them as they were (3.3.1)."""
    from exporter.paddle.private import core

    variable.set_shape(list(have.shape))
    if have.dtype != want.dtype:
        variable.set_dtype(getattr(core.VarDesc.VarType, have.dtype.upper()))


def _is_zero(weight: Weight, content: bytes) -> bool:
    return weight.dtype == "int32" and not weight.array(content).any()


def _share_zeros(block: Any, zeros: list[str]) -> None:
    """One zero point does for all: everything is rounded symmetrically, and no kernel looks at it (3.3.1)."""
    for operator in _operators(block):
        for name in zeros[1:]:
            operator._rename_input(name, zeros[0])


def _rewrite(block: Any) -> None:
    for operator in _operators(block):
        for name in {*_NOTES} & {*operator.attr_names()}:
            operator.remove_attr(name)
        if operator.type() == "elementwise_add":
            _as_sum(block, operator)


def _limit(block: Any, limits: Mapping[str, float]) -> None:
    """A relu6, whose threshold may be any number, in the place of a relu that the engine fuses, and before others.

    What a relu alone gives counts as unsigned, and what a relu6 alone gives does not (3.3.1).
    """
    makers = {name: operator.type() for operator in _operators(block) for name in operator.output_arg_names()}
    for index in reversed(range(block.op_size())):
        operator = block.op(index)
        if operator.type() not in ("relu", "relu6") or not (limit := limits.get(operator.output("Out")[0])):
            continue
        if operator.type() == "relu6" or makers.get(operator.input("X")[0]) in FUSES:
            before = operator.attr("threshold") if operator.type() == "relu6" else limit
            operator.set_type("relu6")
            operator._set_attr("threshold", min(limit, before))
            continue
        taken = operator.input("X")[0]
        limited = block.var(f"{taken}.limited".encode())
        like = block.find_var(taken.encode())
        limited.set_type(like.type())
        limited.set_dtype(like.dtype())
        limited.set_shape(like.shape())
        operator._rename_input(taken, limited.name())
        new = block._insert_op(index)
        new.set_type("relu6")
        new.set_input("X", [taken])
        new.set_output("Out", [limited.name()])
        new._set_attr("threshold", limit)


def _as_sum(block: Any, operator: Any) -> None:
    """Only where both sides are activations of one shape: a sum broadcasts nothing, and a bias is to be fused."""
    sides = [operator.input(slot)[0] for slot in ("X", "Y")]
    variables = [block.find_var(name.encode()) for name in sides]
    if any(one is None or one.persistable() for one in variables) or variables[0].shape() != variables[1].shape():
        return
    operator.set_type("sum")
    operator.remove_input("Y")
    operator.set_input("X", sides)
    for name in list(operator.attr_names()):  # those of an addition mean nothing to a sum
        operator.remove_attr(name)


def _drop_idle_rounding(block: Any, kinds: Collection[str]) -> None:
    """Take out every pair of rounding and back whose value no operator of `kinds` reads.

    The quantizer puts one behind every operator. What is fused away needs none, and between float operators each costs
    accuracy and time. Nor does a value need one between two operators that only move it, where it is rounded before and
    behind them: its scale is handed on.
    """
    operators = _operators(block)
    readers: dict[str, list[Any]] = {}
    for one in operators:
        for name in one.input_arg_names():
            readers.setdefault(name, []).append(one)
    makers = {name: one for one in operators for name in one.output_arg_names()}
    renamed: dict[str, str] = {}
    idle: list[Any] = []
    for there in operators:
        backs = readers.get(there.output("Y")[0], []) if there.type() == "quantize_linear" else []
        takers = [one for back in backs for one in readers.get(back.output("Y")[0], [])]
        moved = (
            bool(backs)
            and _only_moved(makers, there.input("X")[0])
            and all(_rounded_behind(readers, one) for one in takers)
        )
        if backs and (moved or not any(one.type() in kinds for one in takers)):
            idle += [there, *backs]
            renamed |= {back.output("Y")[0]: there.input("X")[0] for back in backs}
    for one in operators:
        for old, new in renamed.items():
            one._rename_input(old, new)
    for index in reversed(range(len(operators))):
        if any(operators[index] is one for one in idle):
            block._remove_op(index, index + 1)


def _only_moved(makers: dict[str, Any], name: str) -> bool:
    """Whether a value was rounded before the operator that moved it here."""
    maker = makers.get(name)
    if maker is None or maker.type() not in IMMUTABLE:
        return False
    before = makers.get(maker.input(IMMUTABLE[maker.type()])[0])
    return before is not None and before.type() == "dequantize_linear"


def _rounded_behind(readers: dict[str, list[Any]], mover: Any) -> bool:
    """Whether an operator only moves values, and all that it gives is rounded."""
    if mover.type() not in IMMUTABLE:
        return False
    after = [one for name in mover.output("Out") for one in readers.get(name, [])]
    return bool(after) and all(one.type() == "quantize_linear" for one in after)


def _drop_unused(block: Any) -> None:
    used = {name for one in _operators(block) for name in (*one.input_arg_names(), *one.output_arg_names())}
    for variable in block.all_vars():
        if variable.name() not in used:
            block._remove_var(variable.name().encode())


def _shorten(block: Any) -> None:
    """`x.quantized.dequantized` is longer than what it stands for is worth; parameters keep their names and order."""
    for variable in block.all_vars():
        name = variable.name()
        short = name.replace(".quantized", ".int8").replace(".int8.dequantized", ".float")
        if short != name and not variable.persistable():
            block._rename_var(name.encode(), short.encode())


def _operators(block: Any) -> list[Any]:
    return [block.op(index) for index in range(block.op_size())]
