"""The samples that a precision is calibrated with: real ones, of the recipe's training data or of a file.

Never the held-out data, by which the result is judged; and never noise, unless the spec says so, since the ranges of
activations on noise are not those on what the model will see.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exporter.errors import UsageError
from exporter.lower._convert import PRECISIONS
from exporter.parity.cases import Case, batch_dim
from exporter.spec.model import Spec
from exporter.workers import SINGLE_THREAD, Setting, call, doing

#: Far from the seeds of the cases, which count from the spec's own.
_SEED = 1 << 20


def refuse_noise(spec: Spec) -> None:
    """Make sure that there is something to calibrate with.

    Raises:
        UsageError: an input has no samples, and the spec does not say that noise will do.
    """
    for name, settings in spec.precisions.items():
        if name == "fp32" or not PRECISIONS[name].calibrates(settings) or settings.noise:
            continue
        for key, one in spec.inputs.items():
            if one.values != "dataset" and not one.values.endswith(".npy"):
                raise UsageError(
                    f"{name} has no samples to be calibrated with: input '{key}' is filled with {one.values}",
                    where=f"precisions.{name}",
                    hint=f"give inputs.{key}.values a .npy file of real samples, or a recipe and `dataset`; "
                    f"or say {{noise: true}}, where noise is what the model will see",
                )


@contextlib.contextmanager
def calibration(spec: Spec, setting: Setting) -> Iterator[dict[str, Path]]:
    """For each precision that is calibrated, a temporary safetensors file of `<call>/<input>`, typical in size.

    Raises:
        UsageError: the samples do not fit the inputs.
    """
    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        drawn = {}
        for name, settings in spec.precisions.items():
            if name != "fp32" and PRECISIONS[name].calibrates(settings):
                setting.say(f"drawing samples to calibrate {name} with")
                drawn[name] = Path(folder) / f"{name}.safetensors"
                call(
                    "exporter.parity.calibrate:draw_samples",
                    {"spec": spec.model_dump(mode="json"), "rows": settings.samples, "into": str(drawn[name])},
                    setting.limits,
                    environment=SINGLE_THREAD,
                    on_event=setting.on_event,
                )
        yield drawn


def draw_samples(request: dict[str, Any]) -> dict[str, Any]:
    """The child's side: draw the rows and cut them into calls of the typical size."""
    from exporter.parity.values import draw
    from exporter.recipe.load import load_recipe, samples_of
    from exporter.tensors import save

    spec = Spec.model_validate(request["spec"])
    batch, typical = batch_dim(spec), {name: dim.typical for name, dim in spec.dims.items()}
    recipe = load_recipe(spec.recipe) if spec.recipe else None
    doing("drawing calibration samples")
    calls = []
    if batch is None:
        cases = [Case("", typical, spec.seed + _SEED + number) for number in range(request["rows"])]
    else:
        cases = [Case("", {**typical, batch: request["rows"]}, spec.seed + _SEED)]
    for case in cases:
        drawn = draw(
            spec, case, (lambda names, count, seed: samples_of(recipe, "train", names, count, seed)) if recipe else None
        )
        size = typical[batch] if batch else 0
        leads = {name for name, one in spec.inputs.items() if batch and one.shape and one.shape[0] == batch}
        for start in range(0, request["rows"], size) if size else [0]:
            part = {name: value[start : start + size] if name in leads else value for name, value in drawn.items()}
            calls.append(part)
    tensors = {f"{number:05}/{name}": value for number, one in enumerate(calls) for name, value in one.items()}
    save(Path(request["into"]), tensors)
    return {"calls": len(calls)}
