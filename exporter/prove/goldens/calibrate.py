"""The samples that a precision is calibrated with: real ones, of the recipe's training data or of a file.

Never the held-out data, by which the result is judged; and never noise, unless the spec says so, since the ranges of
activations on noise are not those on what the model will see.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import UsageError
from exporter.base.tensors import Array, shape_at
from exporter.export.lower.convert import PRECISIONS
from exporter.process.job import job
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call, doing
from exporter.prove.goldens.cases import Case, batch_dim
from exporter.spec.model import Spec
from exporter.spec.values import are_real

if TYPE_CHECKING:
    from exporter.prove.goldens.values import Rows
    from exporter.spec.recipe.base import Data

#: Far from the seeds of the cases, which count from the spec's own.
_SEED = 1 << 20


def refuse_noise(spec: Spec) -> None:
    """Make sure that there is something to calibrate with.

    Raises:
        UsageError: an input has no samples, and the spec does not say that noise will do.
    """
    for name, settings in spec.precisions.items():
        if name == "fp32" or not PRECISIONS[name].calibrates(settings) or settings.noise or settings.data:
            continue
        for key, one in spec.inputs.items():
            if not are_real(one.values):
                raise UsageError(
                    f"{name} has no samples to be calibrated with: input '{key}' is filled with {one.values}",
                    where=f"precisions.{name}",
                    hint="give it `data: FILE.safetensors` with real rows of each input, or the input a recipe and "
                    "`values: dataset`; or say `noise: true`, where noise is what the model will see",
                )


@contextlib.contextmanager
def calibration(spec: Spec, setting: Setting) -> Iterator[dict[str, Path]]:
    """For each precision that is calibrated, a temporary safetensors file of `<call>/<input>`, typical in size.

    Raises:
        UsageError: the samples do not fit the inputs.
    """
    with scratch() as folder:
        drawn = {}
        for name, settings in spec.precisions.items():
            if name != "fp32" and PRECISIONS[name].calibrates(settings):
                setting.say(f"drawing samples to calibrate {name} with")
                drawn[name] = folder / f"{name}.safetensors"
                call(
                    draw_samples,
                    SamplesRequest(spec.without_verdict(), name, drawn[name]),
                    setting.limits,
                    environment=SINGLE_THREAD,
                    imports=PADDLE,
                    on_event=setting.on_event,
                )
        yield drawn


@dataclass(frozen=True)
class SamplesRequest:
    """The file `into` is to hold the samples that a precision of the spec is calibrated with."""

    spec: Spec
    precision: str
    into: Path


@job(reuse="samples to calibrate {precision} with")
def draw_samples(request: SamplesRequest) -> None:
    """Draw the rows, cut them into calls of the typical size, and write `<call>/<input>` of each.

    Raises:
        UsageError: the file of samples is not there, or holds others than the inputs take.
    """
    from exporter.base.tensors import save_scratch
    from exporter.prove.goldens.values import draw

    spec = request.spec
    settings = spec.precisions[request.precision]
    doing("drawing calibration samples")
    batch, typical = batch_dim(spec), {name: dim.typical for name, dim in spec.dims.items()}
    if batch is None:  # one call is one sample
        points = [typical] * settings.samples
        size = 0
    else:
        points, size = [{**typical, batch: settings.samples}], typical[batch]
    calls: list[dict[str, Array]] = []
    rows = None if settings.data else _training_rows(spec)
    for number, dims in enumerate(points):
        drawn = (
            _stored(spec, settings.data, dims, number)
            if settings.data
            else draw(spec, Case("", dims, spec.seed + _SEED + number), rows)
        )
        leads = {name for name, one in spec.inputs.items() if batch and one.shape and one.shape[0] == batch}
        for start in range(0, settings.samples, size) if size else [0]:
            calls.append({key: value[start : start + size] if key in leads else value for key, value in drawn.items()})
    tensors = {f"{number:05}/{name}": value for number, one in enumerate(calls) for name, value in one.items()}
    save_scratch(request.into, tensors)


def _training_rows(spec: Spec) -> Rows | None:
    from exporter.spec.recipe.load import load_data, load_recipe, rows_of

    if spec.recipe is None:
        return None
    recipe = load_recipe(spec.recipe)
    loaded: list[Data] = []

    def rows(names: tuple[str, ...], count: int, seed: int) -> Mapping[str, Array]:
        if not loaded:  # only where an input is filled with them
            loaded.append(load_data(recipe, str(spec.recipe)))
        return rows_of(loaded[0], "train", names, count, seed)

    return rows


def _stored(spec: Spec, path: str, dims: Mapping[str, int], number: int) -> dict[str, Array]:
    """The first rows of a file that has one array for each input; where inputs are no batches, its sample `number`.

    Raises:
        UsageError: there is no such file, or it holds too few rows or others than the inputs take.
    """
    from exporter.base.tensors import load

    if not Path(path).is_file():
        raise UsageError("no such file of calibration samples", where=path, hint="check precisions.<name>.data")
    held = load(Path(path))
    found = {}
    for name, one in spec.inputs.items():
        shape = shape_at(one.shape, dims)
        value = held.get(name)
        if value is not None:
            value = value[: shape[0]] if batch_dim(spec) else value[number] if number < len(value) else value[:0]
        if value is None or value.shape != shape or value.dtype.name != one.dtype:
            came = "nothing" if value is None else f"{value.dtype.name}{list(value.shape)}"
            hint = "store real rows of every input, at least as many as `samples`, or ask for fewer"
            raise UsageError(f"for '{name}' it gives {came}, not {one.dtype}{list(shape)}", where=path, hint=hint)
        found[name] = value
    return found
