"""The steps of a decoder: how they are read, which says most, and whether the last one shows that a cache counts.

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import ratio
from exporter.base.numbers.rule import MARGIN

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Outcomes that show no fault: a step that ends otherwise says more.
DOUBTFUL = ("vacuous", "inconclusive")


def grouped_steps(steps: Sequence[Mapping[str, Any]], fed: Collection[str]) -> list[list[dict[str, Any]]]:
    """Return what is said of the steps, in groups whose cases hold the same outputs.

    These are all steps without the outputs that are `fed` back, the last one with those alone, and, last in `steps`,
    the one with an empty cache.
    """
    *steps, emptied = steps
    plain, last = (
        [
            {**step, "outputs": {name: facts for name, facts in step["outputs"].items() if (name in fed) is of_cache}}
            for step in part
        ]
        for part, of_cache in ((steps, False), (steps[-1:], True))
    )
    return [plain, last, [dict(emptied)]]


def first_off(outcomes: Sequence[str]) -> int | None:
    """Return which step is told of: the first that shows a fault, else the first in doubt; None where all match."""
    failed = [at for at, outcome in enumerate(outcomes) if outcome != "match"]
    return min(failed, key=lambda at: (outcomes[at] in DOUBTFUL, at), default=None)


def doubt_of_cache(last: GoldenOutput, emptied: GoldenOutput, budget: float) -> tuple[str, str] | None:
    """Say why the last step shows nothing of the cache: an empty one gives the same, or nearly. None where it does."""
    if last.exact or last.gate:
        return None
    truth, rival = _where_both_are_kept(last, emptied)
    distance = ratio(truth, rival, last.unit, last.floor)
    if not distance > budget:
        return "vacuous", f"with an empty cache the last step would have passed: its error ratio is {distance:.3g}"
    if not distance > MARGIN * budget:
        return "inconclusive", f"with an empty cache the last step errs hardly more: by {distance:.3g} times"
    return None


def _where_both_are_kept(last: GoldenOutput, emptied: GoldenOutput) -> tuple[Array, Array]:
    """The truth of both at the places that are kept of both."""
    places = [output.index for output in (last, emptied) if output.index is not None]
    if not places:
        return last.truth, emptied.truth
    common = np.intersect1d(places[0], places[-1])
    held = [
        output.truth.ravel()[common if output.index is None else np.searchsorted(output.index, common)]
        for output in (last, emptied)
    ]
    return held[0], held[1]


def with_cache(steps: Sequence[GoldenCase], ends: GoldenCase) -> list[GoldenCase]:
    """Return the steps, the last one with the outputs that are read of it alone."""
    whole = {**steps[-1].outputs, **ends.outputs}
    return [*steps[:-1], replace(steps[-1], outputs=whole)]
