"""The budget of low precision on the task: what is lost of the recipe's metric on all held-out samples."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from exporter.proofs._promises import lower_runs, promises
from exporter.proofs._task_metric import Task, prove_metric
from exporter.proofs.base import Harness, Proof, per_run
from exporter.verdict.claim import Claim, Evidence, Outcome


class TaskMetric(Proof):
    """One claim for each run in low precision.

    A loss that the spec itself bounds is planned always, the default of a precision where the spec has a recipe that
    feeds every input. Where the model or the recipe is not at hand, the claims are MISSING.
    """

    kind = "metric"
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        ratable = Task(harness.spec, None).ratable
        runs = []
        for run in lower_runs(harness):
            said = harness.spec.precisions[run.precision].budget.max_metric_loss
            if said is not None or (ratable and harness.promised(run.precision).max_metric_loss is not None):
                runs.append(run)
        return per_run(self.kind, runs)

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        del evidence
        task = Task(harness.spec, harness.subject.checkpoint)
        why_not = harness.subject.no_source or (
            "" if task.ratable else "the spec names no recipe that feeds the inputs"
        )
        if why_not:
            reason = (
                f"the metric cannot be rated here: {why_not}; verify it where it was made, or --without {self.kind}"
            )
            return dict.fromkeys(claims, Evidence(Outcome.MISSING, reason, stage="environment"))
        wanted = promises(claims, harness, lambda budget, _: budget.max_metric_loss)
        with tempfile.TemporaryDirectory(prefix="exporter-") as place:
            return prove_metric(task, harness.bench, wanted, Path(place), harness.setting)


plugin: Proof = TaskMetric()
