"""Convolutions, normalisations, and what stands between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypedDict

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops import doubles

_CHANNELS_LAST = ("NHWC", "NDHWC", "NLC", "NWC")
_CHANNELS_FIRST = ("NCHW", "NCDHW", "NCL", "NCW", "AnyLayout")


class Padding(TypedDict, total=False):
    """The attributes of a node that say how its input is padded: by a rule, or begins then ends."""

    auto_pad: str
    pads: list[int]


class _Kernel(TypedDict, total=False):
    """The attribute of a node that holds the sizes of its kernel."""

    kernel_shape: list[int]


def layout(c: Call, default: str = "NCHW") -> bool:
    """Return whether channels are last."""
    return c.insist("data_format", default, *_CHANNELS_FIRST, *_CHANNELS_LAST) in _CHANNELS_LAST


def first(b: Builder, x: Tensor) -> Tensor:
    """Channels from the last place to the second."""
    return b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def last(b: Builder, x: Tensor) -> Tensor:
    """Channels from the second place to the last."""
    return b.transpose(x, [0, *range(2, x.rank), 1])


def pads(paddings: Sequence[int], dims: int) -> list[int]:
    """Begins, then ends, as ONNX has them; Paddle gives one number a dim, or begin and end of each in turn."""
    listed = [int(amount) for amount in paddings]
    return [*listed, *listed] if len(listed) == dims else [*listed[::2], *listed[1::2]]


def padding(c: Call, dims: int) -> Padding:
    """The padding's attributes. SAME puts the odd element at the end."""
    algorithm = c.insist("padding_algorithm", "EXPLICIT", "SAME", "VALID")
    paddings = c.attr("paddings")
    if algorithm == "SAME":
        return {"auto_pad": "SAME_UPPER"}
    return {"pads": pads(paddings, dims) if algorithm == "EXPLICIT" else [0] * 2 * dims}


def same(c: Call, x: Tensor, kernel: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The padding of SAME: as many windows as steps fit into the input, the odd element at the end."""
    begins, ends = [], []
    for size, length, step in zip(x.shape[2:], kernel, strides, strict=True):
        if size < 0 and step > 1:
            raise c.refuse("padding SAME that counts, of sizes that vary")
        total = max((-(-size // step) - 1) * step + length - size, 0) if size >= 0 else length - 1
        begins.append(total // 2)
        ends.append(total - total // 2)
    return [*begins, *ends]


def _kernel(weight: Tensor) -> _Kernel:
    """The kernel's sizes, which ONNX infers from the weight and OpenCV's DNN module does not (4.5 to 4.14)."""
    sizes = list(weight.shape[2:])
    return {} if -1 in sizes else {"kernel_shape": sizes}


def _conv(c: Call) -> Tensor:
    b, weight = c.b, c.x(1)
    behind = layout(c)
    x = first(b, c.x(0)) if behind else c.x(0)
    dims = x.rank - 2
    more = padding(c, dims)
    dilations = [int(dilation) for dilation in c.attr("dilations")]
    if "auto_pad" in more:  # Paddle then takes every dilation for 1 (conv_util.h, 3.3.1)
        dilations = [1] * dims
    strides = [int(stride) for stride in c.attr("strides")]
    shape = c.result().shape
    groups = int(c.attr("groups"))
    if x.dtype == "float64":
        around = more["pads"] if "pads" in more else same(c, x, list(weight.shape[2:]), strides)
        convolved = doubles.convolution(b, x, weight, doubles.Window(strides, dilations, around, groups))
    else:
        convolved = b.emit(
            "Conv", x, weight, strides=strides, dilations=dilations, group=groups, **_kernel(weight), **more,
            shape=[shape[0], shape[-1], *shape[1:-1]] if behind else shape,
        )  # fmt: skip
    return last(b, convolved) if behind else convolved


def _transposed(c: Call) -> Tensor:
    """With a size asked for as much as can be is computed, and cut to that size."""
    b, weight = c.b, c.x(1)
    behind = layout(c)
    x = first(b, c.x(0)) if behind else c.x(0)
    dims = x.rank - 2
    c.insist("padding_algorithm", "EXPLICIT", "VALID")
    strides = [int(stride) for stride in c.attr("strides")]
    sizes = [int(size) for size in c.attr("output_size", [])]
    wanted = b.constant(sizes) if sizes else c.vector(2) if c.has(2) and not _empty(c, 2) else None
    extra = [int(size) for size in c.attr("output_padding")] or [0] * dims
    if wanted is not None:
        extra = [step - 1 for step in strides]
    shape = c.result().shape
    dilations, groups = [int(dilation) for dilation in c.attr("dilations")], int(c.attr("groups"))
    around = pads(c.attr("paddings"), dims)
    if x.dtype == "float64":
        convolved = doubles.transposed_convolution(
            b, x, weight, doubles.Window(strides, dilations, around, groups), extra
        )
    else:
        convolved = b.emit(
            "ConvTranspose", x, weight, strides=strides, dilations=dilations, group=groups, pads=around,
            output_padding=extra, **_kernel(weight), shape=[shape[0], shape[-1], *shape[1:-1]] if behind else shape,
        )  # fmt: skip
    if wanted is not None:
        axes = b.constant(list(range(2, x.rank)))
        convolved = b.emit("Slice", convolved, b.constant([0] * dims), wanted, axes, shape=convolved.shape)
    return last(b, convolved) if behind else convolved


def _empty(c: Call, at: int) -> bool:
    return c.known(at) and not c.integers(at)


def _deformable(c: Call) -> Tensor:
    """The first version has no mask, which stands for one of ones."""
    c.since(19, "deformable convolutions")
    c.ignore("im2col_step")
    weight, dims = c.x(2), 2
    strides, dilations = ([int(step) for step in c.attr(name)] for name in ("strides", "dilations"))
    return c.b.emit(
        "DeformConv", c.x(0), weight, c.x(1), None, c.maybe(3), pads=pads(c.attr("paddings"), dims),
        kernel_shape=list(weight.shape[2:]), group=int(c.attr("groups")), offset_group=int(c.attr("deformable_groups")),
        shape=c.result().shape, strides=strides, dilations=dilations,
    )  # fmt: skip


def _batch_norm(c: Call) -> list[Tensor | None]:
    b, behind = c.b, layout(c)
    c.ignore("momentum")
    x = c.x(0)
    tested, running, trained = (bool(c.attr(name)) for name in ("is_test", "use_global_stats", "trainable_statistics"))
    trains = not (tested and not trained) and not running
    channels = x.shape[-1] if behind else x.shape[1]
    epsilon = float(c.attr("epsilon"))
    scale = c.x(3) if c.has(3) else b.constant([1.0] * channels, x.dtype)
    bias = c.x(4) if c.has(4) else b.constant([0.0] * channels, x.dtype)
    if trains:
        c.idle(1, 2)
        return [_of_batch(b, x, (scale, bias), epsilon, behind)]
    turned = first(b, x) if behind and x.rank > 2 else x
    weights = (b.cast(parameter, x.dtype) for parameter in (scale, bias, c.x(1), c.x(2)))
    normalised = b.emit("BatchNormalization", turned, *weights, epsilon=epsilon, shape=turned.shape)
    return [last(b, normalised) if turned is not x else normalised]


def _of_batch(b: Builder, x: Tensor, affine: tuple[Tensor, Tensor], epsilon: float, behind: bool) -> Tensor:
    """By the mean and variance of the batch itself."""
    at = x.rank - 1 if behind else 1
    axes = [axis for axis in range(x.rank) if axis != at]
    shape = [-1 if axis == at else 1 for axis in range(x.rank)]
    scale, bias = (b.reshape(parameter, shape) for parameter in affine)
    return b.emit("Add", b.emit("Mul", standardised(b, x, axes, epsilon), scale), bias)


def standardised(b: Builder, x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) along axes."""
    centred = b.emit("Sub", x, b.reduce("ReduceMean", x, axes, keep=True))
    variance = b.reduce("ReduceMean", b.emit("Mul", centred, centred), axes, keep=True)
    return b.emit("Div", centred, b.emit("Sqrt", b.emit("Add", variance, epsilon)))


def _layer_norm(c: Call) -> list[Tensor | None]:
    b, x, begin = c.b, c.x(0), int(c.attr("begin_norm_axis"))
    epsilon, sizes = float(c.attr("epsilon")), _normalized(x.shape[begin:], c.x(1).shape if c.has(1) else ())
    axes = list(range(begin, x.rank))
    if -1 in sizes or not c.has(1):
        normalised = standardised(b, x, axes, epsilon)
        for at, kind in ((1, "Mul"), (2, "Add")):
            if c.has(at):
                normalised = b.emit(kind, normalised, b.reshape(c.x(at), list(sizes)))
        return [normalised]
    scale = b.cast(c.x(1), x.dtype)
    scale = scale if scale.shape == tuple(sizes) else b.reshape(scale, list(sizes))
    bias = None
    if c.has(2):
        bias = b.cast(c.x(2), x.dtype)
        bias = bias if bias.shape == tuple(sizes) else b.reshape(bias, list(sizes))
    return [b.emit("LayerNormalization", x, scale, bias, axis=begin, epsilon=epsilon, shape=x.shape)]


def _normalized(sizes: Sequence[int], scale: Sequence[int]) -> Sequence[int]:
    """Return the sizes that a layer norm goes along; one that is open is what the flat scale leaves for it."""
    if sizes.count(-1) != 1 or not scale or -1 in scale:
        return sizes
    whole = prod(scale) // prod(size for size in sizes if size != -1)
    return tuple(whole if size == -1 else size for size in sizes)


def _instance_norm(c: Call) -> list[Tensor | None]:
    b, x = c.b, c.x(0)
    channels = x.shape[1]
    scale = c.x(1) if c.has(1) else b.constant([1.0] * channels, x.dtype)
    bias = c.x(2) if c.has(2) else b.constant([0.0] * channels, x.dtype)
    return [doubles.instance_norm(b, x, scale, bias, float(c.attr("epsilon")))]


def _group_norm(c: Call) -> list[Tensor | None]:
    """Each group is one channel of an instance norm; scale and bias come behind it."""
    b, behind, groups = c.b, layout(c), int(c.attr("groups"))
    x = first(b, c.x(0)) if behind else c.x(0)
    flat = b.reshape(x, [0, groups, -1])
    ones, zeros = b.constant([1.0] * groups, x.dtype), b.constant([0.0] * groups, x.dtype)
    normalised = doubles.instance_norm(b, flat, ones, zeros, float(c.attr("epsilon")))
    normalised = b.reshape(normalised, b.shape_of(x), x.shape)
    shape = [-1] + [1] * (x.rank - 2)
    normalised = b.emit("Mul", normalised, b.reshape(c.x(1), shape), shape=x.shape) if c.has(1) else normalised
    normalised = b.emit("Add", normalised, b.reshape(c.x(2), shape), shape=x.shape) if c.has(2) else normalised
    return [last(b, normalised) if behind else normalised]


def _dropout(c: Call) -> list[Tensor | None]:
    """In inference nothing, or in the older mode a factor of 1 - p."""
    b, x = c.b, c.x(0)
    c.insist("is_test", True)
    c.ignore("seed", "fix_seed")
    c.idle(1)
    mode = c.insist("mode", "upscale_in_train", "downgrade_in_infer")
    rate = c.number(2) if c.has(2) else float(c.attr("p"))
    if mode == "upscale_in_train" or not rate:
        return [b.emit("Identity", x)]
    return [b.emit("Mul", x, 1.0 - rate)]


OPERATORS: dict[str, Lowering] = {
    "conv2d": _conv,
    "conv3d": _conv,
    "depthwise_conv2d": _conv,
    "conv2d_transpose": _transposed,
    "conv3d_transpose": _transposed,
    "depthwise_conv2d_transpose": _transposed,
    "deformable_conv": _deformable,
    "batch_norm_": _batch_norm,
    "batch_norm": _batch_norm,
    "layer_norm": _layer_norm,
    "instance_norm": _instance_norm,
    "group_norm": _group_norm,
    "dropout": _dropout,
}
