"""The proof that the steps in the graph are the steps: the recorded samples, by way of both.

The engines are compared with the layer that has the steps in it (:mod:`exporter.export.fold`). This compares that
layer with the steps themselves around the plain one, in eager: what the steps before the model make of each recorded
sample, and the answer. Whole numbers are equal; floats within the rounding of a few operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.errors import ExporterError
from exporter.base.numbers.golden import promised
from exporter.base.tensors import load
from exporter.export.fold.both import BothRequest, run_both
from exporter.export.fold.split import parts
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, call
from exporter.prove.proofs.base import Harness, Proof
from exporter.prove.verdict.claim import Claim, Evidence, Outcome

if TYPE_CHECKING:
    from exporter.base.tensors import Array, TensorMap

#: What a few operations in float32 round, of the largest value: eight times its own precision.
ROUNDING = 2.0**-20
#: What is compared: what the steps before the model give, and the answer behind those after it.
READY, ANSWER = "ready", "answer"


class Folded(Proof):
    """Two claims where the spec says `fold: true` and the source is at hand."""

    kind = "folded"

    def plan(self, harness: Harness) -> frozenset[Claim]:
        pipeline = harness.spec.pipeline
        if pipeline is None or not pipeline.fold or harness.subject.no_source:
            return frozenset()
        return frozenset(Claim("source", "fp32", "eager", output=what, kind=self.kind) for what in (READY, ANSWER))

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        if not claims:
            return {}
        subject = harness.subject
        cases = tuple(case.recorded for case in subject.recorded if promised(case.name))
        harness.setting.say("comparing the steps in the graph with the steps themselves")
        with scratch() as place:
            both = place / "both.safetensors"
            request = BothRequest(subject.spec.without_verdict(), subject.checkpoint, subject.golden, cases, both)
            try:
                call(
                    run_both,
                    request,
                    harness.setting.limits,
                    environment=SINGLE_THREAD,
                    imports=PADDLE,
                    on_event=harness.setting.on_event,
                )
            except ExporterError as error:
                return dict.fromkeys(claims, Evidence(Outcome.CRASHED, str(error), stage="run"))
            made = load(both)
        return {claim: judge_both(made, claim.output) for claim in claims}

    def notes(self, harness: Harness) -> Sequence[str]:
        pipeline = harness.spec.pipeline
        return parts(pipeline).said() if pipeline is not None and pipeline.fold else ()


def judge_both(made: TensorMap, what: str) -> Evidence:
    """Compare `<case>/<what>/steps/<name>` with the same of the graph.

    The impostor is another sample's: where all samples give the same, nothing was shown.
    """
    marks = f"/{what}/steps/"
    pairs = {
        key: (value, made.get(key.replace(marks, f"/{what}/graph/"))) for key, value in made.items() if marks in key
    }
    elements, worst = 0, 0.0
    for key, (steps, graph) in pairs.items():
        reason, apart = _apart(steps, graph)
        worst = max(worst, apart)
        if reason:
            case, _, name = key.partition(marks)
            return Evidence(Outcome.MISMATCH, f"{name} of case {case}: {reason}", elements=steps.size)
        elements += steps.size
    if not elements:
        return Evidence(Outcome.MISSING, "no recorded case came back", stage="run")
    batches = [np.atleast_1d(steps) for steps, _ in pairs.values()]
    if all(not _apart(row, rows[0])[0] for rows in batches for row in rows):
        what_is = "the answer of every sample" if what == ANSWER else "what the steps give of every sample"
        return Evidence(Outcome.VACUOUS, f"{what_is} is the same, so any would have passed", elements=elements)
    exact = worst == 0.0
    return Evidence(Outcome.MATCH, elements=elements, bit_equal=exact, metrics={"max_rel": worst})


def _apart(steps: Array, graph: Array | None) -> tuple[str, float]:
    """Why two arrays are not the same, empty where they are; and how far they are apart, of the largest value."""
    if graph is None:
        return "the graph does not give it", 0.0
    if (steps.dtype, steps.shape) != (graph.dtype, graph.shape):
        said = [f"{value.dtype.name}{list(value.shape)}" for value in (graph, steps)]
        return f"the graph gives {said[0]}, the steps {said[1]}", 0.0
    if np.array_equal(steps, graph):
        return "", 0.0
    unequal = int((steps != graph).sum())
    if steps.dtype.kind != "f":
        return f"{unequal} of {steps.size} whole numbers differ between the graph and the steps", 0.0
    scale = float(np.abs(steps).max())
    apart = float(np.abs(steps.astype("float64") - graph).max()) / scale if scale else float("inf")
    if apart <= ROUNDING:  # so that NaN fails
        return "", apart
    return f"the graph and the steps are {apart:.2g} of the largest value apart, {ROUNDING:.1g} is rounding", apart


plugin: Proof = Folded()
