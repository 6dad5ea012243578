"""The budget of low precision on answers: the share of rows that get eager's answer, all promised cases together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from exporter.compare.golden import GoldenOutput
from exporter.numbers.intervals import wilson
from exporter.proofs._promises import Cases, is_exact, measured, per_output, promises, weighed
from exporter.proofs.base import Harness, Proof
from exporter.spec.model import Budget
from exporter.verdict.claim import OUTPUTS, Claim, Evidence, Outcome

#: The share of whole numbers that must be equal where the budget says nothing: rounding moves some near ties.
AGREEMENT = 0.9


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
        proven = {}
        for promise in promises(claims, harness, lambda budget, claim: _share(budget, exact[claim.output])):
            cases = measured(promise, harness.bench.cases, harness.evidence)
            proven[promise.claim] = cases if isinstance(cases, Evidence) else prove_agreement(cases, promise.wanted)
        return proven


def _share(budget: Budget, exact: bool) -> float | None:
    return budget.min_top1 or (AGREEMENT if exact else None)


def prove_agreement(cases: Cases, wanted: float) -> Evidence:
    """Compare the share of equal answers with the promised one."""
    if any("rows" not in case.metrics for case in cases.evidence):
        return Evidence(Outcome.INCONCLUSIVE, "the output holds no rows of scores, or only a sample was recorded")
    rows, agree = int(cases.sum("rows")), int(cases.sum("agree"))
    low, high = wilson(agree, rows)
    broken = Evidence(
        Outcome.MISMATCH,
        f"{agree} of {rows} agree (95 % interval {low:.3f} to {high:.3f}), at least {wanted:g} promised",
        elements=rows,
        metrics={"top1": agree / rows, "low": low, "high": high},
    )
    impostors = ((f"{name} would agree in {share:.3f}", share >= wanted) for name, share in _answers(cases.goldens))
    return weighed(agree / rows >= wanted, broken, impostors)


def _answers(goldens: Sequence[GoldenOutput]) -> Iterator[tuple[str, float]]:
    """The share of rows in which answers that do not depend on the input agree: the commonest for all, and shuffled.

    A single row agrees with itself, so that it proves nothing.
    """
    labels = np.concatenate([(golden.eager if golden.exact else golden.eager.argmax(-1)).ravel() for golden in goldens])
    yield "the commonest answer for every row", float(np.unique(labels, return_counts=True)[1].max()) / labels.size
    yield "the answers shuffled", float(np.mean(np.random.default_rng(0).permutation(labels) == labels))


plugin: Proof = Top1()
