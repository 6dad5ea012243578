"""What the budgets of low precision share: a promise is a claim with a number, weighed over all promised cases.

A budget that an impostor would keep as well (zeros, the mean, one row for all) proves nothing and is VACUOUS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from exporter.compare.golden import GoldenCase, GoldenOutput
from exporter.compare.lossy import promised
from exporter.proofs.base import Harness
from exporter.spec.model import Budget
from exporter.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.verdict.plan import Run


@dataclass(frozen=True)
class Promise:
    """The claim that one budget of one run is kept, and the bound that the spec wants."""

    claim: Claim
    wanted: float

    @property
    def run(self) -> Run:
        """What is measured."""
        return Run(self.claim.format, self.claim.precision, self.claim.engine)


@dataclass(frozen=True)
class Cases:
    """One output of a run in all promised cases: what was measured of each, and what was recorded."""

    evidence: Sequence[Evidence]
    goldens: Sequence[GoldenOutput]

    def sum(self, metric: str) -> float:
        """A metric of all cases together."""
        return sum(evidence.metrics[metric] for evidence in self.evidence)


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


def measured(promise: Promise, recorded: Sequence[GoldenCase], evidence: Mapping[Claim, Evidence]) -> Cases | Evidence:
    """What is known of the promised cases; or the fate of the first of which nothing is."""
    cases = [case for case in recorded if promised(case.name)]
    answers = []
    for case in cases:
        claim = replace(promise.claim, case=case.name, kind=OUTPUTS)
        answer = evidence.get(claim) or Evidence(Outcome.MISSING, "no evidence came")
        if "signal" not in answer.metrics and "rows" not in answer.metrics:
            return Evidence(answer.outcome, f"case {case.name}: {answer.reason}", stage=answer.stage)
        answers.append(answer)
    return Cases(answers, [case.outputs[promise.claim.output] for case in cases])


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
