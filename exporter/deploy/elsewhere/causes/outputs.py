"""Causes that show in the answers alone: each is undone, and what comes of it held against the truth."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from exporter.base.numbers.golden import GoldenCase, GoldenOutput, promised
from exporter.base.tensors import Array
from exporter.deploy.elsewhere.answers import Fault
from exporter.deploy.elsewhere.causes.near import NEAR, Explained, explains, score

#: Axes beyond which the orders of axes are too many to try.
_MOST_AXES = 5
#: The largest finite number of float16.
_LARGEST_HALF = 65504.0
#: A factor that is nearer to 1 is no other scale, and an offset of so little of the spread none.
_SAME = 1e-3
#: A number of rows beyond which their order is not looked for.
_MOST_ROWS = 64


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: its case and output, and all answers of its case by the names that they came under.

    `places` are the bundle's names of the outputs in the order of their numbers, `names` those of the answers.
    `previous` are the cases that were asked before it, in their order, and `others` those behind it.
    """

    case: GoldenCase
    output: str
    answers: Mapping[str, Array | Fault]
    places: tuple[str, ...]
    names: tuple[str, ...]
    previous: tuple[GoldenCase, ...]
    others: tuple[GoldenCase, ...]

    @property
    def expected(self) -> GoldenOutput:
        """The golden: its truth, dtype and shape."""
        return self.case.outputs[self.output]

    @property
    def truth(self) -> Array:
        """The truth, or the whole numbers that eager gave."""
        return self.expected.truth

    @property
    def got(self) -> Array | Fault | None:
        """The answer under its name."""
        return self.answers.get(self.output)


def causes_of(wrong: Wrong) -> Iterator[Explained]:
    """Every cause that explains one wrong answer, the plainest first."""
    if wrong.output not in wrong.names:
        yield from _renamed(wrong)
        return
    got = wrong.got
    if got is None or isinstance(got, Fault):
        yield from _unread(got)
        return
    if wrong.expected.index is not None or wrong.expected.partial is not None:
        return
    yield from _nothing_computed(wrong, got)
    if got.dtype.name != wrong.expected.dtype:
        yield from _found(wrong, got, "dtype", f"it came as {got.dtype.name}, and is right as {wrong.expected.dtype}")
    if got.size == wrong.truth.size and got.dtype.kind in "biuf":
        yield from _another(wrong, got)
        yield from _moved(wrong, got)
        yield from _computed(wrong, got)
        yield from _out_of_range(wrong, got)
    else:
        yield from _swapped(wrong)


def _unread(fault: Fault | None) -> Iterator[Explained]:
    if fault is None or fault.missing:
        yield Explained("missing", "the answer was never written" if fault is None else fault.reason, 0.0)
    else:
        yield Explained("truncated" if re.search("truncated|EOF", fault.reason) else "unreadable", fault.reason, 0.0)


def _renamed(wrong: Wrong) -> Iterator[Explained]:
    """Its name did not come; under another name lies what it should be."""
    own = wrong.places.index(wrong.output)
    order = sorted(range(len(wrong.names)), key=lambda place: place != own)
    for place in order:
        value = wrong.answers.get(wrong.names[place])
        if value is None or isinstance(value, Fault):
            continue
        if (fits := explains(wrong.truth, value, -np.inf)) is not None:
            yield Explained("renamed", f"{wrong.output} came under the name {wrong.names[place]}", fits)
            return


def _nothing_computed(wrong: Wrong, got: Array) -> Iterator[Explained]:
    if got.size == 0 or got.dtype.kind not in "biuf":
        return
    if not got.any():
        yield Explained("all zero", "every number of it is zero: nothing was computed, or the buffer never read", 0.0)
    elif got.dtype.kind == "f" and np.isnan(got).all():
        yield Explained("all NaN", "every number of it is NaN", 0.0)


def _found(wrong: Wrong, got: Array, name: str, sentence: str) -> Iterator[Explained]:
    """A dtype alone: as the dtype that is due it is right."""
    with np.errstate(invalid="ignore", over="ignore"):
        fits = explains(wrong.truth, got.astype(wrong.expected.dtype), -np.inf)
    if fits is not None:
        yield Explained(name, sentence, fits)


def _another(wrong: Wrong, got: Array) -> Iterator[Explained]:
    """The answer of another output or of another case."""
    yield from _swapped(wrong)
    before = score(wrong.truth, got)
    earlier = [case.name for case in wrong.previous]
    for case in (*reversed(wrong.previous), *(case for case in wrong.others if promised(case.name))):
        golden = case.outputs[wrong.output]
        if case.name == wrong.case.name or golden.index is not None or golden.partial is not None:
            continue
        if golden.truth.shape == got.shape and (fits := explains(golden.truth, got, before)) is not None:
            last = "the case before it, " if earlier and case.name == earlier[-1] else ""
            yield Explained("stale", f"it is the answer to {last}case {case.name}", fits)
            return
    if got.shape == wrong.truth.shape and got.ndim > 1 and len(got) > 1:
        first = np.broadcast_to(wrong.truth[:1], wrong.truth.shape)
        if (fits := explains(first, got, before)) is not None:
            yield Explained("stale", "every row is the answer of the first row", fits)


def _swapped(wrong: Wrong) -> Iterator[Explained]:
    got = wrong.got
    before = score(wrong.truth, got) if isinstance(got, np.ndarray) else -np.inf
    for name, value in wrong.answers.items():
        if name == wrong.output or isinstance(value, Fault):
            continue
        if (fits := explains(wrong.truth, value, before)) is not None:
            yield Explained("swapped outputs", f"{wrong.output} came under the name {name}", fits)
            return


def _moved(wrong: Wrong, got: Array) -> Iterator[Explained]:
    """The right numbers in other places: axes, channels, rows, bytes."""
    truth, before = wrong.truth, score(wrong.truth, got)
    if got.shape != truth.shape and (fits := explains(truth, got.reshape(truth.shape), -np.inf)) is not None:
        yield Explained("shape", f"its shape is {list(got.shape)}, and it is right as {list(truth.shape)}", fits)
        return
    yield from _axes_moved(truth, got, before)
    if got.shape != truth.shape:
        return
    yield from _shifted(truth, got, before)
    with np.errstate(invalid="ignore"):
        swapped = got.byteswap()
    if (fits := explains(truth, swapped, before)) is not None:
        yield Explained("byte order", "its bytes are big-endian, and little-endian is due", fits)
    yield from _rows(truth, got, before)


def _axes_moved(truth: Array, got: Array, before: float) -> Iterator[Explained]:
    """Every other order of the axes, whether the answer has their sizes or lies so in its bytes."""
    if not 1 < truth.ndim <= _MOST_AXES:
        return
    for order in itertools.permutations(range(truth.ndim)):
        sizes = [truth.shape[axis] for axis in order]
        if list(order) == sorted(order):
            continue
        undone = got.ravel().reshape(sizes).transpose(np.argsort(order))
        if (fits := explains(truth, undone, before)) is not None:
            yield _of_axes(order, fits)


def _shifted(truth: Array, got: Array, before: float) -> Iterator[Explained]:
    """One place further along an axis; the place at the edge is not compared."""
    for axis, size in enumerate(truth.shape):
        for step in (1, -1) if size > 2 else ():
            kept = [slice(None)] * truth.ndim
            kept[axis] = slice(1, None) if step == 1 else slice(None, -1)
            inner = tuple(kept)
            if (fits := explains(truth[inner], np.roll(got, step, axis)[inner], before)) is not None:
                yield Explained("off by one", f"it is moved by one place along axis {axis}", fits)


def _of_axes(order: tuple[int, ...], fits: float) -> Explained:
    if order == (0, 2, 3, 1):
        return Explained("NHWC for NCHW", "the answer lies in NHWC, and NCHW is due", fits)
    if order == (0, 3, 1, 2):
        return Explained("NHWC for NCHW", "the answer lies in NCHW, and NHWC is due", fits)
    return Explained("transposed", f"its axes lie in the order {', '.join(map(str, order))}", fits)


def _rows(truth: Array, got: Array, before: float) -> Iterator[Explained]:
    """Rows in another order: each row of the answer goes to the row of the truth that it is nearest to."""
    if truth.ndim < 2 or not 1 < len(truth) <= _MOST_ROWS or truth.dtype.kind != "f" or not np.isfinite(got).all():
        return
    flat, own = truth.reshape(len(truth), -1), got.reshape(len(got), -1).astype("float64")
    nearest = [int(np.argmin(np.square(own - row).sum(1))) for row in flat]
    if sorted(nearest) != list(range(len(truth))) or nearest == sorted(nearest):
        return
    if (fits := explains(truth, got[nearest], before)) is not None:
        yield Explained("rows in another order", f"its rows lie in the order {nearest[:8]}", fits)


def _computed(wrong: Wrong, got: Array) -> Iterator[Explained]:
    """A step behind the model that is missing, or there once too often."""
    truth = wrong.truth
    if got.shape != truth.shape or truth.dtype.kind != "f" or got.dtype.kind != "f":
        return
    before = score(truth, got)
    with np.errstate(all="ignore"):
        for name, change in _STEPS.items():
            for axis in _axes(name, truth.ndim):
                where = f" over axis {axis}" if name == "softmax" else ""
                if (fits := explains(truth, change(got.astype("float64"), axis), before)) is not None:
                    yield Explained(f"{name} omitted", f"the {name}{where} that the model ends in is missing", fits)
                if (fits := explains(change(truth, axis), got, before)) is not None and before < NEAR:
                    yield Explained(f"{name} applied", f"a {name}{where} was applied to what the model gives", fits)
    yield from _scaled(truth, got, before)


def _axes(name: str, rank: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys((rank - 1, min(1, rank - 1)))) if name == "softmax" and rank else (0,)


def _softmax(value: Array, axis: int) -> Array:
    if not value.ndim:
        return value
    raised = np.exp(value - value.max(axis, keepdims=True))
    shares: Array = raised / raised.sum(axis, keepdims=True)
    return shares


#: What stands behind models: each is tried on the answer, and on the truth.
_STEPS: Mapping[str, Callable[[Array, int], Array]] = {
    "softmax": _softmax,
    "sigmoid": lambda value, _: 1 / (1 + np.exp(-value)),
    "exponential": lambda value, _: np.exp(value),
    "clip at zero": lambda value, _: np.maximum(value, 0),
}


def _scaled(truth: Array, got: Array, before: float) -> Iterator[Explained]:
    """One factor and one offset for all: a quantised answer that was never scaled back."""
    if truth.size < 4 or not np.isfinite(got).all() or got.std() == 0:
        return
    largest = float(np.abs(got.astype("float64")).max())  # a line through numbers of 1e300 is none that NumPy fits
    factor, offset = np.polyfit(got.ravel() / largest, truth.ravel(), 1)
    factor /= largest
    if abs(factor - 1) < _SAME and abs(offset) < _SAME * truth.std():
        return
    if (fits := explains(truth, got * factor + offset, before)) is not None:
        yield Explained("scale of outputs", f"it is right as {factor:.4g} times what came, plus {offset:.4g}", fits)


def _out_of_range(wrong: Wrong, got: Array) -> Iterator[Explained]:
    """Numbers that float16 cannot hold: infinite, NaN or at its largest where the truth is beyond it."""
    truth = wrong.truth
    if truth.dtype.kind != "f" or got.dtype.kind != "f" or got.shape != truth.shape:
        return
    beyond = np.abs(truth) > _LARGEST_HALF
    held = np.isfinite(got) & (np.abs(got) < _LARGEST_HALF)
    if beyond.any() and not held[beyond].any() and (~beyond).any():
        fits = score(truth[~beyond], got[~beyond])
    elif beyond.all() and not held.any():
        fits = NEAR
    else:
        return
    if fits >= NEAR:
        sentence = f"{int(beyond.sum())} numbers are beyond {_LARGEST_HALF:g}, and came as infinity or as that"
        yield Explained("fp16 overflow", sentence, fits)
