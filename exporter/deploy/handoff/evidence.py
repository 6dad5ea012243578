"""What a target's own program put out, judged by the rule of the bundle: output by output, then all cases together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from exporter.base.errors import ModelError, UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.pooled import Pooled, draws
from exporter.base.tensors import TensorMap
from exporter.deploy.handoff.base import Chosen
from exporter.prove.compare.outputs import compare_case, evidence_of
from exporter.prove.verdict.claim import Claim, Evidence, Verdict
from exporter.prove.verdict.waivers import covering, waived
from exporter.spec.model import Waiver

_ACCEPT = "give --accept-waivers, if the bundle's own waiver of it is yours as well"


@dataclass(frozen=True)
class Ran:
    """How many cases were run, and the largest error in units of what eager errs; `budget` of them are allowed."""

    cases: int
    ratio: float
    budget: float

    def __str__(self) -> str:
        cases = "1 recorded case" if self.cases == 1 else f"{self.cases} recorded cases"
        return f"{cases}, largest error ratio {self.ratio:.2g} of {self.budget:g}"


def judge(chosen: Chosen, engine: str, got: Mapping[str, TensorMap], by: str) -> Ran:
    """Judge the outputs of some recorded cases, by the bundle's names; `by` says what ran.

    Cases are taken together only where all were run.

    Raises:
        ModelError: an output is not what the bundle recorded, and no waiver covers it that holds today and is accepted.
    """
    manifest, goldens = chosen.manifest, chosen.bundle.goldens()
    cases = [case for case in goldens if case.name in got]
    if not cases:
        raise ModelError("the bundle records no plain case to run", where=by, hint="release it again")
    evidence = _evidence(chosen, engine, cases, goldens, got)
    granted = [Waiver.model_validate(waiver) for waiver in manifest.waivers]
    waivers, today = granted if chosen.accepts_waivers else [], datetime.now(timezone.utc).date()
    verdict = waived(Verdict(frozenset(evidence), evidence), waivers, today)
    if not verdict.passed:
        claim = next(claim for claim in sorted(evidence) if verdict.of(claim).outcome.value not in ("match", "waived"))
        raise ModelError(
            f"{by} ran and does not give what the bundle recorded: {verdict.of(claim).reason}",
            where=str(claim),
            hint="see exporter verify" if covering(claim, granted, today) is None else _ACCEPT,
        )
    ratios = (found.metrics.get("error_ratio", 0.0) for found in evidence.values())
    return Ran(len(cases), max(ratios, default=0.0), manifest.budget)


def _evidence(
    chosen: Chosen,
    engine: str,
    cases: Sequence[GoldenCase],
    goldens: Sequence[GoldenCase],
    got: Mapping[str, TensorMap],
) -> dict[Claim, Evidence]:
    format, precision = chosen.variant.format, chosen.variant.precision
    budget = chosen.manifest.budget if precision == "fp32" else None
    others = {name: [case.outputs[name] for case in goldens] for name in goldens[0].outputs}
    pooled = Pooled(draws(cases) if precision == "fp32" and len(cases) == len(goldens) else {})
    evidence: dict[Claim, Evidence] = {}
    for case in cases:
        outputs = got[case.name]
        for name, found in compare_case(case, outputs, budget, others).items():
            evidence[Claim(format, precision, engine, case.name, name)] = found
        pooled.add(case.name, outputs if set(outputs) == set(case.outputs) else {})
    for name, judged in pooled.judge(chosen.manifest.budget).items():
        evidence[Claim(format, precision, engine, output=name, kind="pooled_bias")] = evidence_of(judged)
    return evidence


def require_fp32(chosen: Chosen, target: str) -> None:
    """Raises UsageError for a variant of reduced precision, whose numbers single cases do not show."""
    if chosen.variant.precision != "fp32":
        raise UsageError(
            f"{target} is proven with float32 variants alone, and {chosen.name} is none",
            where="--variant",
            hint="leave --variant out, or choose another target",
        )
