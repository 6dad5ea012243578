"""PaddleClas: `DataLoader.Eval` and `Infer` of its configurations, `PreProcess` of `inference.yml`.

By ppcls/data/preprocess/ops/operators.py and deploy/python/preprocess.py of 2.6. Its predictor reads pictures as RGB
before the list of `inference.yml` begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from exporter.steps.configuration import Configuration
from exporter.steps.families.base import (
    Entries,
    FamilySteps,
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


def answer(said: object, place: Place) -> Entries:
    """Return the steps of `PostProcess`: `Topk` or `ThreshOutput`, with labels where the file holds them.

    The softmax before it is part of what the family exports (ppcls/engine/engine.py, `ExportModel`).

    Raises:
        UsageError: no step does the same, or the labels cannot be read.
    """
    if not isinstance(said, Mapping):
        return []
    given = said if "name" not in said else {str(said["name"]): {k: v for k, v in said.items() if k != "name"}}
    for name, value in given.items():
        if name == "main_indicator" or not isinstance(value, Mapping):
            continue
        options = Options(str(name), dict(value), f"{place.name}: PostProcess")
        if name not in ANSWERS:
            raise options.refuse("no step is known for it")
        return ANSWERS[name](options, place)
    return []


def _best(options: Options, place: Place) -> Entries:
    """`Topk`."""
    return [{"topk": {"k": int(options.take("topk", 1))}}, *_named(labels(options, place))]


def _sure(options: Options, place: Place) -> Entries:
    """`ThreshOutput`: of two classes their names are options (deploy/python/postprocess.py 2.6)."""
    threshold, fallback = options.take("threshold", 0), options.take("default_label_index", 0)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise options.wrong(f"`threshold` is {threshold!r}, which is no number")
    step: dict[str, float] = {"threshold": float(threshold)}
    if fallback:
        step["otherwise"] = int(fallback)
    names = labels(options, place)
    if len(names) < 3:
        names = [str(options.take("label_0", "0")), str(options.take("label_1", "1"))]
    return [{"sure": step}, *_named(names)]


#: What reads an entry of `PostProcess`.
ANSWERS: Mapping[str, Callable[[Options, Place], Entries]] = {
    "Topk": _best,
    "Topk_classification": _best,
    "ThreshOutput": _sure,
}


def _named(names: list[str]) -> Entries:
    return [{"labels": {"names": names}}] if names else []


def labels(options: Options, place: Place) -> list[str]:
    """Return the names of the classes in their order; none where the operator has none.

    Raises:
        UsageError: the file of the names is not there, or does not number all classes from 0 on.
    """
    if listed := options.take("label_list"):
        return [str(label) for label in listed]
    if named := options.take("class_id_map_file"):
        return _numbered(place.lines(str(named)), options)
    return []


def _numbered(lines: Sequence[str], options: Options) -> list[str]:
    """The names of lines `NUMBER NAME`, by their numbers (`parse_class_id_map`)."""
    delimiter, names = str(options.take("delimiter", " ")), dict[int, str]()
    for at, line in enumerate(lines, 1):
        number, _, name = line.partition(delimiter)
        if not number.strip().isdigit():
            raise options.wrong(f"line {at} of the names of the classes has no number before '{delimiter}'")
        names[int(number)] = name
    if lacking := sorted(set(range(len(names))) - set(names)):
        raise options.wrong(f"the names of the classes have none for class {lacking[0]}")
    return [names[number] for number in sorted(names)]


class PaddleClas(FamilySteps):
    """`#Eval` is the default of a configuration; `#Infer` is what its own tools/infer.py does."""

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "PreProcess": ("PreProcess", "transform_ops"),
        "Eval": ("DataLoader", "Eval", "dataset", "transform_ops"),
        "Infer": ("Infer", "transforms"),
        "Train": ("DataLoader", "Train", "dataset", "transform_ops"),
    }
    readers: ClassVar[Mapping[str, Reader]] = READERS

    def before(self, content: Configuration, part: str, place: Place) -> Entries:
        path = self.parts[part]
        before = translated(inside(content, *path), READERS, f"{place.name}: {'.'.join(path)}")
        if part == "PreProcess" and not (before and isinstance(before[0], dict) and "decode" in before[0]):
            before = [{"decode": {"order": "rgb"}}, *before]
        if part in ("Eval", "Train") and "layout" not in before:  # common_dataset.py puts the channels first itself
            return [*before, "layout"]
        return before

    def after(self, content: Configuration, part: str, place: Place) -> Entries:
        del part
        return answer(inside(content, "PostProcess") or inside(content, "Infer", "PostProcess"), place)


plugin: FamilySteps = PaddleClas()
