"""PaddleOCR's operators that bring a line of text to the size of a net (ppocr/data/imaug/rec_img_aug.py of 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.steps.families.base import Entries, Options, Reader
from exporter.steps.families.kinds.paddleclas import MEAN, STD

#: What `RecResizeImg` does behind the resizing, and what `GrayRecResizeImg` does.
_HALVES = {"scale": 1 / 255, "mean": [0.5], "std": [0.5]}
_AROUND_ZERO = {"scale": 1 / 128, "mean": [1.0]}
#: Lines are read as BGR.
_GRAY: Entries = [{"gray": {"order": "bgr"}}]


def _sizes(options: Options, count: int, default: Sequence[int] | None = None) -> list[int]:
    """So many whole numbers of `image_shape`.

    Raises:
        WrongOption: it holds others.
    """
    shape = options.take("image_shape", default)
    listed = list(shape) if isinstance(shape, (list, tuple)) else []
    if len(listed) != count or not all(isinstance(size, int) and size > 0 for size in listed):
        raise options.wrong(f"`image_shape` is {shape!r}, and not {count} sizes")
    return listed


def _size(options: Options, channels: int = 3, default: Sequence[int] | None = None) -> tuple[int, int]:
    """Height and width of `image_shape`: [channels, height, width].

    Raises:
        UsageError: it holds other numbers, or asks for other channels.
    """
    given, height, width = _sizes(options, 3, default)
    if given != channels:
        raise options.refuse(f"{given} channels of a picture that has {channels} are no step here")
    return height, width


def _in_line(height: int, width: int, way: str = "line", before: Entries | None = None) -> Entries:
    """The steps of `resize_norm_img`: a shorter line is padded with zeros behind the scaling."""
    least = {"least": True} if way == "long_line" else {}
    resize = {"resize": {"rule": way, "height": height, "width": width}}
    pad = {"pad": {"width": width, **least, "axis": "first"}}
    return [*(before or []), resize, {"normalize": _HALVES}, "layout", pad]


def _line(options: Options) -> Entries:
    """`RecResizeImg`, `SVTRRecResizeImg`; with `eval_mode` a longer line makes a wider input."""
    height, width = _size(options, default=(3, 48, 320))
    long = options.take("eval_mode", False) or (
        options.take("infer_mode", False) and options.take("character_dict_path", "default")
    )
    options.ignore("infer_mode", "character_dict_path")
    padding = options.take("padding", True)
    if long and options.name == "RecResizeImg":
        return _in_line(height, width, "long_line")
    if not padding:
        return [{"resize": {"height": height, "width": width}}, {"normalize": _HALVES}, "layout"]
    return _in_line(height, width)


def _class_line(options: Options) -> Entries:
    """`ClsResizeImg`: always padded."""
    options.ignore("padding", "infer_mode", "character_dict_path")
    return _in_line(*_size(options, default=(3, 48, 320)))


def _turned_line(options: Options) -> Entries:
    """`SSLRotateResize`: of the four turned pictures that an evaluation makes of one, the first.

    That is the one that tools/infer_cls.py reads, as `mode: test`.
    """
    options.ignore("select_all", "mode")
    height, width = _size(options)
    if options.take("padding", False):
        return _in_line(height, width)
    return [{"resize": {"height": height, "width": width}}, {"normalize": _HALVES}, "layout"]


def _exact_line(normalized: Mapping[str, object]) -> Reader:
    """An operator that resizes a line to its very size, and scales it."""

    def read(options: Options) -> Entries:
        options.ignore("infer_mode", "character_dict_path", "padding", "max_text_length")
        height, width = _size(options)
        return [{"resize": {"height": height, "width": width}}, {"normalize": normalized}, "layout"]

    return read


def _plain_line(options: Options) -> Entries:
    """`PRENResizeImg`: [height, width]."""
    height, width = _sizes(options, 2)
    return [{"resize": {"height": height, "width": width}}, {"normalize": _HALVES}, "layout"]


# ---- gray lines ------------------------------------------------------------------------------------------------------


def _gray_line(options: Options) -> Entries:
    """`GrayRecResizeImg`: [width, height]; with `padding` [channels, height, width], and no choice of the resizing."""
    kind, way = options.take("resize_type"), str(options.take("inter_type", "Image.Resampling.LANCZOS"))
    scaled = _AROUND_ZERO if options.take("scale", True) else {"scale": 1 / 255}
    if options.take("padding", False):
        height, width = _size(options, channels=1)
        resize = {"resize": {"rule": "line", "height": height, "width": width}}
        return [*_GRAY, resize, {"normalize": _AROUND_ZERO}, "layout", {"pad": {"width": width, "axis": "first"}}]
    width, height = _sizes(options, 2)
    size: dict[str, object] = {"height": height, "width": width}
    if kind == "PIL":
        name = way.rpartition(".")[2].lower()
        pillow = Options(options.name, {"inter_type": {"antialias": "lanczos"}.get(name, name)}, options.where)
        size |= {"interpolation": pillow.interpolation("inter_type"), "library": "pillow"}
    elif kind != "OpenCV":
        raise options.wrong(f"`resize_type` is {kind!r}, and not PIL or OpenCV")
    return [*_GRAY, {"resize": size}, {"normalize": scaled}, "layout"]


def _rectified_line(options: Options) -> Entries:
    """`RFLRecResizeImg`: the interpolation counts without `padding` alone."""
    height, width = _size(options, channels=1)
    way = options.interpolation("interpolation", 1)
    if options.take("padding", True):
        return _in_line(height, width, before=_GRAY)
    size = {"height": height, "width": width, "interpolation": way}
    return [*_GRAY, {"resize": size}, {"normalize": _HALVES}, "layout"]


def _spin_line(options: Options) -> Entries:
    """`SPINRecResizeImg`: [width, height]; linear, as its interpolation is given to OpenCV as a target instead."""
    options.ignore("interpolation")
    width, height = _sizes(options, 2)
    mean, std = options.numbers("mean", (127.5,)), options.numbers("std", (127.5,))
    if len(set(mean)) > 1 or len(set(std)) > 1:
        raise options.refuse("`mean` and `std` of more than one number for one channel are no step here")
    return [*_GRAY, {"resize": {"height": height, "width": width}}, _scaled(mean[0], std[0]), "layout"]


def _scaled(mean: float, std: float) -> dict[str, object]:
    return {"normalize": {"mean": [mean], "std": [std]}}


# ---- lines with inputs beside them -----------------------------------------------------------------------------------


def _span_line(options: Options) -> Entries:
    """`SARRecResizeImg`, `RobustScannerRecResizeImg`: [channels, height, least width, most]; padded with -1."""
    channels, height, least, width = _sizes(options, 4)
    if channels != 3:
        raise options.refuse(f"{channels} channels of a picture that has 3 are no step here")
    ratio = options.take("width_downsample_ratio", 0.25)
    if not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
        raise options.wrong(f"`width_downsample_ratio` is {ratio!r}, and no share of a width")
    size = {"rule": "span", "height": height, "least": least, "width": width, "multiple_of": int(1 / ratio)}
    entries: Entries = [{"resize": size}, {"beside": {"name": "valid_ratio", "what": "share", "size": width}}]
    if options.name == "RobustScannerRecResizeImg":
        entries += [{"beside": {"name": "word_positons", "what": "count", "size": _length(options)}}]
    pad = {"pad": {"width": width, "value": -1.0, "axis": "first"}}
    return [*entries, {"normalize": _HALVES}, "layout", pad]


def _block_line(options: Options) -> Entries:
    """`SRNRecResizeImg`: gray, one to three times as wide as high or to its width; four inputs stand beside it."""
    height, width = _size(options, channels=1)
    length, heads = _length(options), options.take("num_heads")
    if not isinstance(heads, int):
        raise options.wrong(f"`num_heads` is {heads!r}, and no number of heads")
    beside: Entries = [
        {"beside": {"name": "encoder_word_pos", "what": "count", "size": height // 8 * (width // 8), "column": True}},
        {"beside": {"name": "gsrm_word_pos", "what": "count", "size": length, "column": True}},
        {"beside": {"name": "gsrm_slf_attn_bias1", "what": "above", "size": length, "heads": heads}},
        {"beside": {"name": "gsrm_slf_attn_bias2", "what": "below", "size": length, "heads": heads}},
    ]
    resize = {"resize": {"rule": "blocks", "height": height, "width": width}}
    cast = {"cast": {"dtype": "float32"}}
    return [resize, *_GRAY, *beside, {"pad": {"height": height, "width": width}}, cast, "layout"]


def _length(options: Options) -> int:
    """How many characters a text has at most."""
    length = options.take("max_text_length")
    if not isinstance(length, int) or length < 1:
        raise options.wrong(f"`max_text_length` is {length!r}, and no number of characters")
    return length


LINES: Mapping[str, Reader] = {
    "RecResizeImg": _line,
    "SVTRRecResizeImg": _line,
    "ClsResizeImg": _class_line,
    "SSLRotateResize": _turned_line,
    "VLRecResizeImg": _exact_line({"scale": 1 / 255}),
    "ABINetRecResizeImg": _exact_line({"scale": 1 / 255, "mean": MEAN, "std": STD}),
    "PRENResizeImg": _plain_line,
    "GrayRecResizeImg": _gray_line,
    "RFLRecResizeImg": _rectified_line,
    "SPINRecResizeImg": _spin_line,
    "SARRecResizeImg": _span_line,
    "RobustScannerRecResizeImg": _span_line,
    "SRNRecResizeImg": _block_line,
}
