"""Which probing cases tell nothing: by the goldens alone, so that whoever verifies a bundle comes to the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exporter.base.numbers.golden import GoldenCase, promised
from exporter.prove.compare.informative import eager_judged
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.verdict.claim import Outcome
from exporter.spec.model import Spec

#: A probing case that amplifies rounding so many times more than what the spec promises does not tell right from wrong.
AMPLIFIED = 16.0


def in_order(goldens: Iterable[GoldenCase], spec: Spec) -> list[GoldenCase]:
    """The cases as the spec plans them, then all others by their names: of several impostors the first one counts."""
    places = {case.name: place for place, case in enumerate(plan_cases(spec))}
    return sorted(goldens, key=lambda golden: (places.get(golden.name, len(places)), golden.name))


def untelling(goldens: Sequence[GoldenCase], budget: float) -> dict[str, str]:
    """The probing cases in which eager's own answer would not pass, so that no engine's could; and why."""
    plain = [golden for golden in goldens if promised(golden.name)]
    others = {name: [golden.outputs[name] for golden in goldens] for name in goldens[0].outputs}
    reasons = {}
    for golden in goldens:
        if not promised(golden.name):
            judged = eager_judged(golden, budget, others).items()
            by_values = {name for name, output in golden.outputs.items() if not (output.constant or output.sized)}
            telling = [evidence for name, evidence in judged if name in by_values]
            unproven = [evidence.reason for evidence in telling if evidence.outcome is not Outcome.MATCH]
            if unproven := unproven or amplified(golden, plain):
                reasons[golden.name] = unproven[0]
    return reasons


def amplified(case: GoldenCase, plain: Sequence[GoldenCase]) -> list[str]:
    """Why a probing case tells more of the order of sums than of the artifact: a sentence for each such output.

    An image of zeros makes the maps within a network constant, and a norm divides by no variance: how the mean of equal
    numbers is rounded is then the whole output (measured: OpenVINO 9 times eager's error where e_ref was 32 times that
    of the plain cases, and half of eager's there).
    """
    reasons = []
    for name, output in case.outputs.items():
        usual = [max(golden.outputs[name].unit) for golden in plain if not golden.outputs[name].gate]
        times = max(output.unit) / output.slack / max(usual) if usual else 0.0
        if not output.exact and times > AMPLIFIED:
            reasons.append(f"it amplifies rounding {times:.3g} times as much as the cases that the spec promises")
    return reasons
