"""What the file beside an exported model says of its inputs: `inference.yml`, `infer_cfg.yml` or `deploy.yaml`.

Two things: the shapes that PaddleX's runtimes prepare for (`Hpi`), by input; and the steps before the model, whose last
sizes and scaling are those of the input. An operator that no step is known for is left out here, since sizes are a
start that anybody may correct; a pipeline that is proven refuses it (:mod:`exporter.steps.settle`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from exporter.base.errors import UsageError
from exporter.steps.chain import Chain, Declared, Link, read_chain
from exporter.steps.configuration import Configuration, line_of, one_file
from exporter.steps.families.base import Entries, Options, Reader, WrongOption, inside, named
from exporter.steps.kinds.crop import Crop
from exporter.steps.kinds.formula import Formula
from exporter.steps.kinds.normalize import Normalize
from exporter.steps.kinds.pad import Pad
from exporter.steps.kinds.resize import Resize
from exporter.steps.kinds.warp import Warp
from exporter.steps.settle import FAMILIES

#: The files, in the order in which they are looked for, and the key without which one belongs to something else:
#: a `deploy.yaml` may be Kubernetes'.
FILES: Mapping[str, str] = {"inference.yml": "", "infer_cfg.yml": "", "deploy.yaml": "Deploy:"}
#: The keys of shapes below the backends of `Hpi`.
_SHAPES = ("trt_dynamic_shapes", "dynamic_shapes")
#: The sides of a picture, in the order of its axes.
_SIDES = ("height", "width")
#: How wide PaddleX 3.7 makes a line of text (`paddlex/inference/models/text_recognition`).
WIDEST_LINE = 3200

#: The smallest, the usual and the largest shape of an input.
Shapes: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[int]]


@dataclass(frozen=True)
class Extent:
    """How many pixels a side of a picture has; None where the steps do not bound it."""

    least: int | None
    usual: int
    most: int | None
    multiple_of: int = 1


@dataclass(frozen=True)
class Deployed:
    """Shapes by the names of inputs; the steps that are known, in their order."""

    path: Path
    shapes: Mapping[str, Shapes] = field(default_factory=dict)
    chain: Chain = ()

    @property
    def sides(self) -> Mapping[str, Extent]:
        """Height and width of the picture that the last step gives, as far as they follow."""
        sides: dict[str, Extent] = {}
        for link in self.chain:
            if isinstance(link, Declared):
                sides |= _after(link, sides)
        return sides

    @property
    def values(self) -> tuple[float, float] | None:
        """The least and the largest number that the steps make of bytes; None where no step scales them."""
        scalings = [link.step for link in self.chain if isinstance(link, Declared) and isinstance(link.step, Normalize)]
        low, high = 0.0, 255.0
        for step in scalings:
            count = max(len(step.mean), len(step.std))  # one number stands for every channel
            mean, std = (numbers * count if len(numbers) == 1 else numbers for numbers in (step.mean, step.std))
            ends = [(end * step.scale - m) / s for end in (low, high) for m, s in zip(mean, std, strict=False)]
            low, high = min(ends), max(ends)
        return (low, high) if scalings and math.isfinite(high - low) else None


def deployed_beside(folder: Path) -> Path | None:
    """The file for the runtimes that a folder holds, the better known first; None where it holds none."""
    for name, key in FILES.items():
        path = folder / name
        if path.is_file() and (not key or any(line.startswith(key) for line in _lines(path))):
            return path
    return None


def read_deployed(path: Path) -> Deployed:
    """Read what a file for the runtimes says of inputs.

    Raises:
        UsageError: it is damaged, with the line; what is merely unknown is passed over.
    """
    content = one_file(path)
    return Deployed(path, dict(_shapes(content, path)), tuple(_chain(content, path)))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _shapes(content: Configuration, path: Path) -> Iterator[tuple[str, Shapes]]:
    """The shapes of the first backend that has some."""
    hpi = content.get("Hpi")
    for group, backends in hpi.items() if isinstance(hpi, dict) else ():
        for name, backend in backends.items() if isinstance(backends, dict) else ():
            for key in _SHAPES:
                place = ("Hpi", group, name, key)
                if (inputs := inside(backend, key)) is not None:
                    if not isinstance(inputs, dict):
                        raise _damaged(path, place, f"`{key}` holds no inputs with their shapes")
                    yield from ((str(entry), _three(shapes, path, (*place, entry))) for entry, shapes in inputs.items())
                    return


def _three(content: object, path: Path, place: Sequence[str]) -> Shapes:
    shapes = content if isinstance(content, list) else []
    whole = all(isinstance(shape, list) and all(_is_size(size) for size in shape) for shape in shapes)
    if len(shapes) != 3 or not whole or len({len(shape) for shape in shapes}) != 1:
        raise _damaged(path, place, f"the shapes of '{place[-1]}' are not the smallest, the usual and the largest one")
    least, usual, most = shapes
    if not all(low <= middle <= high for low, middle, high in zip(least, usual, most, strict=True)):
        raise _damaged(path, place, f"the shapes of '{place[-1]}' do not grow from the smallest to the largest")
    return least, usual, most


def _is_size(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= 1


def _chain(content: Configuration, path: Path) -> Iterator[Link]:
    """The steps of the operators that are known."""
    family = FAMILIES["paddlex"]  # has the parts of all three files
    for part, keys in family.parts.items():
        listed = inside(content, *keys)
        if listed is not None and not isinstance(listed, list):
            raise _damaged(path, keys, f"{'.'.join(keys)} is no list of operators")
        for at, operator in enumerate(listed or ()):
            try:
                yield from read_chain(_entries(operator, family.readers_of(content, part), str(path)))
            except UsageError as error:
                raise _damaged(path, (*keys, at), error.what) from error
        if listed:
            return


def _entries(operator: object, readers: Mapping[str, Reader], where: str) -> Entries:
    """The steps of one operator; none where no step does what it does.

    Raises:
        UsageError: it or an option of it is damaged.
    """
    name, arguments = named(operator, where)
    try:
        return readers[name](Options(name, arguments, where)) if name in readers else []
    except WrongOption:
        raise
    except UsageError:
        return []
    except (TypeError, ValueError, OverflowError) as error:  # `limit_side_len: abc`
        raise WrongOption(f"an option of {name} has a wrong value: {error}", where=where) from error


def _damaged(path: Path, place: Sequence[str | int], what: str) -> UsageError:
    hint = "correct it at that place, or give the program from a folder without this file"
    return UsageError(what, where=line_of(path, place), hint=hint)


def _after(link: Declared, sides: Mapping[str, Extent]) -> dict[str, Extent]:
    """The sides that a step changes."""
    step = link.step
    if isinstance(step, Crop):
        return {"height": _fixed(step.height), "width": _fixed(step.width)}
    if isinstance(step, Resize):
        return _resized(step)
    if isinstance(step, Pad):
        return _padded(step, sides)
    if isinstance(step, Warp):
        return _warped(step)
    if isinstance(step, Formula):
        return {
            name: Extent(least, most, most) for name, least, most in zip(_SIDES, step.least, step.most, strict=True)
        }
    return {}


def _fixed(size: int) -> Extent:
    return Extent(size, size, size)


def _resized(step: Resize) -> dict[str, Extent]:
    step_of, size = step.multiple_of, step.size or 1
    height, width = step.height or 1, step.width or 1
    if step.rule == "exact":
        return {"height": _fixed(height), "width": _fixed(width)}
    if step.rule == "height":
        return {"height": _fixed(height), "width": Extent(None, height, None, step_of)}
    if step.rule in ("span", "blocks"):
        return {"height": _fixed(height), "width": Extent(min(step.least or height, width), width, width)}
    if step.rule in ("line", "long_line"):  # runtimes make a wider input of a longer line, which the step here squeezes
        return {"height": _fixed(height), "width": Extent(width, width, max(width, WIDEST_LINE))}
    if step.rule in ("fit", "shrink", "within", "factor"):
        longest = max(height, width)
        most = (height, width) if step.rule in ("fit", "shrink") else (longest, longest)
        return {"height": Extent(None, height, most[0]), "width": Extent(None, width, most[1])}
    grows = step.rule in ("short", "at_least")
    size = -(-size // step_of) * step_of if step.multiple == "up" else max(size // step_of * step_of, step_of)
    extent = Extent(size, size, None, step_of) if grows else Extent(None, size, size, step_of)
    if step.rule == "grow":  # the width follows the height, to any size
        return {"height": extent, "width": Extent(None, size, None, step_of)}
    return {"height": extent, "width": extent}


def _warped(step: Warp) -> dict[str, Extent]:
    if step.height and step.width:
        return {"height": _fixed(step.height), "width": _fixed(step.width)}
    extent = Extent(step.size, step.size, None) if step.size else Extent(32, 512, None, 32)
    return {"height": extent, "width": extent}


def _padded(step: Pad, sides: Mapping[str, Extent]) -> dict[str, Extent]:
    if step.multiple_of is not None:
        return {name: _up(extent, step.multiple_of) for name, extent in sides.items()}
    to = {"height": step.height, "width": step.width}
    at_least = {name: extent.least for name, extent in sides.items()}  # such a side stays as it is, or is larger
    return {name: _fixed(size) for name, size in to.items() if size and at_least.get(name) != size}


def _up(extent: Extent, step: int) -> Extent:
    least, usual, most = (size and -(-size // step) * step for size in (extent.least, extent.usual, extent.most))
    return Extent(least, usual or step, most, step)
