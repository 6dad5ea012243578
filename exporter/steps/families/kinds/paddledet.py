"""PaddleDetection: `EvalReader` and `TestReader` of its configurations, `Preprocess` of `infer_cfg.yml`.

By ppdet/data/transform/operators.py and deploy/python/preprocess.py of 2.6. Its predictor reads pictures as RGB before
the list of `infer_cfg.yml` begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def _rotated_resize(options: Options) -> Entries:
    """`RResize`: [height, width]; the factor goes to OpenCV, and what comes out are floats."""
    height, width = options.pair("target_size")
    way = {"interpolation": options.interpolation("interp"), "tracks": True}
    rule = {"rule": "factor"} if options.take("keep_ratio") else {}
    return [{"resize": {**rule, "height": height, "width": width, **way}}, {"cast": {"dtype": "float32"}}]


def _letter_box(options: Options) -> Entries:
    """`LetterBoxResize`: [height, width]; in the middle of gray, which bytes make 128 of 127.5."""
    height, width = options.pair("target_size")
    size = {"height": height, "width": width}
    fit = {"rule": "fit", **size, "interpolation": "area", "tracks": True}
    return [{"resize": fit}, {"pad": {**size, "value": 127.5, "place": "centre"}}]


def _warp(options: Options) -> Entries:
    """`WarpAffine`: swaps the channels; with `keep_res` to the next multiples of 32, else to `input_h` x `input_w`."""
    options.ignore("scale", "shift", "down_ratio")
    height, width = int(options.take("input_h", 512)), int(options.take("input_w", 512))
    if not options.take("keep_res", False):
        options.ignore("pad")
        return ["channels", {"warp": {"rule": "longest", "height": height, "width": width, "tracks": True}}]
    if (border := options.take("pad", 31)) != 31:
        raise options.refuse(f"`pad: {border}`, which makes no multiples of 32, is no option of a step here")
    return ["channels", {"warp": {"rule": "around", "tracks": True}}]


def _person(options: Options) -> Entries:
    """`TopDownEvalAffine`: [width, height]; the picture is that of one person."""
    width, height = options.pair("trainsize")
    rule = "corners" if options.take("use_udp", False) else "width"
    return [{"warp": {"rule": rule, "height": height, "width": width}}]


def _people(options: Options) -> Entries:
    """`EvalAffine`."""
    options.ignore("stride")
    return [{"warp": {"rule": "shortest", "size": int(options.take("size"))}}]


def _petr(options: Options) -> Entries:
    """`PETR_Resize`: of one scale that keeps the ratio."""
    options.ignore("multiscale_mode", "bbox_clip_border", "keypoint_clip_border", "override")
    scales = options.take("img_scale")
    scales = scales if isinstance(scales, list) and scales and isinstance(scales[0], list) else [scales]
    if len(scales) != 1 or options.take("ratio_range") or not options.take("keep_ratio", True):
        raise options.refuse("more than one size, or one that does not keep the ratio, is no option of a step here")
    if options.take("backend", "cv2") != "cv2":
        raise options.refuse("`backend` is another than cv2")
    one = Options(options.name, {"img_scale": scales[0]}, options.where)
    height, width = one.pair("img_scale")
    way = {"interpolation": options.interpolation("interpolation", "bilinear")}
    return [{"resize": {"rule": "within", "height": height, "width": width, **way}}]


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


def _pad(fill: float) -> Reader:
    """`Pad` to a size, at the right and below or on all sides; `fill` is what it takes where it names no value.

    The training pads floats (ppdet/data/transform/operators.py), so a value that is no byte needs a cast first.
    """

    def read(options: Options) -> Entries:
        mode, value = options.take("pad_mode", 0), options.numbers("fill_value", (fill,))
        if mode not in (0, 1):
            raise options.refuse(f"`pad_mode` {mode!r} is no option of a step here")
        step: dict[str, object] = {"value": value if len(set(value)) > 1 else value[0]}
        if options.given.get("size"):
            step["height"], step["width"] = options.pair("size")
        else:
            step["multiple_of"] = int(options.take("size_divisor", 32))
        options.ignore("size", "size_divisor", "offsets")
        if mode:
            step["place"] = "centre"
        cast: Entries = [] if all(number.is_integer() for number in value) else [{"cast": {"dtype": "float32"}}]
        return [*cast, {"pad": step}]

    return read


#: Why an evaluation of key points is refused.
_OF_A_BOX = "cuts out the box of a person that the annotations name; TopDownEvalAffine of #Test takes a whole picture"

READERS: Mapping[str, Reader] = {
    "Decode": _decode,
    "Resize": _resize,
    "RResize": _rotated_resize,
    "LetterBoxResize": _letter_box,
    "WarpAffine": _warp,
    "TopDownEvalAffine": _person,
    "EvalAffine": _people,
    "PETR_Resize": _petr,
    "NormalizeImage": _normalize,
    "Permute": _permute,
    "PadStride": _pad_stride,
    "PadBatch": _pad_batch,
    "Pad": _pad(127.5),
    **dict.fromkeys(("Gt2YoloTarget", "BboxXYXY2XYWH", "NormalizeBox", "PadBox"), nothing),
    **dict.fromkeys(("Poly2Array", "Poly2RBox", "Gt2SparseTarget", "PadGT", "PadRGT"), nothing),
    **dict.fromkeys(("RandomFlip", "RandomCrop", "RandomExpand", "RandomDistort", "Mixup"), at_random),
    **dict.fromkeys(("BatchRandomResize", "RandomResize", "RandomSelect", "Mosaic", "FlipWarpAffine"), at_random),
    **dict.fromkeys(("TopDownAffine", "SinglePoseAffine"), without_step(_OF_A_BOX)),
    "SniperDecodeCrop": without_step("cuts the parts out of a picture that its annotations name"),
    "MultiscaleTestResize": without_step("makes several pictures of one, whose answers are joined"),
    "CropAndFlipImages": without_step("takes the pictures of a film together"),
}


#: The predictor's own `Pad` takes another value (deploy/python/preprocess.py).
DEPLOYED: Mapping[str, Reader] = {**READERS, "Pad": _pad(114.0)}


class PaddleDetection(FamilySteps):
    """`#Eval` is the default of a configuration; what it merges from `_BASE_` files is read from those.

    Of `#Test` with `fuse_normalize: true` the net normalizes: its export leaves `NormalizeImage` out of
    `infer_cfg.yml` (ppdet/engine/export_utils.py). What evaluates keeps it, as no net is fused there.

    The nets read the size and the factors of the resizing beside the picture; the answer are the boxes that are sure
    enough for the configuration's `draw_threshold`.
    """

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "Preprocess": ("Preprocess",),
        "Eval": ("EvalReader", "sample_transforms"),
        "Test": ("TestReader", "sample_transforms"),
        "EvalMOT": ("EvalMOTReader", "sample_transforms"),
        "TestMOT": ("TestMOTReader", "sample_transforms"),
        "Train": ("TrainReader", "sample_transforms"),
    }
    readers: ClassVar[Mapping[str, Reader]] = READERS
    #: Sizes of pictures in pixels, and how much they were enlarged.
    values: ClassVar[Mapping[str, str]] = {"im_shape": "uniform(160,640)", "scale_factor": "uniform(0.5,2)"}

    picture: ClassVar[str] = "image"
    beside: ClassVar[Sequence[str]] = ("im_shape", "scale_factor")

    def exported_parts(self, content: Configuration) -> Sequence[str]:
        """A net that normalizes itself is the one of `#Test`."""
        listed = super().exported_parts(content)
        fused = inside(content, "TestReader", "fuse_normalize") is True
        return sorted(listed, key=lambda part: part != "Test") if fused else listed

    def readers_of(self, content: Configuration, part: str) -> Mapping[str, Reader]:
        if part == "Preprocess":
            return DEPLOYED
        fused = part in ("Test", "TestMOT") and inside(content, self.parts[part][0], "fuse_normalize") is True
        return {**READERS, "NormalizeImage": nothing} if fused else READERS

    def before(self, content: Configuration, part: str, place: Place) -> Entries:
        path, readers = self.parts[part], self.readers_of(content, part)
        steps = translated(inside(content, *path), readers, f"{place.name}: {'.'.join(path)}")
        batched = inside(content, path[0], "batch_transforms") if part != "Preprocess" else None
        if batched:
            steps += translated(batched, readers, f"{place.name}: {path[0]}.batch_transforms")
        if not (steps and isinstance(steps[0], dict) and "decode" in steps[0]):  # a predictor or a dataset reads it
            steps = [{"decode": {"order": "rgb"}}, *steps]
        floats = any(isinstance(step, dict) and ("normalize" in step or "cast" in step) for step in steps)
        # The nets take floats: the predictor converts what it has last, a fused net's picture included.
        return steps if floats else [*steps, {"cast": {"dtype": "float32"}}]

    def after(self, content: Configuration, part: str, place: Place) -> Entries:
        del part
        step: dict[str, object] = {"score": float(content.get("draw_threshold", 0.5))}
        labels, count = content.get("label_list"), content.get("num_classes")
        if isinstance(labels, list) and labels:
            step["classes"] = len(labels)
        elif isinstance(count, int) and count > 0:
            step["classes"] = count
        if _tells_points(content):
            raise Options("key points", {}, place.name).refuse("no step is known for what is behind their heatmaps")
        return [{"boxes": step}]


#: In the metric or the architecture of a model that tells key points instead of boxes.
_POINTS = ("KeyPoint", "Pose", "HRNet", "PETR", "METRO")


def _tells_points(content: Configuration) -> bool:
    said = " ".join(str(content.get(key, "")) for key in ("metric", "architecture", "arch"))
    return any(word in said for word in _POINTS)


plugin: FamilySteps = PaddleDetection()
