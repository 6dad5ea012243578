"""PaddleOCR: `Eval` of its configurations, `PreProcess` of `inference.yml`.

By ppocr/data/imaug (operators.py, rec_img_aug.py) and ppocr/postprocess/rec_postprocess.py of 2.9 and 3.0.
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
from exporter.steps.families.kinds.paddleclas import MEAN, STD, layout

#: What `RecResizeImg` does behind the resizing.
_HALVES = {"scale": 1 / 255, "mean": [0.5], "std": [0.5]}


def _decode(options: Options) -> Entries:
    order = str(options.take("img_mode", "RGB")).upper()
    exif = not options.take("ignore_orientation", False)
    first = ["layout"] if options.take("channel_first", False) else []
    if order == "GRAY":
        return [{"decode": {"order": "gray", "exif": exif}}, {"channels": {"order": [0, 0, 0]}}, *first]
    return [{"decode": {"order": order.lower(), "exif": exif}}, *first]


def _normalize(options: Options) -> Entries:
    said = {
        "scale": options.scale(1 / 255),
        "mean": options.numbers("mean", MEAN),
        "std": options.numbers("std", STD),
        "axis": "first" if options.take("order", "chw") == "chw" else "last",
    }
    return [{"normalize": said}]


def _line(options: Options) -> Entries:
    """`RecResizeImg`: [channels, height, width]; a line that is shorter is padded with zeros behind the scaling."""
    options.ignore("infer_mode", "character_dict_path", "eval_mode")
    _, height, width = options.take("image_shape", [3, 48, 320])
    size = {"height": height, "width": width}
    if not options.take("padding", True):
        return [{"resize": size}, {"normalize": _HALVES}, "layout"]
    line = {"resize": {"rule": "line", **size}}
    return [line, {"normalize": _HALVES}, "layout", {"pad": {"width": width, "axis": "first"}}]


def _page(options: Options) -> Entries:
    """`DetResizeForTest`: sides that are multiples of 32."""
    options.ignore("max_side_limit")
    if options.given.get("image_shape"):
        height, width = options.pair("image_shape")
        if options.take("keep_ratio", False):
            raise options.refuse("`keep_ratio` is no option of a step here")
        return [{"resize": {"height": height, "width": width}}]
    if options.given.get("resize_long"):
        raise options.refuse("`resize_long` is no option of a step here")
    size, kind = options.take("limit_side_len", 736), options.take("limit_type", "min")
    rules = {"max": "at_most", "min": "at_least", "resize_long": "long"}
    if kind not in rules:
        raise options.refuse(f"`limit_type` is {kind!r}")
    return [{"resize": {"rule": rules[kind], "size": int(size), "multiple_of": 32, "rounding": "down"}}]


READERS: Mapping[str, Reader] = {
    "DecodeImage": _decode,
    "NormalizeImage": _normalize,
    "ToCHWImage": layout,
    "RecResizeImg": _line,
    "DetResizeForTest": _page,
    **dict.fromkeys(("KeepKeys", "DetLabelEncode", "CTCLabelEncode", "MultiLabelEncode", "ClsLabelEncode"), nothing),
    **dict.fromkeys(("NRTRLabelEncode", "SARLabelEncode", "AttnLabelEncode"), nothing),
    **dict.fromkeys(("RecAug", "RecConAug", "IaaAugment", "EastRandomCropData", "ColorJitter"), at_random),
}


def _answer(content: Mapping[str, Any], place: Place) -> Entries:
    """The steps of `PostProcess`."""
    said = inside(content, "PostProcess")
    if not isinstance(said, Mapping):
        return []
    options = Options(str(said.get("name", "")), dict(said), f"{place.name}: PostProcess")
    if options.name != "CTCLabelDecode":
        raise options.refuse("no step is known for it")
    listed = said.get("character_dict")
    characters = [str(one) for one in listed] if listed else _dictionary(content, place)
    return [{"ctc": {"characters": characters}}]


def _dictionary(content: Mapping[str, Any], place: Place) -> list[str]:
    """The characters of a configuration's dictionary; without one the digits and small letters, as ppocr has it."""
    of_all = inside(content, "Global") or {}
    named = of_all.get("character_dict_path")
    characters = place.lines(str(named)) if named else list("0123456789abcdefghijklmnopqrstuvwxyz")
    return [*characters, " "] if of_all.get("use_space_char", False) else characters


class PaddleOCR(FamilySteps):
    """`#Eval` is the default of a configuration. The contours of a text detector's answer are a function's matter."""

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "PreProcess": ("PreProcess", "transform_ops"),
        "Eval": ("Eval", "dataset", "transforms"),
        "Train": ("Train", "dataset", "transforms"),
    }
    readers: ClassVar[Mapping[str, Reader]] = READERS

    def read(self, content: Mapping[str, Any], part: str, place: Place) -> Listed:
        path = self.parts[part]
        before = translated(inside(content, *path), READERS, f"{place.name}: {'.'.join(path)}")
        return Listed(before, _answer(content, place))


plugin: FamilySteps = PaddleOCR()
