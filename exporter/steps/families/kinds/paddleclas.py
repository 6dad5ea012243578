"""PaddleClas: `DataLoader.Eval` and `Infer` of its configurations, `PreProcess` of `inference.yml`.

By ppcls/data/preprocess/ops/operators.py and deploy/python/preprocess.py of 2.6. Its predictor reads pictures as RGB
before the list of `inference.yml` begins.
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

#: What is taken where a configuration gives none: ImageNet's, of RGB.
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def decode(options: Options) -> Entries:
    """`DecodeImage`."""
    options.ignore("to_np", "backend")
    entries: Entries = [{"decode": {"order": "rgb" if options.take("to_rgb", True) else "bgr"}}]
    return [*entries, "layout"] if options.take("channel_first", False) else entries


def resize(options: Options) -> Entries:
    """`ResizeImage`: the shorter side, or [width, height]."""
    options.ignore("return_numpy")
    backend = str(options.take("backend", "cv2")).lower()
    if backend not in ("cv2", "pil"):
        raise options.refuse(f"`backend` is {backend!r}")
    way = {"interpolation": options.interpolation("interpolation")}
    if backend == "pil":
        way["library"] = "pillow"
    short = options.take("resize_short")
    if short:
        options.ignore("size")
        return [{"resize": {"rule": "short", "size": int(short), **way}}]
    width, height = options.pair("size")
    return [{"resize": {"height": height, "width": width, **way}}]


def crop(options: Options) -> Entries:
    """`CropImage`: [width, height]."""
    width, height = options.pair("size")
    return [{"crop": {"height": height, "width": width}}]


def normalize(options: Options) -> Entries:
    """`NormalizeImage`."""
    if options.take("channel_num", 3) != 3:
        raise options.refuse("a fourth channel of zeros is no step here")
    said = {
        "scale": options.scale(1 / 255),
        "mean": options.numbers("mean", MEAN),
        "std": options.numbers("std", STD),
        "axis": "first" if options.take("order", "chw") == "chw" else "last",
    }
    entries: Entries = [{"normalize": said}]
    return [*entries, {"cast": {"dtype": "float16"}}] if options.take("output_fp16", False) else entries


def layout(options: Options) -> Entries:
    """`ToCHWImage`."""
    del options
    return ["layout"]


READERS: Mapping[str, Reader] = {
    "DecodeImage": decode,
    "ResizeImage": resize,
    "CropImage": crop,
    "NormalizeImage": normalize,
    "ToCHWImage": layout,
    **dict.fromkeys(("RandCropImage", "RandFlipImage", "AutoAugment", "RandAugment", "RandomErasing"), at_random),
    **dict.fromkeys(("AugMix", "ColorJitter", "TimmAutoAugment", "RandAugmentV2"), at_random),
    "KeepKeys": nothing,
}


def answer(said: Any, place: Place) -> Entries:
    """The steps of `PostProcess`: `Topk`, with labels where the file holds them.

    The softmax before it is part of what the family exports (ppcls/engine/engine.py, `ExportModel`).
    """
    if not isinstance(said, Mapping):
        return []
    given = said if "name" not in said else {str(said["name"]): {k: v for k, v in said.items() if k != "name"}}
    entries: Entries = []
    for name, value in given.items():
        if name == "main_indicator" or not isinstance(value, Mapping):
            continue
        options = Options(str(name), dict(value), f"{place.name}: PostProcess")
        if name not in ("Topk", "Topk_classification"):
            raise options.refuse("no step is known for it")
        entries.append({"topk": {"k": int(options.take("topk", 1))}})
        if labels := _labels(options, place):
            entries.append({"labels": {"names": labels}})
        break
    return entries


def _labels(options: Options, place: Place) -> list[str]:
    if listed := options.take("label_list"):
        return [str(label) for label in listed]
    if named := options.take("class_id_map_file"):
        return [line.partition(" ")[2] or line for line in place.lines(str(named))]
    return []


class PaddleClas(FamilySteps):
    """`#Eval` is the default of a configuration; `#Infer` is what its own tools/infer.py does."""

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "PreProcess": ("PreProcess", "transform_ops"),
        "Eval": ("DataLoader", "Eval", "dataset", "transform_ops"),
        "Infer": ("Infer", "transforms"),
        "Train": ("DataLoader", "Train", "dataset", "transform_ops"),
    }
    readers: ClassVar[Mapping[str, Reader]] = READERS

    def read(self, content: Mapping[str, Any], part: str, place: Place) -> Listed:
        path = self.parts[part]
        before = translated(inside(content, *path), READERS, f"{place.name}: {'.'.join(path)}")
        if part == "PreProcess" and not (before and isinstance(before[0], dict) and "decode" in before[0]):
            before = [{"decode": {"order": "rgb"}}, *before]
        if part in ("Eval", "Train") and "layout" not in before:  # common_dataset.py puts the channels first itself
            before = [*before, "layout"]
        said = inside(content, "PostProcess") or inside(content, "Infer", "PostProcess")
        return Listed(before, answer(said, place))


plugin: FamilySteps = PaddleClas()
