"""What is recorded of the chains of a pipeline, and how samples go into engines; without children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base import tensors
from exporter.base.errors import UsageError
from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.tensors import TensorSpec
from exporter.engines.job import EngineAnswer, EngineJob
from exporter.process.workers import Limits, Setting
from exporter.prove.proofs import samples
from exporter.prove.proofs.base import Subject
from exporter.prove.proofs.samples import (
    EAGER,
    SAMPLES,
    answered,
    fed,
    has_functions,
    inputs_of,
    moves,
    run_chains,
    with_samples,
)
from exporter.spec.model import Spec
from exporter.steps.answer import judged
from exporter.steps.base import CLASSES, VALUE, State
from exporter.steps.chain import Chain, read_chain
from exporter.steps.material import Material
from exporter.steps.replay import replay
from tests.prove.compare.goldens import golden
from tests.prove.proofs.subjects import PLAIN, artifact, spec, subject
from tests.steps.recorded import recorded

HALF, DOUBLE = "tests.steps.users:halved", "tests.steps.users:doubled"
IMAGE = {"dtype": "float32", "shape": ["batch", 3, 4, 5]}
RAW = {"a": np.ones((4, 5, 3), "float32"), "b": np.full((4, 5, 3), 2, "float32")}
SCALE = {"dtype": "float32", "shape": ["batch", 2]}


def said(training: Any, deployment: Any, after: Any = None, **more: Any) -> dict[str, Any]:
    content = {"samples": ["*.npy"], "preprocess": {"training": training, "deployment": deployment}, **more}
    if after:
        content["postprocess"] = dict(zip(("training", "deployment"), after, strict=True))
    return content


def spec_of(*, dims: tuple[int, int] = (1, 6), **inputs: Any) -> Spec:
    least, most = dims
    batch = {"batch": {"min": least, "typical": most, "max": most}}
    inputs = inputs or {"image": IMAGE}
    named = any("batch" in tensor["shape"] for tensor in inputs.values())
    return spec(inputs=inputs, dims=batch if named else {}, pipeline=said(["layout"], ["layout"]))


class TestInputs:
    def test_a_batch_is_put_before_a_sample(self) -> None:
        value = np.random.default_rng(0).random((3, 4, 5)).astype("float32")
        made = inputs_of(spec_of(dims=(2, 6)), {VALUE: value}, "1")["image"]
        assert made.shape == (2, 3, 4, 5) and np.array_equal(made[0], value) and np.array_equal(made[1], value)
        fixed = spec(inputs={"image": {**IMAGE, "shape": [3, 3, 4, 5]}}, dims={}, pipeline=said(["layout"], ["layout"]))
        assert inputs_of(fixed, {VALUE: value}, "1")["image"].shape == (3, 3, 4, 5)

    def test_a_batch_of_its_own_stays(self) -> None:
        value = np.zeros((6, 3, 4, 5), "float32")
        assert inputs_of(spec_of(), {VALUE: value}, "1")["image"] is value

    def test_inputs_are_fed_by_name_and_the_first_by_the_value(self) -> None:
        of = spec_of(image=IMAGE, scale=SCALE)
        state = {VALUE: np.zeros((3, 4, 5), "float32"), "scale": np.ones(2, "float32")}
        assert fed(of) == (VALUE, "scale")
        assert {name: value.shape for name, value in inputs_of(of, state, "1").items()} == {
            "image": (1, 3, 4, 5),
            "scale": (1, 2),
        }
        steps = said(["layout"], ["layout"], input="scale")
        other = spec(inputs={"image": IMAGE, "scale": SCALE}, pipeline=steps)
        assert fed(other) == (VALUE, "image")
        state = {VALUE: np.ones(2, "float32"), "image": np.zeros((3, 4, 5), "float32")}
        assert inputs_of(other, state, "1")["scale"].tolist() == [[1, 1]]

    def test_without_a_pipeline_the_first_input_is_fed(self) -> None:
        of = spec(inputs={"image": IMAGE, "scale": SCALE})
        assert fed(of) == (VALUE, "scale")

    def test_no_sample_more_than_the_largest_batch_fits(self) -> None:
        with pytest.raises(UsageError, match=r"of shape \[21, 3, 4, 5\]"):
            inputs_of(spec_of(dims=(2, 20)), {VALUE: np.zeros((21, 3, 4, 5), "float32")}, "7")

    @pytest.mark.parametrize(
        ("state", "said", "hint"),
        [
            ({}, "no step gives the input 'image'", "return a mapping"),
            ({VALUE: np.zeros((3, 4, 5))}, "the steps give 'image' as float64, and the spec has float32", "add `cast"),
            (
                {VALUE: np.zeros((4, 5), "float32")},
                "of shape [4, 5], and the spec has ['batch', 3, 4, 5]",
                "add a `lay",
            ),
            ({VALUE: np.zeros((4, 5, 3), "float32")}, "of shape [4, 5, 3]", "let axis 1 be 3 to 3"),
            ({VALUE: np.zeros((3, 4, 6), "float32")}, "of shape [3, 4, 6]", "let axis 3 be 5 to 5"),
            ({VALUE: np.zeros((7, 3, 4, 5), "float32")}, "of shape [7, 3, 4, 5]", "let axis 0 be 2 to 6"),
            ({VALUE: np.zeros((1, 3, 4, 5), "float32")}, "of shape [1, 3, 4, 5]", "let axis 0 be 2 to 6"),
        ],
    )
    def test_what_does_not_fit_is_said(self, state: dict[str, Any], said: str, hint: str) -> None:
        with pytest.raises(UsageError) as caught:
            inputs_of(spec_of(dims=(2, 6)), state, "7")
        assert said in caught.value.what and (caught.value.hint or "").startswith(hint)
        assert caught.value.where == "pipeline: sample 7"


class Engine:
    """An engine that is none: it puts out what `compute` makes of the inputs of each case."""

    def __init__(self, patch: pytest.MonkeyPatch, compute: Any, refused: str = "") -> None:
        self.jobs: list[EngineJob] = []
        self.compute, self.refused = compute, refused
        patch.setattr(EngineJob, "run", lambda job, into, setting: self.run(job, into))

    def run(self, job: EngineJob, into: Path) -> EngineAnswer:
        self.jobs.append(job)
        given = tensors.load(job.golden)
        for case in job.cases:
            prefix = f"{case.recorded}/input/"
            inputs = {name[len(prefix) :]: value for name, value in given.items() if name.startswith(prefix)}
            tensors.save_scratch(into / f"{case.name}.safetensors", self.compute(inputs))
        return EngineAnswer(load=self.refused)


def model(of: Spec, *outputs: str, native: Sequence[str] = ()) -> Subject:
    specs = tuple(TensorSpec(name, "float32", ("batch", 2)) for name in outputs)
    made = replace(artifact(), outputs=tuple(native or outputs))
    return subject(made, of=of, outputs=specs)


def sample(value: float) -> State:
    return {VALUE: np.full((3, 4, 5), value, "float32")}


class TestAnswered:
    def test_each_sample_is_a_case_and_loses_its_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        engine = Engine(monkeypatch, lambda inputs: {"y": inputs["image"].sum((1, 2, 3)), "z": np.float32([7, 8, 9])})
        made = answered(model(spec_of(dims=(2, 6)), "y", "z"), EAGER, [sample(1), sample(2)], Setting())
        assert [{name: value.tolist() for name, value in outputs.items()} for outputs in made] == [
            {"y": 60.0, "z": [7, 8, 9]},
            {"y": 120.0, "z": [7, 8, 9]},
        ]
        (job,) = engine.jobs
        assert [case.name for case in job.cases] == [case.recorded for case in job.cases] == ["0", "1"]

    def test_an_artifact_has_names_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Engine(monkeypatch, lambda inputs: {"fetch_1": np.float32([[1]]), "fetch_0": np.float32([[2]])})
        of = model(spec_of(), "y", "z", native=("fetch_0", "fetch_1"))
        (made,) = answered(of, PLAIN, [sample(1)], Setting())
        assert {name: value.tolist() for name, value in made.items()} == {"y": [2], "z": [1]}

    def test_an_output_that_has_rows_in_one_sample_alone_has_no_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Engine(monkeypatch, lambda inputs: {"y": np.ones(int(inputs["image"].max()), "float32")})
        made = answered(model(spec_of(), "y"), EAGER, [sample(1), sample(3)], Setting())
        assert [outputs["y"].shape for outputs in made] == [(1,), (3,)]

    def test_without_a_batch_an_output_may_have_no_row(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As the boxes of an empty picture."""
        Engine(monkeypatch, lambda inputs: {"y": np.ones((0, 2), "float32")})
        (made,) = answered(model(spec_of(image={**IMAGE, "shape": [3, 4, 5]}), "y"), EAGER, [sample(1)], Setting())
        assert made["y"].shape == (0, 2)

    def test_an_output_without_axes_has_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Engine(monkeypatch, lambda inputs: {"y": inputs["image"].sum()})
        (made,) = answered(model(spec_of(), "y"), EAGER, [sample(1)], Setting())
        assert made["y"].shape == ()

    @pytest.mark.parametrize(
        ("shape", "more", "batched"),
        [
            (["batch", 3, 4, 5], {}, True),
            ([1, 3, 4, 5], {}, True),
            ([3, 4, 5], {}, False),
            ([1, 3, 4, 5], {"scale": {"dtype": "float32", "shape": [2]}}, False),
            ([1, 3, 4, 5], {"scale": {"dtype": "float32", "shape": []}}, False),
        ],
    )
    def test_outputs_have_a_batch_where_the_inputs_do(
        self, shape: list[Any], more: dict[str, Any], batched: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Engine(monkeypatch, lambda inputs: {"y": np.ones((len(inputs["image"]), 2), "float32")})
        of = spec_of(image={**IMAGE, "shape": shape}, **more)
        state = {**sample(1), "scale": np.ones(more.get("scale", SCALE)["shape"][-1:], "float32")}
        if len(shape) == 3:
            state[VALUE] = np.ones((3, 4, 5), "float32")
        (made,) = answered(model(of, "y"), EAGER, [state], Setting())
        assert made["y"].ndim == (1 if batched else 2)

    def test_what_the_engine_refuses_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Engine(monkeypatch, lambda inputs: {"y": np.ones((1, 2), "float32")}, refused="it has no such operator")
        with pytest.raises(UsageError, match="onnxruntime: it has no such operator"):
            answered(model(spec_of(), "y"), PLAIN, [sample(1)], Setting())

    def test_an_output_that_the_first_sample_lacks_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def compute(inputs: Mapping[str, Any]) -> dict[str, Any]:
            made = {"y": np.ones((1, 2), "float32")}
            return {**made, "z": made["y"]} if inputs["image"].max() > 1 else made

        Engine(monkeypatch, compute)
        with pytest.raises(UsageError, match="onnxruntime: it puts out no 'z'") as caught:
            answered(model(spec_of(), "y", "z"), PLAIN, [sample(1), sample(2)], Setting())
        assert caught.value.where == "pipeline.samples"

    def test_inputs_that_do_not_fit_are_said_with_their_sample(self) -> None:
        with pytest.raises(UsageError, match="no step gives") as caught:
            answered(model(spec_of(), "y"), PLAIN, [sample(1), {}], Setting())
        assert caught.value.where == "pipeline: sample 2"


@pytest.fixture
def chains_run_here(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Chain, str]]:
    """Chains run in this process; what ran is kept."""
    ran: list[tuple[Chain, str]] = []

    def run_chain(chain: Chain, starts: Sequence[State], name: str, setting: Setting) -> list[list[State]]:
        ran.append((chain, name))
        made: list[list[State]] = []
        for start in starts:
            made.append([start])
            for link in chain:
                made[-1].append(link.apply(made[-1][-1]))
        return made

    monkeypatch.setattr(samples, "run_chain", run_chain)
    return ran


class TestRecorded:
    def material(self, content: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Material:
        Engine(monkeypatch, lambda inputs: {"y": inputs["image"].sum((2, 3)), "z": inputs["image"].max((2, 3))})
        of = replace(model(spec(inputs={"image": IMAGE}, pipeline=content), "y", "z"))
        material = Material.of(RAW)
        assert of.spec.pipeline is not None
        run_chains(material, of, of.spec.pipeline, Setting())
        return material

    def test_training_is_kept_step_by_step_on_both_sides(
        self, chains_run_here: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        content = said([HALF, "layout"], ["layout"], (["softmax", "argmax"], ["softmax", "argmax"]))
        material = self.material(content, monkeypatch)
        assert sorted(name for name in material.tensors if "training" in name) == sorted(
            [
                f"{side}/training/{step}/{number}/value" if name is None else f"{side}/training/{step}/{number}/{name}"
                for side, names in (("after", (None, "y", "z")), ("before", (None,)))
                for step in (1, 2)
                for number in (0, 1)
                for name in sorted(names, key=lambda name: name or "value")
            ]
            + [f"after/training/2/{number}/{CLASSES}" for number in (0, 1)]
        )
        assert not any("deployment" in name for name in material.tensors)
        assert material.outputs == ("y", "z")
        assert material.tensors["before/training/1/1/value"].max() == 1
        assert material.tensors["outputs/1/y"].tolist() == [20, 20, 20]
        assert material.tensors["outputs/0/z"].tolist() == [0.5, 0.5, 0.5]
        assert material.tensors["after/training/2/0/value"] == 0
        assert [(len(chain), name) for chain, name in chains_run_here] == [(2, "training"), (0, "deployment")] * 2

    def test_of_deployment_what_functions_give_is_kept(
        self, chains_run_here: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        content = said(["layout"], [HALF, "layout", DOUBLE, "sigmoid"], (["argmax"], [DOUBLE, "argmax"]))
        material = self.material(content, monkeypatch)
        own = {name: float(value.max()) for name, value in material.tensors.items() if "deployment" in name}
        assert {name: value for name, value in own.items() if name.startswith("before")} == {
            "before/deployment/1/0/value": 0.5,
            "before/deployment/1/1/value": 1,
            "before/deployment/3/0/value": 1,
            "before/deployment/3/1/value": 2,
        }
        assert own["after/deployment/1/1/value"] == 80
        assert [len(chain) for chain, name in chains_run_here if name == "deployment"] == [3, 1]

    def test_where_no_chain_behind_the_model_is_compared_none_runs(
        self, chains_run_here: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        material = self.material(said(["layout"], ["layout"]), monkeypatch)
        assert material.outputs == () and len(chains_run_here) == 2
        folded = said(["layout"], ["layout"], (["argmax"], ["argmax"]), fold=True)
        assert self.material(folded, monkeypatch).outputs == ()

    def test_samples_are_read_thinned_and_written_beside_the_goldens(
        self, tmp_path: Path, chains_run_here: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in RAW.items():
            np.save(tmp_path / f"{name}.npy", value)
        content = said([HALF, "layout"], ["layout"])
        of = subject(of=spec(inputs={"image": IMAGE}, pipeline=content), folder=tmp_path)
        heard: list[str] = []
        setting = Setting(limits=Limits(code=tmp_path), say=heard.append)
        assert with_samples(of, setting) is of
        material = Material.read(tmp_path / SAMPLES)
        assert material.samples == ("a.npy", "b.npy")
        assert [bool(state) for state in material.states("before", "training", 1, 2)] == [True] * 3
        monkeypatch.setattr(Material, "thinned", lambda self, most: [f"of {most} bytes"])
        with_samples(of, setting)
        assert f"of sample of {int(of.spec.golden_mb * 1e6)} bytes only the last values are kept (golden_mb)" in heard

    def test_without_a_folder_of_code_samples_lie_here(
        self, tmp_path: Path, chains_run_here: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        np.save(tmp_path / "a.npy", RAW["a"])
        monkeypatch.chdir(tmp_path)
        of = subject(of=spec(inputs={"image": IMAGE}, pipeline=said(["layout"], ["layout"])), folder=tmp_path)
        with_samples(of, Setting(limits=Limits(code=None)))
        assert Material.read(tmp_path / SAMPLES).samples == ("a.npy",)

    def test_without_a_pipeline_there_is_nothing_to_record(self) -> None:
        of = subject()
        assert with_samples(of, Setting()) is of


def test_a_function_among_any_steps_counts() -> None:
    declared, function = read_chain(["layout"]), read_chain(["layout", HALF])
    assert has_functions(declared, function) and has_functions(function)
    assert not has_functions(declared, declared) and not has_functions()
    assert not replay(declared, sample(1)).error


def recorded_as(outputs: Mapping[str, GoldenOutput], named: str = "y") -> tuple[GoldenCase, ...]:
    """Cases of these names, with one output each."""
    return tuple(GoldenCase(name, {"batch": 1}, {named: output}, name) for name, output in outputs.items())


class TestMoves:
    TRUTHS = (np.float64([[1, 2]]), np.float64([[4, 8]]), np.float64([[3, 4]]))

    def golden(self, truth: Any, off: float = 0.001, **more: Any) -> GoldenOutput:
        """Eager is off in the last number, which is the largest: in L2 by a smaller share."""
        return golden(truth, eager=(truth * [1, 1 + off]).astype("float32"), **more)

    def moves(self, **outputs: GoldenOutput) -> Mapping[str, Sequence[float]]:
        named = {name.replace("_", ":"): output for name, output in outputs.items()}
        return moves(subject(of=spec(budget=3), recorded=recorded_as(named)))

    def test_they_are_the_budget_in_the_largest_unit(self) -> None:
        outputs = [self.golden(truth) for truth in self.TRUTHS]
        (share, least) = self.moves(**dict(zip("abc", outputs, strict=True)))["y"]
        assert share == pytest.approx(3 * max(output.unit[0] for output in outputs))
        assert least == pytest.approx(3 * outputs[1].unit[0] * 8)

    def test_the_share_and_the_least_need_not_be_of_one_case(self) -> None:
        small, large = self.golden(np.float64([[1, 1]]), 0.002), self.golden(np.float64([[8, 8]]), 0.001)
        for outputs in ({"a": small, "b": large}, {"a": large, "b": small}):
            share, least = self.moves(**outputs)["y"]
            assert (share, least) == (pytest.approx(3 * 0.002, rel=1e-3), pytest.approx(3 * 0.008, rel=1e-3))

    def test_what_probes_or_is_gated_tells_nothing_of_a_sample(self) -> None:
        plain = self.golden(self.TRUTHS[0])
        probe, gated = self.golden(self.TRUTHS[1] * 16, 0.01), self.golden(self.TRUTHS[1] * 16, 0.01, gate="not finite")
        assert self.moves(a=plain, a_large=probe, b=gated) == self.moves(a=plain)
        assert self.moves(a=gated, a_large=probe) == {}


def test_a_wrong_answer_is_not_excused_by_what_a_probe_may_err() -> None:
    """Eager's score is 0.3 above the threshold and the artifact's below it; 0.3 is rounding of `:large` alone."""
    truth = np.float64([[0.8, 0.1]])
    plain, large = (golden(value, eager=(value * 1.01).astype("float32")) for value in (truth, truth * 16))
    steps = [{"threshold": {"above": 0.5}}]
    scores = {"near": np.float32([0.8, 0.1]), "far": np.float32([0.1, 0.9])}
    wrong = [{"scores": np.float32([0.4, 0.1])}, {"scores": scores["far"]}]
    allowed = moves(subject(recorded=recorded_as({"a": plain, "a:large": large}, "scores")))
    chains = read_chain(steps), read_chain(steps)
    finding = judged(chains, recorded("after", steps, scores), wrong, allowed)
    assert finding.outcome == "mismatch" and "the answer to sample 1 is another than training's" in finding.reason
