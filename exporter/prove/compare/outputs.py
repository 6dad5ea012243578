"""Evidence on what an engine put out: the judgements of `base.numbers.rule`, with the metrics of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.metrics.base import Metric
from exporter.base.numbers.rule import Judged, judge_case
from exporter.base.numbers.units import in_human_units
from exporter.base.registry import Registry
from exporter.base.tensors import Array, TensorMap
from exporter.prove.verdict.claim import Evidence, Outcome

METRICS: Registry[Metric] = Registry("exporter.base.numbers.metrics", "metric")


def compare_case(
    case: GoldenCase, got: TensorMap, budget: float | None, others: Mapping[str, Sequence[GoldenOutput]]
) -> dict[str, Evidence]:
    """Judge all outputs of one case; `others` holds, for each output, its goldens in all cases.

    Without a budget they are of reduced precision.
    """
    judged = judge_case(case, got, others, budget)
    return {name: with_metrics(judged[name], case.outputs[name], got.get(name)) for name in case.outputs}


def evidence_of(judged: Judged) -> Evidence:
    """A judgement as evidence for a claim."""
    return Evidence(Outcome(judged.outcome), judged.reason, elements=judged.elements, metrics=judged.metrics)


def with_metrics(judged: Judged, expected: GoldenOutput, got: Array | None) -> Evidence:
    """What was compared with eager is measured for the report too; of eager's own bits once for all engines."""
    if got is None or not judged.compared:
        return evidence_of(judged)
    candidate = expected.kept(got)
    bits = candidate.tobytes() == expected.eager.tobytes()
    metrics = expected.memo.get("metrics") if bits else None
    if metrics is None:
        metrics = {name: metric(expected.eager, candidate) for name, metric in METRICS.all()}
        metrics |= in_human_units(expected, candidate)
        expected.memo.update({"metrics": metrics} if bits else {})
    return replace(evidence_of(judged), bit_equal=bits, metrics={**metrics, **judged.metrics})
