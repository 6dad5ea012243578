"""The operators that have weights: which of a weight's axes makes a channel, and which one reads it."""

from __future__ import annotations

from collections.abc import Sequence

from exporter.weights.prune.program import Operation
from exporter.weights.prune.tracker import Axes, Labels, Tracker


def convolution(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Weight [out, in / groups, …]. A depthwise one passes channels on; in groups, all groups keep the same indices."""
    source, weight = one.inputs[:2]
    x, w = tracker.of(source), tracker.of(weight)
    groups, channel = int(one.attributes["groups"]), _channel(one, len(x))
    _pin_other(x, {0, channel}, tracker)
    _pin_other(w, {0, 1}, tracker)
    inner = tracker.shape(weight)[1]
    if groups == 1:
        tracker.tie(x[channel], w[1]) if inner > 1 else None
        made = w[0]
    elif inner == 1:
        made = _depthwise(one, tracker, x[channel], w[0])
    else:
        made = _grouped(tracker, x[channel], w, groups)
    if made is not None and (groups == 1 or inner > 1) and weight in tracker.origin:
        tracker.made.append(made)
    result = _placed(one, tracker, x[0], made, channel)
    sizes = tracker.shape(one.outputs[0]) + tracker.shape(weight)[1:]
    tracker.weigh(2, result + w[1:2] + (None,) * (len(w) - 2), sizes)
    return (result,)


def _depthwise(one: Operation, tracker: Tracker, channels: Labels, outs: Labels) -> Labels:
    groups = int(one.attributes["groups"])
    if channels is None or outs is None:
        tracker.pin(channels)
        tracker.pin(outs)
        return None
    tracker.tie(channels[:, None], outs.reshape(groups, -1))
    if (weight := tracker.origin.get(one.inputs[1] or 0)) is not None:
        tracker.counts.append((weight, "_groups", channels, 1))
    return outs


def _grouped(tracker: Tracker, channels: Labels, w: Axes, groups: int) -> Labels:
    if channels is None:
        tracker.pin(w[1])
    else:
        inside = channels.reshape(groups, -1)
        tracker.tie(inside[:1], inside)
        tracker.tie(inside[0], w[1])
    if w[0] is not None:
        outs = w[0].reshape(groups, -1)
        tracker.tie(outs[:1], outs)
    return w[0]


def transposed_convolution(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Weight [in, out / groups, …]; in groups only depthwise, one out of one, is followed."""
    source, weight = one.inputs[:2]
    x, w = tracker.of(source), tracker.of(weight)
    groups, channel = int(one.attributes["groups"]), _channel(one, len(x))
    _pin_other(x, {0, channel}, tracker)
    _pin_other(w, {0, 1}, tracker)
    for value in one.inputs[2:]:
        _pin_other(tracker.of(value), set(), tracker)
    made: Labels = None
    if groups == 1:
        tracker.tie(x[channel], w[0])
        made = w[1]
        if made is not None and weight in tracker.origin:
            tracker.made.append(made)
    elif tracker.shape(weight)[1] == 1 and tracker.shape(weight)[0] == groups:
        made = _depthwise(one, tracker, x[channel], w[0])
    else:
        _pin_other(x + w, set(), tracker)
    result = _placed(one, tracker, x[0], made, channel)
    each = tracker.shape(weight)[1:]
    tracker.weigh(
        2, x[:1] + tuple(_plain(x, {0, channel})[1:]) + (w[1], *(None,) * (len(w) - 2)), tracker.shape(source) + each
    )
    return (result,)


def matmul(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """[…, m, k] × […, k, n]: the k of both sides keep the same indices; those in front are broadcast."""
    left, right = one.inputs[:2]
    x, y = list(tracker.of(left)), list(tracker.of(right))
    sizes, others = list(tracker.shape(left)), list(tracker.shape(right))
    if len(x) < 2 or len(y) < 2:
        tracker.pin_all(one)
        return ((None,) * len(tracker.shape(one.outputs[0])),)
    for turned, axes, shape in ((one.attributes["transpose_x"], x, sizes), (one.attributes["transpose_y"], y, others)):
        if turned:
            axes[-2:], shape[-2:] = axes[:-3:-1], shape[:-3:-1]
    tracker.tie(x[-1], y[-2])
    if y[-1] is not None and right in tracker.origin:
        tracker.made.append(y[-1])
    out = tracker.shape(one.outputs[0])
    front: list[Labels] = []
    for axis in range(-len(out), -2):
        pair = [
            side[axis] for side, shape in ((x, sizes), (y, others)) if len(shape) >= -axis and shape[axis] == out[axis]
        ]
        front.append(pair[0] if len(pair) == 1 else tracker.tie(*pair) if out[axis] > 1 else None)
    result = (*front, x[-2], y[-1])
    tracker.weigh(2, (*result, x[-1]), (*out, sizes[-1]))
    return (result,)


def embedding(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Weight [entries, width]: entries stay, the width is made."""
    ids, weight = one.inputs[:2]
    _pin_other(tracker.of(weight), {1}, tracker)
    width = tracker.of(weight)[1]
    if width is not None:
        tracker.made.append(width)
    return ((*tracker.of(ids), width),)


def batch_norm(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Each channel by itself, with its own mean, variance, scale and bias."""
    return (_per_channel(one, tracker, one.inputs[1:]),)


def instance_norm(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Each channel by itself, with its own scale and bias."""
    return (_per_channel(one, tracker, one.inputs[1:]),)


def group_norm(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Channels of one group share mean and variance, so a group goes or stays whole."""
    x = tracker.of(one.inputs[0])
    channel, groups = _channel(one, len(x)), int(one.attributes["groups"])
    scale = tracker.origin.get(one.inputs[1]) if len(one.inputs) > 1 and one.inputs[1] is not None else None
    labels = x[channel]
    if labels is not None and scale is None:  # no weight tells which sublayer counts the groups
        tracker.pin(labels)
    elif labels is not None and scale is not None:
        inside = labels.reshape(groups, -1)
        tracker.tie(inside[:, :1], inside)
        tracker.counts.append((scale, "_num_groups", labels, inside.shape[1]))
    return (_per_channel(one, tracker, one.inputs[1:]),)


def layer_norm(one: Operation, tracker: Tracker) -> Sequence[Axes]:
    """Along the normalised axes every element depends on every other."""
    x, begin = tracker.of(one.inputs[0]), int(one.attributes["begin_norm_axis"])
    for value in one.inputs[1:]:
        _pin_other(tracker.of(value), set(), tracker)
    _pin_other(x, set(range(begin)), tracker)
    return (tuple(_plain(x, set(range(begin)))),)


def _per_channel(one: Operation, tracker: Tracker, tensors: Sequence[int | None]) -> Axes:
    x = list(tracker.of(one.inputs[0]))
    channel = _channel(one, len(x))
    for value in tensors:
        if value is not None and len(tracker.shape(value)) == 1:
            x[channel] = tracker.tie(x[channel], tracker.of(value)[0])
    _pin_other(tuple(x), {0, channel}, tracker)
    return tuple(_plain(x, {0, channel}))


def _channel(one: Operation, rank: int) -> int:
    """Which axis holds the channels: data formats are NCHW, NCDHW, NHWC and the like."""
    layout = str(one.attributes.get("data_format", one.attributes.get("data_layout", "NCHW")))
    return rank - 1 if layout.endswith("C") and rank > 2 else 1


def _placed(one: Operation, tracker: Tracker, batch: Labels, channels: Labels, channel: int) -> Axes:
    rank = len(tracker.shape(one.outputs[0]))
    return tuple(batch if axis == 0 else channels if axis == channel else None for axis in range(rank))


def _plain(axes: Sequence[Labels], keep: set[int]) -> list[Labels]:
    return [labels if axis in keep else None for axis, labels in enumerate(axes)]


def _pin_other(axes: Sequence[Labels], keep: set[int], tracker: Tracker) -> None:
    for axis, labels in enumerate(axes):
        if axis not in keep:
            tracker.pin(labels)
