"""The planted faults: each makes a folder of answers that is wrong in one way, and says how that is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.elsewhere.bundles import Asked
from evals.elsewhere.device import Answers, Array, computed, write


@dataclass(frozen=True)
class Fault:
    """One fault: its kind, the network, what it is, the names of the cause that count as right, and how it is made."""

    kind: str
    network: str
    what: str
    causes: tuple[str, ...]
    make: Callable[[Asked, Path], Path]


def _fed(change: Callable[[dict[str, Array]], Mapping[str, Array]]) -> Callable[[Asked, Path], Path]:
    return lambda asked, folder: write(asked, folder, computed(asked, change))


def _each(change: Callable[[Array], Array]) -> Callable[[dict[str, Array]], dict[str, Array]]:
    return lambda inputs: {name: change(value) for name, value in inputs.items()}


def _answered(change: Callable[[Answers], Answers], **about: object) -> Callable[[Asked, Path], Path]:
    return lambda asked, folder: write(asked, folder, change(computed(asked)), **about)


def _only(output: int, change: Callable[[Array], Array]) -> Callable[[Answers], Answers]:
    return lambda answers: {key: change(value) if key[1] == output else value for key, value in answers.items()}


def _swapped(one: int, other: int) -> Callable[[Answers], Answers]:
    places = {one: other, other: one}
    return lambda answers: {(case, places.get(output, output)): value for (case, output), value in answers.items()}


def _stale(answers: Answers) -> Answers:
    """Each case gets the answer of the last case of its shape."""
    last: dict[tuple[int, tuple[int, ...]], Array] = {}
    stale = {}
    for (case, output), value in answers.items():
        stale[case, output] = last.get((output, value.shape), value)
        last[output, value.shape] = value
    return stale


def _without(*cases: int) -> Callable[[Answers], Answers]:
    return lambda answers: {key: value for key, value in answers.items() if key[0] not in cases}


def _cut(share: float, number: int = 0) -> Callable[[Asked, Path], Path]:
    def make(asked: Asked, folder: Path) -> Path:
        write(asked, folder, computed(asked))
        for path in sorted(folder.glob(f"*.{number}.npy")):
            path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        return folder

    return make


def _half(asked: Asked, folder: Path) -> Path:
    return write(asked, folder, computed(asked, half=True))


def _saturated(limit: float) -> Callable[[Answers], Answers]:
    """What an engine gives that clips what float16 cannot hold to its largest number, or to NaN, at the output."""
    return lambda answers: {key: np.full_like(value, limit) for key, value in answers.items()}


def _softmax(value: Array) -> Array:
    raised = np.exp(value - value.max(-1, keepdims=True))
    return (raised / raised.sum(-1, keepdims=True)).astype(value.dtype)


def _as_nhwc(value: Array) -> Array:
    """The buffer of an NCHW tensor, read as NHWC."""
    rows, channels, height, width = value.shape
    return value.reshape(rows, height, width, channels).transpose(0, 3, 1, 2)


def _to_nhwc(value: Array) -> Array:
    """An NCHW tensor written as NHWC into a buffer that is read as NCHW."""
    return np.ascontiguousarray(value.transpose(0, 2, 3, 1)).reshape(value.shape)


def _imagenet(value: Array) -> Array:
    mean, deviation = (np.array(row).reshape(1, 3, 1, 1) for row in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    return (value - mean) / deviation


_NHWC, _SCALE = ("NHWC for NCHW",), ("mean or scale of inputs",)
FAULTS = (
    Fault("layout", "classifier", "inputs read as NHWC", _NHWC, _fed(_each(_as_nhwc))),
    Fault("layout", "classifier", "inputs written as NHWC", _NHWC, _fed(_each(_to_nhwc))),
    Fault("layout", "detector", "inputs read as NHWC", _NHWC, _fed(_each(_as_nhwc))),
    Fault("layout", "detector", "map written as NHWC", _NHWC, _answered(_only(0, _to_nhwc))),
    Fault(
        "layout",
        "detector",
        "map with the shape of NHWC",
        _NHWC,
        _answered(_only(0, lambda x: x.transpose(0, 2, 3, 1))),
    ),
    Fault("swapped", "detector", "boxes and offsets", ("swapped outputs",), _answered(_swapped(1, 2))),
    Fault("swapped", "detector", "map and boxes", ("swapped outputs",), _answered(_swapped(0, 1))),
    Fault("swapped", "classifier", "shares and label", ("swapped outputs",), _answered(_swapped(0, 1))),
    Fault(
        "swapped",
        "pair",
        "the two inputs",
        ("order of inputs",),
        _fed(lambda x: {"query": x["key"], "key": x["query"]}),
    ),
    Fault(
        "renamed", "classifier", "output_0, output_1", ("renamed",), _answered(dict, outputs=["output_0", "output_1"])
    ),
    Fault("renamed", "detector", "Boxes for boxes", ("renamed",), _answered(dict, outputs=["map", "Boxes", "offsets"])),
    Fault("renamed", "pair", "logits for scores", ("renamed",), _answered(dict, outputs=["logits"])),
    Fault("renamed", "labels", "argmax_0", ("renamed",), _answered(dict, outputs=["argmax_0.tmp_0"])),
    Fault("scale", "classifier", "ImageNet's mean once more", _SCALE, _fed(_each(_imagenet))),
    Fault("scale", "detector", "divided by 255", _SCALE, _fed(_each(lambda x: x / 255))),
    Fault("scale", "classifier", "0.7 x + 0.2", _SCALE, _fed(_each(lambda x: 0.7 * x + 0.2))),
    Fault("scale", "pair", "query 2 x - 1", _SCALE, _fed(lambda x: {**x, "query": 2 * x["query"] - 1})),
    Fault("scale", "steep", "0.3 x - 0.4", _SCALE, _fed(_each(lambda x: 0.3 * x - 0.4))),
    Fault("overflow", "steep", "every value in float16", ("fp16 overflow",), _half),
    Fault("overflow", "steep", "NaN for what overflows", ("fp16 overflow", "all NaN"), _answered(_saturated(np.nan))),
    Fault("ties", "labels", "every value in float16", ("argmax of ties",), _half),
    Fault("stale", "classifier", "the answer before", ("stale",), _answered(_stale)),
    Fault("stale", "detector", "the answer before", ("stale",), _answered(_stale)),
    Fault("stale", "pair", "the answer before", ("stale",), _answered(_stale)),
    Fault("stale", "steep", "the answer before", ("stale",), _answered(_stale)),
    Fault("missing", "classifier", "the last case", ("missing",), _answered(lambda x: _without(max(x)[0])(x))),
    Fault("missing", "detector", "two cases", ("missing",), _answered(_without(0, 3))),
    Fault(
        "missing",
        "pair",
        "all but the first",
        ("missing",),
        _answered(lambda x: {key: x[key] for key in x if not key[0]}),
    ),
    Fault("zero", "classifier", "every number", ("all zero",), _answered(lambda x: {key: x[key] * 0 for key in x})),
    Fault("zero", "detector", "the map", ("all zero",), _answered(_only(0, np.zeros_like))),
    Fault("zero", "pair", "the query is never fed", ("input not fed",), _fed(lambda x: {**x, "query": x["query"] * 0})),
    Fault("truncated", "classifier", "half of each file", ("truncated",), _cut(0.7)),
    Fault("truncated", "steep", "the last byte", ("truncated",), _cut(0.999)),
    Fault("truncated", "labels", "nothing but the header", ("truncated",), _cut(0.55)),
    Fault("dtype", "classifier", "float64", ("dtype",), _answered(_only(0, lambda x: x.astype("float64")))),
    Fault("dtype", "labels", "int32", ("dtype",), _answered(_only(0, lambda x: x.astype("int32")))),
    Fault("dtype", "classifier", "labels as float32", ("dtype",), _answered(_only(1, lambda x: x.astype("float32")))),
    Fault("transposed", "pair", "rows and columns", ("transposed",), _answered(_only(0, lambda x: x.T))),
    Fault(
        "transposed",
        "detector",
        "height and width of the map",
        ("transposed",),
        _answered(_only(0, lambda x: x.swapaxes(2, 3))),
    ),
    Fault(
        "transposed",
        "classifier",
        "height and width of the image",
        ("transposed",),
        _fed(_each(lambda x: x.swapaxes(2, 3))),
    ),
    Fault(
        "channel", "classifier", "shares moved by one", ("off by one",), _answered(_only(0, lambda x: np.roll(x, 1, 1)))
    ),
    Fault(
        "channel",
        "detector",
        "channels of the map moved by one",
        ("off by one",),
        _answered(_only(0, lambda x: np.roll(x, -1, 1))),
    ),
    Fault("channel", "detector", "BGR for RGB", ("order of channels",), _fed(_each(lambda x: x[:, ::-1]))),
    Fault(
        "channel",
        "pair",
        "the key moved by one",
        ("off by one",),
        _fed(lambda x: {**x, "key": np.roll(x["key"], 1, 1)}),
    ),
    Fault("softmax", "classifier", "omitted", ("softmax omitted",), _answered(_only(0, lambda x: np.log(x) + 1))),
    Fault("softmax", "classifier", "applied once more", ("softmax applied",), _answered(_only(0, _softmax))),
    Fault("softmax", "pair", "applied", ("softmax applied",), _answered(_only(0, _softmax))),
    Fault(
        "softmax",
        "pair",
        "a sigmoid applied",
        ("sigmoid applied",),
        _answered(_only(0, lambda x: 1 / (1 + np.exp(-x)))),
    ),
)
