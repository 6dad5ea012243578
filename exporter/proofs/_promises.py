"""What the proofs of low precision share: which runs and variants promise something, and how a promise is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from exporter.proofs.base import Harness
from exporter.proofs.quantisation.budgets import Promise
from exporter.spec.model import Budget
from exporter.verdict.claim import Claim, Evidence, Outcome
from exporter.verdict.plan import Run


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
    found = []
    for claim in claims:
        number = wanted(harness.promised(claim.precision), claim)
        if number is not None:
            found.append(Promise(harness.run_of(claim), claim.kind, claim.output, number))
    return found


def nothing_to_measure_by(claim: Claim) -> Evidence:
    """The evidence where the fp32 variant is not in the bundle."""
    return Evidence(Outcome.MISSING, f"the bundle holds no {claim.format} in fp32 to compare it with", stage="plan")
