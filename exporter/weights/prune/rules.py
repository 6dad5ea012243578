"""What each operator does to the labels of channels. One that has no rule here pins all that it reads.

A rule processes every axis of everything that it reads: passes it on, ties it, or pins it. It gives the labels of the
results, as many as bear any. Names are those of PIR (Paddle 3.0 to 3.3), without dialect and the mark of in-place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from exporter.weights.prune.program import Operation
from exporter.weights.prune.rearrange import reshaped
from exporter.weights.prune.tracker import Axes, Labels, Tracker
from exporter.weights.prune.weights import (
    batch_norm,
    convolution,
    embedding,
    group_norm,
    instance_norm,
    layer_norm,
    matmul,
    transposed_convolution,
)

Rule = Callable[[Operation, Tracker], Sequence[Axes]]


def track(tracker: Tracker) -> None:
    """Run every rule over the program, in its order; then pin what the program puts out."""
    tracker.begin()
    for one in tracker.program.operations:
        rule = (
            None
            if one.nested or None in (tracker.program.shapes.get(out) for out in one.outputs)
            else RULES.get(one.name)
        )
        if rule is None:
            tracker.pin_all(one)
        else:
            for value, axes in zip(one.outputs, rule(one, tracker), strict=False):
                tracker.axes[value] = tuple(
                    labels if size > 1 else None for labels, size in zip(axes, tracker.shape(value), strict=True)
                )
        if one.name not in UNWEIGHED and one.outputs and one.outputs[0] in tracker.program.shapes:
            tracker.weigh(1, tracker.of(one.outputs[0]), tracker.shape(one.outputs[0]))
    for value in tracker.program.outputs:
        for labels in tracker.of(value):
            tracker.pin(labels)


def pointwise(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Each element by itself, of one or several inputs that are broadcast."""
    shape = tracker.shape(one.outputs[0])
    result: list[Labels] = [None] * len(shape)
    for axis, size in enumerate(shape):
        taking_part: list[Labels] = []
        for value in one.inputs:
            own = axis - len(shape) + len(tracker.shape(value))
            if value is not None and own >= 0 and tracker.shape(value)[own] == size and size > 1:
                taking_part.append(tracker.of(value)[own])
        if taking_part:
            first = taking_part[0]
            for other in taking_part[1:]:
                first = tracker.tie(first, other)
            result[axis] = first
    _inherit(one, tracker)
    return (tuple(result),)


def unary(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Each element of the first input by itself; what else it reads are settings."""
    for value in one.inputs[1:]:
        for labels in tracker.of(value):
            tracker.pin(labels)
    _inherit(one, tracker)
    return (tracker.of(one.inputs[0]),)


def spatial(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Pooling and resizing: batch and channels go through, places do not."""
    axes, rank = tracker.of(one.inputs[0]), len(tracker.shape(one.inputs[0]))
    channel = rank - 1 if str(one.attributes.get("data_format", "NCHW")).endswith("C") else 1
    return (tuple(_kept_or_pinned(axes, {0, channel}, tracker)),)


def softmax(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Along its axis every element depends on every other."""
    axes = tracker.of(one.inputs[0])
    axis = int(one.attributes["axis"]) % max(len(axes), 1)
    return (tuple(_kept_or_pinned(axes, set(range(len(axes))) - {axis}, tracker)),)


def reduction(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """The axes summed over must stay whole: a mean over fewer channels is another mean."""
    axes, rank = tracker.of(one.inputs[0]), len(tracker.shape(one.inputs[0]))
    given = tracker.program.constants.get(one.inputs[1]) if len(one.inputs) > 1 and one.inputs[1] is not None else None
    over = {axis % rank for axis in given} if given else set(range(rank))
    passed = _kept_or_pinned(axes, set(range(rank)) - over, tracker)
    if one.attributes.get("keepdim"):
        return (tuple(passed),)
    return (tuple(labels for axis, labels in enumerate(passed) if axis not in over),)


def reshape(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """`reshape` may name sizes in the code; its −1 and 0 follow the data."""
    before, after = tracker.shape(one.inputs[0]), tracker.shape(one.outputs[0])
    wanted = (
        tracker.program.constants.get(one.inputs[1], ()) if len(one.inputs) > 1 and one.inputs[1] is not None else ()
    )
    literal = frozenset(axis for axis in range(len(after)) if axis >= len(wanted) or wanted[axis] > 0)
    _inherit(one, tracker)
    return (reshaped(tracker.of(one.inputs[0]), before, after, tracker, literal),)


def refold(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """`flatten`, `squeeze` and `unsqueeze` name axes, never sizes."""
    shapes = tracker.shape(one.inputs[0]), tracker.shape(one.outputs[0])
    _inherit(one, tracker)
    return (reshaped(tracker.of(one.inputs[0]), *shapes, tracker, frozenset()),)


def transpose(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Axes change places."""
    axes = tracker.of(one.inputs[0])
    return (tuple(axes[int(axis)] for axis in one.attributes["perm"]),)


def concat(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Along its axis labels follow one another; along the others all inputs have the same."""
    *parts, where = one.inputs
    rank = len(tracker.shape(one.outputs[0]))
    given = tracker.program.constants.get(-1 if where is None else where)
    if not given:
        tracker.pin_all(one)
        return ((None,) * rank,)
    at = given[0] % rank
    result: list[Labels] = []
    for axis in range(rank):
        labels = [tracker.of(part)[axis] for part in parts]
        if axis != at:
            first = labels[0]
            for other in labels[1:]:
                first = tracker.tie(first, other)
            result.append(first)
        elif all(one is None for one in labels):
            result.append(None)
        else:
            sizes = [tracker.shape(part)[axis] for part in parts]
            zeros = [np.zeros(size, dtype=int) for size in sizes]
            result.append(
                np.concatenate([zero if one is None else one for one, zero in zip(labels, zeros, strict=True)])
            )
    return (tuple(result),)


def split(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Parts of equal size are meant to stay equal: they keep the same indices."""
    axes, rank = tracker.of(one.inputs[0]), len(tracker.shape(one.inputs[0]))
    given = tracker.program.constants.get(-1 if one.inputs[-1] is None else one.inputs[-1])
    if not given:
        tracker.pin_all(one)
        return [(None,) * rank for _ in one.outputs]
    at = given[0] % rank
    sizes = [tracker.shape(value)[at] for value in one.outputs]
    results, begin = [], 0
    for size in sizes:
        part = None if axes[at] is None else np.asarray(axes[at])[begin : begin + size]
        results.append(tuple(part if axis == at else labels for axis, labels in enumerate(axes)))
        begin += size
    if (labels := axes[at]) is not None:
        if one.name == "split":
            tracker.literal.append(labels)
        if len(set(sizes)) == 1:
            for result in results[1:]:
                tracker.tie(results[0][at], result[at])
    return results


def cut(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """`slice`: a part of an axis keeps its labels; where it begins and ends may stand in the code as numbers."""
    axes, shape = list(tracker.of(one.inputs[0])), tracker.shape(one.inputs[0])
    limits = [tracker.program.constants.get(-1 if value is None else value) for value in one.inputs[1:3]]
    gone = {int(axis) for axis in one.attributes["decrease_axis"]}
    for number, axis in enumerate(map(int, one.attributes["axes"])):
        labels = axes[axis]
        if labels is None:
            continue
        if limits[0] is None or limits[1] is None or axis in gone:
            tracker.pin(labels)
            axes[axis] = None
            continue
        begin, end = (max(0, one + shape[axis] if one < 0 else one) for one in (limits[0][number], limits[1][number]))
        axes[axis] = labels[begin:end]
        if (begin, min(end, shape[axis])) != (0, shape[axis]):
            tracker.literal.append(labels)
    return (tuple(labels for axis, labels in enumerate(axes) if axis not in gone),)


def same_size(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """`pad` and `expand`: axes that keep their size keep their labels."""
    axes, before, after = tracker.of(one.inputs[0]), tracker.shape(one.inputs[0]), tracker.shape(one.outputs[0])
    shift = len(after) - len(before)
    for value in one.inputs[1:]:
        for labels in tracker.of(value):
            tracker.pin(labels)
    result: list[Labels] = [None] * len(after)
    for axis, labels in enumerate(axes):
        if before[axis] == after[axis + shift]:
            result[axis + shift] = labels
            if labels is not None and one.name == "expand":
                tracker.literal.append(labels)
        else:
            tracker.pin(labels)
    return (tuple(result),)


def prelu(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """One slope for each channel, or one for all."""
    axes, (slope,) = list(tracker.of(one.inputs[0])), tracker.of(one.inputs[1])
    channel = len(axes) - 1 if str(one.attributes["data_format"]).endswith("C") else 1
    if one.attributes["mode"] == "channel":
        axes[channel] = tracker.tie(axes[channel], slope)
    elif slope is not None:
        tracker.pin_all(one)
        return ((None,) * len(axes),)
    return (tuple(axes),)


def shuffle_channel(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """`shuffle_channel` is reshape to [groups, rest], transpose, reshape back."""
    axes, shape = list(tracker.of(one.inputs[0])), tracker.shape(one.inputs[0])
    groups = int(one.attributes["group"])
    inner = reshaped((axes[1],), (shape[1],), (groups, shape[1] // groups), tracker, frozenset())
    sizes = (shape[1] // groups, groups)
    (axes[1],) = reshaped((inner[1], inner[0]), sizes, (math.prod(sizes),), tracker, frozenset())
    return (tuple(axes),)


def plain(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Reads nothing but shapes, or nothing at all: its results bear no labels."""
    for value in one.inputs:
        for labels in tracker.of(value):
            if labels is not None:
                tracker.literal.append(labels)
    return ()


def _kept_or_pinned(axes: Axes, keep: set[int], tracker: Tracker) -> list[Labels]:
    for axis, labels in enumerate(axes):
        if axis not in keep:
            tracker.pin(labels)
    return [labels if axis in keep else None for axis, labels in enumerate(axes)]


def _inherit(one: Operation, tracker: Tracker) -> None:
    """What is made of one parameter alone still is that parameter, when it comes to whose it is."""
    told = [value for value in one.inputs if value is not None and value not in tracker.program.constants]
    if len(told) == 1 and told[0] in tracker.origin:
        tracker.origin[one.outputs[0]] = tracker.origin[told[0]]


_UNARY = """relu relu6 leaky_relu elu selu celu gelu silu swish sigmoid logsigmoid hardswish hardsigmoid hardtanh tanh
    tanh_shrink hardshrink softshrink thresholded_relu softplus softsign mish exp expm1 log log1p log2 sqrt rsqrt square
    abs sin cos erf floor ceil round sign reciprocal scale cast clip assign dropout pow stanh full_like share_data
    logical_not isfinite isnan npu_identity""".split()
_POINTWISE = """add subtract multiply divide maximum minimum fmax fmin elementwise_pow remainder floor_divide where
    greater_than greater_equal less_than less_equal equal not_equal logical_and logical_or logical_xor""".split()
_SPATIAL = "pool2d pool3d nearest_interp bilinear_interp bicubic_interp linear_interp trilinear_interp".split()
_REDUCTIONS = "mean sum max min prod amax amin all any logsumexp".split()
RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNARY, unary),
    **dict.fromkeys(_POINTWISE, pointwise),
    **dict.fromkeys(_SPATIAL, spatial),
    **dict.fromkeys(_REDUCTIONS, reduction),
    **dict.fromkeys(("softmax", "log_softmax"), softmax),
    **dict.fromkeys(("flatten", "squeeze", "unsqueeze"), refold),
    **dict.fromkeys(("split", "split_with_num"), split),
    **dict.fromkeys(("pad", "pad3d", "expand"), same_size),
    **dict.fromkeys(("conv2d", "conv3d", "depthwise_conv2d"), convolution),
    **dict.fromkeys(("conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose"), transposed_convolution),
    **dict.fromkeys(("batch_norm", "sync_batch_norm"), batch_norm),
    **dict.fromkeys(
        ("shape", "shape64", "full", "full_int_array", "data", "arange", "assign_value", "gaussian"), plain
    ),
    "reshape": reshape,
    "transpose": transpose,
    "concat": concat,
    "slice": cut,
    "prelu": prelu,
    "shuffle_channel": shuffle_channel,
    "matmul": matmul,
    "embedding": embedding,
    "instance_norm": instance_norm,
    "group_norm": group_norm,
    "layer_norm": layer_norm,
}
#: What these do costs nothing beside the rest, or is weighed by the rule itself.
UNWEIGHED = frozenset(
    """assign cast share_data dropout reshape flatten squeeze unsqueeze transpose concat split split_with_num slice
    expand conv2d conv3d depthwise_conv2d conv2d_transpose conv3d_transpose depthwise_conv2d_transpose matmul shape
    shape64 full full_int_array data arange assign_value gaussian embedding npu_identity shuffle_channel""".split()
)
