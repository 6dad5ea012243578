"""Judge what an engine put out: count, names, dtype, shape, gates, finiteness, then values, then the controls.

Each step has its own reason. The first that fails decides; a match is what remains.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from exporter.compare.controls import MARGIN, indistinct, nearest
from exporter.compare.golden import GoldenCase, GoldenOutput
from exporter.compare.margin import unexplained
from exporter.numbers.metrics.base import Metric
from exporter.numbers.norms import above, norms, ratio
from exporter.registry import Registry
from exporter.tensors import Array, TensorMap
from exporter.verdict.claim import Evidence, Outcome

METRICS: Registry[Metric] = Registry("exporter.numbers.metrics", "metric")


def compare_case(
    case: GoldenCase, got: TensorMap, budget: float, others: Mapping[str, list[GoldenOutput]]
) -> dict[str, Evidence]:
    """Judge all outputs of one case; `others` holds, for each output, its goldens in all cases."""
    judged = unnamed(case, got)
    for name, expected in case.outputs.items():
        if name not in judged:
            judged[name] = compare(expected, got[name], budget, others[name], case.outputs)
    return judged


def unnamed(case: GoldenCase, got: TensorMap) -> dict[str, Evidence]:
    """What is wrong with the names of what came, by the output that it is said of."""
    extra = sorted(set(got) - set(case.outputs))
    judged = {}
    for name in case.outputs:
        if name not in got:
            came = ", ".join(sorted(got)) or "nothing"
            judged[name] = Evidence(Outcome.MISSING, f"no output of this name came; what came: {came}")
        elif extra:
            judged[name] = Evidence(Outcome.MISMATCH, f"outputs came that nobody promised: {', '.join(extra)}")
    return judged


def compare(
    expected: GoldenOutput,
    got: Array,
    budget: float,
    all_cases: list[GoldenOutput],
    beside: Mapping[str, GoldenOutput],
) -> Evidence:
    """Judge one output of one case against its golden; `beside` holds the goldens of the case's other outputs."""
    if unfit := incomparable(expected, got):
        return unfit
    candidate = got if expected.index is None else got.ravel()[expected.index]
    bits = candidate.tobytes() == np.ascontiguousarray(expected.eager).tobytes()
    if bits and expected.index is None:  # eager's own numbers: measured once for all engines that have them
        if "eager" not in expected.memo:
            expected.memo["eager"] = _measured(expected, candidate, got)
        metrics = expected.memo["eager"]
    else:
        metrics = _measured(expected, candidate, got)
    if expected.exact:
        outcome, reason = _judge_exact(expected, unexplained(expected, candidate, beside, budget), all_cases)
    else:
        outcome, reason = _judge_float(expected, metrics["error_ratio"], budget, all_cases)
    return Evidence(outcome, reason, elements=got.size, bit_equal=bits, metrics=metrics)


def _measured(expected: GoldenOutput, candidate: Array, whole: Array) -> dict[str, float]:
    metrics = {name: metric(expected.eager, candidate) for name, metric in METRICS.all()}
    return metrics if expected.exact else {**metrics, "error_ratio": _error_ratio(expected, candidate, whole)}


def incomparable(expected: GoldenOutput, got: Array) -> Evidence | None:
    """What is wrong before values count: dtype, shape, no elements, a shut gate, NaN or infinity; None: nothing."""
    if got.dtype.name != expected.dtype:
        return Evidence(Outcome.MISMATCH, f"dtype is {got.dtype.name}, eager's is {expected.dtype}")
    if got.shape != expected.shape:
        return Evidence(Outcome.MISMATCH, f"shape is {list(got.shape)}, eager's is {list(expected.shape)}")
    if got.size == 0:
        return Evidence(Outcome.VACUOUS, "the output has no elements, so nothing was compared")
    if expected.gate:
        return Evidence(Outcome.INCONCLUSIVE, expected.gate, elements=got.size)
    candidate = got if expected.index is None else got.ravel()[expected.index]
    sampled = expected.index is not None and not expected.exact
    if not np.isfinite(candidate).all() or (sampled and not np.isfinite(norms(got)[1])):
        return Evidence(Outcome.MISMATCH, "holds NaN or infinity where eager is finite", elements=got.size)
    return None


def _judge_exact(expected: GoldenOutput, wrong: int, all_cases: list[GoldenOutput]) -> tuple[Outcome, str]:
    if wrong:
        excuse = "no near tie of the scores explains them" if expected.scores else "this dtype allows none"
        return Outcome.MISMATCH, f"{wrong} of {expected.eager.size} elements differ; {excuse}"
    if impostor := indistinct([one.eager for one in all_cases]):
        return Outcome.VACUOUS, f"{impostor} would have passed in every case"
    return Outcome.MATCH, ""


def _judge_float(
    expected: GoldenOutput, worst: float, budget: float, all_cases: list[GoldenOutput]
) -> tuple[Outcome, str]:
    if not worst <= budget:  # so that NaN fails
        return Outcome.MISMATCH, f"error ratio {above(worst, budget)} is over the budget of {budget:g}"
    before = expected.memo.get("controls")
    if before and before[0] == budget and [id(one) for one in before[1]] == [id(one) for one in all_cases]:
        return before[2]  # type: ignore[no-any-return]  # a memo holds anything
    result = _controls(expected, budget, all_cases)
    expected.memo["controls"] = budget, list(all_cases), result
    return result


def _controls(expected: GoldenOutput, budget: float, all_cases: list[GoldenOutput]) -> tuple[Outcome, str]:
    """Whether an impostor would have passed as well; the same for every engine."""
    unrelated = [one for one in all_cases if one.seed != expected.seed]
    stranger = next((one.truth for one in unrelated if not _equal(one, expected)), None)
    if unrelated and stranger is None:
        return Outcome.VACUOUS, "every case has the same output: another case's would have passed"
    batched = expected.index is None and _counts_rows(all_cases)
    impostor, distance = nearest(expected.truth, stranger, batched, expected.unit, expected.floor)
    if not distance > budget:
        return Outcome.VACUOUS, f"{impostor} would have passed: its error ratio is {distance:.3g}"
    if not distance > MARGIN * budget:
        return Outcome.INCONCLUSIVE, f"{impostor} is nearly as good: its error ratio is {distance:.3g}"
    return Outcome.MATCH, ""


def _error_ratio(expected: GoldenOutput, candidate: Array, whole: Array) -> float:
    """The error ratio; of a sampled golden also that of the whole output's norms, which the sample cannot see."""
    if expected.index is None:
        return ratio(expected.truth, candidate, expected.unit, expected.floor)
    sampled = ratio(expected.truth, candidate, expected.unit, expected.floor)
    drift = [
        abs(found - true) / true / unit
        for found, true, unit in zip(norms(whole), expected.scale, expected.unit, strict=True)
    ]
    return float("nan") if np.isnan(sampled) else max(sampled, *drift)


def _equal(one: GoldenOutput, other: GoldenOutput) -> bool:
    fitted = np.resize(one.truth, other.truth.shape) if one.truth.size else one.truth
    return bool(np.array_equal(fitted, other.truth))


def _counts_rows(all_cases: list[GoldenOutput]) -> bool:
    """The first dimension varies from case to case, as a batch does."""
    return all(one.shape for one in all_cases) and len({one.shape[0] for one in all_cases}) > 1
