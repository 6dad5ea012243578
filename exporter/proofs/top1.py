"""The budget of low precision on answers: the share of rows that get eager's answer, all promised cases together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.proofs._promises import is_exact, per_output, promises
from exporter.proofs.base import Harness, Proof
from exporter.proofs.quantisation.budgets import AGREEMENT, prove_cases
from exporter.spec.model import Budget
from exporter.verdict.claim import OUTPUTS, Claim, Evidence


class Top1(Proof):
    """One claim for each run in low precision and each output of whole numbers, and of scores where that is promised.

    Whole numbers have a share to agree in whatever the budget says: rounding moves near ties, and no more.
    """

    kind = "top1"
    promise = True
    after = (OUTPUTS,)

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_output(self.kind, harness, _share)

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        exact = {output.name: is_exact(output.dtype) for output in harness.subject.outputs}
        wanted = promises(claims, harness, lambda budget, claim: _share(budget, exact[claim.output]))
        return {promise.claim: prove_cases(promise, harness.bench, evidence) for promise in wanted}


def _share(budget: Budget, exact: bool) -> float | None:
    return budget.min_top1 or (AGREEMENT if exact else None)


plugin: Proof = Top1()
