"""What other verifiers let pass, row by row. A gate that says "passed" to any of these would be worth nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import BundleError, ExitCode, UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import TensorSpec, save
from exporter.engines.base import SourceModel
from exporter.export.lower.base import Artifact
from exporter.process.workers import Limits, Setting
from exporter.prove.compare.golden import read_goldens
from exporter.prove.compare.outputs import compare_case
from exporter.prove.harness import Bench, run_engine
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.prove.verdict.plan import Run, plan_runs
from tests import faults
from tests.command import environment, exporter, refused
from tests.prove.compare.goldens import cases_of, compare, golden

CASES = cases_of([(4, 6), (2, 6), (5, 6)])


def verdict_of(evidence: Evidence) -> Verdict:
    one = Claim("onnx", "fp32", "onnxruntime", "batch=4", "y")
    return Verdict(frozenset({one}), {one: evidence})


def never_passed(evidence: Evidence, *expected: Outcome) -> None:
    assert evidence.outcome in expected, evidence
    assert not verdict_of(evidence).passed and evidence.reason


class TestNothingWasCompared:
    def test_no_comparison_at_all(self) -> None:
        with pytest.raises(ValueError, match="nothing was planned"):
            Verdict(frozenset(), {})

    def test_no_engine(self, workplace: Path) -> None:
        with pytest.raises(UsageError, match="nothing would prove it"):
            plan_runs((), [("onnx", "fp32")])
        refused(exporter("release", "specs/digits.yaml", "--set", "engines=[]", cwd=workplace), 2, "engines")

    def test_an_engine_that_proves_no_file(self, workplace: Path) -> None:
        done = exporter("release", "specs/digits.yaml", "--set", "engines=[eager]", cwd=workplace)
        refused(done, 2, "nothing would prove it")

    def test_no_formats(self, workplace: Path) -> None:
        refused(exporter("release", "specs/digits.yaml", "--set", "formats=[]", cwd=workplace), 2, "formats")

    def test_no_cases(self, tmp_path: Path) -> None:
        save(tmp_path / "g.safetensors", {})
        with pytest.raises(BundleError, match="records no case"):
            read_goldens(tmp_path / "g.safetensors", [])

    def test_all_is_waived(self) -> None:
        never_passed(Evidence(Outcome.WAIVED, "mismatch: …; waived"), Outcome.WAIVED)


class TestSomethingIsMissing:
    def test_an_output(self) -> None:
        outputs = {"y": CASES[0], "z": replace(CASES[1], name="z")}
        case = GoldenCase("c", {}, outputs, "c")
        found = compare_case(case, {"y": CASES[0].eager}, 4, {"y": CASES, "z": CASES})
        never_passed(found["z"], Outcome.MISSING)

    def test_two_of_three_cases(self) -> None:
        plan = frozenset(Claim("onnx", "fp32", "onnxruntime", case, "y") for case in "abc")
        seen = next(claim for claim in plan if claim.case == "a")
        found = Verdict(plan, {seen: Evidence(Outcome.MATCH, elements=24)})
        assert not found.passed and found.counts["missing"] == 2

    def test_the_name(self) -> None:
        case = GoldenCase("c", {}, {"y": CASES[0]}, "c")
        never_passed(compare_case(case, {"Y": CASES[0].eager}, 4, {"y": CASES})["y"], Outcome.MISSING)

    def test_every_element(self) -> None:
        empty = np.zeros((0, 6), "float32")
        cases = [golden(empty.astype("float64")), golden(empty.astype("float64"), seed=1)]
        never_passed(compare(cases[0], empty, 4, cases, {}), Outcome.VACUOUS)

    def test_the_artifact(self, digits: Path, tmp_path: Path) -> None:
        copy = faults.copied(digits, tmp_path / "copy")
        (copy / "onnx/model.onnx").unlink()
        refused(exporter("verify", copy, cwd=tmp_path), ExitCode.BUNDLE, "onnx/model.onnx", "is missing")
        faults.reseal(copy)
        refused(exporter("verify", copy, cwd=tmp_path), ExitCode.BUNDLE, "onnx", "for none of the listed files")

    def test_the_engine(self, digits: Path, tmp_path: Path) -> None:
        """Planned, not installed: MISSING and exit 3, and not a shorter plan."""
        absent = tmp_path / "absent"
        absent.mkdir()
        (absent / "onnxruntime.py").write_text("raise ImportError('not installed here')\n")
        done = exporter(
            "verify",
            digits,
            "--json",
            "--engines",
            "onnxruntime",
            cwd=tmp_path,
            env=environment(PYTHONPATH=str(absent)),
        )
        told = done.json()
        assert done.code == ExitCode.ENVIRONMENT and told["verdict"] == "failed"
        ran = [one for one in told["checks"] if one["engine"] == "onnxruntime"]
        assert ran and {one["outcome"] for one in ran} == {"missing"}
        assert all("pip install onnxruntime" in one["reason"] for one in ran)


class TestWrongAndNotNoticed:
    def test_the_dtype(self) -> None:
        ones = [golden(np.eye(4)), golden(np.eye(4)[::-1], seed=1)]
        found = compare(ones[0], ones[0].eager.astype("int64"), 4, ones, {})
        never_passed(found, Outcome.MISMATCH)
        assert "dtype" in found.reason

    def test_zero_on_both_sides(self) -> None:
        zeros = [golden(np.zeros((4, 6)), seed=at) for at in range(3)]
        never_passed(compare(zeros[0], zeros[0].eager, 4, zeros, {}), Outcome.VACUOUS)

    @pytest.mark.parametrize("classes", [1000, 5000, 30_000, 200_000])
    def test_zeros_for_a_wide_softmax(self, classes: int) -> None:
        """At an absolute tolerance of 1e-3 zeros pass here, and so does another input's answer."""
        generator = np.random.default_rng(0)
        logits = 0.1 * generator.standard_normal((3, 2, classes))
        softmax = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        assert softmax.max() < 1e-2
        cases = [golden(one, seed=at) for at, one in enumerate(softmax)]
        assert compare(cases[0], cases[0].eager, 4, cases, {}).outcome is Outcome.MATCH
        for wrong in (np.zeros_like(cases[0].eager), cases[1].eager, np.full_like(cases[0].eager, 1 / classes)):
            never_passed(compare(cases[0], wrong, 4, cases, {}), Outcome.MISMATCH)

    def test_zero_over_zero_beside_a_real_error(self) -> None:
        truth = np.array([[0.0, 0.0, 1.0, 2.0], [0.0, 3.0, 4.0, 5.0]])
        cases = [golden(truth), golden(truth[::-1] + 1, seed=1)]
        wrong = cases[0].eager.copy()
        wrong[0, 2] *= 1.01
        never_passed(compare(cases[0], wrong, 4, cases, {}), Outcome.MISMATCH)

    def test_nan_on_both_sides(self) -> None:
        truth = CASES[0].truth.copy()
        truth[0, 0] = np.nan
        shut = [golden(truth, gate="eager is not finite"), *CASES[1:]]
        never_passed(compare(shut[0], shut[0].eager, 4, shut, {}), Outcome.INCONCLUSIVE)
        unguarded = [golden(truth), *CASES[1:]]  # as if nobody had shut the gate
        never_passed(compare(unguarded[0], unguarded[0].eager, 4, unguarded, {}), Outcome.MISMATCH)

    def test_nan_on_one_side(self) -> None:
        got = CASES[0].eager.copy()
        got[0, 0] = np.nan
        never_passed(compare(CASES[0], got, 4, CASES, {}), Outcome.MISMATCH)

    def test_zeros_for_very_small_numbers(self) -> None:
        """A network that puts out 4e-7: every fixed absolute tolerance from 1e-6 on lets zeros pass."""
        small = cases_of([(4, 6), (4, 6)], scale=4e-7)
        assert compare(small[0], small[0].eager, 4, small, {}).outcome is Outcome.MATCH
        never_passed(compare(small[0], np.zeros((4, 6), "float32"), 4, small, {}), Outcome.MISMATCH)


class TestTheChildDies:
    """Engines in their own processes, on goldens of numpy: whatever becomes of the child, it is no match."""

    @pytest.fixture
    def bench(self, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
        monkeypatch.chdir(workplace)
        truth = {f"c{at}": one for at, one in enumerate(cases_of([(2, 3), (2, 3)]))}
        x = np.random.default_rng(0).standard_normal((2, 4)).astype("float32")
        save(workplace / "g.safetensors", {f"{name}/input/x": x for name in truth})
        inputs = (TensorSpec("x", "float32", ("batch", 4)),)
        source = SourceModel("models.sound:mlp", None, 0, inputs, ("y",), {})
        return Bench(
            folder=workplace,
            golden=workplace / "g.safetensors",
            cases=tuple(GoldenCase(name, {}, {"y": one}, name) for name, one in truth.items()),
            artifacts={},
            outputs=("y",),
            inputs=("x",),
            source=source,
            device="cpu",
            budget=4.0,
        )

    def evidence(self, bench: Bench, run: Run, seconds: float = 120) -> set[tuple[Outcome, str]]:
        found = run_engine(bench, run, Setting(Limits(seconds=seconds)))
        about = [("outputs", "c0", "y"), ("outputs", "c1", "y"), ("process", "", "")]
        about += [("pooled_bias", "", name) for name in bench.draws]
        planned = {Claim(run.format, run.precision, run.engine, case, output, kind) for kind, case, output in about}
        assert set(found) == planned, "every claim gets evidence"
        found = {claim: one for claim, one in found.items() if claim.kind != "process" or one.reason}
        assert all(one.reason for one in found.values())
        return {(one.outcome, one.stage) for one in found.values()}

    def of_source(self, bench: Bench, model: str, seconds: float = 120) -> set[tuple[Outcome, str]]:
        assert bench.source is not None
        changed = replace(bench.source, model=model)
        return self.evidence(replace(bench, source=changed), Run("source", "fp32", "eager"), seconds)

    def test_another_model_s_answers_are_mismatches(self, bench: Bench) -> None:
        assert self.of_source(bench, "models.sound:mlp") == {(Outcome.MISMATCH, "compare")}

    def test_by_a_segmentation_fault(self, bench: Bench) -> None:
        assert self.of_source(bench, "models.hostile:Segfault") == {(Outcome.CRASHED, "run")}

    def test_with_exit_code_0_and_no_answer(self, bench: Bench) -> None:
        assert self.of_source(bench, "models.hostile:Leaving") == {(Outcome.CRASHED, "run")}

    def test_by_raising(self, bench: Bench) -> None:
        assert self.of_source(bench, "models.unsound:Raising") == {(Outcome.CRASHED, "run")}

    def test_by_the_time_limit(self, bench: Bench) -> None:
        assert self.of_source(bench, "models.hostile:Endless", seconds=8) == {(Outcome.TIMED_OUT, "run")}

    def test_on_a_file_that_is_not_there(self, bench: Bench) -> None:
        files = ("onnx/model.onnx",)
        artifact = Artifact("onnx", "fp32", files, ("x",), ("y",), ("y",), {}, {})
        found = self.evidence(replace(bench, artifacts={"onnx": artifact}), Run("onnx", "fp32", "onnxruntime"))
        assert found == {(Outcome.CRASHED, "load")}


def test_a_report_of_nothing_cannot_be_made(digits: Path) -> None:
    """Every form of report takes a Verdict, and there is no empty one; so look that a real one counts what it says."""
    told = json.loads((digits / "parity.json").read_text())
    assert told["planned"] == len(told["checks"]) == sum(told["counts"].values()) > 0
    assert all(one["elements"] > 0 for one in told["checks"] if one["outcome"] == "match")
