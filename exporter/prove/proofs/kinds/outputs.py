"""The proof by numbers: each output of each case, computed by each engine, is as near the truth as eager is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from exporter.base.numbers.golden import GoldenCase, unvaried
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
        """Rows without an answer, and inputs that are the same in all cases.

        Of one case alone, or where nothing holds, the latter is not asked.
        """
        subject = harness.subject
        unanswered = [sentence for sentence in map(_unanswered, subject.recorded) if sentence]
        holding = (found.outcome is Outcome.MATCH for claim, found in harness.evidence.items() if claim.kind == OUTPUTS)
        if subject.only or not any(holding):
            return unanswered
        said = []
        for name, one in harness.spec.inputs.items():
            values = (recorded_inputs(subject.golden, case.recorded, [name])[name] for case in subject.recorded)
            said.append(unvaried(name, one.values, values))
        for name, output in subject.recorded[0].outputs.items():
            if output.constant:
                said.append(f"output '{name}': no input leads to it in any file, so it was judged as a constant")
            if output.sized:
                said.append(f"output '{name}': nothing but sizes leads to it in any file, and by these it was judged")
            if settled := [case.name for case in subject.recorded if case.outputs[name].settled]:
                where = ", ".join(settled)
                said.append(f"output '{name}' is one number throughout in {where}, whatever the inputs hold")
        return [*unanswered, *(sentence for sentence in said if sentence)]


def _unanswered(case: GoldenCase) -> str:
    """A sentence on the outputs in which eager itself is not finite; empty where it is."""
    apart = []
    for name, output in case.outputs.items():
        if output.partial is not None and (count := int((~np.isfinite(output.partial.eager)).sum())):
            apart.append(f"{name} ({count} of {output.partial.eager.size} numbers)")
    where = f"in case {case.name} eager itself gives NaN or infinity in {', '.join(apart)}"
    return (
        f"{where}: that engines do is compared; `empty_rows` and `finite` of an input promise it away" if apart else ""
    )


plugin: Proof = Outputs()
