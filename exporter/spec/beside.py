"""What a spec takes from the file for the runtimes beside a program: ranges of open dims, and of values.

It fills in what the program leaves open. What somebody says goes before it, and what it does not say has the usual
answer, or is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from exporter.base.errors import UsageError
from exporter.steps.configuration import line_of
from exporter.steps.deployed import Deployed, Extent, read_deployed
from exporter.steps.settle import FAMILIES

#: The range of a dim, with the keys of a spec.
Range: TypeAlias = Mapping[str, int]
#: Numbers of one input that are promised without being asked for: PaddleX prepares its detectors of text for pictures
#: of 4000 by 4000 pixels, and float64's truth of these takes more memory than most machines have.
MOST_NUMBERS = 1 << 22
#: Sides of pictures are divided by 32 in most nets; a range whose ends allow it keeps to that.
_STRIDE = 32


@dataclass(frozen=True)
class Opened:
    """An input of the program: its own name, its key in the spec, and a shape in which words are open dims."""

    name: str
    key: str
    dtype: str
    shape: Sequence[int | str]

    @property
    def picture(self) -> bool:
        """Return whether it is a batch of pictures with channels first."""
        return len(self.shape) == 4

    @property
    def real(self) -> bool:
        """Return whether it holds floats."""
        return self.dtype.startswith("float")


@dataclass(frozen=True)
class Told:
    """Ranges by dim and values by input that a file says; empty where there is none."""

    path: Path | None = None
    dims: Mapping[str, Range] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


def told_by(path: Path | None, inputs: Sequence[Opened], usual: Mapping[str, Range]) -> Told:
    """Return what a file says of the inputs of the program beside it; `usual` ranges bound what it leaves unbounded.

    Raises:
        UsageError: the file is damaged, or its shapes have other axes than the program's inputs.
    """
    return Told() if path is None else told_of(read_deployed(path), inputs, usual)


def told_of(deployed: Deployed, inputs: Sequence[Opened], usual: Mapping[str, Range]) -> Told:
    """Return the same of what was read of the steps before the model; raises as :func:`told_by`."""
    dims: dict[str, Range] = {}
    for opened in inputs:
        ranges = dict(_of_shapes(opened, deployed))
        if opened.picture:
            ranges = {**_of_sides(opened, deployed, usual), **ranges}
        dims = {**_bounded(opened, ranges), **dims}
    return Told(deployed.path, dims, dict(_values(inputs, deployed)))


def _of_shapes(opened: Opened, deployed: Deployed) -> Iterator[tuple[str, Range]]:
    """The ranges of the shapes that the runtimes prepare for."""
    if (shapes := deployed.shapes.get(opened.name)) is None:
        return
    if len(shapes[0]) != len(opened.shape):
        what = (
            f"the shapes of '{opened.name}' have {len(shapes[0])} axes, and the program's input has {len(opened.shape)}"
        )
        where = line_of(deployed.path, ("Hpi",))
        raise UsageError(what, where=where, hint="correct them, or give the program from a folder without this file")
    for name, least, usual, most in zip(opened.shape, *shapes, strict=True):
        if isinstance(name, str):
            step = math.gcd(least, usual, most, _STRIDE) if name in ("height", "width") else 1
            yield name, _range(least, usual, most, step)


def _of_sides(opened: Opened, deployed: Deployed, usual: Mapping[str, Range]) -> Mapping[str, Range]:
    """The ranges that follow from the steps before the model; where these do not bound a side, twice its usual size."""
    open_sides = {name: extent for name, extent in deployed.sides.items() if name in opened.shape}
    return {name: _of_extent(extent, usual[name]) for name, extent in open_sides.items()}


def _of_extent(extent: Extent, usual: Range) -> Range:
    if extent.least == extent.most:
        return _range(extent.usual, extent.usual, extent.usual, 1)
    low = min(usual["min"], extent.usual) if extent.least is None else extent.least
    high = 2 * extent.usual if extent.most is None else extent.most
    step = math.lcm(extent.multiple_of, math.gcd(low, extent.usual, high, _STRIDE))
    return _range(-(-low // step) * step, extent.usual, high, step)


def _range(least: int, usual: int, most: int, step: int) -> Range:
    return {"min": least, "typical": usual, "max": most, **({"multiple_of": step} if step > 1 else {})}


def _bounded(opened: Opened, dims: Mapping[str, Range]) -> Mapping[str, Range]:
    """The same, with the largest sizes halved until they make an input that can be proven; the usual ones stay."""
    most = {name: bounds["max"] for name, bounds in dims.items()}
    least = {name: max(bounds["typical"], min(2, most[name])) for name, bounds in dims.items()}
    while math.prod(most.get(size, 1) if isinstance(size, str) else size for size in opened.shape) > MOST_NUMBERS:
        name = max(most, key=lambda dim: most[dim] / least[dim], default=None)
        if name is None or most[name] == least[name]:
            break
        step = dims[name].get("multiple_of", 1)
        most[name] = max(most[name] // 2 // step * step, least[name])
    return {name: {**bounds, "max": most[name]} for name, bounds in dims.items()}


def _values(inputs: Sequence[Opened], deployed: Deployed) -> Iterator[tuple[str, str]]:
    """Yield what the cases of inputs hold: of pictures what the scaling gives, else what their family says."""
    known = FAMILIES["paddledet"].values
    for opened in inputs:
        if opened.real and opened.name in known:
            yield opened.key, known[opened.name]
        elif opened.real and opened.picture and deployed.values:
            low, high = (f"{number:.5g}" for number in deployed.values)
            if float(low) < float(high):
                yield opened.key, f"uniform({low},{high})"
