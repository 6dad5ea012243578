"""Look inside where an output is narrow: within the budget, and yet further off than eager itself.

A fault that is small at the output is large at its own layer. So the sublayers are compared as well, and where one is
off by more than any sound engine the claim does not hold. That takes as long as several engines, and it is the file
that is looked for: a file that some engine computes no further off than eager itself is not looked into for another.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from exporter.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.parity.localise.locate import is_narrow, locate
from exporter.parity.localise.program import program_values
from exporter.parity.localise.witness import Witness, observe
from exporter.parity.plan import Run
from exporter.parity.run import Bench
from exporter.parity.verdict import Claim, Outcome, Verdict
from exporter.workers import Setting

#: Without a source that runs here, or for an artifact that does not run with its values put out, the outputs decide.
_NOT_HERE = (ModelError, UsageError, EnvironmentLacks, BundleError)


def contradicted(bench: Bench, runs: Sequence[Run], verdict: Verdict, setting: Setting) -> Verdict:
    """The verdict, with a mismatch for the narrowest claim of each run in which a sublayer is off.

    The source must be at hand: `bench` says where it is.
    """
    evidence = dict(verdict.evidence)
    witnesses: dict[str, Witness | None] = {}
    looked = [run for run in runs if run.format != "source" and run.precision == "fp32"]
    right = {run.variant for run in looked if (far := _furthest(run, verdict)) and not is_narrow(far[1])}
    for run in looked:
        claim = _narrowest(run, verdict)
        if claim is None or run.variant in right:
            continue
        setting.say(f"looking into {run.variant} by {run.engine}")
        recorded = next(one.recorded for one in bench.cases if one.name == claim.case)
        if recorded not in witnesses:
            witnesses[recorded] = _witness(bench, recorded, setting)
        if reason := _wrong_inside(bench, run, claim, witnesses[recorded], setting):
            evidence[claim] = replace(evidence[claim], outcome=Outcome.MISMATCH, reason=reason)
    return Verdict(verdict.plan, evidence)


def _narrowest(run: Run, verdict: Verdict) -> Claim | None:
    """The claim of a run that is furthest off, if that is narrow and all of its claims hold."""
    found = _furthest(run, verdict)
    return found[0] if found is not None and is_narrow(found[1]) else None


def _furthest(run: Run, verdict: Verdict) -> tuple[Claim, float] | None:
    """The claim of a run that is furthest off with its error ratio; None where there is none, or where one failed."""
    own = [one for one in verdict.plan if (one.variant, one.engine) == (run.variant, run.engine)]
    if any(verdict.of(one).outcome is not Outcome.MATCH for one in own):
        return None
    rated = [(one, verdict.of(one).metrics["error_ratio"]) for one in own if "error_ratio" in verdict.of(one).metrics]
    return max(rated, key=lambda pair: (pair[1], pair[0]), default=None)


def _witness(bench: Bench, case: str, setting: Setting) -> Witness | None:
    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        try:
            return observe(bench, case, Path(folder), setting)
        except _NOT_HERE:
            return None


def _wrong_inside(bench: Bench, run: Run, claim: Claim, witness: Witness | None, setting: Setting) -> str:
    """Which sublayer is off, and by how much; empty where none is, or where nothing can be seen."""
    if witness is None:
        return ""
    try:
        values = program_values(bench, run, claim.case, setting)
    except _NOT_HERE:
        return ""
    place, _ = locate(witness, values, bench.budget, folded=bench.folds(run.variant))
    if place is None:
        return ""
    path = witness.observed.calls[place.call]["path"] or "the model itself"
    return f"within the budget at the output, but the error ratio of its sublayer {path} is {place.error_ratio:.3g}"
