"""PaddleX 3: `inference.json` (or `.pdmodel`), `inference.pdiparams`, and the steps in `inference.yml`.

By paddlex/inference/models of 3.7: a folder is loaded by `create_model(MODEL_NAME, model_dir=FOLDER)`. A predictor runs
its own list of operators, whatever order the file has; what that makes of other steps is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from exporter.base.errors import UsageError
from exporter.deploy.handoff.base import Chosen, Target
from exporter.deploy.handoff.beside import StepsBeside
from exporter.deploy.handoff.step_files import Yaml

#: By the part of the file: the operators in the order in which its predictor runs them, and those that it needs.
_RUN = {
    "PreProcess": (
        ("ResizeImage", "CropImage", "NormalizeImage", "ToCHWImage"),
        ("ResizeImage", "NormalizeImage", "ToCHWImage"),
    ),
    "Deploy": (("Resize", "Normalize"), ("Normalize",)),
}


class PaddleX(StepsBeside):
    """The form of the steps is that of the family whose words can say them."""

    families: ClassVar[Sequence[str]] = ("paddleclas", "paddleocr", "paddleseg", "paddledet")
    file = "inference.yml"
    stem = "inference"
    runtime = "PaddleX"
    start = """
    python -c "import paddlex; m = paddlex.create_model('{name}', model_dir='.'); print(next(m.predict('picture.png')))"

PaddleX knows models by their names, and `{name}` has to be one of those whose task is this model's: give the spec that
name. A detector also needs its `label_list` in `inference.yml`, which no step says.

Of a line of text that is longer than `image_shape` allows its predictor makes a wider input, up to 3200 pixels, where
the bundle's steps squeeze the line: their texts differ. Its segmentation resizes whole numbers, where PaddleSeg resizes
floats: pixels on an edge may get another class.
"""

    def about(self, chosen: Chosen, content: Yaml) -> Yaml:
        part, operators = _listed(content)
        names = [name for name, _ in operators]
        if "DetResizeForTest" in names:
            raise _refusal("its text detector wants a DBPostProcess, which no step says")
        if "RecResizeImg" not in names and part in _RUN:
            order, needed = _RUN[part]
            if names != [name for name in order if name in names] or not set(needed) <= set(names):
                raise _refusal(f"its predictor runs {', '.join(order)}, and the steps are {', '.join(names)}")
        if part == "PreProcess" and not content.get("PostProcess"):
            raise _refusal("its predictor wants topk, or ctc of a line of text, behind the model")
        for name, options in operators:
            if (why := _misread(name, options)) is not None:
                raise _refusal(f"{name}: {why}")
        labels: Yaml = {"label_list": []} if part == "Preprocess" else {}
        return {"Global": {"model_name": chosen.manifest.name}, **content, **labels}


def _listed(content: Yaml) -> tuple[str, list[tuple[str, Mapping[str, Any]]]]:
    """The part of the file that lists the operators, and each operator's name and options."""
    if "PreProcess" in content:
        each = [next(iter(operator.items())) for operator in content["PreProcess"]["transform_ops"]]
        return "PreProcess", [(name, options or {}) for name, options in each]
    part = "Deploy" if "Deploy" in content else "Preprocess"
    operators = content["Deploy"]["transforms"] if part == "Deploy" else content[part]
    return part, [(operator["type"], operator) for operator in operators]


def _misread(name: str, options: Mapping[str, Any]) -> str | None:
    """What its predictor would make of the options other than the family does."""
    if options.get("norm_type") == "none":
        return "without mean and std it takes those of ImageNet; give the step a mean and a std of three numbers"
    if any(len(options[key]) != 3 for key in ("mean", "std") if key in options):
        return "it takes a mean and a std of three numbers only"
    if options.get("order", "") != "":
        return "it scales pictures before their layout is changed only"
    if options.get("backend") == "pil" and "interpolation" not in options:
        return "it has no linear interpolation of Pillow"
    return None


def _refusal(what: str) -> UsageError:
    hint = "use infer.py of the bundle, or hand the bundle to the family's own target"
    return UsageError(f"PaddleX: {what}", where="pipeline", hint=hint)


plugin: Target = PaddleX()
