"""The budget of low precision on answers: the share of rows that get eager's answer, all promised cases together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.base.numbers.rule import promised_of
from exporter.prove.proofs.base import Harness, Proof
from exporter.prove.proofs.promises import is_exact, over_cases, per_output, promises
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence
from exporter.spec.model import Budget


class Top1(Proof):
    """One claim for each run in low precision and each output of whole numbers, and of scores where that is promised.

    Whole numbers have a share to agree in whatever the budget says: rounding moves near ties, and no more.
    """

    kind = "top1"
    promise = True
    after = (OUTPUTS,)

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_output(self.kind, harness, _share)

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        exact = {output.name: is_exact(output.dtype) for output in harness.subject.outputs}
        wanted = promises(claims, harness, lambda budget, claim: _share(budget, exact[claim.output]))
        return {promise.claim: over_cases(promise, harness.bench.cases, harness.evidence) for promise in wanted}


def _share(budget: Budget, exact: bool) -> float | None:
    return promised_of(exact, budget.min_snr_db, budget.min_top1).get("top1")


plugin: Proof = Top1()
