"""What the harness makes of what a child left: its results, its end, and its settings."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from exporter.base.errors import ChildCrashed, ChildFailed, ChildOutOfMemory, ChildTimedOut, ExporterError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, save
from exporter.engines.base import Settings, SourceModel
from exporter.engines.cost import Cost, beyond
from exporter.engines.job import EngineAnswer, EngineJob, SessionFacts
from exporter.export.lower.base import Artifact
from exporter.process.workers import Limits, Setting
from exporter.prove import harness
from exporter.prove.harness import Bench, _judge_all, _judge_run, _loaded, _process, run_engine, run_engines
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from tests.prove.compare.goldens import golden

RUN, HALF = Run("onnx", "fp32", "onnxruntime"), Run("onnx", "fp16", "onnxruntime")
WEIGHTS = np.random.default_rng(9).standard_normal((3, 5)).astype("float32")
AS_ASKED = SessionFacts("CPU", Settings({"threads": 1}, {"threads": 1, "precision": "f32"}))
IN_TWO = SessionFacts("CPU", Settings({"threads": 2}, {"threads": 2}))
FATE = Evidence(Outcome.CRASHED, "the child died by SIGSEGV", stage="run")


def rows(seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal((4 + seed, 3)).astype("float32")


def truth(seed: int) -> Array:
    exact: Array = rows(seed).astype("float64") @ WEIGHTS.astype("float64")
    return exact


def case(seed: int) -> GoldenCase:
    name = f"batch={4 + seed}"
    return GoldenCase(name, {"batch": 4 + seed}, {"y": golden(truth(seed), seed=seed)}, name)


def bench(folder: Path, **more: Any) -> Bench:
    """Two cases of a linear layer, the first once more in two threads."""
    cases = (case(0), case(1), replace(case(0), name="batch=4:threads=2", threads=2))
    artifact = Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",))
    variants = {"onnx": artifact, "onnx-fp16": replace(artifact, precision="fp16")}
    made = Bench(folder, folder / "golden.safetensors", cases, variants, ("y",), ("x",), None, "cpu", 4.0)
    return replace(made, **more)


def leave(folder: Path, *results: dict[str, Array] | None) -> None:
    for index, result in enumerate(results):
        if result is not None:
            save(folder / f"{index}.safetensors", result)


def right() -> list[dict[str, Array]]:
    return [{"y": truth(seed).astype("float32")} for seed in (0, 1, 0)]


ANSWER = EngineAnswer({1: AS_ASKED, 2: IN_TWO})


def claim(name: str, run: Run = RUN) -> Claim:
    return Claim(run.format, run.precision, run.engine, name, "y")


POOLED = Claim("onnx", "fp32", "onnxruntime", output="y", kind="pooled_bias")
PROCESS = Claim("onnx", "fp32", "onnxruntime", kind="process")


class TestResults:
    def test_right_results_match_under_the_settings_of_their_session(self, tmp_path: Path) -> None:
        leave(tmp_path, *right())
        found = _judge_all(bench(tmp_path), RUN, tmp_path, ANSWER, None)
        assert set(found) == {claim("batch=4"), claim("batch=5"), claim("batch=4:threads=2"), POOLED}
        assert {evidence.outcome for evidence in found.values()} == {Outcome.MATCH}
        assert {evidence.device for evidence in found.values()} == {"cpu"}
        assert found[claim("batch=4")].under == AS_ASKED.settings and found[claim("batch=4")].provider == "CPU"
        assert found[claim("batch=4:threads=2")].under == IN_TWO.settings
        assert found[POOLED].under == AS_ASKED.settings

    def test_without_a_session_nothing_is_said_of_settings(self, tmp_path: Path) -> None:
        leave(tmp_path, *right())
        found = _judge_all(bench(tmp_path, device="gpu:0"), RUN, tmp_path, EngineAnswer(), None)[claim("batch=4")]
        assert (found.device, found.provider, found.under) == ("gpu:0", "", None)

    def test_a_wrong_result_fails_its_case_and_the_pooled_sum(self, tmp_path: Path) -> None:
        off = right()
        off[1]["y"] = off[1]["y"] * np.float32(1.01)
        leave(tmp_path, *off)
        found = _judge_all(bench(tmp_path), RUN, tmp_path, ANSWER, None)
        assert {name for name, evidence in found.items() if evidence.outcome is Outcome.MISMATCH} == {
            claim("batch=5"),
            POOLED,
        }
        wider = _judge_all(bench(tmp_path, budget=1e6), RUN, tmp_path, ANSWER, None)
        assert wider[claim("batch=5")].outcome is not Outcome.MISMATCH, "the bench's budget judges"

    def test_in_another_precision_there_is_no_error_ratio_and_no_sum(self, tmp_path: Path) -> None:
        off = right()
        off[1]["y"] = off[1]["y"] * np.float32(1.01)
        leave(tmp_path, *off)
        found = _judge_all(bench(tmp_path), HALF, tmp_path, ANSWER, None)
        assert set(found) == {claim(name, HALF) for name in ("batch=4", "batch=5", "batch=4:threads=2")}
        assert {evidence.outcome for evidence in found.values()} == {Outcome.MATCH}
        assert "snr_db" in found[claim("batch=5", HALF)].metrics

    def test_what_did_not_come_has_the_fate_of_the_child(self, tmp_path: Path) -> None:
        leave(tmp_path, right()[0])
        found = _judge_all(bench(tmp_path), RUN, tmp_path, ANSWER, FATE)
        assert found[claim("batch=4")].outcome is Outcome.MATCH
        assert found[claim("batch=5")].reason == FATE.reason == found[POOLED].reason
        lost = _judge_all(bench(tmp_path), RUN, tmp_path, ANSWER, None)
        assert (lost[claim("batch=5")].outcome, lost[claim("batch=5")].stage) == (Outcome.MISSING, "run")
        assert lost[claim("batch=5")].reason == "the engine left no result"
        assert lost[POOLED].outcome is Outcome.MISSING and "only 1 of the 2 cases" in lost[POOLED].reason

    def test_a_child_that_dies_after_its_last_result_leaves_the_sum_as_it_is(self, tmp_path: Path) -> None:
        leave(tmp_path, *right())
        found = _judge_all(bench(tmp_path), RUN, tmp_path, ANSWER, FATE)
        assert {evidence.outcome for evidence in found.values()} == {Outcome.MATCH}

    def test_what_was_refused_is_a_crash_of_that_case(self, tmp_path: Path) -> None:
        leave(tmp_path, right()[0], None, right()[2])
        answer = replace(ANSWER, refused={"batch=5": "no such kernel"})
        found = _judge_all(bench(tmp_path), RUN, tmp_path, answer, None)
        refused = found[claim("batch=5")]
        assert (refused.outcome, refused.reason) == (Outcome.CRASHED, "the engine refused it: no such kernel")
        assert refused.stage == "run" and found[claim("batch=4")].outcome is Outcome.MATCH
        assert found[POOLED].reason == refused.reason, "what became of a case says more"

    def test_half_a_file_is_none(self, tmp_path: Path) -> None:
        leave(tmp_path, *right())
        path = tmp_path / "1.safetensors"
        path.write_bytes(path.read_bytes()[:30])
        found = _judge_all(bench(tmp_path), RUN, tmp_path, ANSWER, FATE)
        assert found[claim("batch=5")].outcome is Outcome.CRASHED

    def test_what_is_far_larger_than_its_case_is_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Twenty numbers of eight bytes are due: four times as much, and 64 MiB for what has another shape."""
        read: list[Path] = []
        monkeypatch.setattr(harness, "load", lambda path: read.append(path) or {})
        path = tmp_path / "0.safetensors"
        assert _loaded(path, case(0)) is None
        for more, whole in ((0, {}), (1, None)):
            with path.open("wb") as file:
                file.truncate((64 << 20) + 4 * 8 * 20 + more)
            assert _loaded(path, case(0)) == whole
        assert read == [path]

    def test_an_output_too_many_is_not_taken_together(self, tmp_path: Path) -> None:
        more = right()
        more[1]["z"] = more[1]["y"]
        leave(tmp_path, *more)
        found = _judge_all(bench(tmp_path), RUN, tmp_path, ANSWER, None)
        assert found[claim("batch=5")].outcome is Outcome.MISMATCH and found[POOLED].outcome is Outcome.MISSING

    def test_impostors_come_from_the_controls_where_one_case_is_run(self, tmp_path: Path) -> None:
        leave(tmp_path, right()[0])
        alone = bench(tmp_path, cases=(case(0),))
        assert _judge_all(alone, RUN, tmp_path, ANSWER, None)[claim("batch=4")].outcome is Outcome.MATCH
        same = replace(case(0), outputs={"y": replace(case(0).outputs["y"], draw="another")})
        fooled = replace(alone, controls=(case(0), same))
        assert _judge_all(fooled, RUN, tmp_path, ANSWER, None)[claim("batch=4")].outcome is Outcome.VACUOUS


class TestTheProcess:
    def test_every_number_of_threads_needs_its_record(self, tmp_path: Path) -> None:
        found = _process(bench(tmp_path), ANSWER, None)
        assert (found.outcome, found.elements, found.stage) == (Outcome.MATCH, 2, "run")
        silent = _process(bench(tmp_path), EngineAnswer({1: AS_ASKED}), None)
        assert (silent.outcome, silent.stage) == (Outcome.MISSING, "run")
        assert silent.reason == "the engine left no record of how it computed in 2 threads"
        assert "in 1 threads" in _process(bench(tmp_path), EngineAnswer(), None).reason

    def test_what_is_not_as_asked_is_a_mismatch(self, tmp_path: Path) -> None:
        unmet = SessionFacts("CPU", Settings({"threads": 2}, {"threads": 1}))
        found = _process(bench(tmp_path), EngineAnswer({1: AS_ASKED, 2: unmet}), None)
        assert (found.outcome, found.stage) == (Outcome.MISMATCH, "load")
        assert found.reason == "in 2 threads threads 2 was asked for and 1 is in effect"

    def test_what_it_cost_is_told_in_steps(self, tmp_path: Path) -> None:
        found = _process(bench(tmp_path), replace(ANSWER, cost=Cost(1.5, 200.0)), None)
        assert found.metrics == {"cost_seconds": 4.0, "cost_megabytes": 256}

    def test_a_child_that_ended_badly_did_not_end_in_order(self, tmp_path: Path) -> None:
        assert _process(bench(tmp_path), ANSWER, FATE) is FATE


class TestWhatAChildIsAsked:
    def test_the_files_of_the_variant_or_the_source_on_all_cases(self, tmp_path: Path) -> None:
        source = SourceModel("a:b", None, 0, (), (), {})
        job = bench(tmp_path, source=source, device="gpu:1").job(HALF)
        assert (job.engine, job.golden, job.device) == ("onnxruntime", tmp_path / "golden.safetensors", "gpu:1")
        assert (job.artifact.folder, job.artifact.model, job.artifact.source) == (tmp_path / "onnx", "model.onnx", None)
        assert [(case.name, case.recorded, case.threads) for case in job.cases] == [
            ("batch=4", "batch=4", 1),
            ("batch=5", "batch=5", 1),
            ("batch=4:threads=2", "batch=4", 2),
        ]
        eager = bench(tmp_path, source=source).job(Run("source", "fp32", "eager")).artifact
        assert (eager.format, eager.folder, eager.source) == ("source", None, source)
        assert (eager.inputs, eager.outputs) == (("x",), ("y",))

    def test_a_run_may_take_what_the_release_recorded_of_it_and_one_of_which_it_did_not_four_times_the_most(
        self, tmp_path: Path
    ) -> None:
        costs = {
            "onnx/onnxruntime": {"seconds": 4.0, "megabytes": 128},
            "onnx/openvino": {"seconds": 1.0, "megabytes": 512},
        }
        made, asked = bench(tmp_path, costs=costs), Setting(Limits(seconds=7), jobs=3)

        def limited(most: dict[str, float], times: int) -> Setting:
            return replace(asked, limits=replace(asked.limits, beyond=beyond(most, times)))

        most = {"seconds": 4.0, "megabytes": 512}
        assert made.bounded(RUN, asked) == limited(costs["onnx/onnxruntime"], 1)
        assert made.bounded(RUN, asked, 3) == limited(costs["onnx/onnxruntime"], 3)
        assert made.bounded(HALF, asked) == limited(most, 4) and made.bounded(HALF, asked, 3) == limited(most, 12)
        own = replace(asked, follows_costs=False)
        assert made.bounded(RUN, own) is own, "somebody has set limits"
        assert replace(made, device="gpu:0").bounded(RUN, asked) is asked, "on a GPU other things count"
        assert bench(tmp_path).bounded(RUN, asked) is asked, "nothing is recorded"

    @pytest.mark.parametrize(("more", "times"), [({}, 1), ({"times": 3}, 3)])
    def test_a_child_is_bounded_by_how_often_it_runs_the_recorded_cases(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, int], times: int
    ) -> None:
        costs = {"onnx/onnxruntime": {"seconds": 4.0, "megabytes": 128}}
        limits: list[Limits] = []
        monkeypatch.setattr(EngineJob, "run", lambda _, __, setting: limits.append(setting.limits) or EngineAnswer())
        run_engine(bench(tmp_path, costs=costs, **more), RUN, Setting())
        assert [limit.beyond for limit in limits] == [beyond(costs["onnx/onnxruntime"], times)]

    @pytest.mark.parametrize(
        ("feeds", "said", "ran"),
        [({}, "verifying", ["onnx/onnxruntime"]), ({"state": "y"}, "decoding 3 steps with", [])],
    )
    def test_it_is_told_what_runs_and_of_cases_that_stand_for_themselves_how_long_it_took(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, feeds: dict[str, str], said: str, ran: list[str]
    ) -> None:
        sentences: list[str] = []
        heard: list[dict[str, Any]] = []
        monkeypatch.setattr(EngineJob, "run", lambda *_: EngineAnswer())
        run_engine(bench(tmp_path, feeds=feeds), RUN, Setting(say=sentences.append, on_event=heard.append))
        assert sentences == [f"{said} onnx by onnxruntime"] and [event["ran"] for event in heard] == ran

    def test_the_largest_artifact_and_the_goldens_have_a_size(self, tmp_path: Path) -> None:
        made = bench(tmp_path)
        assert made.megabytes() == 0, "what is missing has none"
        large = replace(made.artifacts["onnx"], files=("a", "b"))
        made = replace(made, artifacts={"onnx": made.artifacts["onnx"], "onnx-fp16": large})
        for name, size in (
            ("a", 3 << 20),
            ("b", 2 << 20),
            ("onnx/model.onnx", 1 << 20),
            ("golden.safetensors", 4 << 20),
        ):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(bytes(size))
        assert made.megabytes() == 9
        assert replace(made, artifacts={}).megabytes() == 4
        (tmp_path / "golden.safetensors").write_bytes(bytes((4 << 20) - 1))
        for artifacts in ({}, {"onnx": replace(large, files=("none",))}):
            assert replace(made, artifacts=artifacts).megabytes() == 3

    def test_a_file_is_folded_where_its_writer_folds_and_says_so(self, tmp_path: Path) -> None:
        plain = bench(tmp_path).artifacts["onnx"]
        told = replace(plain, details={"folded": {"w.folded": ["0"]}})
        made = bench(tmp_path, artifacts={"onnx": told, "pir": replace(told, format="pir"), "onnx-fp16": plain})
        assert [made.folds(variant) for variant in ("onnx", "pir", "onnx-fp16", "pdmodel")] == [
            True,
            False,
            False,
            False,
        ]

    @pytest.mark.parametrize(("device", "at_once", "asked"), [("cpu", 3, [1000 + 6 * 2]), ("gpu:0", 1, [])])
    def test_as_many_at_once_as_the_memory_holds_and_one_on_a_gpu(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, at_once: int, asked: list[int]
    ) -> None:
        """A child takes a gigabyte, and six times its artifact and its goldens."""
        (tmp_path / "golden.safetensors").write_bytes(bytes(2 << 20))
        heard: list[int] = []
        monkeypatch.setattr(Setting, "at_once", lambda _, megabytes: heard.append(megabytes) or 3)
        began: list[int] = []
        in_order = harness.in_order

        def counted(tasks: Any, most: int) -> Any:
            began.append(most)
            return in_order(tasks, most)

        monkeypatch.setattr(harness, "in_order", counted)
        monkeypatch.setattr(EngineJob, "run", lambda *_: EngineAnswer())
        found = run_engines(bench(tmp_path, device=device), [RUN, HALF], Setting())
        assert (heard, began) == (asked, [at_once]) and [len(one) for one in found] == [5, 4]

    def test_what_was_judged_is_removed(self, tmp_path: Path) -> None:
        into = tmp_path / "out"
        into.mkdir()
        leave(into, *right())
        found = _judge_run(bench(tmp_path), RUN, into, ANSWER, None)
        assert not into.exists() and found[PROCESS].outcome is Outcome.MATCH and len(found) == 5
        assert found[PROCESS].under == AS_ASKED.settings


# ---- with a real engine --------------------------------------------------------------------------------------


@pytest.fixture
def real(tmp_path: Path) -> Bench:
    """The layer as a real ONNX file, and goldens with the inputs."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "linear",
        [helper.make_tensor_value_info("x", 1, ["batch", 3])],
        [helper.make_tensor_value_info("y", 1, ["batch", 5])],
        [numpy_helper.from_array(WEIGHTS, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx/model.onnx").write_bytes(model.SerializeToString())
    save(tmp_path / "golden.safetensors", {f"batch={4 + seed}/input/x": rows(seed) for seed in (0, 1)})
    return bench(tmp_path)


def test_an_engine_s_run_is_judged_whole(real: Bench) -> None:
    heard: list[dict[str, Any]] = []
    began = time.monotonic()
    found = run_engine(real, RUN, Setting(on_event=heard.append))
    took = time.monotonic() - began
    assert {str(name): evidence.outcome for name, evidence in found.items()} == dict.fromkeys(
        map(str, (claim("batch=4"), claim("batch=5"), claim("batch=4:threads=2"), POOLED, PROCESS)), Outcome.MATCH
    )
    assert found[PROCESS].elements == 2 and found[PROCESS].device == "cpu" and found[PROCESS].provider
    assert {event.get("stage") for event in heard} >= {"load", "run"}, "who asked hears of the progress"
    assert [event["ran"] for event in heard if "ran" in event] == ["onnx/onnxruntime"]
    assert heard[-1]["doing"] == "verified onnx by onnxruntime" and 0 < heard[-1]["seconds"] <= took


def test_a_file_that_does_not_load_crashes_every_claim(real: Bench) -> None:
    (real.folder / "onnx/model.onnx").write_bytes(b"\x08\x08no model")
    found = run_engine(real, RUN, Setting())
    assert {evidence.outcome for evidence in found.values()} == {Outcome.CRASHED} and PROCESS in found
    assert all(
        evidence.reason.startswith("does not load: ") and evidence.stage == "load" for evidence in found.values()
    )


ENDS = [
    (ChildTimedOut("the child used up its limit of 9 s", where="while running"), Outcome.TIMED_OUT, "run"),
    (ChildCrashed("the child died by SIGSEGV", where="while running"), Outcome.CRASHED, "run"),
    (ChildOutOfMemory("the child passed its limit", where="while running"), Outcome.CRASHED, "run"),
    (ChildFailed("KeyError: 'y'", where="while running"), Outcome.CRASHED, "run"),
]


@pytest.mark.parametrize(("error", "outcome", "stage"), ENDS)
def test_how_a_child_ended_is_evidence_with_the_stage_that_it_had_reached(
    real: Bench, monkeypatch: pytest.MonkeyPatch, error: ExporterError, outcome: Outcome, stage: str
) -> None:
    """Children that do die so are in tests/process/test_workers.py; here one ends in its second step."""

    def end(_: EngineJob, __: Path, setting: Setting) -> EngineAnswer:
        assert setting.on_event is not None
        setting.on_event({"doing": "running", "stage": "run", "case": "batch=4"})
        setting.on_event({"doing": "still running"})
        raise error

    monkeypatch.setattr(EngineJob, "run", end)
    found = run_engine(real, RUN, Setting())
    assert {(evidence.outcome, evidence.stage) for evidence in found.values()} == {(outcome, stage)}
    assert found[PROCESS].reason == f"{error.what} while running"


def test_a_child_that_ends_before_it_says_anything_ended_while_loading(
    real: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: Any) -> EngineAnswer:
        raise ENDS[0][0]

    monkeypatch.setattr(EngineJob, "run", end)
    assert run_engine(real, RUN, Setting())[PROCESS].stage == "load"


def test_an_engine_that_is_not_here_leaves_its_claims_missing(real: Bench) -> None:
    found = run_engine(replace(real, device="gpu:7"), RUN, Setting())
    assert {evidence.outcome for evidence in found.values()} == {Outcome.MISSING}
    assert found[PROCESS].stage == "environment" and ";" in found[PROCESS].reason
