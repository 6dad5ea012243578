"""PaddleOCR: `Eval` of its configurations, `PreProcess` of `inference.yml`.

By ppocr/data/imaug (operators.py, rec_img_aug.py, table_ops.py) and ppocr/postprocess of 2.9 to 3.1. The runtime that
reads an `inference.yml` is PaddleX's (paddlex/inference/models/text_recognition).
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
from exporter.steps.families.kinds.paddleclas import MEAN, STD, layout

#: What `RecResizeImg` does behind the resizing.
_HALVES = {"scale": 1 / 255, "mean": [0.5], "std": [0.5]}
#: What makes targets of labels; the picture stays as it is.
_LABELS = (
    *("DetLabelEncode", "CTCLabelEncode", "MultiLabelEncode", "ClsLabelEncode", "NRTRLabelEncode", "SARLabelEncode"),
    *("AttnLabelEncode", "RFLLabelEncode", "CPPDLabelEncode", "PRENLabelEncode", "SPINLabelEncode", "VLLabelEncode"),
    *("ABINetLabelEncode", "SRNLabelEncode", "SEEDLabelEncode", "SATRNLabelEncode", "ParseQLabelEncode"),
    *("ViTSTRLabelEncode", "TableLabelEncode", "TableMasterLabelEncode", "TableBoxEncode", "CTLabelEncode"),
    *("E2ELabelEncodeTest", "FCENetTargets", "CANLabelEncode"),
)


# ---- before the model ------------------------------------------------------------------------------------------------


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


def _colours(options: Options, default: Sequence[int] | None = None) -> tuple[int, int]:
    """Height and width of `image_shape`: [channels, height, width], of three channels.

    Raises:
        UsageError: it holds other numbers, or asks for gray.
    """
    shape = options.take("image_shape", default)
    if not (isinstance(shape, (list, tuple)) and len(shape) == 3 and all(isinstance(size, int) for size in shape)):
        raise options.wrong(f"`image_shape` is {shape!r}, and not channels, height and width")
    if shape[0] != 3:
        raise options.refuse(f"{shape[0]} channels of a picture that has three are no step here")
    return shape[1], shape[2]


def _line(options: Options) -> Entries:
    """`RecResizeImg`, `SVTRRecResizeImg`, `ClsResizeImg`: a shorter line is padded with zeros behind the scaling."""
    options.ignore("infer_mode", "character_dict_path", "eval_mode")
    height, width = _colours(options, (3, 48, 320))
    size = {"height": height, "width": width}
    if not options.take("padding", True):
        return [{"resize": size}, {"normalize": _HALVES}, "layout"]
    line = {"resize": {"rule": "line", **size}}
    return [line, {"normalize": _HALVES}, "layout", {"pad": {"width": width, "axis": "first"}}]


def _class_line(options: Options) -> Entries:
    """`ClsResizeImg`: as `RecResizeImg`, and always padded."""
    options.ignore("padding")
    return _line(Options(options.name, {"image_shape": options.take("image_shape")}, options.where))


def _exact_line(normalized: Mapping[str, object]) -> Reader:
    """An operator that resizes a line to its very size, and scales it."""

    def read(options: Options) -> Entries:
        options.ignore("infer_mode", "character_dict_path", "padding", "max_text_length")
        height, width = _colours(options)
        return [{"resize": {"height": height, "width": width}}, {"normalize": normalized}, "layout"]

    return read


def _plain_line(options: Options) -> Entries:
    """`PRENResizeImg`: [height, width]."""
    height, width = options.pair("image_shape")
    return [{"resize": {"height": height, "width": width}}, {"normalize": _HALVES}, "layout"]


def _page(options: Options) -> Entries:
    """`DetResizeForTest`: sides that are multiples of 32; with `resize_long` of 128, and rounded up."""
    options.ignore("max_side_limit")
    if options.given.get("image_shape"):
        height, width = options.pair("image_shape")
        if not options.take("keep_ratio", False):
            return [{"resize": {"height": height, "width": width}}]
        if height % 32:
            raise options.refuse(f"`keep_ratio` with a height of {height}, no multiple of 32, is no option of a step")
        return [{"resize": {"rule": "height", "height": height, "multiple_of": 32, "multiple": "up"}}]
    options.ignore("keep_ratio")
    if options.given.get("resize_long") and not options.given.get("limit_side_len"):
        options.ignore("limit_type")
        size = {"rule": "long", "size": int(options.take("resize_long"))}
        return [{"resize": {**size, "multiple_of": 128, "multiple": "up", "rounding": "down"}}]
    options.ignore("resize_long")
    size, kind = options.take("limit_side_len", 736), options.take("limit_type", "min")
    rules = {"max": "at_most", "min": "at_least", "resize_long": "long"}
    if kind not in rules:
        raise options.refuse(f"`limit_type` is {kind!r}")
    return [{"resize": {"rule": rules[kind], "size": int(size), "multiple_of": 32, "rounding": "down"}}]


def _size(options: Options) -> Entries:
    """`Resize`: [height, width]."""
    height, width = options.pair("size") if options.given.get("size") else (640, 640)
    return [{"resize": {"height": height, "width": width}}]


def _pad(options: Options) -> Entries:
    """`Pad`: to a size, or to the next multiples of `size_div`."""
    if options.given.get("size"):
        height, width = options.pair("size")
        options.ignore("size_div")
        return [{"pad": {"height": height, "width": width}}]
    options.ignore("size")
    return [{"pad": {"multiple_of": int(options.take("size_div", 32))}}]


def _table(options: Options) -> Entries:
    """`ResizeTableImage`: the longer side to `max_len`."""
    options.ignore("resize_bboxes", "infer_mode")
    return [{"resize": {"rule": "long", "size": int(options.take("max_len")), "rounding": "down"}}]


def _padded_table(options: Options) -> Entries:
    """`PaddingTableImage`: [height, width]."""
    height, width = options.pair("size")
    return [{"pad": {"height": height, "width": width}}]


READERS: Mapping[str, Reader] = {
    "DecodeImage": _decode,
    "NormalizeImage": _normalize,
    "ToCHWImage": layout,
    "RecResizeImg": _line,
    "SVTRRecResizeImg": _line,
    "ClsResizeImg": _class_line,
    "VLRecResizeImg": _exact_line({"scale": 1 / 255}),
    "ABINetRecResizeImg": _exact_line({"scale": 1 / 255, "mean": MEAN, "std": STD}),
    "PRENResizeImg": _plain_line,
    "DetResizeForTest": _page,
    "Resize": _size,
    "Pad": _pad,
    "ResizeTableImage": _table,
    "PaddingTableImage": _padded_table,
    **dict.fromkeys(("KeepKeys", *_LABELS), nothing),
    **dict.fromkeys(("RecAug", "RecConAug", "IaaAugment", "EastRandomCropData", "ColorJitter"), at_random),
    **dict.fromkeys(("CopyPaste", "SVTRRecAug", "ParseQRecAug", "ABINetRecAug", "BaseDataAugmentation"), at_random),
    **dict.fromkeys(("RandAugment", "RandomCropImgMask", "RandomScaling"), at_random),
}


# ---- after the model -------------------------------------------------------------------------------------------------


def _text(options: Options, content: Configuration, place: Place) -> Entries:
    """`CTCLabelDecode`: the characters of an `inference.yml`, behind which its runtime puts a space; or a dictionary's.

    The dictionary of a language that is read from the right has `arabic` in its path (`BaseRecLabelDecode`).
    """
    if listed := options.take("character_dict"):
        return [{"ctc": {"characters": [str(character) for character in listed], "space": True}}]
    of_all = inside(content, "Global") or {}
    named = of_all.get("character_dict_path")
    if not named:  # `use_space_char` is not asked then
        return [{"ctc": {"characters": list("0123456789abcdefghijklmnopqrstuvwxyz")}}]
    space = [" "] if of_all.get("use_space_char", False) else []
    turned = {"reverse": True} if "arabic" in str(named) else {}
    return [{"ctc": {"characters": [*place.lines(str(named)), *space], **turned}}]


def _boxes(options: Options, content: Configuration, place: Place) -> Entries:
    """`DBPostProcess`."""
    del content, place
    if (form := options.take("box_type", "quad")) != "quad":
        raise options.refuse(f"`box_type: {form}`, whose contours are joined by Clipper, is no step here")
    step: dict[str, object] = {
        "threshold": float(options.take("thresh", 0.3)),
        "score": float(options.take("box_thresh", 0.7)),
        "most": int(options.take("max_candidates", 1000)),
        "unclip": float(options.take("unclip_ratio", 2.0)),
    }
    if options.take("use_dilation", False):
        step["dilate"] = True
    if (mode := options.take("score_mode", "fast")) != "fast":
        step["within"] = "contour" if mode == "slow" else mode
    return [{"text_boxes": step}]


def _class(options: Options, content: Configuration, place: Place) -> Entries:
    """`ClsPostProcess`."""
    del content, place
    if options.take("key") is not None:
        raise options.refuse("`key`, one of several outputs, is no option of a step here")
    names = options.take("label_list")
    if isinstance(names, Mapping):
        names = [names.get(number) for number in range(len(names))]
    return [{"topk": {"k": 1}}, *([{"labels": {"names": [str(name) for name in names]}}] if names else [])]


def _structure(options: Options, content: Configuration, place: Place) -> Entries:
    """`TableLabelDecode`."""
    tokens = options.take("character_dict")
    if not tokens:
        named = inside(content, "Global", "character_dict_path") or options.take("character_dict_path")
        if not named:
            raise options.wrong("no dictionary is named by Global.character_dict_path")
        tokens = place.lines(str(named))
    listed = [str(token) for token in tokens]
    if options.take("merge_no_span_structure", False):
        listed = [*listed, *(() if "<td></td>" in listed else ("<td></td>",))]
        if "<td>" in listed:
            listed.remove("<td>")
    return [{"table": {"tokens": listed}}]


#: What reads `PostProcess`, by its name.
ANSWERS: Mapping[str, Callable[[Options, Configuration, Place], Entries]] = {
    "CTCLabelDecode": _text,
    "DBPostProcess": _boxes,
    "ClsPostProcess": _class,
    "TableLabelDecode": _structure,
}


class PaddleOCR(FamilySteps):
    """`#Eval` is the default of a configuration. What reads an `inference.yml` puts a space behind its characters."""

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "PreProcess": ("PreProcess", "transform_ops"),
        "Eval": ("Eval", "dataset", "transforms"),
        "Train": ("Train", "dataset", "transforms"),
    }
    readers: ClassVar[Mapping[str, Reader]] = READERS

    def before(self, content: Configuration, part: str, place: Place) -> Entries:
        path = self.parts[part]
        return translated(inside(content, *path), READERS, f"{place.name}: {'.'.join(path)}")

    def after(self, content: Configuration, part: str, place: Place) -> Entries:
        said = inside(content, "PostProcess")
        if not isinstance(said, Mapping):
            return []
        options = Options(str(said.get("name", "")), dict(said), f"{place.name}: PostProcess")
        if options.name not in ANSWERS:
            raise options.refuse("no step is known for it")
        return ANSWERS[options.name](options, content, place)


plugin: FamilySteps = PaddleOCR()
