"""Operators whose results are as large as the sizes of their operands say, and how many operands hold no sizes.

`softmax(x)` is as large as `x`, whatever that holds; `reshape(x, shape)` is as large as the values of `shape` say. Of
an operator that is not listed, all values may decide how large its results are: of `nonzero` they do.
"""

from __future__ import annotations

from collections.abc import Mapping

#: All operands: none of them holds sizes.
_ALL = 99
_PIR_ALL = """
add subtract multiply divide floor_divide remainder elementwise_pow maximum minimum fmax fmin scale pow matmul bmm mv
dot conv2d depthwise_conv2d conv3d batch_norm batch_norm_ layer_norm group_norm instance_norm rms_norm softmax
log_softmax relu relu6 leaky_relu elu selu celu gelu silu swish mish sigmoid logsigmoid hardsigmoid hardswish hardtanh
softplus softsign tanh tanh_shrink prelu abs exp expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan
asin acos atan sinh cosh asinh acosh atanh erf floor ceil round trunc sign clip cast assign assign_out_ dropout
transpose flatten embedding where equal not_equal less_than less_equal greater_than greater_equal logical_and
logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor isnan isinf isfinite cumsum cumprod
tril triu flip roll full_like addmm atan2 lerp gather_nd take_along_axis index_select stack unbind builtin.combine
builtin.split builtin.slice share_data_ share_data grid_sample argsort index_sample put_along_axis scatter
scatter_nd_add index_put masked_fill conv2d_transpose depthwise_conv2d_transpose conv3d_transpose deformable_conv
swiglu thresholded_relu softshrink hardshrink rrelu cummax cummin logcumsumexp pixel_shuffle pixel_unshuffle
channel_shuffle meshgrid kron diagonal trace einsum bitwise_left_shift bitwise_right_shift isclose nextafter copysign
"""
_PIR_FIRST = """
reshape squeeze unsqueeze sum mean max min prod any all argmax argmin concat expand tile slice strided_slice pad pad3d
split split_with_num pool2d pool3d topk kthvalue bilinear_interp nearest_interp bicubic_interp linear_interp
trilinear_interp logsumexp p_norm norm frobenius_norm one_hot repeat_interleave set_value set_value_with_tensor
set_value_with_tensor_
"""
PIR: Mapping[str, int] = {**dict.fromkeys(_PIR_ALL.split(), _ALL), **dict.fromkeys(_PIR_FIRST.split(), 1), "gather": 2}

_ONNX_ALL = """
Add Sub Mul Div Mod Pow Max Min MatMul Gemm Conv BatchNormalization LayerNormalization InstanceNormalization Softmax
LogSoftmax Relu LeakyRelu Elu Selu Gelu Sigmoid HardSigmoid HardSwish Softplus Softsign Tanh PRelu Abs Exp Log Sqrt
Reciprocal Sin Cos Tan Erf Floor Ceil Round Sign Neg Clip Cast Identity Dropout Transpose Flatten Where Equal Less
LessOrEqual Greater GreaterOrEqual And Or Not Xor IsNaN IsInf CumSum Trilu Concat AveragePool MaxPool
GlobalAveragePool GlobalMaxPool ArgMax ArgMin GatherND GatherElements Gather GridSample ScatterND ScatterElements
ConvTranspose DeformConv Einsum GroupNormalization RMSNormalization LpNormalization Mish Celu ThresholdedRelu Shrink
Hardmax Sum Mean Asin Acos Atan Sinh Cosh Asinh Acosh Atanh DepthToSpace SpaceToDepth BitShift BitwiseAnd BitwiseOr
BitwiseXor BitwiseNot QuantizeLinear DequantizeLinear LSTM GRU RNN
"""
_ONNX_FIRST = """
Reshape Squeeze Unsqueeze ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum
ReduceLogSumExp ReduceSumSquare Expand Tile Slice Pad Split TopK Resize OneHot
"""
ONNX: Mapping[str, int] = {**dict.fromkeys(_ONNX_ALL.split(), _ALL), **dict.fromkeys(_ONNX_FIRST.split(), 1)}

#: Operators of a `.pdmodel`. There operands have names, and those of these names hold no sizes.
LEGACY = frozenset(
    """
elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_pow elementwise_max elementwise_min scale
pow matmul_v2 mul conv2d depthwise_conv2d batch_norm layer_norm group_norm instance_norm softmax log_softmax relu
relu6 leaky_relu elu selu gelu silu swish mish sigmoid logsigmoid hard_sigmoid hard_swish softplus tanh prelu abs exp
log sqrt rsqrt square reciprocal sin cos erf floor ceil round sign clip cast assign dropout transpose2
flatten_contiguous_range lookup_table_v2 where equal not_equal less_than less_equal greater_than greater_equal
logical_and logical_or logical_not isnan_v2 isinf_v2 cumsum tril_triu flip concat stack reshape2 squeeze2 unsqueeze2
reduce_sum reduce_mean reduce_max reduce_min expand_v2 tile slice strided_slice split pool2d arg_max arg_min
elementwise_mod elementwise_floordiv elementwise_fmax elementwise_fmin bmm share_data top_k_v2 argsort take_along_axis
put_along_axis gather_nd gather index_select index_sample scatter scatter_nd_add set_value grid_sampler pad pad3d pool3d
conv3d conv2d_transpose depthwise_conv2d_transpose conv3d_transpose deformable_conv one_hot_v2 unbind unstack norm
p_norm frobenius_norm logsumexp reduce_prod reduce_any reduce_all logical_xor bitwise_and bitwise_or bitwise_xor
bitwise_not isfinite_v2 cumprod roll tan asin acos atan sinh cosh asinh acosh atanh expm1 log2 log10 log1p softsign
tanh_shrink trunc thresholded_relu softshrink hard_shrink celu pixel_shuffle meshgrid kron diagonal addmm
nearest_interp_v2 bilinear_interp_v2 bicubic_interp_v2 linear_interp_v2 trilinear_interp_v2
""".split()
)
LEGACY_OPERANDS = frozenset(
    """
X Y Input W Filter Bias Scale Mean Variance Ids Alpha Condition Index Grid Updates Value ValueTensor Offset Mask
""".split()
)
#: Operators whose `Scale` is how much larger their results are, and not what is multiplied by.
LEGACY_RESIZES = frozenset(name for name in LEGACY if name.endswith("_interp_v2"))
