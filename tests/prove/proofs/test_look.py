"""The look into a real file by a real engine, beside what the source computed inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from exporter.base.errors import ModelError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.norms import error
from exporter.base.tensors import Array, save
from exporter.export.lower.base import Artifact
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.proofs.kinds.sublayers import NOT_COMPARED, Look, plugin
from exporter.prove.root_cause.align import FreshProgram, Observed, SublayerCall, TensorFact, Trace
from exporter.prove.root_cause.witness import Witness, Witnesses
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES, Run
from tests.prove.compare.goldens import golden
from tests.prove.proofs.subjects import PLAIN, claim, harness, subject

RNG = np.random.default_rng(0)
ROWS, FIRST, LAST = (RNG.standard_normal(shape).astype("float32") for shape in ((4, 6), (6, 8), (8, 5)))
HIDDEN = ROWS.astype("float64") @ FIRST
TRUTH = HIDDEN @ LAST
NEAR = Claim("onnx", "fp32", "onnxruntime", "batch=4", "y")


def written(folder: Path, first: Array, last: Array, operator: str = "MatMul", **details: Any) -> Bench:
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "a"], ["h"]), helper.make_node(operator, ["h", "b"], ["y"])],
        "two",
        [helper.make_tensor_value_info("x", 1, ["batch", 6])],
        [helper.make_tensor_value_info("y", 1, ["batch", 5])],
        [numpy_helper.from_array(first, "a"), numpy_helper.from_array(last, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "onnx").mkdir()
    (folder / "onnx/model.onnx").write_bytes(model.SerializeToString())
    save(folder / "golden.safetensors", {"batch=4/input/x": ROWS})
    artifact = Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",), details)
    case = GoldenCase("batch=4", {"batch": 4}, {"y": golden(TRUTH)}, "batch=4")
    return Bench(folder, folder / "golden.safetensors", (case,), {"onnx": artifact}, ("y",), ("x",), None, "cpu", 4.0)


def witness(path: str = "first") -> Witness:
    """The source: a layer of two, `first` and `last`."""
    values: dict[str, Array] = {"0/truth": ROWS.astype("float64"), "1/truth": HIDDEN, "2/truth": TRUTH, "0/eager": ROWS}
    facts = {
        key: TensorFact(tuple(value.shape), "float32", finite=True, e_ref=e_ref)
        for key, value in enumerate((ROWS, HIDDEN, TRUTH))
        for e_ref in [error(value.astype("float64"), value.astype("float32"))]
    }
    calls = (
        SublayerCall("", "", "", None, (0,), (2,)),
        SublayerCall(path, "", "net.py:7", 0, (0,), (1,)),
        SublayerCall("last", "", "net.py:8", 0, (1,), (2,)),
    )
    return Witness(Observed(Trace(calls, facts), values), lambda: FreshProgram(why_not="nothing was traced anew"))


def off(times: float = 1e-3) -> tuple[Array, Array]:
    """Weights whose product is right, and what lies between is not."""
    return FIRST * np.float32(1 + times), LAST / np.float32(1 + times)


def looked(
    bench: Bench,
    path: str = "first",
    run: Run = PLAIN,
    of_another: Mapping[Claim, Evidence] | None = None,
    **more: Evidence,
) -> Evidence:
    witnesses = Witnesses(bench, Setting(), {"batch=4": witness(path)})
    near = Evidence(Outcome.MATCH, elements=20, metrics={"error_ratio": 1.5})
    evidence = {replace(NEAR, engine=engine): found for engine, found in {run.engine: near, **more}.items()}
    pooled = Claim("onnx", "fp32", run.engine, output="y", kind="pooled_bias")
    evidence[pooled] = Evidence(Outcome.MATCH, elements=3)
    evidence |= of_another or {}
    (found,) = Look(bench, Setting(), evidence, witnesses).into([run]).values()
    return found


def test_a_sound_file_is_right_inside(tmp_path: Path) -> None:
    found = looked(written(tmp_path, FIRST, LAST))
    assert (found.outcome, found.elements) == (Outcome.MATCH, 20)
    assert found.reason.endswith(" intermediate values were looked into") and not found.reason.startswith("0 ")


@pytest.mark.parametrize(("path", "named"), [("first", "first"), ("", "the model itself")])
def test_a_sublayer_that_is_off_fails_though_the_output_is_right(tmp_path: Path, path: str, named: str) -> None:
    found = looked(written(tmp_path, *off()), path)
    assert (found.outcome, found.elements) == (Outcome.MISMATCH, 20)
    said = f"case batch=4, y: within the budget at the output, but the error ratio of its sublayer {named} is "
    assert found.reason.startswith(said)


def test_what_a_folded_layer_hides_is_excused_where_what_reads_it_is_right(tmp_path: Path) -> None:
    assert looked(written(tmp_path, *off(), folded={"a.folded": ["0"]})).outcome is Outcome.MATCH


def test_an_engine_that_shows_nothing_is_stood_in_for_by_one_that_is_planned(tmp_path: Path) -> None:
    """Paddle's engines do not read ONNX, and no other one is asked that nobody planned."""
    bench, run = written(tmp_path, *off()), replace(PLAIN, engine="jit_load")
    alone = looked(bench, run=run)
    assert alone.outcome is Outcome.MATCH and alone.elements == 3
    assert alone.reason.startswith(f"{NOT_COMPARED}: the program does not run with its intermediate values put out: ")
    beside = looked(bench, run=run, onnxruntime=Evidence(Outcome.CRASHED, "it died"))
    assert beside.outcome is Outcome.MISMATCH
    of_another = {Claim("onnx", "int8", "onnxruntime", "batch=4", "y"): Evidence(Outcome.MATCH, elements=1)}
    assert looked(bench, run=run, of_another=of_another).outcome is Outcome.MATCH, "planned for another file"


def test_why_the_run_s_own_engine_shows_nothing_is_told(tmp_path: Path) -> None:
    """Neither Paddle nor ONNX Runtime knows the operator, and they say so in other words."""
    bench, run = written(tmp_path, FIRST, LAST, operator="Unheard"), replace(PLAIN, engine="jit_load")
    own, other = looked(bench, run=run).reason, looked(bench).reason
    assert own != other and "Unheard" in other
    both = looked(bench, run=run, onnxruntime=Evidence(Outcome.CRASHED, "it died")).reason
    folder = "/exporter-"  # the rest of its name is drawn
    assert folder in own and both.partition(folder)[0] == own.partition(folder)[0] != other.partition(folder)[0]


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (PLAIN, {"onnxruntime"}),
        (Run("pir", "fp32", "paddle_inference"), {name for name, one in ENGINES.all() if one.paddle_kernels}),
    ],
)
def test_of_paddle_s_engines_all_that_run_the_format_are_asked(
    run: Run, asked: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def refuse(_: Bench, run: Run, *__: Any) -> None:
        heard.append(run.engine)
        raise ModelError("it shows nothing")

    monkeypatch.setattr("exporter.prove.proofs.kinds.sublayers.program_values", refuse)
    evidence = {Claim(run.format, "fp32", run.engine, "batch=4", "y"): near(2.0)}
    bench, witnesses = written(tmp_path, FIRST, LAST), {"batch=4": witness()}
    Look(bench, Setting(), evidence, Witnesses(bench, Setting(), witnesses)).into([run])
    able = {name for name in asked if ENGINES[name].runs(run.format, run.precision)}
    assert heard[0] == run.engine and sorted(heard) == sorted(able)


def near(ratio: float | None = None, outcome: Outcome = Outcome.MATCH, elements: int = 2) -> Evidence:
    reason = "" if outcome is Outcome.MATCH else "it failed"
    metrics = {} if ratio is None else {"error_ratio": ratio}
    return Evidence(outcome, reason, elements=elements, metrics=metrics)


class TestWhatIsLookedInto:
    """Without a witness: whoever is looked into is told as such."""

    def look(self, runs: list[Run], evidence: dict[Claim, Evidence]) -> dict[str, Evidence]:
        case = GoldenCase("a", {}, {}, "a")
        bench = Bench(Path("no"), Path("no"), (case,), {}, ("y",), ("x",), None, "cpu", 4.0)
        witnesses = Witnesses(bench, Setting(), {"a": "it was not seen"})
        found = Look(bench, Setting(), evidence, witnesses).into(runs)
        return {run.engine: told for run, told in found.items()}

    def claim(self, engine: str, output: str = "y", **more: Any) -> Claim:
        return replace(Claim("onnx", "fp32", engine, "a", output), **more)

    def test_nothing_right_tells_nothing(self) -> None:
        (found,) = self.look([PLAIN], {self.claim("onnxruntime"): near(outcome=Outcome.CRASHED)}).values()
        assert (found.outcome, found.stage, found.elements) == (Outcome.MISSING, "run", 0)

    def test_whole_numbers_have_no_rounding_to_look_into(self) -> None:
        (found,) = self.look([PLAIN], {self.claim("onnxruntime"): near()}).values()
        assert (found.outcome, found.elements) == (Outcome.MATCH, 2)
        assert found.reason == "no output has a rounding error to look into"

    @pytest.mark.parametrize(("ratio", "into"), [(1.0, False), (1.01, True)])
    def test_only_what_is_further_off_than_eager_is_looked_into(self, ratio: float, into: bool) -> None:
        evidence = {self.claim("onnxruntime"): near(ratio), self.claim("onnxruntime", "z"): near(0.2, elements=3)}
        evidence[self.claim("onnxruntime", "label")] = near(elements=4)
        (found,) = self.look([PLAIN], evidence).values()
        if into:
            assert found.outcome is Outcome.INCONCLUSIVE and found.stage == "run"
            said = "and whether the errors of all cases add up is not known either"
            assert found.reason == f"{NOT_COMPARED}: it was not seen; {said}"
        else:
            assert (found.outcome, found.elements) == (Outcome.MATCH, 9)
            assert found.reason.startswith("no output is further off than eager's own rounding")

    def test_another_engine_that_holds_everywhere_stands_for_the_file(self) -> None:
        runs = [PLAIN, replace(PLAIN, engine="openvino")]
        evidence = {self.claim("onnxruntime"): near(3.0), self.claim("openvino"): near(0.9)}
        found = self.look(runs, evidence)
        assert (
            found["onnxruntime"].reason == "another engine computes this file no further off than eager's own rounding"
        )
        assert found["onnxruntime"].elements == 2 and found["openvino"].outcome is Outcome.MATCH
        failed = {**evidence, self.claim("openvino", case="b"): near(outcome=Outcome.MISMATCH)}
        assert self.look(runs, failed)["onnxruntime"].outcome is Outcome.INCONCLUSIVE, "it does not hold everywhere"
        labels = {self.claim("onnxruntime"): near(3.0), self.claim("openvino"): near()}
        assert self.look(runs, labels)["onnxruntime"].outcome is Outcome.MATCH
        elsewhere = {self.claim("onnxruntime"): near(3.0), self.claim("jit_load", format="pir"): near(0.5)}
        other = [PLAIN, Run("pir", "fp32", "jit_load")]
        assert self.look(other, elsewhere)["onnxruntime"].outcome is Outcome.INCONCLUSIVE, "that is another file"

    def test_the_claim_that_is_furthest_off_is_looked_into(self) -> None:
        """Only of the case `a` is known that it was not seen; of another one there is no witness."""
        evidence = {self.claim("onnxruntime"): near(3.0), self.claim("onnxruntime", case="b"): near(2.0)}
        assert "it was not seen" in self.look([PLAIN], evidence)["onnxruntime"].reason
        equal = {self.claim("onnxruntime", case="A"): near(3.0), self.claim("onnxruntime"): near(3.0)}
        assert "it was not seen" in self.look([PLAIN], equal)["onnxruntime"].reason

    @pytest.mark.parametrize(
        ("pooled", "outcome"),
        [
            ((near(elements=5), near(elements=6)), Outcome.MATCH),
            ((near(elements=5), near(outcome=Outcome.MISMATCH, elements=6)), Outcome.INCONCLUSIVE),
            ((near(outcome=Outcome.MISSING, elements=0),), Outcome.INCONCLUSIVE),
            ((), Outcome.INCONCLUSIVE),
        ],
    )
    def test_in_place_of_a_look_that_failed_all_cases_together_speak(
        self, pooled: tuple[Evidence, ...], outcome: Outcome
    ) -> None:
        evidence = {self.claim("onnxruntime"): near(3.0)}
        for number, found in enumerate(pooled):
            evidence[Claim("onnx", "fp32", "onnxruntime", output=f"y{number}", kind="pooled_bias")] = found
        evidence[Claim("onnx", "fp32", "openvino", output="y", kind="pooled_bias")] = near(elements=50)
        (found,) = self.look([PLAIN], evidence).values()
        assert (found.outcome, found.elements) == (outcome, 11 if outcome is Outcome.MATCH else 0)


def test_a_look_that_failed_is_told_on_the_report() -> None:
    own, other = claim("sublayers", PLAIN), claim("interface", PLAIN, engine="")
    failed = Evidence(Outcome.INCONCLUSIVE, f"{NOT_COMPARED}: no source")
    made = harness(subject(), evidence={own: failed, other: failed})
    assert list(plugin.notes(made)) == [f"onnx/onnxruntime/sublayers: {NOT_COMPARED}: no source"]
    seen = Evidence(Outcome.MATCH, "12 intermediate values were looked into", elements=1)
    assert list(plugin.notes(harness(subject(), evidence={own: seen}))) == []
    proved = plugin.prove([own], harness(subject(), evidence={NEAR: near()}))
    assert list(proved) == [own] and proved[own].outcome is Outcome.MATCH
