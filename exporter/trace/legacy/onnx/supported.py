"""What paddle2onnx 2.1.0 converts; it takes the process down at any other operator, and names none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exporter.errors import ModelError
from exporter.trace.blame import quoted_line
from exporter.trace.legacy.onnx.dispatch import dtype_name

#: By their names in PIR (`pd_op.`). Read off the converters registered in its library; a test compares.
SUPPORTED = frozenset(
    """
abs acos add add_n all any arange argmax argmin argsort array_length array_read array_to_tensor array_write_ asin
assign assign_out assign_out_ assign_value assign_value_ atan atan2 batch_norm batch_norm_ bicubic_interp
bilinear_interp bitwise_and bitwise_not bitwise_or bitwise_xor bmm builtin_combine builtin_slice builtin_split cast
ceil clip concat conv2d conv2d_transpose conv3d conv3d_transpose cos cosh create_array cross_entropy_with_softmax
cumsum deformable_conv depthwise_conv2d depthwise_conv2d_transpose dequantize_linear dist divide dot dropout einsum
elementwise_pow elu embedding empty equal erf exp expand expand_as eye fft_r2c flatten flip floor floor_divide full
full_int_array full_like full_with_tensor gather gather_nd gaussian gelu greater_equal greater_than grid_sample
group_norm hardshrink hardsigmoid hardswish hardtanh index_put index_sample index_select instance_norm isfinite isinf
isnan layer_norm leaky_relu less_equal less_than linear_interp linspace log log10 log1p log2 log_softmax logical_and
logical_not logical_or logical_xor logsigmoid logsumexp masked_select matmul max max_pool2d_with_index
max_pool3d_with_index maximum mean meshgrid min minimum mish multiclass_nms3 multinomial multiply mv nearest_interp
nonzero not_equal numel one_hot p_norm pad pad3d partial_concat partial_sum pixel_shuffle pool2d pool3d pow prelu
print prod put_along_axis quantize_linear reciprocal relu relu6 remainder repeat_interleave
repeat_interleave_with_tensor_index reshape rnn roi_align roll round rsqrt scale scatter scatter_nd_add select_input
selu set_value set_value_ set_value_with_tensor set_value_with_tensor_ shape shape64 share_data share_data_ sigmoid
sign silu sin sinh slice softmax softplus softshrink softsign split split_with_num sqrt square squeeze stack
strided_slice subtract sum swish take_along_axis tan tanh tanh_shrink temporal_shift thresholded_relu tile topk
transpose tril trilinear_interp triu unbind unfold uniform unique unsqueeze unstack where yolo_box
""".split()
)
#: Not operators, ones that become a graph's structure, and one that is left out of the file.
_STRUCTURE = ("pd_op.assert", "builtin.", "cf.", "pd_op.data", "pd_op.feed", "pd_op.fetch", "pd_op.if", "pd_op.while")
#: Told apart in the file: an operator of PIR that is in place gives a new value like any other.
IN_PLACE = "_"
_PARTS = "put out its real and imaginary parts, or compute with them"
#: paddle2onnx aborts the process at int16; ONNX Runtime computes no complex numbers, and most calls that take some are
#: written with both parts before (`spectra.py`).
_NO_DTYPES = {"int16": "cast to int32 instead", "complex64": _PARTS, "complex128": _PARTS}


def refuse_unsupported(program: Any) -> None:
    """Walk a traced PIR program before paddle2onnx sees it.

    Raises:
        ModelError: an operator has no conversion, or computes complex numbers, with the user's line.
    """
    for operator in _operators(program.global_block()):
        name = operator.name()
        if name.startswith(_STRUCTURE):
            continue
        plain = name.removeprefix("pd_op.")
        if plain.startswith("array_") and operator.get_parent_block() != program.global_block():
            raise _refusal(operator, "a list that grows in a loop has no conversion to ONNX")
        if plain.startswith("max_pool") and not operator.results()[1].use_empty():
            raise _refusal(operator, "the places of largest elements need fixed sizes, and a dim is dynamic")
        for dtype in foreign_dtypes(operator):
            raise _refusal(
                operator, f"operator {plain} gives {dtype}, which has no conversion to ONNX", _NO_DTYPES[dtype]
            )
        if not convertible(operator):
            raise _refusal(operator, f"operator {plain} has no conversion to ONNX")


def convertible(operator: Any) -> bool:
    """Whether paddle2onnx has a converter for the operator, or it becomes a part of the graph's structure."""
    name = operator.name()
    plain = name.removeprefix("pd_op.")
    return name.startswith(_STRUCTURE) or plain in SUPPORTED or plain.removesuffix(IN_PLACE) in SUPPORTED


def foreign_dtypes(operator: Any) -> list[str]:
    """The dtypes of its results that paddle2onnx or ONNX Runtime does not know."""
    return sorted({dtype_name(value) for value in operator.results() if _is_tensor(value)} & set(_NO_DTYPES))


def _is_tensor(value: Any) -> bool:
    return bool(value.initialized() and value.is_dense_tensor_type())


def _refusal(operator: Any, what: str, instead: str = "write that part of forward with other operators") -> ModelError:
    return ModelError(
        f"paddle2onnx: {what}",
        where=quoted_line("\n".join(operator.callstack)) or "forward",
        hint=f"{instead}, or leave onnx out of formats: pir and pdmodel hold it",
    )


def _operators(block: Any) -> Iterator[Any]:
    for operator in block.ops:
        yield operator
        for inner in operator.blocks():
            yield from _operators(inner)
