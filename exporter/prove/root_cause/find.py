"""Localise what failed: one child observes the source, one more for each failed run shows what its program computes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from exporter.base.numbers.golden import may_be_partial
from exporter.base.numbers.norms import WORST_E_REF
from exporter.prove.harness import Bench
from exporter.prove.root_cause.align import Distance, Observed, Place
from exporter.prove.root_cause.layers import layers_of
from exporter.prove.root_cause.locate import distances, eager_distances, locate_by, locate_eager
from exporter.prove.root_cause.operators.blamed import with_operator
from exporter.prove.root_cause.operators.judge import can_judge
from exporter.prove.root_cause.own.find import own_errors
from exporter.prove.root_cause.part import Captured
from exporter.prove.root_cause.program import program_values
from exporter.prove.root_cause.repro import leave
from exporter.prove.root_cause.search import Search
from exporter.prove.root_cause.stage import came_in_at, traced_wrong
from exporter.prove.root_cause.witness import NOT_HERE, Witness
from exporter.prove.verdict.blame import Blame, OperatorError
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome, Verdict
from exporter.prove.verdict.plan import Run

#: Kinds whose evidence names the operator itself, and whose values are right.
_NAMED = ("determinism",)
#: Outcomes that values explain; a crash, a timeout or a missing engine show no values.
_BY_VALUE = (Outcome.MISMATCH, Outcome.INCONCLUSIVE)


def localise(search: Search, runs: Sequence[Run]) -> tuple[Blame, ...]:
    """Blame for the first failed claim of each variant and engine.

    A variant whose stored tensors are not the trained ones is looked into as well, though its outputs match. What
    cannot be localised is said with the reason, never raised.

    Raises:
        UsageError, EnvironmentLacks: the folder for repros cannot be written.
    """
    blames: list[Blame] = []
    known: dict[tuple[str, str], tuple[OperatorError, ...]] = {}
    for run in runs:
        claim = _first(search.bench, run, search.verdict)
        # What could not be judged is eager's doing, whichever engine ran: once is enough.
        if claim is None or (blames and search.verdict.of(claim).outcome is Outcome.INCONCLUSIVE):
            continue
        blame = _localise(search, run, claim)
        if blame is not None:
            blames.append(_with_operators(search, run, blame, known))
    return tuple(blames)


def _with_operators(
    search: Search, run: Run, blame: Blame, known: dict[tuple[str, str], tuple[OperatorError, ...]]
) -> Blame:
    """The blame with the own error of each operator of the file, measured once for all engines that run it."""
    if run.engine == "eager" or search.verdict.of(blame.claim).outcome not in (Outcome.MISMATCH, Outcome.MATCH):
        return blame
    key = run.variant, blame.claim.case
    if key not in known:
        known[key] = own_errors(search, run, blame.claim.case)
    return replace(blame, operators=known[key])


def _localise(search: Search, run: Run, claim: Claim) -> Blame | None:
    search.setting.say(f"localising {run.variant} by {run.engine}")
    blame, place, witness = _blame(search, run, claim)
    if search.verdict.of(claim).outcome is Outcome.MATCH and not (blame.located and _wrong_inside(run, search.verdict)):
        return blame if blame.located else None
    if search.keep is None:
        return blame
    captured = _captured(search, run, place, witness)
    return replace(blame, repro=str(leave(search.keep, search.bench, blame, captured, search.setting)))


def _captured(search: Search, run: Run, place: Place | None, witness: Witness | None) -> Captured | str:
    """The call to blame with what went into it; or why it is not worth a repro of its own."""
    if place is None or witness is None:
        return "the sublayer to blame is not known"
    if run.format == "source":
        return "the fault is not one of an artifact"
    if _stored_wrong(run, search.verdict):
        return "the file stores other tensors than were trained, and exported anew it would not"
    call = witness.observed.calls[place.call]
    inputs = tuple(witness.observed.values[f"{key}/eager"] for key in call.inputs)
    details = search.bench.artifacts[run.variant].details
    asked = (details.get("opset_asked"), details.get("writer_asked", "paddle2onnx"))
    return Captured(inputs, call.arguments, *asked, search.keep is not None and search.keep.scramble)


def _first(bench: Bench, run: Run, verdict: Verdict) -> Claim | None:
    """The claim to look at: of the failed ones the smallest promised case, before probing ones.

    Where only the stored tensors or all cases together are wrong, the one that is furthest off.
    """
    sizes = {case.name: sum(math.prod(output.shape) for output in case.outputs.values()) for case in bench.cases}
    both = [claim for claim in verdict.plan if (claim.variant, claim.engine) == (run.variant, run.engine)]
    own = [
        claim for claim in both if claim.kind == OUTPUTS and claim.case in sizes
    ]  # others have no values of their own
    idle = [
        claim
        for claim in own
        if verdict.of(claim).outcome is Outcome.INCONCLUSIVE and verdict.of(claim).stage == "plan"
    ]
    failed = [
        claim for claim in own if claim not in idle and verdict.of(claim).outcome not in (Outcome.MATCH, Outcome.WAIVED)
    ]
    if failed:
        by_value = [claim for claim in failed if verdict.of(claim).outcome in _BY_VALUE] or failed
        return min(by_value, key=lambda claim: (":" in claim.case, sizes[claim.case], claim))
    suspect = run.format != "source" and _stored_wrong(run, verdict)
    suspect |= any(verdict.of(claim).outcome is Outcome.MISMATCH for claim in both if claim.kind not in _NAMED)
    return max(own, key=lambda claim: (_ratio_of(verdict.of(claim)), claim), default=None) if suspect else None


def _stored_wrong(run: Run, verdict: Verdict) -> bool:
    evidence = verdict.evidence.get(Claim(run.format, run.precision, kind="weights"))
    return evidence is not None and evidence.outcome is Outcome.MISMATCH


def _wrong_inside(run: Run, verdict: Verdict) -> bool:
    claim = Claim(run.format, run.precision, run.engine, kind="sublayers")
    return claim in verdict.plan and verdict.of(claim).outcome is Outcome.MISMATCH


def _ratio_of(evidence: Evidence) -> float:
    return evidence.metrics.get("error_ratio", 0.0)


def _blame(search: Search, run: Run, claim: Claim) -> tuple[Blame, Place | None, Witness | None]:
    """What is to blame, with the place and the witness that show it, or with the reason why nothing does."""
    evidence = search.verdict.of(claim)
    if evidence.outcome not in (*_BY_VALUE, Outcome.MATCH):
        return Blame(claim, "", f"no value came to compare: {evidence.outcome.value} ({evidence.reason})"), None, None
    blame, place, witness = _by_sublayer(search, run, claim)
    if evidence.outcome is Outcome.MISMATCH and can_judge(search.bench, run.variant):
        blame = with_operator(search, run, blame)
    return blame, place, witness


def _by_sublayer(search: Search, run: Run, claim: Claim) -> tuple[Blame, Place | None, Witness | None]:
    """The sublayer whose values part from the source's first."""
    evidence = search.verdict.of(claim)
    witness = search.no_source or search.witnesses.of(claim.case)
    if isinstance(witness, str):
        return Blame(claim, "", witness), None, None
    if run.engine == "eager" or evidence.outcome is Outcome.INCONCLUSIVE:
        distance: Distance | None = eager_distances(witness.observed)
        place, why_not = locate_eager(witness.observed)
        stage = "eager", "eager float32 itself is far from float64 there"
    else:
        place, why_not, distance = _locate_program(search, run, claim, witness)
        traced = traced_wrong(search, run, claim, witness)
        stage = came_in_at(search, run, claim, witness) if place is not None or traced else ("", "")
        if place is None and traced:
            return replace(_of_trace(claim, witness), stage=stage[0], reason=stage[1]), None, None
    if place is None or distance is None:
        return Blame(claim, "", _no_answer(claim, evidence) or why_not), None, None
    blame = describe(claim, stage, place, witness.observed)
    if blame.stage == "trace" and (blame.own or not blame.line):
        blame = replace(blame, line=_of_trace(claim, witness).line or blame.line)
    allowed = WORST_E_REF / 4 if blame.stage == "eager" else search.bench.budget
    return replace(blame, layers=layers_of(witness.observed, distance, place, allowed)), place, witness


def _no_answer(claim: Claim, evidence: Evidence) -> str:
    """Why no value shows where a row went wrong in which float64 has no answer, either; else empty."""
    if not may_be_partial(claim.case) or not evidence.reason.startswith("holds "):
        return ""
    return "in this row engines part on what is not finite, as of a softmax over nothing but -inf: docs/not-finite.md"


def _of_trace(claim: Claim, witness: Witness) -> Blame:
    """The code of the whole layer, with the line of what its program has wrong first."""
    first, root = witness.program.first_off, witness.observed.calls[0]
    return Blame(claim, "", "", path=".", kind=root.kind, line=first.line if first else "", own=True)


def _locate_program(
    search: Search, run: Run, claim: Claim, witness: Witness
) -> tuple[Place | None, str, Distance | None]:
    try:
        if run.format != "source":
            values = program_values(search.bench, run, claim.case, search.setting)
        elif witness.program.values is not None:
            values = witness.program.values
        else:
            return None, f"no program could be traced: {witness.program.why_not}", None
    except NOT_HERE as error:
        return None, f"the program does not run with its intermediate values put out: {error}", None
    budget = search.bench.budget
    distance = distances(witness, values, budget)
    place, why_not = locate_by(witness.observed, distance, budget, folded=search.bench.folds(run.variant))
    return place, why_not, distance


def describe(claim: Claim, stage: tuple[str, str], place: Place, observed: Observed) -> Blame:
    """Put a place into words; `stage` is its name and the sentence that says how it is known."""
    call = observed.calls[place.call]
    facts = [observed.facts[key] for key in call.inputs if key in observed.facts]
    return Blame(
        claim=claim,
        stage=stage[0],
        reason=stage[1],
        path=call.path or ".",
        kind=call.kind,
        line=place.line,
        own=place.own,
        inputs=tuple(f"{fact.dtype}{list(fact.shape)}" for fact in facts),
        error_ratio=place.error_ratio if math.isfinite(place.error_ratio) else None,
        inputs_ratio=place.inputs_ratio if math.isfinite(place.inputs_ratio) else None,
    )
