"""The steps of a deployment as the files that the Paddle families' runtimes read beside a model.

What is written is read back by :mod:`exporter.steps.families`, and has to give the very steps: what a family's words
cannot say is refused, and named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base.errors import UsageError
from exporter.base.files import sha256_bytes
from exporter.steps.chain import Chain, Declared, Link, read_chain
from exporter.steps.families.base import Place
from exporter.steps.kinds.ctc import CTC
from exporter.steps.settle import FAMILIES

#: `cv2.INTER_*` as PaddleDetection writes them, and the words of the others.
_NUMBERS = {"nearest": 0, "linear": 1, "cubic": 2, "area": 3, "lanczos": 4}
_WORDS = {"nearest": "NEAREST", "linear": "LINEAR", "cubic": "BICUBIC", "area": "AREA", "lanczos": "LANCZOS4"}
#: A file of a family, or a part of it: what may stand there the family says.
Yaml: TypeAlias = dict[str, Any]
#: Makes the operators of one step; None where the family does it of itself.
Writer: TypeAlias = Callable[[Any], "Yaml | None"]


@dataclass(frozen=True)
class Form:
    """How one kind of step file is written: which part of it lists the steps, and what stands around the list."""

    family: str
    part: str
    operators: Mapping[str, Writer]
    around: Callable[[list[Any], Chain], Yaml]


def written(form: Form, before: Chain, after: Chain) -> Yaml:
    """The content of the file.

    Raises:
        UsageError: the family has no operator for a step, or reads other steps out of what was written.
    """
    operators = [operator for link in before if (operator := _operator(form, link)) is not None]
    content = form.around(operators, after)
    try:
        family, place = FAMILIES[form.family], Place(Path(), f"the {form.family} step file")
        read = family.before(content, form.part, place), family.after(content, form.part, place)
    except UsageError as error:
        raise _refusal(form, f"it would not read what is written: {error.what}") from error
    for side, wanted, entries in (("before", before, read[0]), ("after", after, read[1])):
        got = read_chain(entries)
        if (fault := _unlike(wanted, got)) is not None:
            raise _refusal(form, f"its file cannot say {fault} {side} the model")
    return content


def _operator(form: Form, link: Link) -> Yaml | None:
    if not isinstance(link, Declared) or link.name not in form.operators:
        raise _refusal(form, f"it has no operator for the step {link}")
    return form.operators[link.name](link.step)


def _unlike(wanted: Chain, got: Chain) -> str | None:
    """The first step that was not read back as it is wanted."""
    for at in range(max(len(wanted), len(got))):
        one, other = (_said(chain[at]) if at < len(chain) else "no step" for chain in (wanted, got))
        if one != other:
            return f"step {at + 1}, {one}, but {other},"
    return None


def _said(link: Link) -> str:
    """The step with the options that are not the default; a long one by its beginning and its digest."""
    if not isinstance(link, Declared):
        return str(link)
    default = {name: field.default for name, field in type(link.step).model_fields.items()}
    told = {name: value for name, value in sorted(link.step.model_dump().items()) if value != default[name]}
    if link.name == "ctc":  # the runtimes append a space: it tells nothing where the model has no class for it
        with_it = (*told["characters"], *((" ",) if told.pop("space", False) else ()))
        told = {**told, "characters": _without_space(with_it)}
    text = f"{link.name} {told}"
    return text if len(text) < 300 else f"{text[:200]}… ({sha256_bytes(text.encode())[:8]})"


def _refusal(form: Form, what: str) -> UsageError:
    hint = "use infer.py of the bundle, or give the spec a deployment in the words of this family"
    return UsageError(f"{form.family}: {what}", where="pipeline.preprocess.deployment", hint=hint)


# ---- PaddleClas ----------------------------------------------------------------------------------------------------
def _nothing(step: Any) -> None:
    del step


def _clas_resize(step: Any) -> Yaml:
    size = {"resize_short": step.size} if step.rule == "short" else {"size": [step.width, step.height]}
    way = {} if step.interpolation == "linear" else {"interpolation": _WORDS[step.interpolation]}
    return {"ResizeImage": {**size, **way, **({"backend": "pil"} if step.library == "pillow" else {})}}


def _square(step: Any) -> int | list[int]:
    return int(step.width) if step.width == step.height else [step.width, step.height]


def _clas_normalize(step: Any) -> Yaml:
    mean, std = list(step.mean), list(step.std)
    order = {"order": "" if step.axis == "last" else "chw"}
    return {"NormalizeImage": {"scale": step.scale, "mean": mean, "std": std, **order}}


def _clas(operators: list[Any], after: Chain) -> Yaml:
    top: Yaml = {}
    for link in after:
        if isinstance(link, Declared) and link.name == "topk":
            top["topk"] = link.step.k  # type: ignore[attr-defined]  # the kind has it
        elif isinstance(link, Declared) and link.name == "labels":
            top["label_list"] = list(link.step.names)  # type: ignore[attr-defined]  # likewise
    return {"PreProcess": {"transform_ops": operators}, **({"PostProcess": {"Topk": top}} if after else {})}


# ---- PaddleSeg ------------------------------------------------------------------------------------------------------
def _seg_resize(step: Any) -> Yaml:
    way = {} if step.interpolation == "linear" else {"interp": _WORDS[step.interpolation]}
    if step.rule in ("short", "long", "at_most"):
        name, key = {
            "short": ("ResizeByShort", "short_size"),
            "long": ("ResizeByLong", "long_size"),
            "at_most": ("LimitLong", "max_long"),
        }[step.rule]
        return {"type": name, key: step.size}
    # Both are written always: PaddleX 3.7 keeps the ratio and rounds up to 32 unless the file says otherwise.
    size = {"target_size": [step.width, step.height], "keep_ratio": step.rule == "within", "size_divisor": None}
    return {"type": "Resize", **size, **way}


def _seg_pad(step: Any) -> Yaml:
    value = list(step.value) if isinstance(step.value, tuple) else step.value
    return {"type": "Padding", "target_size": [step.width, step.height], "im_padding_value": value}


def _seg(operators: list[Any], after: Chain) -> Yaml:
    # Whatever else is behind the model is read back as another step, and refused.
    return {"Deploy": {"transforms": operators, **({"output_op": "none"} if after else {})}}


# ---- PaddleDetection ------------------------------------------------------------------------------------------------
def _det_resize(step: Any) -> Yaml:
    size = {"target_size": [step.height, step.width], "keep_ratio": step.rule == "within"}
    return {"type": "Resize", **size, "interp": _NUMBERS[step.interpolation]}


def _det_normalize(step: Any) -> Yaml:
    said = {"type": "NormalizeImage", "is_scale": step.scale != 1.0}
    if step.mean == (0.0,) and step.std == (1.0,):
        return {**said, "norm_type": "none"}
    return {**said, "norm_type": "mean_std", "mean": list(step.mean), "std": list(step.std)}


def _det(operators: list[Any], after: Chain) -> Yaml:
    boxes = [link.step for link in after if isinstance(link, Declared) and link.name == "boxes"]
    score = boxes[0].score if boxes else 0.5  # type: ignore[attr-defined]  # the kind has it
    return {"mode": "paddle", "draw_threshold": score, "use_dynamic_shape": False, "Preprocess": operators}


# ---- PaddleOCR ------------------------------------------------------------------------------------------------------
def _ocr(operators: list[Any], after: Chain) -> Yaml:
    texts = [link.step for link in after if isinstance(link, Declared) and isinstance(link.step, CTC)]
    # A line is resized, scaled and padded by one operator, which is read back as these four steps.
    listed = [operator for operator in operators if operator != _IN_LINE]
    content: Yaml = {"PreProcess": {"transform_ops": listed}}
    if texts:
        words = texts[0].characters if texts[0].space else _without_space(texts[0].characters)
        content["PostProcess"] = {"name": "CTCLabelDecode", "character_dict": list(words)}
    return content


def _without_space(characters: Sequence[str]) -> Sequence[str]:
    """The characters without the space at the end, which the runtimes put there themselves."""
    return characters[:-1] if characters[-1] == " " else characters


#: What `RecResizeImg` does of itself behind the resizing.
_IN_LINE: Yaml = {"RecResizeImg": None}


def _ocr_resize(step: Any) -> Yaml:
    if step.rule == "line":
        return {"RecResizeImg": {"image_shape": [3, step.height, step.width]}}
    if step.rule == "exact":
        return {"DetResizeForTest": {"image_shape": [step.height, step.width]}}
    kinds = {"at_most": "max", "at_least": "min", "long": "resize_long"}
    return {"DetResizeForTest": {"limit_side_len": step.size, "limit_type": kinds.get(step.rule, step.rule)}}


def _ocr_decode(step: Any) -> Yaml:
    return {"DecodeImage": {"img_mode": step.order.upper(), "channel_first": False}}


def _ocr_forms() -> tuple[Form, ...]:
    """Of a page, and of a line of text."""
    page: dict[str, Writer] = {"decode": _ocr_decode, "resize": _ocr_resize}
    of_page = {**page, "normalize": _clas_normalize, "layout": lambda _: {"ToCHWImage": None}}
    of_line = {**page, **dict.fromkeys(("normalize", "layout", "pad"), lambda _: _IN_LINE)}
    return tuple(Form("paddleocr", "PreProcess", table, _ocr) for table in (of_line, of_page))


#: The forms by the family whose runtimes read them, the first that fits is taken.
FORMS: Mapping[str, Sequence[Form]] = {
    "paddleclas": (
        Form(
            "paddleclas",
            "PreProcess",
            {
                "decode": _nothing,
                "resize": _clas_resize,
                "crop": lambda step: {"CropImage": {"size": _square(step)}},
                "normalize": _clas_normalize,
                "layout": lambda _: {"ToCHWImage": None},
            },
            _clas,
        ),
    ),
    "paddleseg": (
        Form(
            "paddleseg",
            "Deploy",
            {
                "decode": _nothing,
                "cast": _nothing,
                "resize": _seg_resize,
                "normalize": lambda step: {"type": "Normalize", "mean": list(step.mean), "std": list(step.std)},
                "pad": _seg_pad,
                "layout": _nothing,
            },
            _seg,
        ),
    ),
    "paddledet": (
        Form(
            "paddledet",
            "Preprocess",
            {
                "decode": _nothing,
                "resize": _det_resize,
                "normalize": _det_normalize,
                "layout": lambda _: {"type": "Permute"},
                "cast": _nothing,
                "pad": lambda step: {"type": "PadStride", "stride": step.multiple_of},
            },
            _det,
        ),
    ),
    "paddleocr": _ocr_forms(),
}
