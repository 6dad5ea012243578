"""The proof by numbers: each output of each case, computed by each engine, is as near the truth as eager is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.base.numbers.golden import unvaried
from exporter.base.tensors import recorded_inputs
from exporter.prove.proofs.base import ByRun, Harness, Proof
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome


class Outputs(ByRun):
    """Formats × precisions × engines × cases × outputs, all from the spec."""

    kind = OUTPUTS

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return frozenset(
            Claim(run.format, run.precision, run.engine, case, output.name)
            for run in harness.runs
            for case in harness.cases
            for output in harness.subject.outputs
        )

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        lacking = Evidence(Outcome.MISSING, "the spec plans this case and the bundle records none of it", stage="plan")
        missing = {claim: lacking for claim in claims if claim.case in harness.subject.missing}
        return missing | dict(super().prove([claim for claim in claims if claim not in missing], harness))

    def notes(self, harness: Harness) -> Sequence[str]:
        """Inputs that are the same in all cases; of one case alone, or where nothing holds, it is not asked."""
        subject = harness.subject
        holding = (found.outcome is Outcome.MATCH for claim, found in harness.evidence.items() if claim.kind == OUTPUTS)
        if subject.only or not any(holding):
            return ()
        said = []
        for name, one in harness.spec.inputs.items():
            values = (recorded_inputs(subject.golden, case.recorded, [name])[name] for case in subject.recorded)
            said.append(unvaried(name, one.values, values))
        return [sentence for sentence in said if sentence]


plugin: Proof = Outputs()
