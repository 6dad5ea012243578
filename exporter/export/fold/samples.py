"""In a child: the samples of a pipeline as the graph takes them, behind the steps that are not folded in."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.errors import UsageError
from exporter.export.fold.split import parts
from exporter.spec.pipeline import Pipeline
from exporter.steps.base import VALUE
from exporter.steps.chain import steps_of
from exporter.steps.samples import read_samples

if TYPE_CHECKING:
    from exporter.base.tensors import Array


def sample_rows(pipeline: Pipeline, count: int, seed: int) -> Array:
    """`count` samples in a drawn order, as one array; all of them before any comes again.

    Raises:
        UsageError: a sample cannot be read, or has another shape or dtype than the first.
        EnvironmentLacks: a step outside needs a package that is not installed.
    """
    raw = _raw_samples(pipeline.model_dump_json())
    names = list(raw)
    forms = {name: f"{value.dtype.name}{list(value.shape)}" for name, value in raw.items()}
    for name, form in forms.items():
        if form != forms[names[0]]:
            raise UsageError(
                f"it is {form}, and '{names[0]}' is {forms[names[0]]}",
                where=f"pipeline.samples: {name}",
                hint="name samples of one size, or resize them in a step that is not folded in",
            )
    generator = np.random.default_rng([seed, 3])
    rounds = [generator.permutation(len(names)) for _ in range(-(-count // len(names)))]
    return np.stack([raw[names[at]] for at in np.concatenate(rounds)[:count]])


@lru_cache(maxsize=2)
def _raw_samples(pipeline: str) -> dict[str, Array]:
    """Each sample behind the steps outside, by its name."""
    asked = Pipeline.model_validate_json(pipeline)
    outside = parts(asked).before_outside
    raw = {}
    for name, value in read_samples(asked.samples, Path()).items():
        *_, last = ({VALUE: value}, *steps_of(outside, {VALUE: value}, name))
        raw[name] = np.ascontiguousarray(last[VALUE])
    return raw
