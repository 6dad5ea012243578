"""The rule: how what an engine computed is judged by a golden, and whether an impostor would have passed as well.

`exporter verify` judges by this file and by its neighbours `norms`, `golden`, `partial` and `pooled`, and the verify.py
of every bundle holds a copy of the five (:func:`exporter.bundle.script.verify_script`). So no judgement exists twice,
they need numpy alone, and they run on Python 3.8. Why the numbers are what they are: docs/parity.md.

An outcome is one of the words `match`, `mismatch`, `vacuous`, `inconclusive` and `missing`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exporter.base.numbers.golden import AGAIN, GoldenCase, GoldenOutput, promised
from exporter.base.numbers.norms import FLOOR, above, decibel, energies, norms, ratio

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: An impostor nearer than so many budgets leaves a claim inconclusive (measured: sound networks have 82 and more).
MARGIN = 10.0
#: Rows in reverse order that lie within this error ratio of the truth are the truth: equal rows in float64 differ by
#: its own rounding, which is 1e-9 of eager's noise.
SAME = 1e-4
#: The share of whole numbers that must be equal where the budget says nothing: rounding moves some near ties.
AGREEMENT = 0.9
#: The 97.5 % quantile of the normal distribution: two-sided intervals of 95 %.
Z = 1.959964
_REVERSED, _MEAN = "the rows reversed", "the mean"


class Judged(NamedTuple):
    """What became of one output, or of one promise; a `match` has one element at least. Metrics are not rounded.

    `compared` says that it came to the values: they have the shape and the dtype of eager's, and are finite.
    """

    outcome: str
    reason: str = ""
    elements: int = 0
    metrics: Mapping[str, float] = {}
    compared: bool = False


# ---- one case ----
def judge_case(
    case: GoldenCase, got: Mapping[str, Array], others: Mapping[str, Sequence[GoldenOutput]], budget: float | None
) -> dict[str, Judged]:
    """Judge all outputs of one case, names first; `others` holds, for each output, its goldens in all cases.

    Without a budget they are judged as reduced precision: whole, finite, and nearer the truth than any impostor. How
    near it has to be is a promise over all cases (:func:`judge_promise`).
    """
    extra = sorted(set(got) - set(case.outputs))
    judged = {}
    for name, expected in case.outputs.items():
        if name not in got:
            came = ", ".join(sorted(got)) or "nothing"
            judged[name] = Judged("missing", f"no output of this name came; what came: {came}")
        elif extra:
            judged[name] = Judged("mismatch", f"outputs came that nobody promised: {', '.join(extra)}")
        elif budget is None:
            probes = not promised(case.name[: -len(AGAIN)] if case.name.endswith(AGAIN) else case.name)
            judged[name] = judge_reduced(expected, got[name], others[name], probes)
        else:
            judged[name] = judge_output(expected, got[name], budget, others[name], case.outputs)
    return judged


def judge_output(
    expected: GoldenOutput,
    got: Array,
    budget: float,
    all_cases: Sequence[GoldenOutput],
    beside: Mapping[str, GoldenOutput],
) -> Judged:
    """Judge one output of one case; `beside` holds the goldens of the case's other outputs.

    The first step that fails decides: dtype, shape, elements, gate, finiteness, values, controls.
    """
    unfit = _unfit(expected, got)
    if unfit:
        return unfit
    candidate = expected.kept(got)
    if expected.exact:
        wrong = unexplained(expected, candidate, beside, budget)
        outcome, reason = _indistinct(expected, all_cases)
        if wrong:
            excuse = "no near tie of the scores explains them" if expected.scores else "this dtype allows none"
            outcome, reason = "mismatch", f"{wrong} of {expected.eager.size} elements differ; {excuse}"
        return Judged(outcome, reason, got.size, {}, True)
    worst = _error_ratio(expected, candidate, got)
    outcome, reason = "mismatch", f"error ratio {above(worst, budget)} is over the budget of {budget:g}"
    if worst <= budget:  # so that NaN fails
        outcome, reason = _controlled(expected, budget, all_cases)
    return Judged(outcome, reason, got.size, {"error_ratio": worst}, True)


def _unfit(expected: GoldenOutput, got: Array) -> Judged | None:
    """Judge what comes before values: dtype, shape, no elements, a shut gate, NaN or infinity; None if all is well."""
    if got.dtype.name != expected.dtype:
        return Judged("mismatch", f"dtype is {got.dtype.name}, eager's is {expected.dtype}")
    if got.shape != expected.shape:
        return Judged("mismatch", f"shape is {list(got.shape)}, eager's is {list(expected.shape)}")
    if got.size == 0:
        return Judged("vacuous", "the output has no elements, so nothing was compared")
    if expected.gate:
        return Judged("inconclusive", expected.gate, got.size)
    if expected.partial is not None:
        unlike = expected.partial.unlike(got)
        return Judged("mismatch", unlike, got.size) if unlike else None
    sampled = expected.index is not None and not expected.exact
    if not np.isfinite(expected.kept(got)).all() or (sampled and not np.isfinite(norms(got)[1])):
        return Judged("mismatch", "holds NaN or infinity where eager is finite", got.size)
    return None


def _error_ratio(expected: GoldenOutput, candidate: Array, whole: Array) -> float:
    """The error ratio; of a sampled golden also that of the whole output's norms, which the sample cannot see.

    Of eager's own bits it is computed once, for all engines that have them.
    """
    if expected.index is None:
        own = np.array_equal(candidate, expected.eager)
        if not own or "own" not in expected.memo:
            worst = ratio(expected.truth, candidate, expected.unit, expected.floor)
            expected.memo.update({"own": worst} if own else {})
            return worst
        return float(expected.memo["own"])
    if expected.partial is not None:  # the norms of the whole are those of NaN
        return ratio(expected.truth, candidate, expected.unit, expected.floor)
    worst, size = ratio(expected.truth, candidate, expected.unit, expected.floor), norms(whole)
    if not any(expected.scale):  # zero by right
        return math.inf if any(size) else worst
    drift = [abs(size[norm] - expected.scale[norm]) / expected.scale[norm] / expected.unit[norm] for norm in (0, 1)]
    return math.nan if math.isnan(worst) else max(worst, *drift)


# ---- negative controls: a tolerance is evidence only if a wrong tensor would have failed at it ----
def _controlled(expected: GoldenOutput, budget: float, all_cases: Sequence[GoldenOutput]) -> tuple[str, str]:
    """Return outcome and reason of the controls, computed once for all engines."""
    key = ("controls", budget, *(id(golden) for golden in all_cases))
    if key not in expected.memo:  # the cases are kept with it, so that no id is used again
        expected.memo[key] = (*_controls(expected, budget, all_cases), list(all_cases))
    outcome, reason, _ = expected.memo[key]
    return outcome, reason


def _controls(expected: GoldenOutput, budget: float, all_cases: Sequence[GoldenOutput]) -> tuple[str, str]:
    unrelated = [golden for golden in all_cases if golden.draw != expected.draw and golden.truth.size]
    stranger = _stranger(expected, unrelated)
    if unrelated and stranger is None and not (expected.constant or told_by_shape(expected, all_cases)):
        return "vacuous", "every case has the same output: another case's would have passed"
    sizes = {golden.shape[0] if golden.shape else -1 for golden in all_cases}
    batched = expected.index is None and len(sizes) > 1 and -1 not in sizes  # a dimension that varies counts rows
    rivals = _impostors_of(expected, stranger, batched)
    impostor, distance = _nearest(expected.truth, rivals, expected.unit, expected.floor, expected.dtype)
    if not distance > budget:
        return "vacuous", f"{impostor} would have passed: its error ratio is {distance:.3g}"
    if not distance > MARGIN * budget:
        return "inconclusive", f"{impostor} is nearly as good: its error ratio is {distance:.3g}"
    return "match", ""


def _stranger(expected: GoldenOutput, unrelated: Sequence[GoldenOutput]) -> Array | None:
    """The truth of the first unrelated case that does not hold the very same values, cut to fit."""
    for golden in unrelated:
        if not np.array_equal(np.resize(golden.truth, expected.truth.shape), expected.truth):
            return golden.truth
    return None


def impostors(truth: Array, stranger: Array | None, batched: bool) -> Iterator[tuple[str, Array]]:
    """Yield every impostor with its name; those that equal the truth by construction are left out.

    `stranger` is the truth of another case, of whatever shape: it is repeated or cut to fit. `batched` says that the
    first dimension counts rows. What is one number throughout in the other case, too, as an expanded scalar is, has no
    other mean; the other case tells whether it is the right one.
    """
    yield "zeros", np.zeros_like(truth)
    expanded = stranger is not None and all(part.size and np.all(part == part.flat[0]) for part in (truth, stranger))
    if truth.size > 1 and truth.dtype.kind == "f" and not expanded:
        yield _MEAN, np.full_like(truth, truth.mean())
    if batched and truth.ndim and not np.array_equal(truth, truth[::-1]):
        yield _REVERSED, truth[::-1]
    if stranger is not None and stranger.size:
        yield "another case's output", np.resize(stranger, truth.shape)


def told_by_shape(expected: GoldenOutput, all_cases: Sequence[GoldenOutput]) -> bool:
    """Return whether an output that sizes decide in this case has another shape at other sizes.

    Then another size's output fails whatever it holds, and so does what computes nothing.
    """
    return (expected.sized or expected.settled) and len({golden.shape for golden in all_cases}) > 1


def _impostors_of(expected: GoldenOutput, stranger: Array | None, batched: bool) -> Iterator[tuple[str, Array]]:
    """Those of a golden: where no value can change it, one number throughout is its own mean by right.

    So is zero where other sizes tell that something is computed; of a constant nothing does.
    """
    by_size = expected.sized or expected.settled
    for name, impostor in impostors(expected.truth, stranger, batched):
        excused = (name == "zeros" and by_size) or (name == _MEAN and (expected.constant or by_size))
        if not (excused and np.array_equal(impostor, expected.truth)):
            yield name, impostor


def nearest(
    truth: Array,
    stranger: Array | None,
    batched: bool,
    e_ref: tuple[float, float],
    floor: float = FLOOR,
    dtype: str = "float64",
) -> tuple[str, float]:
    """The impostor of a float output with the smallest error ratio, and that ratio."""
    return _nearest(truth, impostors(truth, stranger, batched), e_ref, floor, dtype)


def _nearest(
    truth: Array, rivals: Iterable[tuple[str, Array]], e_ref: tuple[float, float], floor: float, dtype: str
) -> tuple[str, float]:
    """The nearest of the given impostors, and its error ratio.

    One of float16 comes rounded, as an answer does, and is judged like it. Equal rows are no impostor of themselves,
    else the case that asks for them could never be judged.
    """
    kind, ratios = "float16" if dtype == "float16" else "float64", []
    for name, impostor in rivals:
        with np.errstate(over="ignore"):
            ratios.append((name, ratio(truth, impostor.astype(kind), e_ref, floor)))
    telling = (rated for rated in ratios if rated[0] != _REVERSED or not rated[1] <= SAME)
    return min(telling, key=lambda rated: rated[1], default=("nothing", math.inf))


def _indistinct(expected: GoldenOutput, all_cases: Sequence[GoldenOutput]) -> tuple[str, str]:
    """Return outcome and reason: "vacuous" if zeros or another case's output would pass as an exact output everywhere.

    One case with one element proves little about integers (zero is a likely label), so all cases are judged together.
    A constant is another case's output by right.
    """
    if expected.sized and told_by_shape(expected, all_cases):
        return "match", ""
    truths = [golden.eager for golden in all_cases]
    if not any(truth.any() for truth in truths):
        return "vacuous", "zeros would have passed in every case"
    alike = all(np.array_equal(np.resize(truths[0], truth.shape), truth) for truth in truths)
    if len(truths) > 1 and alike and not expected.constant:
        return "vacuous", "another case's output would have passed in every case"
    return "match", ""


def unexplained(expected: GoldenOutput, got: Array, beside: Mapping[str, GoldenOutput], budget: float) -> int:
    """How many whole numbers differ by more than a near tie of their scores explains.

    A label is the argmax of scores. Two engines may both be right and choose differently where two scores are equal but
    for rounding; anything else that differs is wrong.
    """
    differ = got != expected.eager
    score = beside[expected.scores[0]] if expected.scores and differ.any() else None
    # Of a sample there are no rows; a gate says that the scores prove nothing.
    if expected.scores is None or score is None or score.index is not None or score.gate or expected.index is not None:
        return int(differ.sum())
    axis = expected.scores[1]
    inside = (got >= 0) & (got < score.truth.shape[axis])
    gap = _at(score.truth, expected.eager, axis) - _at(score.truth, np.where(inside, got, 0), axis)
    return int((differ & ~(inside & (gap <= 2 * budget * score.unit[0] * score.scale[0]))).sum())


def _at(scores: Array, index: Array, axis: int) -> Array:
    kept = np.expand_dims(index, axis) if index.ndim < scores.ndim else index
    return np.take_along_axis(scores, kept.astype("int64"), axis).reshape(index.shape)


# ---- reduced precision: each case whole, finite and nearer than any impostor; then promises over all cases ----
def judge_reduced(expected: GoldenOutput, got: Array, all_cases: Sequence[GoldenOutput], probes: bool) -> Judged:
    """Judge one output of one case in reduced precision; the metrics are what :func:`judge_promise` weighs.

    A case that `probes` (all zero, sixteen times as large) lies outside what a calibration has seen: it has to be
    computed, and proves nothing more.
    """
    unfit = _unfit(expected, got)
    if unfit:
        return unfit
    candidate = expected.kept(got)
    if expected.exact:
        agree = float(np.sum(candidate == expected.eager))
        return Judged("match", "", got.size, {"rows": float(candidate.size), "agree": agree}, True)
    signal, noise = energies(expected.truth, candidate)
    metrics = {"signal": signal, "noise": noise, "snr_db": decibel(signal, noise)}
    if expected.index is None and got.ndim > 1 and got.shape[-1] > 1:
        agree = float(np.sum(candidate.argmax(-1) == expected.eager.argmax(-1)))
        metrics.update({"rows": float(got.size // got.shape[-1]), "agree": agree})
    stranger = _stranger(
        expected, [golden for golden in all_cases if golden.draw != expected.draw and golden.truth.size]
    )
    noises = [
        (energies(expected.truth, impostor)[1], number, name)
        for number, (name, impostor) in enumerate(_impostors_of(expected, stranger, False))
    ]
    limit, _, nearer = min(noises, default=(math.inf, 0, "nothing"))
    if not probes and not noise < limit:  # so that NaN fails
        reason = f"{metrics['snr_db']:.1f} dB: no nearer to the truth than {nearer}"
        return Judged("mismatch", reason, got.size, metrics, True)
    return Judged("match", "", got.size, metrics, True)


def promised_of(exact: bool, min_snr_db: float | None, min_top1: float | None) -> dict[str, float]:
    """Return the promises for an output in reduced precision: `snr_db` in dB, `top1` as a share of equal answers.

    Whole numbers have a share to agree in whatever the budget says.
    """
    promises = {} if exact or min_snr_db is None else {"snr_db": min_snr_db}
    share = min_top1 or (AGREEMENT if exact else None)
    return promises if share is None else {**promises, "top1": share}


def judge_promise(kind: str, wanted: float, goldens: Mapping[str, GoldenOutput], seen: Mapping[str, Judged]) -> Judged:
    """Weigh a promise over the promised cases of one output, by their names, from what :func:`judge_reduced` said.

    A promise that an impostor would keep as well (the mean, one row for all, one answer for all) is vacuous.
    """
    for name in goldens:
        if name not in seen or not {"signal", "rows"}.intersection(seen[name].metrics):
            fate = seen.get(name, Judged("missing", "no evidence came"))
            return Judged(fate.outcome, f"case {name}: {fate.reason}")
    metrics, truths = [seen[name].metrics for name in goldens], list(goldens.values())
    if any(("signal" if kind == "snr_db" else "rows") not in measured for measured in metrics):
        return Judged("inconclusive", "the output holds no rows of scores, or only a sample was recorded")
    if kind == "snr_db":
        elements = sum(golden.eager.size for golden in truths)
        value = decibel(sum(measured["signal"] for measured in metrics), sum(measured["noise"] for measured in metrics))
        reason, figures, unit = f"{value:.1f} dB, at least {wanted:g} promised", {"snr_db": value}, "have {:.1f} dB"
        strangers = constants(truths)
    else:
        agree, elements = (int(sum(measured[key] for measured in metrics)) for key in ("agree", "rows"))
        value, (low, high) = agree / elements, wilson(agree, elements)
        reason = f"{agree} of {elements} agree (95 % interval {low:.3f} to {high:.3f}), at least {wanted:g} promised"
        figures, unit = {"top1": value, "low": low, "high": high}, "agree in {:.3f}"
        strangers = _answers(truths)
    if not value >= wanted:  # so that NaN fails
        return Judged("mismatch", reason, elements, figures)
    of_input = not all(golden.constant or golden.sized for golden in truths)
    for name, reached in strangers if of_input else ():
        if reached >= wanted:
            return Judged("vacuous", f"{reason}; but {name} would {unit.format(reached)}", elements, figures)
    return Judged("match", reason, elements, figures)


def constants(goldens: Sequence[GoldenOutput]) -> Iterator[tuple[str, float]]:
    """Yield the name and SNR (dB) of outputs that ignore the input: the mean, and the mean row for every row."""
    truths = [golden.truth for golden in goldens]
    yield "the mean", _of_constant(truths, np.concatenate([truth.ravel() for truth in truths]).mean())
    rows = {truth.shape[1:] for truth in truths}  # a sample is flat
    if len(rows) == 1 and rows != {()} and sum(len(truth) for truth in truths) > 1:
        yield "one row for all", _of_constant(truths, np.concatenate(truths).mean(0))


def _of_constant(truths: Sequence[Array], constant: Array) -> float:
    pairs = [energies(truth, np.broadcast_to(constant, truth.shape)) for truth in truths]
    return decibel(sum(signal for signal, _ in pairs), sum(noise for _, noise in pairs))


def _answers(goldens: Sequence[GoldenOutput]) -> Iterator[tuple[str, float]]:
    """The share of rows in which answers that do not depend on the input agree: the commonest for all, and shuffled.

    A single row agrees with itself, so that it proves nothing.
    """
    labels = np.concatenate([(golden.eager if golden.exact else golden.eager.argmax(-1)).ravel() for golden in goldens])
    yield "the commonest answer for every row", float(np.unique(labels, return_counts=True)[1].max()) / labels.size
    yield "the answers shuffled", float(np.mean(np.random.default_rng(0).permutation(labels) == labels))


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's score: it stays within 0 and 1, also for few trials and no miss."""
    share, square = hits / trials, Z * Z
    centre = share + square / (2 * trials)
    half = Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    whole = 1 + square / trials
    low, high = (centre - half) / whole, (centre + half) / whole
    return (low if hits else 0.0), (high if hits < trials else 1.0)  # the ends are exact, and rounding misses them
