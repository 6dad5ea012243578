"""Which stage brought a fault in: what is the same before it and different after."""

from __future__ import annotations

from dataclasses import replace

from exporter.parity import parameters
from exporter.parity.plan import ENGINES, Run
from exporter.parity.run import Bench, gather
from exporter.parity.verdict import Claim, Outcome, Verdict
from exporter.workers import Setting


def came_in_at(
    bench: Bench, run: Run, claim: Claim, verdict: Verdict, *, fresh: bool | None, setting: Setting
) -> tuple[str, str]:
    """The stage and a sentence that says how it is known.

    `fresh` says whether a program that was traced anew computes the case right; None: none could be traced.
    """
    if fresh is False:
        return "trace", "a program traced from the source just now is wrong in the same case"
    if run.format == "source":
        return "trace", "the traced layer differs from eager"
    stored = verdict.evidence.get(parameters.claim(bench.artifacts[run.variant]))
    if stored is not None and stored.outcome is Outcome.MISMATCH:
        return "lower", f"the file does not store what was trained: {stored.reason}"
    others = _other_engines(bench, run, claim, verdict, setting)
    if right := [name for name, good in others.items() if good]:
        return "engine", f"{right[0]} computes the same file right"
    agreed = "a program traced just now is right" if fresh else "no program could be traced to compare with"
    if others:
        return "lower", f"{agreed}, and {' and '.join([run.engine, *others])} all compute this file wrong"
    return "lower or engine", f"{agreed}; no other engine here runs this file, so it or {run.engine} may be wrong"


def _other_engines(bench: Bench, run: Run, claim: Claim, verdict: Verdict, setting: Setting) -> dict[str, bool]:
    """For each other engine that ran the case on this variant, whether it was right; if none did, one more is asked."""
    found = {}
    for one in verdict.plan:
        same = (one.variant, one.case, one.output) == (claim.variant, claim.case, claim.output)
        outcome = verdict.of(one).outcome
        if same and one.engine != run.engine and outcome in (Outcome.MATCH, Outcome.MISMATCH):
            found[one.engine] = outcome is Outcome.MATCH
    if found:
        return dict(sorted(found.items()))
    for name, engine in ENGINES.all():
        if run.format in engine.formats and name != run.engine:
            outcome = _ask(bench, replace(run, engine=name), claim, setting)
            if outcome in (Outcome.MATCH, Outcome.MISMATCH):
                return {name: outcome is Outcome.MATCH}
    return {}


def _ask(bench: Bench, run: Run, claim: Claim, setting: Setting) -> Outcome:
    """What another engine makes of the same claim."""
    case = next(one for one in bench.cases if one.name == claim.case)
    evidence = gather(replace(bench, cases=(case,)), [run], setting)
    return evidence[replace(claim, engine=run.engine)].outcome
