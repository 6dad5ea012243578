"""PaddleSeg: `val_dataset` of its configurations, `Deploy` of `deploy.yaml` and `inference.yml`.

By paddleseg/transforms of 2.8: a picture is read as RGB and converted to float32 before the list, and its channels are
put first after it.
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
)


def _exact(options: Options) -> Entries:
    """`Resize`: [width, height]; `keep_ratio` is of 2.7 and later; both sides go up to a multiple of `size_divisor`."""
    width, height = options.pair("target_size") if options.given.get("target_size") else (512, 512)
    step: dict[str, object] = {"height": height, "width": width, "interpolation": options.interpolation("interp")}
    if divisor := options.take("size_divisor"):
        step |= {"multiple_of": int(divisor), "multiple": "up"}
    if options.take("keep_ratio", False):
        step = {"rule": "within", **step}
    return [{"resize": step}]


def _long(options: Options) -> Entries:
    return [{"resize": {"rule": "long", "size": int(options.take("long_size"))}}]


def _short(options: Options) -> Entries:
    options.ignore("max_size")
    if options.given.get("max_size"):
        raise options.refuse("`max_size` is no option of a step here")
    return [{"resize": {"rule": "short", "size": int(options.take("short_size"))}}]


def _limited(options: Options) -> Entries:
    longest, least = options.take("max_long"), options.take("min_long")
    if least:
        raise options.refuse("`min_long` is no option of a step here")
    return [{"resize": {"rule": "at_most", "size": int(longest)}}] if longest else []


def _normalize(options: Options) -> Entries:
    mean, std = (options.numbers(key, (0.5, 0.5, 0.5)) for key in ("mean", "std"))
    return [{"normalize": {"scale": 1 / 255, "mean": mean, "std": std}}]


def _pad(options: Options) -> Entries:
    options.ignore("label_padding_value")
    width, height = options.pair("target_size")
    value = options.numbers("im_padding_value", (127.5,))
    return [{"pad": {"height": height, "width": width, "value": value}}]


READERS: Mapping[str, Reader] = {
    "Resize": _exact,
    "ResizeByLong": _long,
    "ResizeByShort": _short,
    "LimitLong": _limited,
    "Normalize": _normalize,
    "Padding": _pad,
    **dict.fromkeys(("GenerateInstanceTargets", "AddMultiLabelAuxiliaryCategory", "AddEdgeLabel"), nothing),
    **dict.fromkeys(("ResizeStepScaling", "ResizeRangeScaling", "RandomPaddingCrop", "RandomScaleAspect"), at_random),
    **dict.fromkeys(("RandomHorizontalFlip", "RandomVerticalFlip", "RandomDistort", "RandomRotation"), at_random),
    **dict.fromkeys(("RandomBlur", "RandomNoise", "RandomCenterCrop", "RandomAffine"), at_random),
}


class PaddleSeg(FamilySteps):
    """`#val` is the default of a configuration.

    The largest of the classes' scores is the answer. `output_op` of `deploy.yaml` says what the export appended: with
    `argmax`, its default, the artifact gives the answer itself; of `softmax` and `none` the predictor takes the
    largest (paddleseg/core/export.py and deploy/python/infer.py of 2.10).
    """

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "Deploy": ("Deploy", "transforms"),
        "val": ("val_dataset", "transforms"),
        "test": ("test_dataset", "transforms"),
        "train": ("train_dataset", "transforms"),
    }
    readers: ClassVar[Mapping[str, Reader]] = READERS

    def before(self, content: Configuration, part: str, place: Place) -> Entries:
        path = self.parts[part]
        steps = translated(inside(content, *path), READERS, f"{place.name}: {'.'.join(path)}")
        rgb = inside(content, *path[:-1], "to_rgb")
        order = "bgr" if rgb is False else "rgb"
        # `Normalize` makes floats itself: before it the cast changes nothing, and no sample could show it.
        plain = not steps or (isinstance(steps[0], dict) and "normalize" in steps[0])
        cast = [] if plain else [{"cast": {"dtype": "float32"}}]
        return [{"decode": {"order": order}}, *cast, *steps, "layout"]

    def after(self, content: Configuration, part: str, place: Place) -> Entries:
        appended = str(inside(content, "Deploy", "output_op") or "argmax") if part == "Deploy" else "none"
        if appended not in ("argmax", "softmax", "none"):
            options = Options("output_op", {}, f"{place.name}: Deploy")
            raise options.wrong(f"it is {appended!r}, and not argmax, softmax or none")
        return [] if appended == "argmax" else [{"argmax": {"axis": 0}}]


plugin: FamilySteps = PaddleSeg()
