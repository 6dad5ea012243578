"""Look inside where an output is narrow: within the budget, and yet further off than eager itself.

A fault that is small at the output is large at its own layer. So the sublayers are compared as well, and where one is
off by more than any sound engine the claim does not hold. That takes as long as several engines, and it is the file
that is looked for: a file that some engine computes no further off than eager itself is not looked into for another.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from exporter.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.harness import Bench
from exporter.root_cause.locate import is_narrow, locate
from exporter.root_cause.program import program_values
from exporter.root_cause.witness import Witness, observe
from exporter.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.verdict.plan import Run
from exporter.workers import Setting

#: Without a source that runs here, or for an artifact that does not run with its values put out, the outputs decide.
_NOT_HERE = (ModelError, UsageError, EnvironmentLacks, BundleError)
NOT_COMPARED = "the sublayers were not compared"


@dataclass
class Look:
    """The look into the runs of one bench; what was observed of the source is kept, or why it could not be."""

    bench: Bench
    setting: Setting
    evidence: Mapping[Claim, Evidence]
    _witnesses: dict[str, Witness | str] = field(default_factory=dict)

    def into(self, runs: Sequence[Run]) -> dict[Run, Evidence]:
        """For each run whether a sublayer is off. Claims that failed do not count: that they failed says enough.

        Where it cannot be seen, the outputs decide and the reason says why (it begins with `NOT_COMPARED`).
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
        witness = self._witness(claim)
        if isinstance(witness, str):
            return Evidence(Outcome.MATCH, f"{NOT_COMPARED}: {witness}", elements=compared)
        try:
            values = program_values(self.bench, run, claim.case, self.setting)
        except _NOT_HERE as error:
            why = f"the program does not run with its intermediate values put out: {error}"
            return Evidence(Outcome.MATCH, f"{NOT_COMPARED}: {why}", elements=compared)
        place, _ = locate(witness, values, self.bench.budget, folded=self.bench.folds(run.variant))
        if place is None:
            return Evidence(Outcome.MATCH, f"{len(values)} intermediate values were looked into", elements=compared)
        path = witness.observed.calls[place.call]["path"] or "the model itself"
        reason = (
            f"case {claim.case}, {claim.output}: within the budget at the output, but the error ratio of its sublayer "
            f"{path} is {place.error_ratio:.3g}"
        )
        return Evidence(Outcome.MISMATCH, reason, elements=compared)

    def _witness(self, claim: Claim) -> Witness | str:
        recorded = next(case.recorded for case in self.bench.cases if case.name == claim.case)
        if recorded not in self._witnesses:
            with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
                try:
                    self._witnesses[recorded] = observe(self.bench, recorded, Path(folder), self.setting)
                except _NOT_HERE as error:
                    self._witnesses[recorded] = f"the source could not be observed: {error}"
        return self._witnesses[recorded]

    def _own(self, run: Run) -> list[Claim]:
        whole = (run.variant, run.engine, OUTPUTS)
        return sorted(claim for claim in self.evidence if (claim.variant, claim.engine, claim.kind) == whole)

    def _holding(self, run: Run) -> list[Claim]:
        return [claim for claim in self._own(run) if self.evidence[claim].outcome is Outcome.MATCH]

    def _all_hold(self, run: Run) -> bool:
        return self._own(run) == self._holding(run)

    def _furthest(self, run: Run) -> tuple[Claim, float] | None:
        """The claim of a run that holds and is furthest off, with its error ratio; None where there is none."""
        rated = [(claim, self.evidence[claim].metrics.get("error_ratio")) for claim in self._holding(run)]
        return max(
            ((claim, far) for claim, far in rated if far is not None), key=lambda one: (one[1], one[0]), default=None
        )
