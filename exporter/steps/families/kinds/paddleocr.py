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
    without_step,
)
from exporter.steps.families.kinds.paddleclas import MEAN, STD, layout
from exporter.steps.families.text_lines import LINES

#: What makes targets of labels; the picture stays as it is.
_LABELS = (
    *("DetLabelEncode", "CTCLabelEncode", "MultiLabelEncode", "ClsLabelEncode", "NRTRLabelEncode", "SARLabelEncode"),
    *("AttnLabelEncode", "RFLLabelEncode", "CPPDLabelEncode", "PRENLabelEncode", "SPINLabelEncode", "VLLabelEncode"),
    *("ABINetLabelEncode", "SRNLabelEncode", "SEEDLabelEncode", "SATRNLabelEncode", "ParseQLabelEncode"),
    *("ViTSTRLabelEncode", "TableLabelEncode", "TableMasterLabelEncode", "TableBoxEncode", "CTLabelEncode"),
    *("E2ELabelEncodeTest", "FCENetTargets", "CANLabelEncode"),
    *("UniMERNetLabelEncode", "LatexOCRLabelEncode", "SRLabelEncode"),
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


#: Why the operators of forms are refused.
_OF_ANNOTATIONS = (
    "takes texts and their places from annotations or a system of OCR, which a picture alone does not have"
)


def _page(options: Options) -> Entries:
    """`DetResizeForTest`: sides that are multiples of 32; with `resize_long` of 128, and rounded up.

    That it pads a picture whose sides together have less than 64 pixels is left out, as is the `max_side_limit` of 4000
    that newer versions take without being told: no sample of a page is so small, or so large.
    """
    if options.has("image_shape"):
        options.ignore("max_side_limit")
        height, width = options.pair("image_shape")
        if not options.take("keep_ratio", False):
            return [{"resize": {"height": height, "width": width}}]
        if height % 32:
            raise options.refuse(f"`keep_ratio` with a height of {height}, no multiple of 32, is no option of a step")
        return [{"resize": {"rule": "height", "height": height, "multiple_of": 32, "multiple": "up"}}]
    options.ignore("keep_ratio")
    if options.has("resize_long") and not options.has("limit_side_len"):
        options.ignore("limit_type", "max_side_limit")
        size = {"rule": "long", "size": int(options.take("resize_long"))}
        return [{"resize": {**size, "multiple_of": 128, "multiple": "up", "rounding": "down"}}]
    options.ignore("resize_long")
    size, kind = options.take("limit_side_len", 736), options.take("limit_type", "min")
    rules = {"max": "at_most", "min": "at_least", "resize_long": "long"}
    if kind not in rules:
        raise options.refuse(f"`limit_type` is {kind!r}")
    step = {"rule": rules[kind], "size": int(size), "multiple_of": 32, "rounding": "down"}
    if options.has("max_side_limit"):
        step["most"] = int(options.take("max_side_limit"))
    return [{"resize": step}]


def _size(options: Options) -> Entries:
    """`Resize`: [height, width]."""
    height, width = options.pair("size") if options.has("size") else (640, 640)
    return [{"resize": {"height": height, "width": width}}]


def _pad(options: Options) -> Entries:
    """`Pad`: to a size, or to the next multiples of `size_div`."""
    if options.has("size"):
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


def _whole_page(options: Options) -> Entries:
    """`E2EResizeForTest`: the longer side, of Total-Text 1.25 times; then up to multiples of 128."""
    rule = "grow" if options.take("valid_set") == "totaltext" else "long"
    size = {"rule": rule, "size": int(options.take("max_side_len"))}
    return [{"resize": {**size, "multiple_of": 128, "multiple": "up", "rounding": "down"}}]


def _aligned_page(options: Options) -> Entries:
    """`ScaleAlignedShort`: the shorter side, then up to multiples of 32."""
    size = {"rule": "short", "size": int(options.take("short_size", 640)), "rounding": "half_up"}
    return [{"resize": {**size, "multiple_of": 32, "multiple": "up"}}]


def _small_line(options: Options) -> Entries:
    """`SRResize`: the small picture that a net enlarges; the list reads it itself, as Pillow does."""
    options.ignore("keep_ratio", "min_ratio", "mask", "infer_mode")
    height, width = int(options.take("imgH", 32)), int(options.take("imgW", 128))
    down = int(options.take("down_sample_scale", 4))
    size = {"height": height // down, "width": width // down, "interpolation": "cubic", "library": "pillow"}
    return [{"decode": {"order": "rgb", "exif": False}}, {"resize": size}, {"normalize": {"scale": 1 / 255}}, "layout"]


# ---- formulas (unimernet_aug.py, latex_ocr_aug.py) -------------------------------------------------------------------


def _formula_page(options: Options) -> Entries:
    """`UniMERNetImgDecode`: [height, width]; what is written, as large as fits, in the middle of a black page."""
    for key in ("random_padding", "random_resize", "random_crop"):
        if options.take(key, False):
            raise options.refuse(f"`{key}` draws at random, so no deployment can do the same")
    height, width = options.pair("input_size")
    short = {"rule": "short", "size": min(height, width), "rounding": "whole", "library": "pillow"}
    fitting = {"rule": "shrink", "height": height, "width": width, "interpolation": "cubic", "library": "pillow"}
    page = {"height": height, "width": width, "place": "centre"}
    return [{"decode": {"order": "rgb", "exif": False}}, "trim", {"resize": short}, {"resize": fitting}, {"pad": page}]


def _formula_values(options: Options) -> Entries:
    """`UniMERNetTestTransform`: three equal channels of brightness, scaled."""
    del options
    scaled = {"mean": [0.7931 * 255], "std": [0.1738 * 255]}
    return [{"gray": {"channels": 3}}, {"normalize": scaled}]


def _formula_layout(multiple: int) -> Reader:
    """One of the channels, padded with 1 to multiples."""

    def read(options: Options) -> Entries:
        del options
        return [{"channels": {"order": [0]}}, {"pad": {"multiple_of": multiple, "value": 1.0}}, "layout"]

    return read


def _three_grays(options: Options) -> Entries:
    """`LatexTestTransform`."""
    del options
    return [{"gray": {"channels": 3}}]


def _formula_size(options: Options) -> Entries:
    """`MinMaxResize`: [width, height]."""
    wide, tall = options.pair("min_dimensions") if options.has("min_dimensions") else (32, 32)
    widest, tallest = options.pair("max_dimensions") if options.has("max_dimensions") else (672, 192)
    return [{"formula": {"least": [tall, wide], "most": [tallest, widest]}}]


def _one_gray(options: Options) -> Entries:
    """`GrayImageChannelFormat`: whatever the order of the channels is, it takes them as BGR."""
    inverse = {"inverse": True} if options.take("inverse", False) else {}
    return [{"gray": {"order": "bgr", **inverse}}, "layout"]


READERS: Mapping[str, Reader] = {
    "DecodeImage": _decode,
    "NormalizeImage": _normalize,
    "ToCHWImage": layout,
    **LINES,
    "DetResizeForTest": _page,
    "E2EResizeForTest": _whole_page,
    "ScaleAlignedShort": _aligned_page,
    "SRResize": _small_line,
    "UniMERNetImgDecode": _formula_page,
    "UniMERNetTestTransform": _formula_values,
    "UniMERNetImageFormat": _formula_layout(32),
    "LatexImageFormat": _formula_layout(16),
    "LatexTestTransform": _three_grays,
    "MinMaxResize": _formula_size,
    "GrayImageChannelFormat": _one_gray,
    "Resize": _size,
    "Pad": _pad,
    "ResizeTableImage": _table,
    "PaddingTableImage": _padded_table,
    **dict.fromkeys(("KeepKeys", *_LABELS), nothing),
    **dict.fromkeys(("RecAug", "RecConAug", "IaaAugment", "EastRandomCropData", "ColorJitter"), at_random),
    **dict.fromkeys(("CopyPaste", "SVTRRecAug", "ParseQRecAug", "ABINetRecAug", "BaseDataAugmentation"), at_random),
    **dict.fromkeys(("RandAugment", "RandomCropImgMask", "RandomScaling"), at_random),
    **dict.fromkeys(("UniMERNetTrainTransform", "LatexTrainTransform"), at_random),
    **dict.fromkeys(("VQATokenLabelEncode", "KieLabelEncode"), without_step(_OF_ANNOTATIONS)),
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
    return [{"ctc": {"characters": [*place.lines(str(named), "utf-8"), *space], **turned}}]


def _boxes(options: Options, content: Configuration, place: Place) -> Entries:
    """`DBPostProcess`."""
    del content, place
    if (form := options.take("box_type", "quad")) not in ("quad", "poly"):
        raise options.wrong(f"`box_type` is {form!r}, and not quad or poly")
    step: dict[str, object] = {
        "threshold": float(options.take("thresh", 0.3)),
        "score": float(options.take("box_thresh", 0.7)),
        "most": int(options.take("max_candidates", 1000)),
        "unclip": float(options.take("unclip_ratio", 2.0)),
    }
    if options.take("use_dilation", False):
        step["dilate"] = True
    if form == "poly":
        step["form"] = "poly"  # which takes no notice of `score_mode`
    elif (mode := options.take("score_mode", "fast")) != "fast":
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
        tokens = place.lines(str(named), "utf-8")
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
        of_all = inside(content, "Global")
        above = of_all if isinstance(of_all, dict) and part != "PreProcess" else {}  # `create_operators`
        return translated(inside(content, *path), READERS, f"{place.name}: {'.'.join(path)}", above)

    def after(self, content: Configuration, part: str, place: Place) -> Entries:
        said = inside(content, "PostProcess")
        if not isinstance(said, Mapping):
            return []
        options = Options(str(said.get("name", "")), dict(said), f"{place.name}: PostProcess")
        if options.name not in ANSWERS:
            raise options.refuse("no step is known for it")
        return ANSWERS[options.name](options, content, place)


plugin: FamilySteps = PaddleOCR()
