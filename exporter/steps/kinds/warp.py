"""A picture moved and scaled into another frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pydantic import model_validator

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE, Size, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Width and height, or column and row.
Pair: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Frame:
    """The point of the picture that comes to the middle, the width that fills the frame, and the frame's size."""

    centre: Pair
    width: float
    size: tuple[int, int]


class Warp(Step):
    """Moves and scales [height, width, channels] of bytes into a frame, black where nothing is, by one of these rules.

    - `around`: as it is, into the next larger multiples of 32, middle to middle (CenterNet).
    - `longest`: the longer side to the width of `height` x `width`, middle to middle (CenterTrack).
    - `shortest`: the shorter side to `size`, the longer one up to a multiple of 64 (HigherHRNet).
    - `width`: the width to that of `height` x `width`, middle to middle (key points of one person).
    - `corners`: the corner pixels of the frame to the corners of the picture: both sides by factors of their own.

    As `cv2.warpAffine` of OpenCV up to 4.10 does, in 32nds of a pixel. With `tracks` the state gets `im_shape` (the
    picture's height and width) and `scale_factor` (1 and 1), float32, which PaddleDetection leaves as they were.
    """

    axes: ClassVar[Sequence[int]] = (3,)
    dtypes: ClassVar[Sequence[str]] = ("uint8",)

    rule: Literal["around", "longest", "shortest", "width", "corners"]
    height: Size | None = None
    width: Size | None = None
    size: Size | None = None
    tracks: bool = False

    @model_validator(mode="after")
    def _sizes_of_the_rule(self) -> Warp:
        wanted = {"around": set[str](), "shortest": {"size"}}.get(self.rule, {"height", "width"})
        given = {name for name in ("height", "width", "size") if getattr(self, name) is not None}
        if given != wanted:
            names = " and ".join(f"`{name}`" for name in sorted(wanted)) or "no size"
            raise ValueError(f"rule `{self.rule}` takes {names}")
        return self

    def run(self, value: Array) -> Array:
        from exporter.steps.affine import moved, similar

        tall, wide = value.shape[:2]
        if self.rule == "corners":
            height, width = self.height or 1, self.width or 1
            return moved(value, ((width - 1) / wide, 0.0, 0.0), ((height - 1) / tall, 0.0, 0.0), (width, height))
        frame = _FRAMES[self.rule](self, tall, wide)
        if min(frame.size) < 1 or max(frame.size) > 1 << 14:
            what = f"a picture of {tall} x {wide} would fill a frame of {frame.size[1]} x {frame.size[0]}"
            raise UsageError(what, hint="give samples that are less long")
        return similar(value, frame.centre, frame.width, frame.size)

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after = super().apply(state)
        if self.tracks:
            after["im_shape"] = np.asarray(state[VALUE].shape[:2], "float32")
            after["scale_factor"] = np.ones(2, "float32")
        return after


def _around(step: Warp, tall: int, wide: int) -> Frame:
    del step
    size = ((wide | 31) + 1, (tall | 31) + 1)
    return Frame((wide // 2, tall // 2), size[0], size)


def _longest(step: Warp, tall: int, wide: int) -> Frame:
    return Frame((wide / 2, tall / 2), max(tall, wide), (step.width or 1, step.height or 1))


def _shortest(step: Warp, tall: int, wide: int) -> Frame:
    """By `get_affine_mat_kernel` (ppdet/modeling/keypoint_utils.py 2.6)."""
    short = step.size or 1
    long = math.ceil(short / min(tall, wide) * max(tall, wide) / 64) * 64
    size = (short, long) if wide < tall else (long, short)
    return Frame((round(wide / 2), round(tall / 2)), wide if wide < tall else long / short * tall, size)


def _width(step: Warp, tall: int, wide: int) -> Frame:
    return Frame((wide / 2, tall / 2), wide, (step.width or 1, step.height or 1))


_FRAMES: dict[str, Callable[[Warp, int, int], Frame]] = {
    "around": _around,
    "longest": _longest,
    "shortest": _shortest,
    "width": _width,
}

plugin: type[Step] = Warp
