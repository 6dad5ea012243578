"""Localise what failed: one child observes the source, one more for each failed run shows what its program computes."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

from exporter.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.parity.localise.align import Observed, Place
from exporter.parity.localise.blame import Blame
from exporter.parity.localise.locate import locate, locate_eager
from exporter.parity.localise.program import program_values
from exporter.parity.localise.stage import came_in_at
from exporter.parity.localise.witness import Witness, observe
from exporter.parity.plan import Run
from exporter.parity.run import Bench
from exporter.parity.verdict import Claim, Evidence, Outcome, Verdict
from exporter.workers import Setting

#: Outcomes that values explain; a crash, a timeout or a missing engine show no values.
_BY_VALUE = (Outcome.MISMATCH, Outcome.INCONCLUSIVE)
_NOT_HERE = (ModelError, UsageError, EnvironmentLacks, BundleError)


def localise(bench: Bench, runs: Sequence[Run], verdict: Verdict, setting: Setting) -> tuple[Blame, ...]:
    """Blame for the first failed or narrow claim of each variant and engine; needs the source at hand.

    A claim is narrow where it matched by more than half of the budget. What cannot be localised is said with the
    reason, never raised.
    """
    witnesses: dict[str, Witness | str] = {}
    found = []
    for run in runs:
        claim = _first(bench, run, verdict)
        if claim is None:
            continue
        setting.say(f"localising {run.variant} by {run.engine}")
        evidence = verdict.of(claim)
        if evidence.outcome not in (*_BY_VALUE, Outcome.MATCH):
            reason = f"no value came to compare: {evidence.outcome.value} ({evidence.reason})"
            found.append(Blame(claim, "", reason))
            continue
        case = next(one.recorded for one in bench.cases if one.name == claim.case)
        if case not in witnesses:
            witnesses[case] = _witness(bench, case, setting)
        witness = witnesses[case]
        if isinstance(witness, str):
            found.append(Blame(claim, "", witness))
        elif run.engine == "eager" or evidence.outcome is Outcome.INCONCLUSIVE:
            found.append(_blame_eager(claim, witness))
        else:
            found.append(_blame_program(bench, run, claim, verdict, (witness, setting)))
    return tuple(found)


def _first(bench: Bench, run: Run, verdict: Verdict) -> Claim | None:
    """The claim to look at: of the failed ones the smallest promised case, before probing ones; else the narrowest."""
    sizes = {case.name: sum(math.prod(one.shape) for one in case.outputs.values()) for case in bench.cases}
    own = [one for one in verdict.plan if (one.variant, one.engine) == (run.variant, run.engine)]
    failed = [one for one in own if verdict.of(one).outcome not in (Outcome.MATCH, Outcome.WAIVED)]
    if failed:
        by_value = [one for one in failed if verdict.of(one).outcome in _BY_VALUE] or failed
        return min(by_value, key=lambda one: (":" in one.case, sizes[one.case], one))
    narrow = [one for one in own if _ratio_of(verdict.of(one)) > bench.budget / 2]
    return max(narrow, key=lambda one: _ratio_of(verdict.of(one)), default=None)


def _ratio_of(evidence: Evidence) -> float:
    return evidence.metrics.get("error_ratio", 0.0)


def _witness(bench: Bench, case: str, setting: Setting) -> Witness | str:
    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        try:
            return observe(bench, case, Path(folder), setting)
        except _NOT_HERE as error:
            return f"the source could not be observed: {error}"


def _blame_eager(claim: Claim, witness: Witness) -> Blame:
    place, why_not = locate_eager(witness.observed)
    if place is None:
        return Blame(claim, "", why_not)
    return describe(claim, ("eager", "eager float32 itself is far from float64"), place, witness.observed)


def _blame_program(bench: Bench, run: Run, claim: Claim, verdict: Verdict, context: tuple[Witness, Setting]) -> Blame:
    witness, setting = context
    try:
        if run.format != "source":
            values = program_values(bench, run, claim.case, setting)
        elif witness.fresh is not None:
            values = witness.fresh
        else:
            return Blame(claim, "", f"no program could be traced: {witness.why_not_fresh}")
    except _NOT_HERE as error:
        return Blame(claim, "", f"the program does not run with its intermediate values put out: {error}")
    place, why_not = locate(witness, values, bench.budget)
    if place is None:
        return Blame(claim, "", why_not)
    fresh = None if witness.fresh is None else witness.sound(bench.budget)
    stage = came_in_at(bench, run, claim, verdict, fresh=fresh, setting=setting)
    return describe(claim, stage, place, witness.observed)


def describe(claim: Claim, stage: tuple[str, str], place: Place, observed: Observed) -> Blame:
    """Put a place into words; `stage` is its name and the sentence that says how it is known."""
    one = observed.calls[place.call]
    facts = [observed.facts[str(key)] for key in one["inputs"] if str(key) in observed.facts]
    return Blame(
        claim=claim,
        stage=stage[0],
        reason=stage[1],
        path=one["path"] or ".",
        kind=one["kind"],
        line=place.line,
        own=place.own,
        inputs=tuple(f"{fact['dtype']}{fact['shape']}" for fact in facts),
        error_ratio=place.error_ratio if math.isfinite(place.error_ratio) else None,
        inputs_ratio=place.inputs_ratio if math.isfinite(place.inputs_ratio) else None,
    )
