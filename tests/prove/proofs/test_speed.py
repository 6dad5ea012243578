"""The promise of speed: who it is planned for, what it is measured over, and the ratio of medians that judges it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base import machine
from exporter.base.errors import ChildFailed
from exporter.base.tensors import load, save
from exporter.engines.cost import beyond
from exporter.engines.job import TimedCase, Timing, TimingJob
from exporter.process.workers import Setting
from exporter.prove.proofs.base import Narrowing
from exporter.prove.proofs.kinds import speed
from exporter.prove.proofs.kinds.speed import plugin, prove_speed
from exporter.prove.verdict.claim import Outcome
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Speedup
from tests.export.lower.precision.test_int8 import artifact as stored
from tests.export.lower.precision.test_int8 import network, order
from tests.export.lower.precision.test_int8 import plugin as int8
from tests.prove.proofs.subjects import LOW, PLAIN, SOURCE, artifact, budget, claim, harness, spec, subject

LOWS = "onnx-int8/onnxruntime"
WISH = {"engine": "onnxruntime", "ratio": 2.0}


def promising(**more: Any) -> Any:
    return spec(precisions={**budget(min_speedup={**WISH, **more}), "fp16": {}})


class TestThePlan:
    def planned(self, of: Any, *runs: Run, narrowing: Narrowing | None = None) -> set[tuple[str, str, str]]:
        made = harness(subject(artifact(), artifact("int8"), of=of), *runs, narrowing=narrowing)
        return {(one.format, one.precision, one.engine) for one in plugin.plan(made)}

    def test_one_claim_for_each_variant_that_the_named_engine_runs(self) -> None:
        runs = (SOURCE, PLAIN, LOW, replace(LOW, engine="openvino"), replace(LOW, format="pdmodel"))
        runs += (Run("pir", "int8", "paddle_inference_int8"),)
        assert self.planned(promising(), *runs) == {
            ("onnx", "int8", "onnxruntime"),
            ("pdmodel", "int8", "onnxruntime"),
        }
        assert self.planned(spec(), *runs) == set()

    def test_each_precision_has_its_own_wish(self) -> None:
        precisions = {"fp32": {}, "fp16": {}, "int8": {"budget": {"min_speedup": WISH}}}
        runs = (PLAIN, replace(LOW, precision="fp16"), LOW)
        assert self.planned(spec(precisions=precisions), *runs) == {("onnx", "int8", "onnxruntime")}

    def test_an_engine_that_is_none_of_the_spec_s_leaves_its_promise_missing_unless_somebody_narrowed_it(self) -> None:
        runs = (PLAIN, replace(LOW, engine="openvino"), replace(LOW, precision="fp16"))
        assert self.planned(promising(), *runs) == {("onnx", "int8", "onnxruntime")}
        assert self.planned(promising(), *runs, narrowing=Narrowing(engines=("openvino",))) == set()
        made = harness(subject(artifact(), artifact("int8"), of=promising()), *runs)
        (found,) = plugin.prove([claim("speed")], made).values()
        assert (found.outcome, found.stage) == (Outcome.MISSING, "plan")
        assert "'onnxruntime', and no engine of the spec" in found.reason


@pytest.mark.parametrize(
    ("format", "engine", "over", "plain"),
    [
        ("onnx", "onnxruntime", None, PLAIN),
        ("onnx", "onnxruntime", "openvino", Run("onnx", "fp32", "openvino")),
        ("pdmodel", "paddle_inference_int8", None, Run("pdmodel", "fp32", "paddle_inference_default")),
        ("pdmodel", "paddle_inference_int8", "paddle_inference", Run("pdmodel", "fp32", "paddle_inference")),
        ("pdmodel", "paddle_inference_int8", "onnxruntime", PLAIN),
    ],
)
def test_it_is_measured_over_the_same_engine_or_the_usual_one_or_the_one_that_is_named(
    format: str, engine: str, over: str | None, plain: Run
) -> None:
    wish = Speedup(engine=engine, ratio=2.0, over=over)
    assert speed._plain(claim("speed", Run(format, "int8", engine)), wish) == plain


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Inputs of one case: four rows of three numbers, one number, and rows of another length."""
    names = {"x": np.arange(12, dtype="float32").reshape(4, 3), "scale": np.float32(2), "ids": np.arange(2)}
    save(tmp_path / "golden.safetensors", {f"batch=4/input/{name}": np.asarray(value) for name, value in names.items()})
    return tmp_path


INPUTS: dict[str, Any] = {
    "x": {"dtype": "float32", "shape": ["batch", 3]},
    "scale": {"dtype": "float32", "shape": []},
    "ids": {"dtype": "int64", "shape": [2], "values": "integers(0,9)"},
}


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Timings by the file that is opened, and what was asked: a real clock would say something else each time."""
    told: dict[str, Any] = {"onnx": iter([8.0, 1.0, 4.0, 6.0, 5.0]), "onnx-int8": iter([1.0] * 5), "asked": []}

    def measure(job: TimingJob, _: Setting) -> Timing:
        middle = next(told[job.artifact.folder.name if job.artifact.folder else ""])
        told["asked"].append((job.engine, job.cases, job.seconds, job.device, load(job.golden)))
        return Timing("CPU", "1", 0.0, 0, {"speed": TimedCase((middle / 2, middle, middle * 9))})

    monkeypatch.setattr(TimingJob, "measure", measure)
    yield told


def proved(work: Path, ratio: float = 2.0, **more: Any) -> Any:
    of = promising(ratio=ratio, **more).model_copy(update={"inputs": spec(inputs=INPUTS).inputs})
    made = subject(artifact(), artifact("int8"), of=of, folder=work, device="gpu:0", released_on=("avx2",))
    (found,) = plugin.prove([claim("speed")], harness(made)).values()
    return found


def test_both_take_turns_and_the_middle_ratio_of_five_rounds_judges(work: Path, timed: dict[str, Any]) -> None:
    found = proved(work)
    assert (found.outcome, found.elements) == (Outcome.MATCH, 5) and plugin.promise
    assert dict(found.metrics) == {"ratio": 5.0, "low": 1.0, "high": 8.0}
    assert found.reason == (
        "5.00 times as fast as fp32 by onnxruntime (1.00 to 8.00 in 5 rounds, 4 rows, one thread), at least 2 promised"
    )
    assert [asked[:4] for asked in timed["asked"]] == [("onnxruntime", ("speed",), 0.5, "gpu:0")] * 10
    inputs = timed["asked"][0][4]
    assert set(inputs) == {"speed/input/x", "speed/input/scale", "speed/input/ids"}
    assert inputs["speed/input/x"].shape == (4, 3)


@pytest.mark.parametrize(("ratio", "outcome"), [(5.0, Outcome.MATCH), (5.01, Outcome.MISMATCH)])
def test_as_fast_as_promised_is_fast_enough(
    work: Path, timed: dict[str, Any], ratio: float, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "cpu", lambda: {"abilities": ["avx2"]})
    found = proved(work, ratio)
    assert found.outcome is outcome and f"at least {ratio:g} promised" in found.reason


def test_on_another_kind_of_cpu_a_broken_promise_is_open(
    work: Path, timed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "cpu", lambda: {"abilities": ["avx2", "avx512f"]})
    assert proved(work, 6.0).outcome is Outcome.INCONCLUSIVE


def test_as_many_rows_as_were_asked_for_are_timed(work: Path, timed: dict[str, Any]) -> None:
    found = proved(work, batch=6)
    inputs = timed["asked"][0][4]
    assert "6 rows" in found.reason and inputs["speed/input/x"].shape == (6, 3)
    assert np.array_equal(inputs["speed/input/x"][4:], inputs["speed/input/x"][:2]), "the rows repeat"


def test_inputs_without_rows_are_one(work: Path, timed: dict[str, Any]) -> None:
    save(work / "golden.safetensors", {"batch=4/input/x": np.float32(1).reshape(())})
    one = spec(inputs={"x": {"dtype": "float32", "shape": []}}, dims={})
    of = promising().model_copy(update={"inputs": one.inputs})
    made = harness(subject(artifact(), artifact("int8"), of=of, folder=work))
    (found,) = plugin.prove([claim("speed")], made).values()
    assert "1 rows" in found.reason


def test_without_full_precision_there_is_nothing_to_measure_over() -> None:
    (found,) = plugin.prove([claim("speed")], harness(subject(artifact("int8"), of=promising()))).values()
    assert (found.outcome, found.stage) == (Outcome.MISSING, "plan") and "no onnx in fp32" in found.reason


def test_each_side_may_take_four_times_what_it_took_at_the_release(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def measure(_: TimingJob, setting: Setting) -> Timing:
        asked.append(setting.limits.beyond)
        return Timing("CPU", "1", 0.0, 0, {"speed": TimedCase((1.0,))})

    monkeypatch.setattr(TimingJob, "measure", measure)
    costs = {name: {"seconds": at, "megabytes": 300.0} for name, at in ((LOWS, 3.0), ("onnx/onnxruntime", 5.0))}
    made = subject(artifact(), artifact("int8"), of=promising(), folder=work, costs=costs)
    plugin.prove([claim("speed")], harness(made))
    assert asked[:2] == [beyond(costs[LOWS], 4), beyond(costs["onnx/onnxruntime"], 4)]


def test_an_engine_that_fails_is_a_crash(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*_: Any) -> Timing:
        raise ChildFailed("the engine refused it: no kernel")

    monkeypatch.setattr(TimingJob, "measure", measure)
    found = proved(work)
    assert (found.outcome, found.stage) == (Outcome.CRASHED, "run") and "no kernel" in found.reason


def test_real_engines_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "SECONDS", 0.01)
    monkeypatch.setattr(speed, "ROUNDS", 1)
    details = dict(int8.write(order(tmp_path, network())))
    save(tmp_path / "golden.safetensors", {"batch=4/input/x": np.ones((4, 16), "float32")})
    made = subject(stored(tmp_path, "onnx", {}), stored(tmp_path, "onnx-int8", details), folder=tmp_path)
    found = prove_speed((LOW, PLAIN), Speedup(engine="onnxruntime", ratio=1e-6), made.bench(), Setting())
    assert found.outcome is Outcome.MATCH and found.metrics["ratio"] > 0
