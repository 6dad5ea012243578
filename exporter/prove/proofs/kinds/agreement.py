"""The proof by inputs that nobody recorded: the variants of a bundle compute the same there too, but for rounding.

A file can hold the recorded inputs, answer them rightly and all others wrongly; no recorded case shows it. So each
variant runs on inputs that are drawn by a seed from the files themselves, and is compared with eager where the source
is at hand, else with the other variants. There is no truth to measure by, so only what is grossly apart is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from exporter.base.errors import ExporterError
from exporter.base.files import sha256_file
from exporter.base.numbers.golden import GoldenCase, promised
from exporter.base.numbers.norms import SMALLEST_SCALE, norms
from exporter.base.tensors import Array, TensorMap, load, recorded_inputs, save_scratch
from exporter.engines.job import EngineCase
from exporter.process.scratch import scratch
from exporter.prove.goldens.fresh import fresh_inputs, is_new
from exporter.prove.proofs.base import Harness, Proof, per_variant
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run


@dataclass(frozen=True)
class Apart:
    """How far two variants may be apart: of real numbers relative to their size (rms), of others the share unequal."""

    real: float
    whole: float


#: Rounding is below 1e-2 wherever a case tells anything at all (`WORST_E_REF`); low precision promises a ratio of
#: signal to noise that is a multiple of 6 dB, or that labels agree.
FP32, LOW = Apart(0.1, 0.5), Apart(0.5, 0.9)

#: What the draws may cost, in times what the recorded cases do: in specs/ they hold up to 2.2 times as many numbers.
_COST = 3

#: The draws of all inputs by size, and what one run gave for them.
_Drawn = Mapping[str, Sequence[TensorMap]]
_NONE = Evidence(Outcome.MISSING, "no case of the typical sizes is recorded", stage="plan")
_ALONE = Evidence(Outcome.INCONCLUSIVE, "nothing ran that it could be compared with", stage="run")


class Agreement(Proof):
    """One claim for each variant that has something to be compared with, wherever inputs can be drawn anew."""

    kind = "agreement"
    after = (OUTPUTS, "process")

    def plan(self, harness: Harness) -> frozenset[Claim]:
        runs = _runs(harness)
        pairs = [(run.format, run.precision) for run in runs if run.format != "source" and _others(run, runs)]
        return per_variant(self.kind, [] if harness.subject.only else pairs)

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        if not claims:
            return {}
        harness.setting.say("comparing the variants on inputs drawn anew")
        known = _known(harness)
        if not known:
            return dict.fromkeys(claims, _NONE)
        seed = [harness.spec.seed, _seed(harness)]
        inputs = fresh_inputs(harness.spec, known, seed)
        answers = _answers(harness, inputs)
        judged = _judged(claims, answers)
        if any(evidence.outcome is Outcome.MISMATCH for evidence in judged.values()):  # by chance, or in any draw?
            again = fresh_inputs(harness.spec, known, seed, turn=1)
            judged = _judged(claims, _joined(answers, _answers(harness, again)))
        new = any(is_new(draw, known) for draws in inputs.values() for draw in draws)
        return {claim: _told(evidence, new) for claim, evidence in judged.items()}


def _judged(claims: Sequence[Claim], answers: Mapping[Run, _Drawn | Evidence]) -> dict[Claim, Evidence]:
    by_claim = {(run.format, run.precision): run for run in answers}
    return {claim: _judge(by_claim[claim.format, claim.precision], answers) for claim in claims}


def _joined(
    first: Mapping[Run, _Drawn | Evidence], second: Mapping[Run, _Drawn | Evidence]
) -> dict[Run, _Drawn | Evidence]:
    """The draws of both by size; what gave nothing once gives nothing."""
    joined: dict[Run, _Drawn | Evidence] = {}
    for run, own in first.items():
        more = second[run]
        if isinstance(own, Evidence) or isinstance(more, Evidence):
            joined[run] = own if isinstance(own, Evidence) else more
        else:
            joined[run] = {size: [*draws, *more[size]] for size, draws in own.items()}
    return joined


def _answers(harness: Harness, inputs: _Drawn) -> dict[Run, _Drawn | Evidence]:
    with scratch() as place:
        named = {
            f"{size}/{at}/input/{name}": value
            for size, draws in inputs.items()
            for at, draw in enumerate(draws)
            for name, value in draw.items()
        }
        save_scratch(place / _FRESH, named)
        return {run: _answer(harness, run, inputs, place / str(at)) for at, run in enumerate(_runs(harness))}


def _told(evidence: Evidence, new: bool) -> Evidence:
    note = "" if new else "every input that was drawn is a recorded one: the spec allows few others"
    return replace(evidence, provider="fresh inputs", reason=evidence.reason or note)


_FRESH = "fresh.safetensors"


def _runs(harness: Harness) -> list[Run]:
    """For each variant, and for eager where it is planned, the first engine that ended in order on the recorded."""
    own = [run for run in harness.runs if run.format != "source" or run.engine == "eager"]
    ended = [run for run in own if _ended(harness, run)]
    first = {(run.format, run.precision): run for run in reversed([*ended, *own])}
    return [first[pair] for pair in dict.fromkeys((run.format, run.precision) for run in own)]


def _ended(harness: Harness, run: Run) -> bool:
    process = Claim(run.format, run.precision, run.engine, kind="process")
    return process in harness.evidence and harness.evidence[process].outcome is Outcome.MATCH


def _others(run: Run, runs: Sequence[Run]) -> list[Run]:
    """What a variant is compared with: the source; else the others of fp32; else what there is."""
    others = [other for other in runs if other != run]
    source = [other for other in others if other.format == "source"]
    return source or [other for other in others if other.precision == "fp32"] or others


def _known(harness: Harness) -> list[dict[str, Array]]:
    """The recorded inputs of the cases that the spec promises, those of the typical sizes first; none without these."""
    subject = harness.subject
    typical = {name: dim.typical for name, dim in subject.spec.dims.items()}
    cases = sorted(filter(_promised, subject.recorded), key=lambda case: dict(case.dims) != typical)
    if not cases or dict(cases[0].dims) != typical:
        return []
    return [recorded_inputs(subject.golden, case.recorded, subject.spec.inputs) for case in cases]


def _promised(case: GoldenCase) -> bool:
    return promised(case.name)


def _seed(harness: Harness) -> int:
    """From what all files hold: whoever writes one that knows the inputs of a seed has another seed."""
    subject, hashed = harness.subject, hashlib.sha256()
    files = sorted({name for artifact in subject.artifacts.values() for name in artifact.files}, key=Path)
    for name in files:
        path = subject.folder / name
        hashed.update((subject.hashes.get(name) or sha256_file(path)).encode() if path.is_file() else b"")
    hashed.update(sha256_file(subject.golden).encode() if subject.golden.is_file() else b"")
    return int.from_bytes(hashed.digest(), "big")


def _answer(harness: Harness, run: Run, inputs: _Drawn, into: Path) -> _Drawn | Evidence:
    """What one run gives for all draws, or why it gives nothing."""
    if not _ended(harness, run):
        reason = "not compared, since it does not come to its end on the recorded inputs"
        return Evidence(Outcome.INCONCLUSIVE, reason, stage="run")
    bench, setting = harness.bench, harness.setting
    names = [f"{size}/{at}" for size, draws in inputs.items() for at in range(len(draws))]
    into.mkdir()
    try:
        cases = tuple(EngineCase(f"{name}, drawn anew", name) for name in names)
        job = replace(bench.job(run), golden=into.parent / _FRESH, cases=cases)
        answer = job.run(into, bench.bounded(run, setting, _COST))
        if answer.refusal:
            return Evidence(Outcome.CRASHED, f"{run.engine} refuses inputs drawn anew: {answer.refusal}", stage="run")
        loaded = iter([load(into / f"{at}.safetensors") for at in range(len(names))])
    except ExporterError as error:
        return Evidence(Outcome.CRASHED, f"{run.engine} on inputs drawn anew: {error}", stage="run")
    return {size: [next(loaded) for _ in draws] for size, draws in inputs.items()}


def _judge(run: Run, answers: Mapping[Run, _Drawn | Evidence]) -> Evidence:
    """A match if at least half of those that it is compared with give the same, so that the one that errs is blamed."""
    own = answers[run]
    if isinstance(own, Evidence):
        return own
    known = {other: answer for other, answer in answers.items() if not isinstance(answer, Evidence)}
    farthest = {other: furthest(own, known[other], run, other) for other in _others(run, list(known))}
    unlike = {other: difference for other, (difference, _) in farthest.items() if difference}
    compared = sum(value.size for draws in own.values() for outputs in draws for value in outputs.values())
    if not farthest:
        return _ALONE
    if 2 * len(unlike) > len(farthest):
        other, difference = next(iter(unlike.items()))
        name = "eager" if other.format == "source" else other.variant
        return Evidence(Outcome.MISMATCH, f"on inputs that nobody recorded, {difference} {name}", elements=compared)
    if not compared:
        return Evidence(Outcome.VACUOUS, "inputs drawn anew give outputs without a number")
    apart = max(far for difference, far in farthest.values() if not difference)
    return Evidence(Outcome.MATCH, elements=compared, metrics={"apart": apart})


def furthest(own: _Drawn, other: _Drawn, run: Run, against: Run) -> tuple[str, float]:
    """What is said of an output that is too far from the other's in every draw of a size; and how far one is at most.

    In low precision a label may flip in all draws of a size by chance: there it has to be so in half of the sizes.
    """
    low = {run.precision, against.precision} != {"fp32"}
    limits = LOW if low else FP32
    most = 0.0
    outputs, *_ = next(iter(own.values()))
    for name, first in outputs.items():
        theirs = next(iter(other.values()))[0].get(name)
        if not low and theirs is not None and first.dtype != theirs.dtype:
            return f"'{name}' is {first.dtype.name}, not {theirs.dtype.name} as in", float("inf")
        by_size = [
            (min(_apart(one[name], another.get(name)) for one, another in zip(draws, other[size], strict=True)), size)
            for size, draws in own.items()
        ]
        apart, size = sorted(by_size)[(len(by_size) - 1) // 2] if low else max(by_size)
        real = first.dtype.kind == "f"
        if not apart <= (limits.real if real else limits.whole):
            much = f"by {apart:.0%} of its size" if real else f"in {apart:.0%} of its numbers"
            return f"'{name}' differs {much if np.isfinite(apart) else 'in shape'} ({size}, in every draw) from", apart
        most = max(most, apart)
    return "", most


def _apart(value: Array, other: Array | None) -> float:
    """How far two results are apart; infinitely far if one has another shape or dtype."""
    if other is None or value.shape != other.shape or value.dtype.kind != other.dtype.kind:
        return float("inf")
    if value.size == 0:
        return 0.0
    if value.dtype.kind != "f":
        return float(np.mean(value != other))
    finite = np.isfinite(value) & np.isfinite(other)
    strange = float(np.mean(~finite & (value != other) & ~(np.isnan(value) & np.isnan(other))))
    if strange > FP32.real:
        return 1.0
    wide = value[finite].astype("float64"), other[finite].astype("float64")
    size = max(norms(wide[0])[1], norms(wide[1])[1])
    return max(strange, norms(wide[0] - wide[1])[1] / size if size >= SMALLEST_SCALE else 0.0)


plugin: Proof = Agreement()
