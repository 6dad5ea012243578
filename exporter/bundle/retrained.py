"""What another training has changed: answers that flip on the same inputs, the metric, the files' sizes, the spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exporter.base.numbers.golden import GoldenCase, GoldenOutput, promised
from exporter.base.numbers.rule import wilson
from exporter.base.tensors import Array
from exporter.bundle.manifest import Manifest


@dataclass(frozen=True)
class Flips:
    """Of one output: so many of its answers are others in the new bundle, over all promised cases with the same inputs.

    An answer is the place of the highest score of a row, or a whole number. `low` and `high` are the 95 % interval of
    the share. Where none can be compared, `why` says it.
    """

    output: str
    flipped: int = 0
    answers: int = 0
    low: float = 0.0
    high: float = 1.0
    why: str = ""

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.flipped / self.answers if self.answers else 0.0


def flips(
    old: Mapping[str, GoldenCase], new: Mapping[str, GoldenCase], cases: Sequence[str], outputs: Sequence[str]
) -> tuple[Flips, ...]:
    """How many answers flip in the `cases`, whose inputs are the same, for each of the `outputs` that both have."""
    told = []
    for name in outputs:
        pairs = [(old[case].outputs[name], new[case].outputs[name]) for case in cases if promised(case)]
        answers = [pair for pair in (_answers(*pair, _axis(name, old)) for pair in pairs) if pair is not None]
        if not answers:
            told.append(Flips(name, why=_why(pairs)))
            continue
        flipped = sum(int((was != now).sum()) for was, now in answers)
        count = sum(was.size for was, _ in answers)
        told.append(Flips(name, flipped, count, *wilson(flipped, count)))
    return tuple(told)


def _axis(name: str, cases: Mapping[str, GoldenCase]) -> int:
    """The axis of the scores: that of the labels which are their argmax, if an output is; else the last."""
    labels = [output.scores for case in cases.values() for output in case.outputs.values() if output.scores]
    return next((axis for output, axis in labels if output == name), -1)


def _answers(old: GoldenOutput, new: GoldenOutput, axis: int) -> tuple[Array, Array] | None:
    """The answers of both; None where they are not kept whole, are of two kinds, or are no answers."""
    if old.shape != new.shape or old.dtype != new.dtype or old.index is not None or new.index is not None:
        return None
    if not old.eager.size:
        return None
    if old.exact:
        return old.eager, new.eager
    if not old.shape or old.shape[axis] < 2:
        return None
    return np.asarray(old.eager.argmax(axis)), np.asarray(new.eager.argmax(axis))


def _why(pairs: Sequence[tuple[GoldenOutput, GoldenOutput]]) -> str:
    if not pairs:
        return "no promised case has the same inputs in both"
    if any(old.index is not None or new.index is not None for old, new in pairs):
        return "only a sample of it is kept"
    if any(old.shape != new.shape or old.dtype != new.dtype for old, new in pairs):
        return "its shape or type is another"
    return "it has one number a row, and no highest score"


def metrics(old: Manifest, new: Manifest) -> dict[str, list[float | None]]:
    """The metric of the training on held-out data: [old, new], None where one has none."""
    was, now = _metric(old.provenance), _metric(new.provenance)
    return {name: [was.get(name), now.get(name)] for name in sorted({*was, *now})}


def _metric(provenance: Mapping[str, Any]) -> dict[str, float]:
    """A stranger may have written it; what is no number is left out."""
    training = provenance.get("training")
    told = training.get("metric") if isinstance(training, dict) else None
    numbers = told.items() if isinstance(told, dict) else ()
    return {name: float(value) for name, value in numbers if isinstance(value, (int, float))}


def sizes(old: Manifest, new: Manifest) -> dict[str, list[int]]:
    """The bytes of each variant that both have, where they differ: [old, new]."""
    found = {name: [_size(old, name), _size(new, name)] for name in old.variants if name in new.variants}
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def _size(manifest: Manifest, variant: str) -> int:
    return sum(manifest.files[name].size for name in manifest.variants[variant].files)


def as_lines(
    answers: Sequence[Flips], metric: Mapping[str, list[float | None]], size: Mapping[str, list[int]]
) -> Iterator[str]:
    """The same for a person."""
    for one in answers:
        if one.why:
            yield f"answers   {one.output}: not compared: {one.why}"
        else:
            interval = f"{one.low:.2%} to {one.high:.2%}, 95 %"
            yield (
                f"answers   {one.output}: {one.flipped:,} of {one.answers:,} flip on the same inputs"
                f" ({one.share:.2%}; {interval})"
            )
    for name, pair in metric.items():
        was, now = ("none" if value is None else f"{value:.4f}" for value in pair)
        step = f" ({pair[1] - pair[0]:+.4f})" if pair[0] is not None and pair[1] is not None else ""
        yield f"metric    {name}: {was} -> {now}{step}, on the held-out data of each training"
    for name, (before, after) in size.items():
        yield f"size      {name}: {before:,} -> {after:,} bytes ({after / max(before, 1) - 1:+.1%})"
