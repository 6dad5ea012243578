"""What is known of Paddle's own calls: which give tensors, of what shape, and which things are layers.

Only shapes that decide a rule are followed: above all whether the first dimension varies from call to call.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import replace

from exporter.check.domain.contents import inputs_of
from exporter.check.domain.tensors import broadcast
from exporter.check.domain.values import UNKNOWN, Const, Dim, Extent, Layer, Sequence, Size, Tensor, Value
from exporter.check.models.dtypes import of_operator

CONTAINERS = ("paddle.nn.LayerList", "paddle.nn.ParameterList", "paddle.nn.Sequential", "paddle.nn.LayerDict")


_NOT_LAYERS = frozenset("ParamAttr Layer BeamSearchDecoder ClipGradByNorm ClipGradByValue ClipGradByGlobalNorm".split())


_OUTSIDE = ("paddle.nn.initializer.", "paddle.regularizer.", "paddle.optimizer.", "paddle.io.", "paddle.metric.")


_RECURRENT = frozenset("RNN BiRNN LSTM GRU SimpleRNN LSTMCell GRUCell SimpleRNNCell".split())


_SAME = frozenset(
    "abs acos asin atan ceil cos cosh exp expm1 floor log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign "
    "sin sinh sqrt square tan tanh erf relu relu6 gelu silu swish mish elu selu celu leaky_relu hardswish "
    "hardsigmoid hardtanh softplus softsign softmax log_softmax normalize dropout cast astype clip scale clone "
    "detach zeros_like ones_like full_like rand_like randn_like nan_to_num isnan isinf isfinite logical_not cumsum "
    "cumprod flip tril triu numpy cpu cuda float int contiguous layer_norm label_smooth argsort sort bernoulli pow "
    "add subtract multiply divide maximum minimum fmax fmin mod remainder floor_divide equal not_equal greater_than "
    "less_than greater_equal less_equal logical_and logical_or logical_xor where masked_fill lerp increment "
    "assign".split()
)


_REDUCE = frozenset(
    "sum mean max min prod all any norm std var median logsumexp argmax argmin amax amin nansum nanmean".split()
)


_BOOLEAN = frozenset(
    "isnan isinf isfinite logical_not logical_and logical_or logical_xor equal not_equal greater_than less_than "
    "greater_equal less_equal all any equal_all allclose isclose is_empty".split()
)


_MANY = frozenset("split chunk unbind unstack tensor_split meshgrid grad nonzero vsplit hsplit dsplit".split())


_PAIRS = frozenset("topk kthvalue mode cummax cummin svd qr eigh eig slogdet lstsq lu unique_consecutive".split())


_MADE = frozenset("zeros ones full empty rand randn uniform normal randint standard_normal".split())


_STATELESS = frozenset(
    "Identity ReLU ReLU6 GELU Sigmoid Tanh Softmax LogSoftmax LeakyReLU ELU SELU CELU Silu Swish Mish Hardswish "
    "Hardsigmoid Hardtanh Softplus Softsign Flatten Unflatten MaxPool1D MaxPool2D MaxPool3D AvgPool1D AvgPool2D "
    "AvgPool3D AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D AdaptiveMaxPool2D "
    "AdaptiveMaxPool3D Upsample UpsamplingBilinear2D UpsamplingNearest2D Pad1D Pad2D Pad3D ZeroPad2D PixelShuffle "
    "PixelUnshuffle ChannelShuffle CosineSimilarity PairwiseDistance Dropout Dropout2D Dropout3D AlphaDropout Fold "
    "Unfold LayerList Sequential LayerDict ParameterList LogSigmoid Tanhshrink Hardshrink Softshrink "
    "ThresholdedReLU".split()
)


#: Layers that normalise by the statistics of what they are given alone.
_NORMS = ("LayerNorm", "GroupNorm", "InstanceNorm")


#: Functions of Paddle that give Python values, or nothing.
_PLAIN = frozenset(
    "in_dynamic_mode in_dynamic_or_pir_mode is_tensor rank get_device get_default_dtype seed set_device no_grad "
    "enable_grad set_grad_enabled is_compiled_with_cuda is_compiled_with_xpu device_count is_grad_enabled amp_guard "
    "auto_cast iinfo finfo in_static_mode is_floating_point is_integer is_complex synchronize to_static "
    "not_to_static broadcast_shape get_world_size get_rank is_initialized enable_static disable_static "
    "in_dygraph_mode backward save load summary flops".split()
)


def has_no_weights(name: str, keywords: dict[str, Value]) -> bool:
    """Whether a layer of Paddle's, made with these keywords, has no parameters, or is a container."""
    last = name.rpartition(".")[2]
    bare = all(keywords.get(each) == Const(False) for each in ("weight_attr", "bias_attr"))
    return last in _STATELESS or "Loss" in last or (bare and last.startswith(_NORMS))


def is_layer_class(name: str) -> bool:
    """Whether a qualified name is one of Paddle's layer classes."""
    last = name.rpartition(".")[2]
    return (
        name.startswith("paddle.")
        and last[:1].isupper()
        and not last.isupper()
        and last not in _NOT_LAYERS
        and not name.startswith(_OUTSIDE)
        and (".nn." in name or name.startswith("paddle.vision."))
    )


def is_plain(name: str) -> bool:
    """Whether a function of Paddle gives no tensor."""
    last = name.rpartition(".")[2]
    return last in _PLAIN or last[:1].isupper() or last.startswith("is_") or ".distributed." in name


def apply_layer(layer: Layer, arguments: Many[Value], keywords: dict[str, Value]) -> Value:
    """What a layer of Paddle's gives, called in evaluation."""
    last = layer.name.rpartition(".")[2]
    given = arguments[0] if arguments else next(iter(keywords.values()), UNKNOWN)
    if last == "Identity" or (last.startswith("Dropout") and _probability(layer) == 0):
        return given
    inputs = inputs_of((*arguments, *keywords.values()))
    first = _first_tensor((*arguments, *keywords.values()))
    if last in _RECURRENT:
        lead = first.sizes[:1] if first else ()
        state = Sequence("tuple", (), Tensor(inputs=inputs)) if "LSTM" in last else Tensor(inputs=inputs)
        return Sequence("tuple", (Tensor(lead, inputs=inputs), state))
    if first is None:
        return Tensor(inputs=inputs)
    sizes, closed = _sizes_after_layer(last, first, _width(layer, last))
    dtype = first.dtype if first.dtype.startswith("float") else ""
    return Tensor(sizes, closed, inputs, dtype=dtype)


def _width(layer: Layer, last: str) -> Size:
    """How many features a layer gives."""
    name, at = ("embedding_dim", 1) if last == "Embedding" else ("out_features", 1)
    name = "out_channels" if last.startswith("Conv") else name
    return _size_of(layer.keywords.get(name, layer.arguments[at] if len(layer.arguments) > at else UNKNOWN))


def _sizes_after_layer(last: str, first: Tensor, width: Size) -> tuple[tuple[Size, ...], bool]:
    if last == "Linear":
        return ((*first.sizes[:-1], width) if first.closed else first.sizes[:1]), first.closed
    if last == "Embedding":
        return ((*first.sizes, width) if first.closed else first.sizes), first.closed
    if last.startswith("Conv") and first.closed and len(first.sizes) > 2:
        return (first.size(0), width, *(Extent.UNKNOWN,) * (len(first.sizes) - 2)), True
    if "Norm" in last or "Dropout" in last or last.endswith(("LU", "Tanh", "Sigmoid", "Swish", "Mish", "Softmax")):
        return first.sizes, first.closed
    return first.sizes[:1], False


def _probability(layer: Layer) -> object:
    given = layer.keywords.get("p", layer.arguments[0] if layer.arguments else UNKNOWN)
    return given.value if isinstance(given, Const) else None


def apply_operator(name: str, arguments: Many[Value], keywords: dict[str, Value]) -> Value:
    """What a tensor function or method gives, by the last part of its name; a method's tensor is its first argument."""
    every = (*arguments, *keywords.values())
    inputs = inputs_of(every)
    first = _first_tensor(every)
    name = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    if name in _MANY:
        return _many(name, first, arguments, keywords, inputs)
    if name in _PAIRS or (name == "unique" and any(key.startswith("return_") for key in keywords)):
        lead = first.sizes if first else ()
        return Sequence("tuple", (Tensor(lead, inputs=inputs), Tensor(lead, inputs=inputs)))
    sizes, closed = _sizes(name, first, arguments, keywords)
    dtype = "bool" if name in _BOOLEAN else of_operator(name, arguments, keywords)
    given = [each for each in every if isinstance(each, Tensor)]
    shaped = all(each.shaped for each in given) and bool(inputs)  # made from dimensions alone
    return Tensor(sizes, closed, inputs, boolean=name in _BOOLEAN, dtype=dtype, shaped=shaped)


def _sizes(
    name: str, first: Tensor | None, arguments: Many[Value], keywords: dict[str, Value]
) -> tuple[tuple[Size, ...], bool]:
    if name in _MADE or name == "create_parameter":
        return _listed(keywords.get("shape", arguments[0] if arguments else UNKNOWN))
    if name in ("reshape", "view") and arguments:
        wanted = keywords.get("shape", arguments[1] if len(arguments) == 2 else Sequence("list", tuple(arguments[1:])))
        return _reshaped(first, wanted)
    if name == "arange":
        end = arguments[min(len(arguments) - 1, 1)] if arguments else UNKNOWN
        return (_size_of(end),), True
    if name in ("stack", "concat") and arguments:
        return _gathered(name, arguments, keywords)
    return ((), False) if first is None else _sizes_after(name, first, arguments, keywords)


def _sizes_after(
    name: str, first: Tensor, arguments: Many[Value], keywords: dict[str, Value]
) -> tuple[tuple[Size, ...], bool]:
    if name in _SAME:
        return broadcast([each for each in arguments if isinstance(each, Tensor)] or [first])
    if name in _REDUCE:
        return _reduced(first, arguments, keywords)
    if name in ("item", "numel", "dot"):
        return (), True
    if name in ("matmul", "bmm", "mm"):
        return first.sizes[:1] if not first.closed or len(first.sizes) > 1 else (), False
    if name == "unsqueeze":
        axis = _axis(arguments, keywords)
        if isinstance(axis, int) and 0 <= axis <= len(first.sizes):
            return (*first.sizes[:axis], 1, *first.sizes[axis:]), first.closed
        return first.sizes[:1] if axis == -1 else (), False
    if name in ("flatten", "unfold", "gather_nd", "one_hot", "embedding", "linear", "cast") or name.endswith(
        ("pool2d", "pool1d", "conv2d", "conv1d", "norm", "interpolate", "upsample", "pad")
    ):
        return (first.sizes[:1], False) if name != "flatten" or len(arguments) > 1 or keywords else ((), False)
    return (), False


def _reduced(first: Tensor, arguments: Many[Value], keywords: dict[str, Value]) -> tuple[tuple[Size, ...], bool]:
    axis = _axis(arguments, keywords)
    keep = any(isinstance(each, Const) and each.value is True for each in (*arguments, *keywords.values()))
    if axis is None and "axis" not in keywords:
        return ((1,) * len(first.sizes), first.closed) if keep else ((), True)
    if not isinstance(axis, int):
        return (), False
    at = axis + len(first.sizes) if axis < 0 and first.closed else axis
    if axis < 0 and not first.closed:  # of a tensor of unknown rank a far axis goes, the first stays
        return first.sizes[:1], False
    middle: tuple[Size, ...] = (1,) if keep else ()
    return (*first.sizes[:at], *middle, *first.sizes[at + 1 :]), first.closed


def _reshaped(first: Tensor | None, wanted: Value) -> tuple[tuple[Size, ...], bool]:
    sizes, closed = _listed(wanted)
    varies = first is not None and (Extent.DYNAMIC in first.sizes)
    known = [size for size in sizes if isinstance(size, int) and size != -1]
    if -1 in sizes:
        rest = Extent.DYNAMIC if varies and len(known) == len(sizes) - 1 else Extent.UNKNOWN
        sizes = tuple(rest if size == -1 else size for size in sizes)
    if first is not None and sizes[:1] == (0,):
        sizes = (first.size(0), *sizes[1:])
    return sizes, closed


def _gathered(name: str, arguments: Many[Value], keywords: dict[str, Value]) -> tuple[tuple[Size, ...], bool]:
    given = arguments[0]
    axis = _axis(arguments, keywords)
    if not isinstance(given, Sequence):
        return (), False
    example = next((each for each in (*given.items, given.rest) if isinstance(each, Tensor)), None)
    count: Size = Extent.UNKNOWN if given.rest is not None else len(given.items)
    if name == "stack" and axis in (None, 0):
        return (count, *(example.sizes if example else ())), bool(example and example.closed)
    if example is None or axis in (None, 0):
        return (), False
    return example.sizes[:1], False


def _many(
    name: str, first: Tensor | None, arguments: Many[Value], keywords: dict[str, Value], inputs: frozenset[str]
) -> Value:
    if name == "nonzero" and "as_tuple" not in keywords:
        return Tensor(inputs=inputs)
    axis = keywords.get("axis", arguments[-1] if len(arguments) > 2 else Const(0))
    along_first = not (isinstance(axis, Const) and axis.value != 0)
    each = Tensor(() if first is None or along_first else first.sizes[:1], False, inputs)
    count = keywords.get("num_or_sections", keywords.get("chunks", arguments[1] if len(arguments) > 1 else UNKNOWN))
    if isinstance(count, Const) and isinstance(count.value, int) and 0 < count.value <= 16:
        return Sequence("list", tuple(replace(each) for _ in range(count.value)))
    return Sequence("list", (), each)


def _listed(shape: Value) -> tuple[tuple[Size, ...], bool]:
    if isinstance(shape, Sequence) and shape.rest is None:
        return tuple(_size_of(each) for each in shape.items), True
    return (), False


def _size_of(value: Value) -> Size:
    if isinstance(value, Const) and isinstance(value.value, int):
        return value.value
    if isinstance(value, Dim):
        return value.size
    return Extent.UNKNOWN


def _axis(arguments: Many[Value], keywords: dict[str, Value]) -> object:
    given = keywords.get("axis", keywords.get("dim", arguments[1] if len(arguments) > 1 else Const(None)))
    return given.value if isinstance(given, Const) else Extent.UNKNOWN


def _first_tensor(values: Many[Value]) -> Tensor | None:
    for value in values:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, Sequence):
            inner = _first_tensor((*value.items, *((value.rest,) if value.rest else ())))
            if inner is not None:
                return inner
    return None
