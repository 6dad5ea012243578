"""The proof of a decoder step by step: each engine runs all steps on its own cache, and errs no more than eager does.

One claim for each run and output. Step t is judged by the rule against float64's own step t; its reference is the error
that eager float32 has there after as many steps, so the growth of an engine's error is bounded by that of eager's. The
cache itself is compared after the last step. An answer that an empty cache would give as well proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.norms import decibel
from exporter.base.numbers.steps import doubt_of_cache, first_off
from exporter.prove.goldens.decoding import DECODING, Rollout
from exporter.prove.harness import Bench, run_engines
from exporter.prove.proofs.base import Harness, Proof
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome

_NONE = Evidence(Outcome.MISSING, "the spec has `decoding`, and the bundle records none of its steps", stage="plan")


class Decoding(Proof):
    """Runs × outputs, wherever the spec says what is fed back. One case alone is no step of a decoder."""

    kind = "decoding"
    after = (OUTPUTS, "process")

    def plan(self, harness: Harness) -> frozenset[Claim]:
        if harness.spec.decoding is None or harness.subject.only:
            return frozenset()
        by_no_value = {*harness.subject.constants, *harness.subject.sized}  # no cache leads to them
        return frozenset(
            Claim(run.format, run.precision, run.engine, output=output.name, kind=self.kind)
            for run in harness.runs
            for output in harness.subject.outputs
            if output.name not in by_no_value
        )

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        rollout = harness.subject.rollout
        if rollout is None:
            return dict.fromkeys(claims, _NONE)
        wanted = {harness.run_of(claim) for claim in claims}
        runs = [run for run in harness.runs if run in wanted]
        results = run_engines(_bench(harness, rollout), runs, harness.setting)
        by_step = {claim: evidence for result in results for claim, evidence in result.items()}
        return {claim: _all_steps(claim, rollout, by_step, harness.spec.budget) for claim in claims}

    def notes(self, harness: Harness) -> Sequence[str]:
        """How eager's own error grows, and what came nearest to the budget."""
        rollout = harness.subject.rollout
        own = sorted(claim for claim in harness.evidence if claim.kind == self.kind)
        if rollout is None or not own:
            return ()
        worst = max(own, key=lambda claim: harness.evidence[claim].metrics.get("error_ratio", 0.0))
        grown = [f"{name} from {first:.1e} to {last:.1e}" for name, first, last in _growth(rollout)]
        eager = f"; eager's own error goes in {' and in '.join(grown)}" if grown else ""
        far = harness.evidence[worst].metrics.get("error_ratio", 0.0)
        held = (claim for claim in own if harness.evidence[claim].outcome is Outcome.MATCH)
        return (
            *(f"{claim}: {harness.evidence[claim].reason}" for claim in held if harness.evidence[claim].reason),
            f"decoding: {len(rollout.steps)} steps in a row, each engine on its own cache; the largest error ratio is "
            f"{far:.3g} ({worst}){eager}",
        )


def _bench(harness: Harness, rollout: Rollout) -> Bench:
    """Make a bench of the steps: what they cost is that of the recorded cases, as many times as there are more."""
    assert harness.spec.decoding is not None  # noqa: S101  # the claims were planned because there is one
    times = 1 + -(-len(rollout.steps) // len(harness.bench.cases))
    golden = harness.subject.golden.with_name(DECODING)
    feeds = harness.spec.decoding.cache
    return replace(harness.bench, golden=golden, cases=rollout.steps, feeds=feeds, times=times)


def _all_steps(claim: Claim, rollout: Rollout, by_step: Mapping[Claim, Evidence], budget: float) -> Evidence:
    """The evidence on one output: of the first step that does not hold, else of all."""
    steps = [step for step in rollout.steps if claim.output in step.outputs]
    seen = [by_step[replace(claim, case=step.name, kind=OUTPUTS)] for step in steps]
    ratios = [evidence.metrics.get("error_ratio", 0.0) for evidence in seen]
    worst = max(range(len(seen)), key=lambda at: ratios[at])
    number = len(rollout.steps) - len(steps)
    first = first_off([evidence.outcome.value for evidence in seen])
    if first is not None:
        where = f"in step {number + first + 1} of {len(rollout.steps)}{_sizes(steps[first], rollout)}"
        return replace(seen[first], reason=f"{where}: {seen[first].reason}")
    doubt = doubt_of_cache(steps[-1].outputs[claim.output], rollout.emptied.outputs[claim.output], budget)
    elements = sum(evidence.elements for evidence in seen)
    metrics = {**seen[worst].metrics, "step": float(number + worst + 1)}
    if doubt is not None:
        return replace(seen[-1], outcome=Outcome(doubt[0]), reason=doubt[1], elements=elements, metrics=metrics)
    bits = all(evidence.bit_equal for evidence in seen)
    return replace(seen[worst], reason=_noise(seen), elements=elements, metrics=metrics, bit_equal=bits)


def _noise(seen: Sequence[Evidence]) -> str:
    """Say how loud the noise of reduced precision is in all steps together, and in the last; else empty."""
    signal, noise = (sum(evidence.metrics.get(name, 0.0) for evidence in seen) for name in ("signal", "noise"))
    if not signal:
        return ""
    return f"{decibel(signal, noise):.1f} dB in all steps, {seen[-1].metrics.get('snr_db', 0.0):.1f} dB in the last"


def _sizes(step: GoldenCase, rollout: Rollout) -> str:
    """The sizes of a step that are not those of all: ` (past=20)`."""
    last = rollout.steps[-1].dims
    grown = [f"{name}={size}" for name, size in step.dims.items() if rollout.steps[0].dims[name] != last[name]]
    return f" ({', '.join(grown)})" if grown else ""


def _growth(rollout: Rollout) -> list[tuple[str, float, float]]:
    first, last = rollout.steps[0], rollout.steps[-1]
    return [
        (name, output.e_ref[0], last.outputs[name].e_ref[0])
        for name, output in first.outputs.items()
        if not output.exact
    ]


plugin: Proof = Decoding()
