"""What the budgets of low precision share: a promise is a claim with a number, weighed over all promised cases.

A budget that an impostor would keep as well (zeros, the mean, one row for all) proves nothing and is VACUOUS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from exporter.base.numbers.golden import GoldenCase, promised
from exporter.base.numbers.rule import Judged, judge_promise
from exporter.prove.compare.outputs import evidence_of
from exporter.prove.proofs.base import Harness
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Budget


@dataclass(frozen=True)
class Promise:
    """The claim that one budget of one run is kept, and the bound that the spec wants."""

    claim: Claim
    wanted: float

    @property
    def run(self) -> Run:
        """What is measured."""
        return Run(self.claim.format, self.claim.precision, self.claim.engine)


def lower(variants: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those that are not fp32."""
    return [pair for pair in variants if pair[1] != "fp32"]


def lower_runs(harness: Harness) -> list[Run]:
    """The runs in low precision."""
    return [run for run in harness.runs if run.precision != "fp32"]


def per_output(kind: str, harness: Harness, wanted: Callable[[Budget, bool], float | None]) -> frozenset[Claim]:
    """One claim for each run in low precision and each output of which something is wanted.

    `wanted` gets the budget, and whether the output is of whole numbers.
    """
    return frozenset(
        Claim(run.format, run.precision, run.engine, output=output.name, kind=kind)
        for run in lower_runs(harness)
        for output in harness.subject.outputs
        if wanted(harness.promised(run.precision), is_exact(output.dtype)) is not None
    )


def is_exact(dtype: str) -> bool:
    """Whole numbers and booleans have no rounding."""
    return "float" not in dtype


def promises(
    claims: Iterable[Claim], harness: Harness, wanted: Callable[[Budget, Claim], float | None]
) -> list[Promise]:
    """The claims as promises, each with the number that the spec wants."""
    numbers = [(claim, wanted(harness.promised(claim.precision), claim)) for claim in claims]
    return [Promise(claim, number) for claim, number in numbers if number is not None]


def over_cases(promise: Promise, recorded: Sequence[GoldenCase], evidence: Mapping[Claim, Evidence]) -> Evidence:
    """Whether a promise is kept over all promised cases; or the fate of the first of which nothing is known."""
    cases = {case.name: case.outputs[promise.claim.output] for case in recorded if promised(case.name)}
    claims = {name: replace(promise.claim, case=name, kind=OUTPUTS) for name in cases}
    known = {name: evidence[claim] for name, claim in claims.items() if claim in evidence}
    seen = {name: Judged(one.outcome.value, one.reason, one.elements, one.metrics) for name, one in known.items()}
    answer = evidence_of(judge_promise(promise.claim.kind, promise.wanted, cases, seen))
    if answer.outcome in (Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.MISSING):
        stages = [one.stage for one in known.values() if one.outcome is answer.outcome]
        return replace(answer, stage=(stages or [answer.stage])[0])
    return answer


def weighed(kept: bool, broken: Evidence, impostors: Iterable[tuple[str, bool]]) -> Evidence:
    """A match if the promise is kept and no impostor would keep it; `broken` is the evidence that it is not kept.

    `impostors` are pairs: what is said of the impostor, and whether it would keep the promise.
    """
    if not kept:
        return broken
    fooled = next((said for said, keeps in impostors if keeps), "")
    if fooled:
        return replace(broken, outcome=Outcome.VACUOUS, reason=f"{broken.reason}; but {fooled}")
    return replace(broken, outcome=Outcome.MATCH)


def nothing_to_measure_by(claim: Claim) -> Evidence:
    """The evidence where the fp32 variant is not in the bundle."""
    return Evidence(Outcome.MISSING, f"the bundle holds no {claim.format} in fp32 to compare it with", stage="plan")
