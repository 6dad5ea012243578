"""PaddleDetection: `EvalReader` and `TestReader` of its configurations, `Preprocess` of `infer_cfg.yml`.

By ppdet/data/transform/operators.py and deploy/python/preprocess.py of 2.6. Its predictor reads pictures as RGB before
the list of `infer_cfg.yml` begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from exporter.steps.families.base import (
    Entries,
    FamilySteps,
    Listed,
    Options,
    Place,
    Reader,
    at_random,
    inside,
    nothing,
    translated,
)
from exporter.steps.families.kinds.paddleclas import MEAN, STD


def _decode(options: Options) -> Entries:
    options.ignore(*options.given)
    return [{"decode": {"order": "rgb"}}]


def _resize(options: Options) -> Entries:
    """`Resize`: [height, width]."""
    height, width = options.pair("target_size")
    way = {"interpolation": options.interpolation("interp"), "tracks": True}
    rule = {"rule": "within"} if options.take("keep_ratio", True) else {}
    return [{"resize": {**rule, "height": height, "width": width, **way}}]


def _normalize(options: Options) -> Entries:
    scale = 1 / 255 if options.take("is_scale", True) else 1.0
    if options.take("norm_type", "mean_std") == "none":
        options.ignore("mean", "std")
        return [{"normalize": {"scale": scale}}]
    mean, std = options.numbers("mean", MEAN), options.numbers("std", STD)
    return [{"normalize": {"scale": scale, "mean": mean, "std": std}}]


def _permute(options: Options) -> Entries:
    if options.take("to_bgr", False):
        raise options.refuse("`to_bgr` is no option of a step here")
    options.ignore("channel_first")
    return ["layout"]


def _pad_stride(options: Options) -> Entries:
    stride = options.take("stride", 0)
    return [{"pad": {"multiple_of": int(stride), "axis": "first"}}] if stride > 0 else []


def _pad_batch(options: Options) -> Entries:
    stride = options.take("pad_to_stride", 0)
    return [{"pad": {"multiple_of": int(stride), "axis": "first"}}] if stride > 0 else []


READERS: Mapping[str, Reader] = {
    "Decode": _decode,
    "Resize": _resize,
    "NormalizeImage": _normalize,
    "Permute": _permute,
    "PadStride": _pad_stride,
    "PadBatch": _pad_batch,
    **dict.fromkeys(("Gt2YoloTarget", "BboxXYXY2XYWH", "NormalizeBox", "PadBox"), nothing),
    **dict.fromkeys(("RandomFlip", "RandomCrop", "RandomExpand", "RandomDistort", "Mixup"), at_random),
    **dict.fromkeys(("BatchRandomResize", "RandomResize", "RandomSelect", "Mosaic", "MultiscaleTestResize"), at_random),
}


class PaddleDetection(FamilySteps):
    """`#Eval` is the default of a configuration; what it merges from `_BASE_` files is read from those.

    The nets read the size and the factors of the resizing beside the picture; the answer are the boxes that are sure
    enough for the configuration's `draw_threshold`.
    """

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "Preprocess": ("Preprocess",),
        "Eval": ("EvalReader", "sample_transforms"),
        "Test": ("TestReader", "sample_transforms"),
        "Train": ("TrainReader", "sample_transforms"),
    }
    readers: ClassVar[Mapping[str, Reader]] = READERS
    #: Sizes of pictures in pixels, and how much they were enlarged.
    values: ClassVar[Mapping[str, str]] = {"im_shape": "uniform(160,640)", "scale_factor": "uniform(0.5,2)"}

    def read(self, content: Mapping[str, Any], part: str, place: Place) -> Listed:
        path = self.parts[part]
        where = f"{place.name}: {'.'.join(path)}"
        before = translated(inside(content, *path), READERS, where)
        batched = inside(content, path[0], "batch_transforms") if part != "Preprocess" else None
        if batched:
            before += translated(batched, READERS, f"{place.name}: {path[0]}.batch_transforms")
        if part == "Preprocess":
            before = [{"decode": {"order": "rgb"}}, *before]
        threshold = content.get("draw_threshold", 0.5)
        return Listed(before, [{"boxes": {"score": float(threshold)}}])


plugin: FamilySteps = PaddleDetection()
