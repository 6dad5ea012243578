"""The proof from inside: where an output is further off than eager itself, no sublayer is off by more than rounding.

A fault that is small at the output is large at its own layer, so what is within the budget and yet further off than
eager is looked into. That takes as long as several engines, and it is the file that is looked for: a file that some
engine computes no further off than eager itself is not looked into for another. What a run has in common with eager in
the same case here, to the last digit of each metric, is eager's own: two threads round otherwise than the one by which
eager's error was measured.

It needs the source. Where that is at hand it is planned for every run of a file in full precision, whatever becomes of
single claims. An engine that does not show what lies inside is stood in for by another one, since it is the file that
is looked into. A look that fails altogether is told on the report, and then the errors of all cases together have to
speak for the file: rounding does not add up, a fault does (exporter/base/numbers/pooled.py). Where those say nothing
either, the claim is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from exporter.base.tensors import TensorMap
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.proofs.base import Harness, Proof, per_run
from exporter.prove.root_cause.locate import is_narrow, locate_inside
from exporter.prove.root_cause.program import program_values
from exporter.prove.root_cause.witness import NOT_HERE, Witnesses
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES, Run

#: How a reason begins where the look failed.
NOT_COMPARED = "the sublayers were not compared"


class Sublayers(Proof):
    """One claim for each run of a file in full precision."""

    kind = "sublayers"
    after = (OUTPUTS, "pooled_bias")

    def plan(self, harness: Harness) -> frozenset[Claim]:
        files = [run for run in harness.runs if run.format != "source" and run.precision == "fp32"]
        return per_run(self.kind, files) if not harness.subject.no_source else frozenset()

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        runs = {harness.run_of(claim): claim for claim in claims}
        answers = Look(harness.bench, harness.setting, harness.evidence, harness.witnesses).into(list(runs))
        return {runs[run]: evidence for run, evidence in answers.items()}

    def notes(self, harness: Harness) -> Sequence[str]:
        own = sorted((claim, found.reason) for claim, found in harness.evidence.items() if claim.kind == self.kind)
        return [f"{claim}: {reason}" for claim, reason in own if reason.startswith(NOT_COMPARED)]


@dataclass(frozen=True)
class Look:
    """The look into the runs of one bench, given what the proofs before it found."""

    bench: Bench
    setting: Setting
    evidence: Mapping[Claim, Evidence]
    witnesses: Witnesses

    def into(self, runs: Sequence[Run]) -> dict[Run, Evidence]:
        """For each run whether a sublayer is off. Claims that failed do not count: that they failed says enough.

        Where it cannot be seen, the reason says why (it begins with `NOT_COMPARED`).
        """
        furthest = {run: self._furthest(run) for run in runs}
        right = {
            run.variant for run, far in furthest.items() if self._all_hold(run) and not (far and is_narrow(far[1]))
        }
        return {run: self._look(run, far, right) for run, far in furthest.items()}

    def _look(self, run: Run, far: tuple[Claim, float] | None, right: set[str]) -> Evidence:
        compared = sum(self.evidence[claim].elements for claim in self._holding(run))
        if not compared:
            return Evidence(
                Outcome.MISSING, "no output of this run was right, so its sublayers tell nothing", stage="run"
            )
        if far is None:
            return Evidence(Outcome.MATCH, "no output has a rounding error to look into", elements=compared)
        if not is_narrow(far[1]):
            said = "no output is further off than eager's own rounding, so no sublayer was looked into"
            return Evidence(Outcome.MATCH, said, elements=compared)
        if run.variant in right:
            said = "another engine computes this file no further off than eager's own rounding"
            return Evidence(Outcome.MATCH, said, elements=compared)
        self.setting.say(f"looking into {run.variant} by {run.engine}")
        return self._compared(run, far[0], compared)

    def _compared(self, run: Run, claim: Claim, compared: int) -> Evidence:
        witness = self.witnesses.of(claim.case)
        if isinstance(witness, str):
            return self._unseen(run, witness)
        values = self._values(run, claim.case)
        if isinstance(values, str):
            return self._unseen(run, f"the program does not run with its intermediate values put out: {values}")
        place = locate_inside(witness, values, self.bench.budget, folded=self.bench.folds(run.variant))
        if place is None:
            return Evidence(Outcome.MATCH, f"{len(values)} intermediate values were looked into", elements=compared)
        path = witness.observed.calls[place.call].path or "the model itself"
        reason = (
            f"case {claim.case}, {claim.output}: within the budget at the output, but the error ratio of its sublayer "
            f"{path} is {place.error_ratio:.3g}"
        )
        return Evidence(Outcome.MISMATCH, reason, elements=compared)

    def _values(self, run: Run, case: str) -> TensorMap | str:
        """What the run's program computes inside, as some engine shows it; or why the run's own engine does not."""
        planned = {claim.engine for claim in self.evidence if claim.variant == run.variant}
        able = [name for name, engine in ENGINES.all() if engine.runs(run.format, run.precision)]
        others = [name for name in able if name in planned or ENGINES[name].paddle_kernels]
        why_not = ""
        for name in dict.fromkeys((run.engine, *others)):
            try:
                return program_values(self.bench, replace(run, engine=name), case, self.setting)
            except NOT_HERE as error:
                why_not = why_not or str(error)
        return why_not

    def _is_as_eager(self, claim: Claim) -> bool:
        """Return whether a run gives what eager gives in the same case and the same number of threads."""
        eager = self.evidence.get(replace(claim, format="source", engine="eager"))
        return eager is not None and eager.metrics == self.evidence[claim].metrics

    def _unseen(self, run: Run, why: str) -> Evidence:
        """What all cases together say of the run in place of its sublayers."""
        pooled = self._of(run, "pooled_bias")
        elements = sum(self.evidence[claim].elements for claim in pooled)
        if elements and all(self.evidence[claim].outcome is Outcome.MATCH for claim in pooled):
            said = "the errors of all cases together do not add up, as those of a fault would"
            return Evidence(Outcome.MATCH, f"{NOT_COMPARED}: {why}; {said}", elements=elements)
        said = "and whether the errors of all cases add up is not known either"
        return Evidence(Outcome.INCONCLUSIVE, f"{NOT_COMPARED}: {why}; {said}", stage="run")

    def _of(self, run: Run, kind: str) -> list[Claim]:
        about = (run.variant, run.engine, kind)
        return sorted(claim for claim in self.evidence if (claim.variant, claim.engine, claim.kind) == about)

    def _holding(self, run: Run) -> list[Claim]:
        return [claim for claim in self._of(run, OUTPUTS) if self.evidence[claim].outcome is Outcome.MATCH]

    def _all_hold(self, run: Run) -> bool:
        return self._of(run, OUTPUTS) == self._holding(run)

    def _furthest(self, run: Run) -> tuple[Claim, float] | None:
        """The claim of a run that holds and is furthest off, with its error ratio; None where there is none."""
        own = [claim for claim in self._holding(run) if not self._is_as_eager(claim)]
        rated = [(claim, self.evidence[claim].metrics.get("error_ratio")) for claim in own]
        return max(
            ((claim, far) for claim, far in rated if far is not None), key=lambda pair: (pair[1], pair[0]), default=None
        )


plugin: Proof = Sublayers()
