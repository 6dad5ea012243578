"""Which stage brought a fault in: what is right before it and wrong after."""

from __future__ import annotations

from dataclasses import replace

from exporter.prove.harness import run_engine
from exporter.prove.root_cause.locate import is_narrow
from exporter.prove.root_cause.search import Search
from exporter.prove.root_cause.witness import Witness
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES, Run


def came_in_at(search: Search, run: Run, claim: Claim, witness: Witness) -> tuple[str, str]:
    """The stage, and a sentence that says how it is known."""
    if run.format == "source":
        return "trace", f"the traced layer differs from eager{_first_off(witness)}"
    if traced_wrong(search, run, claim, witness):
        return "trace", f"a program traced from the source just now is wrong in the same case{_first_off(witness)}"
    stored = search.verdict.evidence.get(Claim(run.format, run.precision, kind="weights"))
    if stored is not None and stored.outcome is Outcome.MISMATCH:
        return "lower", f"the file does not store what was trained: {stored.reason}"
    others = _other_engines(search, run, claim)
    if right := [name for name, good in others.items() if good]:
        return "engine", f"{right[0]} computes the same file right"
    fresh = witness.program.values is not None
    traced = "a program traced just now is right" if fresh else "nothing could be traced to compare"
    if others:
        return "lower", f"{traced}, and {' and '.join([run.engine, *others])} agree that this file computes it wrong"
    return "lower or engine", f"{traced}; no other engine here runs this file, so it or {run.engine} is wrong"


def traced_wrong(search: Search, run: Run, claim: Claim, witness: Witness) -> bool:
    """Whether a program that is traced and in no file yet is wrong in the case: no engine is to blame for that."""
    if run.engine == "eager":
        return False
    if witness.program.values is not None and not witness.sound(search.bench.budget):
        return True
    static = replace(claim, format="source", precision="fp32", engine="static")
    evidence = search.verdict.evidence.get(static)
    return evidence is not None and evidence.outcome is Outcome.MISMATCH


def _first_off(witness: Witness) -> str:
    first = witness.program.first_off
    return f"; what is off first is made by {first.operators}" if first else ""


def _other_engines(search: Search, run: Run, claim: Claim) -> dict[str, bool]:
    """For each other engine that ran the case on this variant, whether it was right; if none did, one more is asked."""
    found = {}
    for one in search.verdict.plan:
        about = (one.kind, one.variant, one.case, one.output)
        same = about == (claim.kind, claim.variant, claim.case, claim.output)
        evidence = search.verdict.of(one)
        if same and one.engine != run.engine and evidence.outcome in (Outcome.MATCH, Outcome.MISMATCH):
            found[one.engine] = _right(evidence, search.verdict.of(claim))
    if found:
        return dict(sorted(found.items()))
    for name, engine in ENGINES.all():
        if engine.runs(run.format, run.precision) and name != run.engine:
            evidence = _ask(search, replace(run, engine=name), claim)
            if evidence.outcome in (Outcome.MATCH, Outcome.MISMATCH):
                return {name: _right(evidence, search.verdict.of(claim))}
    return {}


def _right(other: Evidence, failed: Evidence) -> bool:
    """Whether another engine is right: it matches, and is not as far off as the one that failed within the budget."""
    off, far = (one.metrics.get("error_ratio", 0.0) for one in (other, failed))
    return other.outcome is Outcome.MATCH and (off < far / 2 or not is_narrow(off))


def _ask(search: Search, run: Run, claim: Claim) -> Evidence:
    """What another engine makes of the same claim. All cases run: the controls need strangers."""
    return run_engine(search.bench, run, search.setting)[replace(claim, engine=run.engine)]
