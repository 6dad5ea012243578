"""The proof of a decoder's steps: one claim of an output for all of them, and what an empty cache would give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, TensorSpec, save
from exporter.export.lower.base import Artifact
from exporter.prove.goldens.decoding import DECODING, Rollout
from exporter.prove.proofs.base import Harness
from exporter.prove.proofs.kinds.decoding import _all_steps, _bench, _sizes, plugin
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from tests.prove.compare.goldens import golden
from tests.prove.proofs.subjects import LOW, PLAIN, SOURCE, artifact, harness, spec, subject

SAID = {"cache": {"x": "label"}, "steps": 3}
Y_OF_ALL = Claim("onnx", "fp32", "onnxruntime", output="y", kind="decoding")


def truth(seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal((4, 5))


def rollout(steps: int = 3, emptied: Array | None = None) -> Rollout:
    """Steps of one output; the last one also holds the cache."""
    made = []
    for at in range(steps):
        outputs = {"y": golden(truth(at), seed=at)}
        if at == steps - 1:
            outputs["label"] = golden(truth(70), name="label")
        made.append(GoldenCase(f"step={at}", {"batch": 4, "past": at + 1}, outputs, f"step={at}"))
    empty = {"y": golden(truth(80) if emptied is None else emptied), "label": golden(truth(81))}
    return Rollout(tuple(made), GoldenCase("step=2:emptied", {"batch": 4, "past": 3}, empty, "step=2:emptied"))


def evidence(*outcomes: Outcome) -> dict[Claim, Evidence]:
    """What each step gave, by another provider: where it holds, an error ratio of its number."""
    return {
        replace(Y_OF_ALL, case=f"step={at}", kind="outputs"): Evidence(
            outcome,
            "" if outcome is Outcome.MATCH else f"why {at}",
            elements=20,
            provider=f"of {at}",
            metrics={"error_ratio": 1.0 + at % 2},
        )
        for at, outcome in enumerate(outcomes)
    }


def test_a_claim_for_each_run_and_output_where_the_spec_decodes() -> None:
    there = subject(artifact(), of=spec(decoding=SAID))
    planned = plugin.plan(harness(there, PLAIN, LOW, SOURCE))
    assert {str(claim) for claim in planned if claim.format == "onnx"} == {
        f"{variant}/onnxruntime/decoding/{name}" for variant in ("onnx", "onnx-int8") for name in ("y", "label")
    }
    valueless = harness(replace(there, constants=("label",)), PLAIN), harness(replace(there, sized=("label",)), PLAIN)
    assert [{claim.output for claim in plugin.plan(one)} for one in valueless] == [{"y"}, {"y"}]
    assert plugin.plan(harness(subject(artifact()), PLAIN)) == frozenset()
    assert plugin.plan(harness(replace(there, only="batch=4"), PLAIN)) == frozenset()


def test_without_recorded_steps_the_claims_are_missing() -> None:
    there = harness(subject(artifact(), of=spec(decoding=SAID)), PLAIN)
    claims = sorted(plugin.plan(there))
    found = plugin.prove(claims, there)
    assert len(found) == 2 and {(one.outcome, one.stage) for one in found.values()} == {(Outcome.MISSING, "plan")}
    assert plugin.notes(there) == ()


def test_nothing_is_run_for_no_claim() -> None:
    there = harness(subject(artifact(), of=spec(decoding=SAID), rollout=rollout()), PLAIN)
    assert plugin.prove([], there) == {} and plugin.notes(there) == ()


WEIGHTS = np.random.default_rng(9).standard_normal((3, 5)).astype("float32")
STATEFUL = {"x": {"dtype": "float32", "shape": ["batch", 3]}, "state": {"dtype": "float32", "shape": ["batch", 3]}}


def step_of(x: Array, state: Array) -> dict[str, Array]:
    """A step in the dtype of what goes in: what it gives, and the state that it leaves."""
    left = x + state
    return {"y": left @ WEIGHTS.astype(x.dtype), "next": left}


@pytest.fixture
def running(tmp_path: Path) -> Harness:
    """Three steps of a running sum, recorded beside a file that computes them, and a variant without a file."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "state"], ["next"]), helper.make_node("MatMul", ["next", "w"], ["y"])],
        "sum",
        [helper.make_tensor_value_info(name, 1, ["batch", 3]) for name in STATEFUL],
        [helper.make_tensor_value_info(name, 1, ["batch", size]) for name, size in (("y", 5), ("next", 3))],
        [numpy_helper.from_array(WEIGHTS, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx/model.onnx").write_bytes(model.SerializeToString())
    generator = np.random.default_rng(5)
    state = generator.standard_normal((4, 3)).astype("float32")
    inputs: dict[str, Array] = {"step=0/input/state": state}
    exact, eager, steps = state.astype("float64"), state, []
    for at in range(3):
        x = inputs[f"step={at}/input/x"] = generator.standard_normal((4, 3)).astype("float32")
        truths, answers = step_of(x.astype("float64"), exact), step_of(x, eager)
        exact, eager = truths["next"], answers["next"]
        kept = ("y", "next") if at == 2 else ("y",)
        outputs = {name: golden(truths[name], eager=answers[name], seed=at, name=name) for name in kept}
        steps.append(GoldenCase(f"step={at}", {"batch": 4}, outputs, f"step={at}"))
    save(tmp_path / DECODING, inputs)
    empty = step_of(x.astype("float64"), np.zeros((4, 3)))
    emptied = GoldenCase("step=2:emptied", {"batch": 4}, {name: golden(value) for name, value in empty.items()}, "")
    of = spec(inputs=STATEFUL, decoding={"cache": {"state": "next"}, "steps": 3})
    names = tuple(STATEFUL), ("y", "next"), ("y", "next")
    return harness(
        subject(
            Artifact("onnx", "fp32", ("onnx/model.onnx",), *names),
            of=of,
            folder=tmp_path,
            outputs=(TensorSpec("y", "float32", ("batch", 5)), TensorSpec("next", "float32", ("batch", 3))),
            rollout=Rollout(tuple(steps), emptied),
        ),
        PLAIN,
        LOW,
    )


def test_each_step_of_a_run_is_judged_on_its_own_cache(running: Harness) -> None:
    claims = [replace(Y_OF_ALL, output=name) for name in ("next", "y")]
    found = plugin.prove(claims, running)  # the variant without a file is not run: no claim of it
    assert {name: (one.outcome, one.elements) for name, one in found.items()} == {
        claims[0]: (Outcome.MATCH, 12),
        claims[1]: (Outcome.MATCH, 60),
    }
    assert found[claims[0]].metrics["step"] == 3
    rollout = running.subject.rollout
    assert rollout is not None
    other = golden(truth(5), seed=1)
    wrong = replace(
        rollout, steps=(rollout.steps[0], replace(rollout.steps[1], outputs={"y": other}), rollout.steps[2])
    )
    off = plugin.prove(claims[1:], replace(running, subject=replace(running.subject, rollout=wrong)))
    assert list(off) == claims[1:] and off[claims[1]].reason.startswith("in step 2 of 3: ")


def test_a_report_tells_how_eager_s_error_grows_and_what_errs_most() -> None:
    near, far = (replace(Y_OF_ALL, engine=engine) for engine in ("jit_load", "onnxruntime"))
    low, other = replace(far, precision="int8"), replace(far, kind="process")
    seen = {
        near: Evidence(Outcome.MATCH, elements=1, metrics={"error_ratio": 1.0}),
        far: Evidence(Outcome.MISMATCH, "too far", metrics={"error_ratio": 9.0}),
        low: Evidence(Outcome.MATCH, "20.0 dB in all steps", elements=1),
        other: Evidence(Outcome.MATCH, "of another kind", elements=1, metrics={"error_ratio": 99.0}),
    }
    there = harness(subject(artifact(), rollout=rollout()), evidence=seen)
    steps = rollout().steps
    first, last = (step.outputs["y"].e_ref[0] for step in (steps[0], steps[-1]))
    assert plugin.notes(there) == (
        f"{low}: 20.0 dB in all steps",
        f"decoding: 3 steps in a row, each engine on its own cache; the largest error ratio is 9 ({far}); eager's own "
        f"error goes in y from {first:.1e} to {last:.1e}",
    )
    ids = {**steps[0].outputs, "label": golden(np.array([1, 2]), name="label")}
    with_ids = replace(rollout(), steps=(replace(steps[0], outputs=ids), *steps[1:]))
    assert plugin.notes(harness(subject(artifact(), rollout=with_ids), evidence=seen)) == plugin.notes(there)
    assert plugin.notes(harness(subject(artifact()), evidence=seen)) == (), "no steps, no word of them"
    plain = replace(far, precision="fp16")
    small = {plain: Evidence(Outcome.MATCH, elements=1), near: replace(seen[near], metrics={"error_ratio": 0.5})}
    assert f"error ratio is 0.5 ({near})" in plugin.notes(replace(there, evidence=small))[0]
    assert f"error ratio is 0 ({plain})" in plugin.notes(replace(there, evidence={plain: small[plain]}))[0]
    whole = replace(rollout(), steps=(replace(steps[0], outputs={}), *steps[1:]))
    assert plugin.notes(harness(subject(artifact(), rollout=whole), evidence=seen))[1].endswith(f"({far})")


def test_all_steps_hold_if_each_does_and_the_worst_is_told() -> None:
    found = _all_steps(Y_OF_ALL, rollout(), evidence(*[Outcome.MATCH] * 3), 4.0)
    assert (found.outcome, found.elements, found.reason, found.provider) == (Outcome.MATCH, 60, "", "of 1")
    assert found.metrics == {"error_ratio": 2.0, "step": 2.0}
    seen = evidence(*[Outcome.MATCH] * 3)
    first, second, third = seen
    seen = {first: replace(seen[first], metrics={}), second: seen[second], third: replace(seen[third], metrics={})}
    seen[second] = replace(seen[second], metrics={"error_ratio": 0.5})
    assert _all_steps(Y_OF_ALL, rollout(), seen, 4.0).metrics == {"error_ratio": 0.5, "step": 2.0}


def test_bits_are_equal_where_those_of_all_steps_are() -> None:
    seen = evidence(*[Outcome.MATCH] * 3)
    same = {claim: replace(one, bit_equal=True) for claim, one in seen.items()}
    assert _all_steps(Y_OF_ALL, rollout(), same, 4.0).bit_equal
    for off in same:
        assert not _all_steps(Y_OF_ALL, rollout(), {**same, off: seen[off]}, 4.0).bit_equal


@pytest.mark.parametrize("past", [(1, 1, 2), (1, 2, 2), (1, 2, 3)])
def test_a_size_that_is_not_that_of_all_steps_is_told(past: tuple[int, ...]) -> None:
    steps = [replace(step, dims={"batch": 4, "past": size}) for step, size in zip(rollout().steps, past, strict=True)]
    of = replace(rollout(), steps=tuple(steps))
    assert [_sizes(step, of) for step in of.steps] == [f" (past={size})" for size in past]
    assert _sizes(steps[0], replace(of, steps=(steps[0], steps[0]))) == ""


@pytest.mark.parametrize(
    ("outcomes", "outcome", "said"),
    [
        ((Outcome.MATCH, Outcome.MISMATCH, Outcome.CRASHED), Outcome.MISMATCH, "in step 2 of 3 (past=2): why 1"),
        ((Outcome.VACUOUS, Outcome.MATCH, Outcome.CRASHED), Outcome.CRASHED, "in step 3 of 3 (past=3): why 2"),
        (
            (Outcome.MATCH, Outcome.INCONCLUSIVE, Outcome.VACUOUS),
            Outcome.INCONCLUSIVE,
            "in step 2 of 3 (past=2): why 1",
        ),
        ((Outcome.MISSING, Outcome.MISSING, Outcome.MISSING), Outcome.MISSING, "in step 1 of 3 (past=1): why 0"),
    ],
)
def test_the_first_step_that_shows_a_fault_is_told(outcomes: tuple[Outcome, ...], outcome: Outcome, said: str) -> None:
    found = _all_steps(Y_OF_ALL, rollout(), evidence(*outcomes), 4.0)
    assert (found.outcome, found.reason) == (outcome, said)


def test_the_cache_is_judged_after_the_last_step() -> None:
    claim = replace(Y_OF_ALL, output="label")
    seen = {replace(claim, case="step=2", kind="outputs"): Evidence(Outcome.MISMATCH, "far", elements=20)}
    assert _all_steps(claim, rollout(), seen, 4.0).reason == "in step 3 of 3 (past=3): far"


@pytest.mark.parametrize(
    ("times", "outcome"),
    [
        *((times, Outcome.VACUOUS) for times in (0, 3.9)),
        *((times, Outcome.INCONCLUSIVE) for times in (4.2, 39)),
        *((times, Outcome.MATCH) for times in (42, 50)),
    ],
)
def test_what_an_empty_cache_gives_as_well_proves_nothing(times: float, outcome: Outcome) -> None:
    """So many times what eager errs an empty cache is off."""
    last = golden(truth(2), seed=2)
    near = last.truth * (1 + times * last.unit[1])
    found = _all_steps(Y_OF_ALL, rollout(emptied=near), evidence(*[Outcome.MATCH] * 3), 4.0)
    assert found.outcome is outcome
    assert outcome is Outcome.MATCH or "with an empty cache the last step" in found.reason
    assert (found.metrics["step"], found.elements) == (2.0, 60)
    assert found.provider == ("of 1" if outcome is Outcome.MATCH else "of 2")


def test_steps_are_run_on_their_own_cache_and_cost_as_many_times_more() -> None:
    there = harness(subject(artifact(), of=spec(decoding=SAID)), PLAIN)
    bench = _bench(there, rollout(steps=30))
    assert (bench.feeds, bench.times, bench.golden.name) == ({"x": "label"}, 7, "decoding.safetensors")
    job = bench.job(PLAIN)
    assert [case.name for case in job.cases] == [f"step={at}" for at in range(30)]
    assert [dict(case.feeds) for case in job.cases[:2]] == [{}, {"x": "label"}]
    assert (job.cases[0].keeps, job.cases[-1].keeps) == (("y",), ("y", "label"))
    assert bench.draws == {}


def test_of_reduced_precision_the_noise_over_all_steps_is_told() -> None:
    seen = {
        replace(Y_OF_ALL, precision="int8", case=f"step={at}", kind="outputs"): Evidence(
            Outcome.MATCH, elements=20, metrics={"signal": 100.0, "noise": noise, "snr_db": level}
        )
        for at, (noise, level) in enumerate([(1.0, 20.0), (0.5, 23.0), (1.5, 18.2)])
    }
    found = _all_steps(replace(Y_OF_ALL, precision="int8"), rollout(), seen, 4.0)
    assert (found.outcome, found.reason) == (Outcome.MATCH, "20.0 dB in all steps, 18.2 dB in the last")
