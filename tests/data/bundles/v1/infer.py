#!/usr/bin/env python3
"""From raw files to answers: the steps before the model, the model, and those after it, as its release compared them.

    python infer.py FILE... [--variant NAME] [--out FOLDER]

FILE is a picture, a .txt file with a sample a line, a .npy array, or a .safetensors file of arrays. One JSON object a
sample is printed; with --out large answers go into FOLDER as .npy. It needs Python 3.10, numpy, Pillow where a step
reads pictures, and onnxruntime for a model.onnx, else Paddle. Exit codes: 0 done, 2 a sample is wrong, 3 something is
not installed. The steps below are those of the exporter, in their own words; what they are called with stands in
pipeline.json.
"""


import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias  # noqa: F401 - the steps use them

BUNDLE = Path(__file__).resolve().parent
#: Numbers of an answer that are printed; larger ones are only described, unless --out says where they may go.
MOST_PRINTED = 1000
#: Steps whose answer is UTF-8.
TEXTS = ("ctc", "labels")


# ---- what the steps are written with --------------------------------------------------------------------------------
class UsageError(Exception):
    """Something is wrong with a sample."""

    def __init__(self, what: "str", where: "str" = "", hint: "str" = "") -> "None":
        super().__init__(f"{where}: {what}" if where else what)
        self.what, self.where, self.hint = what, where, hint


class EnvironmentLacks(UsageError):
    """Something is not installed."""


def did_you_mean(word: "str", known: "Any", default: "str" = "") -> "str":
    """What else there is."""
    del word
    return default or f"one of: {', '.join(known)}"


class BaseModel:
    """A step's options, which the release has checked; a list is a tuple."""

    def __init__(self, **options: "Any") -> "None":
        vars(self).update({name: tuple(value) if isinstance(value, list) else value for name, value in options.items()})


def ConfigDict(**_: "Any") -> "dict[str, Any]":  # noqa: N802 - pydantic's name
    """Nothing: the release has checked the options."""
    return {}


def Field(*_: "Any", **__: "Any") -> "Any":  # noqa: N802 - pydantic's name
    """Nothing, likewise."""
    return None


Strict = BeforeValidator = AfterValidator = Field


def model_validator(**_: "Any") -> "Callable[[Any], Any]":
    """Nothing, likewise."""
    return lambda function: function


field_validator = model_validator

"""The contract of a step: arrays in, arrays out, with options that are checked before anything runs.

A state maps names to arrays. `VALUE` is what the steps hand on: the bytes of a file as uint8 [size], a picture as
uint8 [height, width, channels], a tensor. Other names hold what a detector reads beside the picture. After the model
the state holds its outputs under their names, and `VALUE` the first of them.
"""






#: A count of pixels or tokens.
Size = Annotated[int, Strict(), Field(ge=1, le=1 << 16)]
#: Names in their order; as one text the file that holds them, one a line.
Words = Annotated[tuple[str, ...], Field(min_length=1)] | Annotated[str, Field(min_length=1)]
#: The name of what a step hands on to the next.
VALUE = "value"
#: How many classes the numbers in `VALUE` are places of, int64 []. No output of a model can have that name.
CLASSES = "value.classes"

#: Written as text, so that a module may name it without importing numpy.
State: "TypeAlias" = "Mapping[str, Array]"


class Step(BaseModel):
    """A step with its options. A kind is a subclass whose fields are the options; its name is the name of its file.

    `package` is the extra that has to be installed to run it, where NumPy alone cannot. `dtypes` and `axes` say which
    arrays it takes: names of dtypes (none: any) and numbers of axes (none: any). `files` are the options that may name
    a file of words; such a step cannot run before it is settled (:mod:`exporter.steps.settle`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)

    package: "ClassVar[str]" = ""
    files: "ClassVar[Sequence[str]]" = ()
    dtypes: "ClassVar[Sequence[str]]" = ()
    axes: "ClassVar[Sequence[int]]" = ()

    def run(self, value: "Array") -> "Array":
        """What the step makes of one sample's value; the argument is left as it is.

        Raises:
            UsageError: the value is none that the step takes.
        """
        raise NotImplementedError

    def apply(self, state: "State") -> "dict[str, Array]":
        """The state after the step; most steps only change `VALUE`.

        Raises:
            UsageError: the state is none that the step takes.
        """
        value = state[VALUE]
        if self.axes and value.ndim not in self.axes:
            wanted = " or ".join(map(str, self.axes))
            raise UsageError(
                f"it takes an array of {wanted} axes, and got one of shape {list(value.shape)}",
                hint="put the step where its input has that form",
            )
        if self.dtypes and value.dtype.name not in self.dtypes:
            raise UsageError(
                f"it takes {' or '.join(self.dtypes)}, and got {value.dtype.name}",
                hint="put the step where its input has that dtype, or a `cast` before it",
            )
        try:
            return {**state, VALUE: self.run(value)}
        except (ValueError, IndexError, OverflowError) as error:  # of NumPy: an axis or a size that is not there
            what = f"it cannot take {value.dtype.name} of shape {list(value.shape)}: {error}"
            raise UsageError(what, hint="correct its options, or put it where its input has another form") from error

    def options(self) -> "dict[str, Any]":
        """The options that were given, as plain data."""
        return self.model_dump(mode="json", exclude_unset=True)


def kind_layout() -> "dict[str, Any]":
    """Axes in another order."""






    class Layout(Step):
        """[height, width, channels] to [channels, height, width] with `to: chw`, and back with `to: hwc`."""

        axes: "ClassVar[Sequence[int]]" = (3,)

        to: "Literal['chw', 'hwc']" = "chw"

        def run(self, value: "Array") -> "Array":
            import numpy as np

            return np.ascontiguousarray(value.transpose((2, 0, 1) if self.to == "chw" else (1, 2, 0)))


    plugin: type[Step] = Layout
    return locals()


def kind_normalize() -> "dict[str, Any]":
    """Scaling to the numbers that a net was trained with."""







    class Normalize(Step):
        """`(value * scale - mean) / std`, computed in float32; `mean` and `std` are one number, or one for each channel.

        `scale` may be written as a fraction: `1/255`. The channels are the last axis unless `axis` is `first`.
        """

        axes: "ClassVar[Sequence[int]]" = (1, 2, 3, 4)

        scale: "Annotated[float, Field(gt=0)]" = 1.0
        mean: "Annotated[tuple[float, ...], Field(min_length=1)]" = (0.0,)
        std: "Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1)]" = (1.0,)
        axis: "Literal['first', 'last']" = "last"

        @model_validator(mode="before")
        @classmethod
        def _plain(cls, given: "object") -> "object":
            if not isinstance(given, dict):
                return given
            read = dict(given)
            if isinstance(read.get("scale"), str):
                read["scale"] = fraction(read["scale"])
            for key in ("mean", "std"):
                if isinstance(read.get(key), (int, float)) and not isinstance(read[key], bool):
                    read[key] = (read[key],)
            return read

        def run(self, value: "Array") -> "Array":
            import numpy as np

            channels = value.shape[0 if self.axis == "first" else -1]
            for name, numbers in (("mean", self.mean), ("std", self.std)):
                if len(numbers) not in (1, channels):
                    raise UsageError(
                        f"`{name}` has {len(numbers)} numbers, and the array of shape {list(value.shape)} has {channels} "
                        "channels",
                        hint=f"give one number, or one for each channel; `axis` says where those are ({self.axis} now)",
                    )
            shape = (-1, *(1,) * (value.ndim - 1)) if self.axis == "first" else (-1,)
            mean, std = (np.asarray(numbers, "float32").reshape(shape) for numbers in (self.mean, self.std))
            return np.asarray((value.astype("float32") * np.float32(self.scale) - mean) / std)


    def fraction(text: "str") -> "float":
        """The number that a text such as `1./255.` means.

        Raises:
            ValueError: it is none.
        """
        above, _, below = text.partition("/")
        divisor = float(below) if below else 1.0
        if divisor == 0:
            raise ValueError(f"'{text}' divides by zero")
        return float(above) / divisor


    plugin: type[Step] = Normalize
    return locals()


def kind__resample() -> "dict[str, Any]":
    """Resizing in NumPy, by the rules of OpenCV and of Pillow.

    OpenCV (modules/imgproc/src/resize.cpp, 4.10) takes the neighbours of a point however much it shrinks, and computes
    uint8 with weights of 11 bits; Pillow (src/libImaging/Resample.c, 11) widens the filter by the factor it shrinks by,
    and rounds to uint8 between its two passes. The horizontal one comes first; from Pillow 13.0 on the vertical one, where
    more than twice as many rows go as columns: `pillow13`.
    """



    import numpy as np


    Interpolation = Literal["nearest", "linear", "cubic", "area", "lanczos"]
    Library = Literal["opencv", "pillow", "pillow13"]
    #: Neighbours and weights of each point of an axis: [size, taps] each.
    Taps = tuple[Any, Any]
    #: By how much the height and the width grow.
    Factors: TypeAlias = tuple[float, float]

    #: OpenCV's weights of uint8 are multiples of 2⁻¹¹.
    _ONE = 1 << 11
    _FINE = 1 << 22
    #: The numbers of a vector that OpenCV's last pass takes at once.
    _VECTOR = 8
    #: Parts of a pixel that OpenCV leaves out of a mean.
    _LEAST = 1e-3


    def resample(
        value: "Array", height: "int", width: "int", how: "Interpolation", library: "Library", factors: "Factors | None" = None
    ) -> "Array":
        """[height, width, channels] in another size and the same dtype, which is uint8 or a float.

        `factors` are those of the rows and columns where OpenCV is given them (`fx`, `fy`) instead of the size.
        """
        if value.shape[:2] == (height, width):
            return value.copy()
        if how == "nearest":
            return _nearest(value, height, width, library)
        if library == "opencv":
            return _opencv(value, (height, width), how, factors)
        return _pillow(value, _passes(value, height, width, library), how)


    def _nearest(value: "Array", height: "int", width: "int", library: "Library") -> "Array":
        rows, columns = (
            nearest_places(old, new, library) for old, new in zip(value.shape[:2], (height, width), strict=True)
        )
        return np.asarray(value[rows][:, columns])


    def nearest_places(old: "int", new: "int", library: "Library") -> "Array":
        """The point of an axis that each of `new` ones is copied from, int64 [new].

        OpenCV takes the point at the upper left of each cell, Pillow the one in its middle.
        """
        shift, scale = (0.0, 1.0 / (new / old)) if library == "opencv" else (0.5, old / new)
        return np.asarray(np.minimum(np.floor((np.arange(new) + shift) * scale).astype(np.int64), old - 1))


    # ---- OpenCV --------------------------------------------------------------------------------------------------------


    def _opencv(value: "Array", size: "tuple[int, int]", how: "Interpolation", factors: "Factors | None") -> "Array":
        old, (height, width) = value.shape[:2], size
        shrinks = old[0] >= height and old[1] >= width
        if how == "area" and shrinks:
            return _area(value, height, width)
        by = factors or (None, None)
        taps = [neighbours(old[axis], new, how, axis, by[axis]) for axis, new in enumerate(size)]
        if value.dtype != np.uint8:
            return np.asarray(_weighed(_weighed(value, taps[1], 1), taps[0], 0), dtype=value.dtype)
        whole = [(places, whole_weights(weights)) for places, weights in taps]
        across = _weighed(value.astype(np.int64), whole[1], 1)
        if how in ("linear", "area"):
            places, weights = whole[0]
            terms = [(across[places[:, at]] >> 4) * weights[:, at, None, None] >> 16 for at in range(2)]
            return np.asarray(np.clip((terms[0] + terms[1] + 2) >> 2, 0, 255), dtype=np.uint8)
        if how == "cubic":
            return _down_in_floats(across, whole[0])
        down = _weighed(across, whole[0], 0)
        return np.asarray(np.clip((down + (1 << 21)) >> 22, 0, 255), dtype=np.uint8)


    def _opencvs_cubic(part: "Array") -> "Array":
        """Keys' filter with a = -0.75 in float32, the last weight being what is left of 1 (`interpolateCubic`)."""
        a, one = np.float32(-0.75), np.float32(1)
        beyond, rest = part + one, one - part
        before = ((a * beyond - 5 * a) * beyond + 8 * a) * beyond - 4 * a
        here, behind = (((a + 2) * x - (a + 3)) * x * x + one for x in (part, rest))
        return np.asarray(np.stack([before, here, behind, one - before - here - behind], 1))


    def _down_in_floats(across: "Array", rows: "Taps") -> "Array":
        """The last pass of bytes: of as many columns as fill a vector in float32, of those behind them in whole numbers."""
        shape = across.shape
        flat = across.reshape(shape[0], 1, -1)
        filled = flat.shape[2] // _VECTOR * _VECTOR
        places, weights = rows
        floats = weights.astype(np.float32) * np.float32(1 / _FINE)
        total = flat[places[:, -1], :, :filled].astype(np.float32) * floats[:, -1, None, None]
        for at in reversed(range(places.shape[1] - 1)):
            total = flat[places[:, at], :, :filled].astype(np.float32) * floats[:, at, None, None] + total
        behind = (_weighed(flat[:, :, filled:], rows, 0) + (1 << 21)) >> 22
        result = np.concatenate([np.rint(total).astype(np.int64), behind], axis=2)
        return np.asarray(np.clip(result, 0, 255), dtype=np.uint8).reshape(-1, *shape[1:])


    def whole_weights(weights: "Array") -> "Array":
        """OpenCV's weights of uint8: multiples of 2⁻¹¹ (INTER_RESIZE_COEF_BITS), as whole numbers int64."""
        return np.asarray(np.rint(weights * _ONE), dtype=np.int64)


    def neighbours(old: "int", new: "int", how: "Interpolation", axis: "int", factor: "float | None" = None) -> "Taps":
        """The points around each new one. The ends of the axis are repeated.

        Places and weights are float32's of a scale that is rounded twice, as OpenCV's are: a byte may hang on it.
        """
        factor = factor or new / old
        scale = 1.0 / factor
        if how == "area":  # where the other axis grows, "area" is linear with weights of its own
            left = np.floor(np.arange(new) * scale)
            part = ((np.arange(new) + 1) - (left + 1) * factor).astype(np.float32)
            part = np.where(part <= 0, np.float32(0), part - np.floor(part))
        else:
            centre = ((np.arange(new) + 0.5) * scale - 0.5).astype(np.float32)
            left = np.floor(centre)
            part = centre - left
        if how in ("linear", "area"):
            if axis == 1:  # at the border a column's weight moves with its place, a row's does not
                part = np.where((left < 0) | (left >= old - 1), np.float32(0), part)
                left = np.clip(left, 0, old - 1)
            first, weights = left, np.stack([np.float32(1) - part, part], 1)
        elif how == "cubic":
            first, weights = left - 1, _opencvs_cubic(part)
        else:
            first, weights = left - 3, _filtered(part.astype(np.float64), range(-3, 5), _lanczos(4))
        places = first[:, None] + np.arange(weights.shape[1])
        return np.clip(places, 0, old - 1).astype(np.int64), weights


    def _filtered(part: "Array", offsets: "range", kernel: "Callable[[Array], Array]") -> "Array":
        weights = kernel(np.asarray(offsets)[None, :] - part[:, None])
        return np.asarray(weights / weights.sum(1, keepdims=True))


    def _area(value: "Array", height: "int", width: "int") -> "Array":
        """The mean of the pixels that each new one covers, each counted by the part that is covered; in float32.

        Of whole pixels the sum is multiplied, and of four of them rounded up.
        """
        old = value.shape[:2]
        if value.dtype == np.uint8 and old[0] % height == 0 and old[1] % width == 0:
            blocks = value.reshape(height, old[0] // height, width, old[1] // width, -1).astype(np.int64)
            total, count = blocks.sum((1, 3)), blocks.shape[1] * blocks.shape[3]
            if blocks.shape[1] == blocks.shape[3] == 2:
                return np.asarray((total + 2) >> 2, dtype=np.uint8)
            return np.asarray(np.rint(total.astype(np.float32) * np.float32(1 / count)), dtype=np.uint8)
        taps = [_covered(side, new) for side, new in zip(old, (height, width), strict=True)]
        kind = np.float64 if value.dtype == np.float64 else np.float32
        mean = _weighed(_weighed(value.astype(kind), taps[1], 1), taps[0], 0)
        return np.rint(mean).astype(np.uint8) if value.dtype == np.uint8 else mean.astype(value.dtype)


    def _covered(old: "int", new: "int") -> "Taps":
        """The points that each new one covers, and their parts of it; less than a thousandth of a point is left out."""
        scale = 1.0 / (new / old)
        begin = np.arange(new) * scale
        end, length = begin + scale, np.minimum(scale, old - begin)
        last = np.minimum(np.floor(end).astype(np.int64), old - 1)
        first = np.minimum(np.ceil(begin).astype(np.int64), last)
        places = (first - 1)[:, None] + np.arange(int((last - first).max()) + 2)
        weights = np.where((places >= first[:, None]) & (places < last[:, None]), 1.0, 0.0)
        before, behind = first - begin, np.minimum(np.minimum(end - last, 1.0), length)
        weights[:, 0] = np.where(before > _LEAST, before, 0.0)
        rows = np.arange(new)
        weights[rows, last - first + 1] = np.where(end - last > _LEAST, behind, 0.0)
        return np.clip(places, 0, old - 1), (weights / length[:, None]).astype(np.float32)


    # ---- Pillow --------------------------------------------------------------------------------------------------------


    def _pillow(
        value: "Array", passes: "Sequence[tuple[int, int]]", how: "Interpolation", lengths: "Sequence[float] | None" = None
    ) -> "Array":
        """One axis, then the other, each to its size and rounded to uint8; an axis whose size stays is left alone."""
        result, lengths = value, lengths or value.shape[:2]
        for axis, new in passes:
            if result.shape[axis] == new == lengths[axis]:
                continue
            rounds = value.dtype == np.uint8
            places, weights = _widened(result.shape[axis], new, how, lengths[axis])
            if rounds:  # its weights of uint8 are multiples of 2⁻²²
                weights = np.where(weights < 0, np.ceil(weights * _FINE - 0.5), np.floor(weights * _FINE + 0.5)) / _FINE
            passed = _weighed(result.astype(np.float64), (places, weights), axis)
            result = np.clip(np.floor(passed + 0.5), 0, 255).astype(np.uint8) if rounds else passed.astype(value.dtype)
        return result


    #: The filter of each interpolation, and how far it reaches.
    _FILTERS: dict[str, tuple[Callable[[Any], Any], float]] = {}


    def reduced(value: "Array", height: "int", width: "int", how: "Interpolation", library: "Library") -> "Array":
        """Resize as Pillow's `thumbnail` does: first by means of whole blocks, to no less than twice the size.

        A side that the blocks do not divide counts as the part of a block that it is.
        """
        old = value.shape[:2]
        blocks = tuple(max(int(side / new / 2.0), 1) for side, new in zip(old, (height, width), strict=True))
        if old == (height, width) or blocks == (1, 1):
            return resample(value, height, width, how, library)
        small = _means(value, *blocks)
        lengths = [float(np.float32(side / block)) for side, block in zip(old, blocks, strict=True)]
        return _pillow(small, _passes(small, height, width, library), how, lengths)


    def _passes(value: "Array", height: "int", width: "int", library: "Library") -> "tuple[tuple[int, int], ...]":
        """Each axis with its new size, in the order in which they are resized."""
        rows, columns = value.shape[0] - height, value.shape[1] - width
        vertical_first = library == "pillow13" and rows > max(0, 2 * columns)
        return ((0, height), (1, width)) if vertical_first else ((1, width), (0, height))


    def _means(value: "Array", rows: "int", columns: "int") -> "Array":
        """The rounded mean of each block, of those at the right and below of what there is (Reduce.c, 11)."""
        places = [np.arange(0, size, step) for size, step in zip(value.shape[:2], (rows, columns), strict=True)]
        sums = np.add.reduceat(np.add.reduceat(value.astype(np.int64), places[0], 0), places[1], 1)
        counts = [np.diff(np.append(at, size)) for at, size in zip(places, value.shape[:2], strict=True)]
        count = (counts[0][:, None] * counts[1])[:, :, None]
        factor = np.floor(float(1 << 32) / (256 * count)).astype(np.int64)
        return np.asarray(((sums + count // 2) * factor) >> 24, dtype=np.uint8)


    def _widened(old: "int", new: "int", how: "Interpolation", length: "float") -> "Taps":
        """The points around each new one; all of them stand for `length` of the `old` ones."""
        kernel, reach = _FILTERS[how]
        scale = length / new
        wide = max(scale, 1.0)
        support = reach * wide
        centre = (np.arange(new) + 0.5) * scale
        first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
        last = np.minimum((centre + support + 0.5).astype(np.int64), old)
        places = first[:, None] + np.arange(int((last - first).max()))
        weights = kernel((places + 0.5 - centre[:, None]) / wide)
        weights = np.where(places < last[:, None], weights, 0.0)
        return np.minimum(places, old - 1), weights / weights.sum(1, keepdims=True)


    # ---- filters -------------------------------------------------------------------------------------------------------


    def _weighed(value: "Array", taps: "Taps", axis: "int") -> "Array":
        """The sum of the neighbours along an axis, each times its weight."""
        places, weights = taps
        shape = (-1, 1, 1) if axis == 0 else (1, -1, 1)
        terms = (value.take(places[:, at], axis) * weights[:, at].reshape(shape) for at in range(places.shape[1]))
        total: Array = next(terms)
        for term in terms:
            total = total + term
        return total


    def _cubic(a: "float") -> "Callable[[Array], Array]":
        """Keys' filter."""

        def kernel(x: "Array") -> "Array":
            x = np.abs(x)
            near = ((a + 2) * x - (a + 3)) * x * x + 1
            far = (((x - 5) * x + 8) * x - 4) * a
            return np.where(x < 1, near, np.where(x < 2, far, 0.0))

        return kernel


    def _lanczos(lobes: "int") -> "Callable[[Array], Array]":
        def kernel(x: "Array") -> "Array":
            return np.asarray(np.where(np.abs(x) < lobes, np.sinc(x) * np.sinc(x / lobes), 0.0))

        return kernel


    def _triangle(x: "Array") -> "Array":
        return np.asarray(np.maximum(1 - np.abs(x), 0.0))


    def _box(x: "Array") -> "Array":
        return np.where((x > -0.5) & (x <= 0.5), 1.0, 0.0)


    _FILTERS |= {
        "linear": (_triangle, 1.0),
        "cubic": (_cubic(-0.5), 2.0),
        "area": (_box, 0.5),
        "lanczos": (_lanczos(3), 3.0),
    }
    return locals()


def kind_resize() -> "dict[str, Any]":
    """Another size of a picture."""


    import math




    Rule: TypeAlias = (
        Literal["exact", "short", "long", "fit", "within", "line", "long_line", "height", "span", "blocks"]
        | Literal["at_most", "at_least", "grow", "shrink", "factor"]
    )


    class Resize(Step):
        """Resizes [height, width, channels] by one of these rules; sizes are pixels.

        - `exact`: to `height` x `width`.
        - `short`, `long`: the shorter or the longer side to `size`, the other in proportion.
        - `fit`: in proportion, as large as `height` x `width` hold.
        - `within`: in proportion to the short and long of `height` and `width`, whichever way the picture lies.
        - `line`: to `height`; in proportion and at most `width` wide, rounded up: lines of text.
        - `long_line`: as `line`; a longer one in proportion, rounded down.
        - `height`: to `height`; the width in proportion, rounded up.
        - `span`: to `height`; the width in proportion, rounded to `multiple_of`, from `least` to `width`.
        - `blocks`: to `height`; one, two or three times as wide, whichever the picture is not wider than, else to `width`.
        - `at_most`, `at_least`: the longer side at most, or the shorter one at least `size`, else as it is. Here and with
          `long` a side that comes out longer than `most` becomes so long, and the other in proportion, rounded down.
        - `grow`: by 1.25, or to a height of `size` where that is less.
        - `shrink`: in proportion into `height` x `width`, as Pillow's `thumbnail` does; a smaller picture stays.
        - `factor`: as `within`, with the factor handed to OpenCV (`fx`, `fy`), which places pixels by it.

        A side in proportion is rounded to the nearest pixel, of two as near to the even one or with `half_up` to the
        larger; or `down`, as a product with a factor; or `whole`: down, without the error of that factor. `multiple_of`
        then rounds both sides to the nearest multiple, at least one, or with `multiple: up` to the next. `library` says by
        whose rules it interpolates; `pillow13` is Pillow from 13.0 on, which differs where more than twice as many rows go
        as columns. With `tracks` the state gets what PaddleDetection's nets read: `im_shape` (height and width that came
        out, of `factor` before they are rounded; float32) and `scale_factor` (both factors, float32).
        """

        axes: "ClassVar[Sequence[int]]" = (3,)
        dtypes: "ClassVar[Sequence[str]]" = ("uint8", "float32", "float64")

        rule: "Rule" = "exact"
        height: "Size | None" = None
        width: "Size | None" = None
        size: "Size | None" = None
        least: "Size | None" = None
        most: "Size | None" = None
        multiple_of: "Size" = 1
        multiple: "Literal['nearest', 'up']" = "nearest"
        rounding: "Literal['nearest', 'half_up', 'down', 'whole']" = "nearest"
        interpolation: "Literal['nearest', 'linear', 'cubic', 'area', 'lanczos']" = "linear"
        library: "Literal['opencv', 'pillow', 'pillow13']" = "opencv"
        tracks: "bool" = False

        @model_validator(mode="after")
        def _sizes_of_the_rule(self) -> "Resize":
            wanted = _SIZES.get(self.rule, {"height", "width"})
            given = {name for name in ("height", "width", "size", "least") if getattr(self, name) is not None}
            if given != wanted:
                raise ValueError(f"rule `{self.rule}` takes {' and '.join(f'`{name}`' for name in sorted(wanted))}")
            if self.most is not None and self.rule not in ("long", "at_most", "at_least"):
                raise ValueError(f"rule `{self.rule}` takes no `most`")
            if self.rule == "shrink" and (self.library == "opencv" or self.interpolation == "nearest"):
                raise ValueError(
                    "rule `shrink` is Pillow's: give `library: pillow`, and another interpolation than nearest"
                )
            if self.rule == "factor" and (self.library != "opencv" or self.interpolation in ("nearest", "area")):
                raise ValueError("rule `factor` is OpenCV's, and is known of linear, cubic and lanczos")
            return self

        def target(self, tall: "int", wide: "int") -> "tuple[int, int]":
            """The height and width, in pixels, that a picture of `tall` x `wide` gets."""
            height, width = _RULES[self.rule](self, tall, wide)
            if self.most is not None and max(height, width) > self.most:  # `max_side_limit` of PaddleOCR 3.2
                factor = self.most / max(height, width)
                height, width = int(height * factor), int(width * factor)
            if self.multiple_of > 1 and self.rule != "span":
                step = self.multiple_of
                whole = math.ceil if self.multiple == "up" else round
                height, width = (max(whole(size / step) * step, step) for size in (height, width))
            return max(height, 1), max(width, 1)

        def run(self, value: "Array") -> "Array":
            reduced = kind__resample()["reduced"]
            resample = kind__resample()["resample"]

            height, width = self.target(*value.shape[:2])
            if self.rule == "shrink":
                return reduced(value, height, width, self.interpolation, self.library)
            factor = self.factor(*value.shape[:2])
            factors = (factor, factor) if self.rule == "factor" else None
            return resample(value, height, width, self.interpolation, self.library, factors)

        def factor(self, tall: "int", wide: "int") -> "float":
            """By how much a picture of `tall` x `wide` grows with the rules `fit`, `within` and `factor`."""
            height, width = self.height or 1, self.width or 1
            if self.rule == "fit":
                return min(height / tall, width / wide)
            return min(min(height, width) / min(tall, wide), max(height, width) / max(tall, wide))

        def apply(self, state: "State") -> "dict[str, Array]":
            import numpy as np

            after = super().apply(state)
            if self.tracks:
                before, now = state[VALUE].shape[:2], after[VALUE].shape[:2]
                factors = [b / a for a, b in zip(before, now, strict=True)]
                if self.rule in ("fit", "factor"):  # `LetterBoxResize` and `RResize` of ppdet 2.6
                    factors = [self.factor(*before)] * 2
                exact = [side * factor for side, factor in zip(before, factors, strict=True)]
                after["im_shape"] = np.asarray(exact if self.rule == "factor" else now, "float32")
                after["scale_factor"] = np.asarray(factors, "float32")
            return after


    def _exact(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        del tall, wide
        return step.height or 1, step.width or 1


    def _side(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """The side that decides gets just its size; the other is rounded."""
        by = min(tall, wide) if step.rule in ("short", "at_least") else max(tall, wide)
        size = step.size or 1
        if (step.rule == "at_most" and by <= size) or (step.rule == "at_least" and by >= size):
            return tall, wide
        if step.rounding == "whole":
            return tall * size // by, wide * size // by
        factor = size / by
        return _whole(step, tall * factor), _whole(step, wide * factor)


    def _whole(step: "Resize", length: "float") -> "int":
        if step.rounding == "half_up":
            return int(length + 0.5)
        return int(length) if step.rounding == "down" else round(length)


    def _fit(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        factor = step.factor(tall, wide)
        return round(tall * factor), round(wide * factor)


    def _within(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """PaddleDetection's `keep_ratio` (ppdet 2.6, `Resize.apply`)."""
        factor = step.factor(tall, wide)
        return int(factor * tall + 0.5), int(factor * wide + 0.5)


    def _grow(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """PaddleOCR's `resize_image_for_totaltext` (ppocr 3.1, operators.py)."""
        size = step.size or 1
        factor = size / tall if tall * 1.25 > size else 1.25
        return _whole(step, tall * factor), _whole(step, wide * factor)


    def _shrink(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """The side that is not just filled is rounded to where the shape changes least (PIL/Image.py, `thumbnail`)."""
        height, width = step.height or 1, step.width or 1
        if height >= tall and width >= wide:
            return tall, wide
        aspect = wide / tall
        if width / height >= aspect:
            return height, _nearest(height * aspect, lambda width: abs(aspect - width / height))
        return _nearest(width / aspect, lambda height: abs(aspect - width / height) if height else 0.0), width


    def _nearest(length: "float", error: "Callable[[int], float]") -> "int":
        return max(min(math.floor(length), math.ceil(length), key=error), 1)


    def _line(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """PaddleOCR's `resize_norm_img` (ppocr 2.8, rec_img_aug.py)."""
        height = step.height or 1
        return height, min(math.ceil(height * (wide / tall)), step.width or 1)


    def _long_line(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """PaddleOCR's `resize_norm_img_chinese` (ppocr 3.1, rec_img_aug.py)."""
        height, ratio = step.height or 1, wide / tall
        most = int(height * max((step.width or 1) / height, ratio))
        return height, min(math.ceil(height * ratio), most)


    def _height(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """PaddleOCR's `DetResizeForTest` with `keep_ratio` (ppocr 3.1, operators.py)."""
        height = step.height or 1
        return height, math.ceil(wide * height / tall)


    def _span(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """PaddleOCR's `resize_norm_img_sar` (ppocr 3.1, rec_img_aug.py)."""
        height = step.height or 1
        width = math.ceil(height * (wide / tall))
        if width % step.multiple_of:
            width = round(width / step.multiple_of) * step.multiple_of
        return height, min(max(step.least or 1, width), step.width or 1)


    def _blocks(step: "Resize", tall: "int", wide: "int") -> "tuple[int, int]":
        """PaddleOCR's `resize_norm_img_srn` (ppocr 3.1, rec_img_aug.py)."""
        height = step.height or 1
        return height, next((height * times for times in (1, 2, 3) if wide <= tall * times), step.width or 1)


    #: The sizes that a rule takes where they are not `height` and `width`.
    _SIZES: dict[str, set[str]] = {
        **{rule: {"size"} for rule in ("short", "long", "at_most", "at_least", "grow")},
        "height": {"height"},
        "span": {"height", "width", "least"},
    }
    _RULES: dict[str, Callable[[Resize, int, int], tuple[int, int]]] = {
        "exact": _exact,
        "short": _side,
        "long": _side,
        "at_most": _side,
        "at_least": _side,
        "fit": _fit,
        "within": _within,
        "line": _line,
        "long_line": _long_line,
        "height": _height,
        "span": _span,
        "blocks": _blocks,
        "grow": _grow,
        "shrink": _shrink,
        "factor": _fit,
    }

    plugin: type[Step] = Resize
    return locals()


def kind_topk() -> "dict[str, Any]":
    """The classes with the largest scores."""






    class TopK(Step):
        """The places of the `k` largest of [classes], largest first, as int64 [k]; `scores` in the state holds theirs.

        Of fewer classes all are given.
        """

        axes: "ClassVar[Sequence[int]]" = (1,)

        k: "Size" = 1

        def apply(self, state: "State") -> "dict[str, Array]":
            import numpy as np

            after, scores = super().apply(state), state[VALUE]
            return {**after, "scores": scores[after[VALUE]], CLASSES: np.asarray(scores.size, "int64")}

        def run(self, value: "Array") -> "Array":
            import numpy as np

            return np.argsort(-value.astype("float64"), kind="stable")[: self.k].astype(np.int64)


    plugin: type[Step] = TopK
    return locals()


KINDS: "dict[str, Any]" = {"layout": kind_layout()["plugin"], "normalize": kind_normalize()["plugin"], "resize": kind_resize()["plugin"], "topk": kind_topk()["plugin"]}


# ---- samples ------------------------------------------------------------------------------------------------------
def samples(path: "Path") -> "Iterator[tuple[str, Any]]":
    """Each sample of a file, by its name."""
    import numpy as np

    try:
        if path.suffix == ".npy":
            yield path.name, np.load(path, allow_pickle=False)  # noqa: TID251 - pickles are off
        elif path.suffix == ".safetensors":
            for name, value in sorted(arrays(path.read_bytes()).items()):
                yield f"{path.name}#{name}", value
        elif path.suffix == ".txt":
            for number, line in enumerate(path.read_bytes().splitlines(), 1):
                if line.strip():
                    yield f"{path.name}#{number}", np.frombuffer(line, dtype=np.uint8)
        else:
            yield path.name, np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path), hint="give a whole file") from error


def arrays(content: "bytes") -> "dict[str, Any]":
    """The arrays of a .safetensors file; raises ValueError or KeyError where it is none."""
    import numpy as np

    start = 8 + int.from_bytes(content[:8], "little")
    dtypes = {
        "U8": "u1",
        "I8": "i1",
        "I16": "<i2",
        "I32": "<i4",
        "I64": "<i8",
        "F16": "<f2",
        "F32": "<f4",
        "F64": "<f8",
    }
    found = {}
    for name, facts in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, last = facts["data_offsets"]
            value = np.frombuffer(content[start + first : start + last], dtype=dtypes[facts["dtype"]])
            found[name] = value.reshape(facts["shape"])
    return found


# ---- the model ----------------------------------------------------------------------------------------------------
Run = Callable[[Mapping[str, Any]], "dict[str, Any]"]


def opened(manifest: "Any", name: "str") -> "Run":
    """A function from inputs to outputs, both by the file's names."""
    variant = manifest["variants"][name]
    files = [str(BUNDLE / file) for file in variant["files"]]
    return onnxruntime(files) if variant["format"] == "onnx" else paddle_inference(files)


def onnxruntime(files: "list[str]") -> "Run":
    """In ONNX Runtime on the CPU, without the telemetry of its wheels for Linux."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    model = next(file for file in files if file.endswith(".onnx"))
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


def paddle_inference(files: "list[str]") -> "Run":
    """In Paddle Inference on the CPU by Paddle's own kernels, without graph passes and oneDNN."""
    import paddle
    from paddle import inference

    ordered = sorted(files, key=lambda file: file.endswith(".pdiparams"))
    config = inference.Config(*ordered, *[""] * (2 - len(ordered)))
    config.switch_ir_optim(False)
    config.disable_gpu()
    config.disable_mkldnn()
    config.disable_glog_info()
    predictor = inference.create_predictor(config)

    def run(inputs: "Mapping[str, Any]") -> "dict[str, Any]":
        """int16, which no handle can carry (3.3.1), comes and goes as Paddle's tensors."""
        try:
            for name, value in inputs.items():
                predictor.get_input_handle(name).copy_from_cpu(value)
            predictor.run()
            return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}
        except ValueError:
            outputs = predictor.run([paddle.to_tensor(inputs[name]) for name in predictor.get_input_names()])
            return {name: outputs[place].numpy() for place, name in enumerate(predictor.get_output_names())}

    return run


# ---- from a sample to its answer ------------------------------------------------------------------------------------
def chain(listed: "Any") -> "list[tuple[str, Any]]":
    """The steps that pipeline.json lists."""
    return [(step["step"], KINDS[step["step"]](**step["options"])) for step in listed]


def through(steps: "Sequence[tuple[str, Any]]", state: "Any", where: "str") -> "Any":
    """The state behind all steps."""
    for number, (name, step) in enumerate(steps, 1):
        try:
            state = step.apply(state)
        except EnvironmentLacks:
            raise
        except UsageError as error:
            raise UsageError(error.what, where=f"{where}: step {number} ({name})", hint=error.hint) from error
    return state


def fed(manifest: "Any", about: "Any", state: "Any", where: "str") -> "dict[str, Any]":
    """The inputs of one call by the spec's names: with a batch axis, repeated as often as the smallest batch needs."""
    import numpy as np

    inputs = {}
    for tensor in manifest["inputs"]:
        name, shape = tensor["name"], tensor["shape"]
        key = VALUE if name == about["input"] else name
        if key not in state:
            raise UsageError(f"no step gives the input '{name}'", where=where, hint="run the model without this script")
        value = np.ascontiguousarray(state[key])
        if value.ndim == len(shape) - 1:
            rows = manifest["dims"][shape[0]]["min"] if isinstance(shape[0], str) else shape[0]
            value = np.ascontiguousarray(np.repeat(value[None], rows, axis=0))
        sizes = [manifest["dims"][size] if isinstance(size, str) else {"min": size, "max": size} for size in shape]
        fits = value.ndim == len(shape) and all(
            bounds["min"] <= size <= bounds["max"] for bounds, size in zip(sizes, value.shape, strict=True)
        )
        if not fits or value.dtype.name != tensor["dtype"]:
            found = f"{value.dtype.name}{list(value.shape)}"
            what = f"the model takes {name} as {tensor['dtype']}{shape}, and the steps give {found}"
            raise UsageError(what, where=where, hint="give a sample of another size or type")
        inputs[name] = value
    return inputs


def answers(paths: "Sequence[Path]", name: "str") -> "Iterator[tuple[str, Any]]":
    """The name of each sample, and the state behind the last step."""
    manifest, about = (json.loads((BUNDLE / file).read_bytes()) for file in ("manifest.json", "pipeline.json"))
    before, after = chain(about["before"]), chain(about["after"])
    name = name or min(manifest["variants"])
    variant, run = manifest["variants"][name], opened(manifest, name)
    native = dict(zip([tensor["name"] for tensor in manifest["inputs"]], variant["inputs"], strict=True))
    outputs = dict(zip([tensor["name"] for tensor in manifest["outputs"]], variant["outputs"], strict=True))
    for path in paths:
        for sample, value in samples(path):
            inputs = fed(manifest, about, through(before, {VALUE: value}, sample), sample)
            rows = next(iter(inputs.values())).shape[0]
            made = run({native[key]: array for key, array in inputs.items()})
            state = {key: made[own][0] if made[own].shape[:1] == (rows,) else made[own] for key, own in outputs.items()}
            first = next(iter(state))
            yield sample, through(after, {VALUE: state[first], **state}, sample)


def told(sample: "str", state: "Any", last: "str", out: "Path | None") -> "dict[str, Any]":
    """What is printed of an answer."""
    import numpy as np

    said: dict[str, Any] = {"sample": sample}
    for key in [VALUE, *(name for name in ("scores", "corners") if name in state)]:
        value, name = state[key], "answer" if key == VALUE else key
        if key == VALUE and last in TEXTS:
            said[name] = value.tobytes().decode("utf-8", "replace")
        elif value.size <= MOST_PRINTED:
            said[name] = value.tolist()
        else:
            said[name] = {"dtype": value.dtype.name, "shape": list(value.shape)}
            if out is not None:
                file = out / f"{sample.replace('/', '_').replace('#', '_')}.{name}.npy"
                np.save(file, value, allow_pickle=False)
                said[name]["file"] = str(file)
    return said


def main() -> "int":
    """Read the command line, answer each sample, and return the exit code."""
    parser = argparse.ArgumentParser(description="From raw files to answers.")
    parser.add_argument("files", nargs="+", type=Path, help="pictures, .txt, .npy or .safetensors")
    parser.add_argument("--variant", default="", help="the variant that is run; the first one unless it is given")
    parser.add_argument("--out", type=Path, help="folder for answers that are too large to print")
    asked = parser.parse_args()
    try:
        known = json.loads((BUNDLE / "manifest.json").read_bytes())["variants"]
        if asked.variant and asked.variant not in known:
            raise UsageError(
                f"no variant '{asked.variant}'", where="--variant", hint=f"name one of: {', '.join(known)}"
            )
        if asked.out:
            asked.out.mkdir(parents=True, exist_ok=True)
        last = next((step["step"] for step in json.loads((BUNDLE / "pipeline.json").read_bytes())["after"][-1:]), "")
        for sample, state in answers(asked.files, asked.variant):
            sys.stdout.write(json.dumps(told(sample, state, last, asked.out), ensure_ascii=False) + "\n")
            sys.stdout.flush()
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n" + (f"  try: {error.hint}\n" if error.hint else ""))
        return 3 if isinstance(error, EnvironmentLacks) else 2
    except ImportError as error:
        sys.stderr.write(f"error: cannot be imported: {error}\n  try: pip install {error.name or 'it'}\n")
        return 3
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # engines may crash in their own tidying up, after the work is done
