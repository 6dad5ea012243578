"""Do the goldens tell anything? Eager itself is judged by them, before any engine runs.

Where eager's own answer would not pass, no engine's can: a promised case in which that is so ends in a verdict that is
not `passed`, whatever is run. So it is said at once, with the reason and with what to give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

import numpy as np

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.prove.compare.outputs import compare_case
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES, Run, source_engines
from exporter.prove.verdict.waivers import covering
from exporter.spec.model import Spec, Waiver

_OUTPUTS_ALIKE = (
    "give trained weights (`checkpoint:`, `--weights`), real samples (`values: dataset` or a .npy file), or \
values of another range: the outputs hardly depend on the inputs"
)
#: How the gate of an output begins that depends on a choice between equal elements.
AMONG_EQUALS = "it depends on which of equal elements"
_TIED = "give inputs that lead to no equal elements there (`values:`, real samples, trained weights), or choose in a \
promised order: `argsort(stable=True)`"
_NOT_TO_BE_TRUSTED = (
    "give trained weights (`checkpoint:`, `--weights`), or values of the range that the model was made for"
)


@dataclass(frozen=True)
class Doubt:
    """An output that no engine could be proven by in a case. `gate` says that eager cannot be trusted on it at all."""

    case: str
    output: str
    reason: str
    gate: bool

    @property
    def tied(self) -> bool:
        """Whether only a choice between equal elements leaves it open: then no layer is to blame."""
        return self.reason.startswith(AMONG_EQUALS)

    @property
    def hint(self) -> str:
        """What to give, so that it tells more."""
        if self.tied:
            return _TIED
        return _NOT_TO_BE_TRUSTED if self.gate else _OUTPUTS_ALIKE


def doubts(goldens: Sequence[GoldenCase], budget: float, *, more_to_come: bool = False) -> tuple[Doubt, ...]:
    """The outputs of promised cases in which eager itself would not pass by its own goldens.

    While `more_to_come`, only what further cases cannot change: an output that is the same in the first two cases may
    be another one in a third.
    """
    all_cases = {name: [golden.outputs[name] for golden in goldens] for name in goldens[0].outputs}
    undecided = {name for name, outputs in all_cases.items() if more_to_come and _may_differ_yet(outputs)}
    raised = []
    for golden in goldens:
        if ":" in golden.name:  # a probing case that tells nothing is left out
            continue
        for name, evidence in eager_judged(golden, budget, all_cases).items():
            if golden.outputs[name].constant or golden.outputs[name].sized:  # others are judged
                continue
            gate = bool(golden.outputs[name].gate)
            if evidence.outcome is not Outcome.MATCH and (gate or name not in undecided):
                raised.append(Doubt(golden.name, name, evidence.reason, gate))
    return tuple(raised)


def eager_judged(golden: GoldenCase, budget: float, all_cases: dict[str, list[GoldenOutput]]) -> dict[str, Evidence]:
    """Eager's own outputs, judged as an engine's would be; of a sampled golden those that were kept."""
    whole = {name: output if output.index is None else _of_sample(output) for name, output in golden.outputs.items()}
    judged = GoldenCase(golden.name, golden.dims, whole, golden.recorded)
    return compare_case(judged, {name: output.eager for name, output in whole.items()}, budget, all_cases)


def _of_sample(output: GoldenOutput) -> GoldenOutput:
    return replace(output, index=None, shape=output.eager.shape, partial=None)


def _may_differ_yet(outputs: Sequence[GoldenOutput]) -> bool:
    first = outputs[0]
    return first.exact or all(np.array_equal(first.truth, output.truth) for output in outputs)


def still_open(raised: Sequence[Doubt], runs: Sequence[Run], waivers: Sequence[Waiver]) -> tuple[Doubt, ...]:
    """The doubts of which a claim of some run is not waived today."""
    today = datetime.now(timezone.utc).date()

    def claims(doubt: Doubt) -> list[Claim]:
        return [Claim(run.format, run.precision, run.engine, doubt.case, doubt.output) for run in runs]

    return tuple(doubt for doubt in raised if any(covering(claim, waivers, today) is None for claim in claims(doubt)))


def runs_of(spec: Spec) -> tuple[Run, ...]:
    """Whatever a release of the spec may run in float32."""
    variants = [("source", "fp32"), *((name, "fp32") for name in spec.formats)]
    engines = dict.fromkeys((*source_engines(spec), *spec.engines))
    return tuple(Run(*variant, name) for name in engines for variant in variants if ENGINES[name].runs(*variant))


def undecided(planned: Sequence[Claim], raised: Sequence[Doubt]) -> dict[Claim, Evidence]:
    """The evidence where nothing was run: the reason of the doubt, or that it makes all the rest idle."""
    reasons = {(doubt.case, doubt.output): doubt for doubt in raised}
    evidence = {}
    for claim in planned:
        doubt = reasons.get((claim.case, claim.output))
        stage = "compare" if doubt is not None and doubt.gate and not doubt.tied else "plan"
        first = raised[0]
        reason = (
            f"eager itself would not pass: {doubt.reason}"
            if doubt is not None
            else f"not run: {first.output} of case {first.case} cannot be proven by any engine"
        )
        evidence[claim] = Evidence(Outcome.INCONCLUSIVE, reason, stage=stage)
    return evidence


def told(raised: Sequence[Doubt]) -> str:
    """One sentence for the report: what cannot be proven, why, and what to give."""
    outputs = ", ".join(dict.fromkeys(doubt.output for doubt in raised))
    why = f"eager itself would not pass by its own goldens in {outputs} ({raised[0].reason})"
    return f"no engine was run: {why}; {raised[0].hint}"
