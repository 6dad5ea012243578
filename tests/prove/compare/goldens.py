"""Goldens made by numpy: a truth in float64, eager as its rounding to float32, and the error between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from exporter.base.numbers.golden import GoldenOutput
from exporter.base.numbers.norms import error, norms
from exporter.base.numbers.rule import judge_output
from exporter.base.tensors import Array
from exporter.prove.compare.outputs import with_metrics
from exporter.prove.verdict.claim import Evidence


def golden(
    truth: Array,
    *,
    eager: Array | None = None,
    seed: int = 0,
    gate: str = "",
    index: Array | None = None,
    scores: tuple[str, int] | None = None,
    name: str = "y",
) -> GoldenOutput:
    """A golden of one output; a float truth gets the eager run that float32 would give."""
    real = truth.dtype.kind == "f"
    eager = (truth.astype("float32") if real else truth) if eager is None else eager
    e_ref = error(truth, eager) if real and truth.size else (0.0, 0.0)
    kept = truth if index is None else truth.ravel()[index]
    return GoldenOutput(
        name=name,
        dtype=eager.dtype.name,
        shape=truth.shape,
        eager=eager if index is None else eager.ravel()[index],
        truth=kept,
        index=index,
        scale=norms(truth) if real else (0.0, 0.0),
        e_ref=e_ref,
        gate=gate,
        draw=str(seed),
        scores=scores,
    )


def cases_of(shapes: Sequence[tuple[int, ...]], seed: int = 0, scale: float = 1.0) -> list[GoldenOutput]:
    """One output in several cases, normally distributed."""
    generator = np.random.default_rng(seed)
    return [golden(generator.standard_normal(shape) * scale, seed=at) for at, shape in enumerate(shapes)]


def compare(
    expected: GoldenOutput,
    got: Array,
    budget: float,
    all_cases: Sequence[GoldenOutput],
    beside: Mapping[str, GoldenOutput],
) -> Evidence:
    """The evidence on one output of one case."""
    return with_metrics(judge_output(expected, got, budget, all_cases, beside), expected, got)
