"""The metric on held-out samples: for whom it is planned, how samples are cut, and how both sides are rated."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from exporter.base.errors import ModelError, UsageError
from exporter.base.numbers.intervals import bootstrap, paired
from exporter.base.tensors import Array, load, save
from exporter.base.watch import Seen
from exporter.engines.job import EngineAnswer, EngineCase, EngineJob
from exporter.export.lower.convert import PRECISIONS
from exporter.process.job import Job
from exporter.process.memo import Question, remembering
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, Setting
from exporter.prove.proofs.base import Narrowing
from exporter.prove.proofs.kinds import metric
from exporter.prove.proofs.kinds.metric import (
    RateRequest,
    SamplesAnswer,
    SamplesRequest,
    Task,
    _cuts,
    _impostors,
    is_rated,
    plugin,
    prepare,
    rate,
)
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Budget, Spec
from tests.prove.proofs.subjects import LOW, PLAIN, SOURCE, artifact, budget, claim, harness, spec, subject

AROUND = {"samples": ["*.npy"], "preprocess": {"training": ["layout"], "deployment": ["layout"]}}
RECIPE = """
import numpy as np

from exporter.spec.recipe.base import Recipe, Samples

ROWS = np.random.default_rng(3).standard_normal((7, 3)).astype("float32")
WEIGHT = np.random.default_rng(4).standard_normal((3, 4)).astype("float32")
LABELS = (ROWS @ WEIGHT).argmax(1)


def build():
    import paddle

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.body = paddle.nn.Linear(3, 4, bias_attr=False)
            self.body.weight.set_value(WEIGHT)

        def forward(self, x):
            return self.body(x)

    return Net()


def data():
    part = {"x": ROWS, "label": LABELS}
    return Samples(train=part, held_out=part)


def accuracy(scores, label):
    return float((scores.argmax(1) == label).mean())


def distance(scores, label):
    return float(np.abs(scores.max(1) - label).mean())


def mistakes(scores, label):
    return float((scores.argmax(1) != label).mean())


def all_right(scores, label):
    return float((scores.argmax(1) == label).all())


def recipe(metric, goal):
    return Recipe(
        build=build, data=data, inputs=("x",), labels=("label",), loss=None, metric=metric,
        metric_name=metric.__name__, optimizer=None, epochs=1, batch_size=2, goal=goal,
    )


def of_both(scores, other, label):
    return accuracy(scores, label)


accurate = recipe(accuracy, "max")
both = recipe(of_both, "max")
near = recipe(distance, "min")
faulty = recipe(mistakes, "min")
strict = recipe(all_right, "max")
"""
NUMBER = itertools.count()


@pytest.fixture
def recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module with the recipes, under a name that no other test has imported."""
    name = f"held_out_{next(NUMBER)}"
    (tmp_path / f"{name}.py").write_text(RECIPE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return name


def task(recipe: str = "a:b", **more: Any) -> Any:
    inputs = {"x": {"dtype": "float32", "shape": ["batch", 3], "values": "dataset"}}
    return spec(**{"weights": None, "recipe": recipe, "inputs": inputs, "outputs": ["y"], **more})


class TestThePlan:
    def planned(self, of: Any, *runs: Run) -> set[Any]:
        return set(plugin.plan(harness(subject(artifact(), artifact("int8"), of=of), *runs)))

    def test_each_run_in_low_precision_of_a_recipe_that_feeds_all_inputs(self) -> None:
        assert self.planned(task()) == {claim("metric")}
        assert self.planned(task(), SOURCE, PLAIN) == set()
        assert self.planned(spec()) == set(), "without a recipe nobody rates"
        assert plugin.promise

    def test_a_bound_that_the_spec_gives_is_planned_whatever_feeds_the_inputs(self) -> None:
        assert self.planned(spec(precisions=budget(max_metric_loss=0.1))) == {claim("metric")}

    def test_a_default_needs_a_recipe_that_feeds_all_inputs(self) -> None:
        inputs = {
            "x": {"dtype": "float32", "shape": ["batch", 3], "values": "dataset"},
            "noise": {"dtype": "float32", "shape": ["batch"]},
        }
        half = task(inputs=inputs)
        assert self.planned(half) == set() and not Task(half, None).ratable
        assert Task(task(), None).ratable and not Task(spec(), None).ratable

    def test_a_precision_that_says_nothing_of_the_metric_promises_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As one of another package may."""
        monkeypatch.setattr(type(PRECISIONS["int8"]), "budget", Budget(min_snr_db=25.0))
        assert self.planned(task()) == set()
        assert self.planned(task(precisions=budget(max_metric_loss=0.1))) == {claim("metric")}

    def test_what_the_spec_calls_unrated_is_not_planned(self) -> None:
        low, around = budget(max_metric_loss="unrated"), {**AROUND, "max_metric_loss": "unrated"}
        assert self.planned(task(precisions=low)) == set() and not is_rated(task(precisions=low))
        assert self.planned(task(precisions=low, pipeline=AROUND), PLAIN, LOW) == {claim("metric", PLAIN)}
        assert self.planned(task(pipeline=around), PLAIN, LOW) == {claim("metric")}
        assert self.planned(task(precisions=low, pipeline=around), PLAIN, LOW) == set()

    def test_a_spec_says_by_itself_whether_its_metric_is_rated(self) -> None:
        plain: Any = {"fp32": {}}
        assert is_rated(task()) and is_rated(task(precisions=plain, pipeline=AROUND))
        assert not is_rated(task(precisions=plain)) and not is_rated(spec(precisions=budget(max_metric_loss=0.1)))
        assert is_rated(task(precisions=budget(max_metric_loss="unrated"), pipeline=AROUND))
        assert not is_rated(task(precisions=plain, pipeline={**AROUND, "max_metric_loss": "unrated"}))

    def test_with_a_pipeline_fp32_is_rated_too_where_the_source_is_at_hand(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        of = task(pipeline=AROUND)
        plain = claim("metric", PLAIN)

        def planned(of: Spec, **more: Any) -> frozenset[Claim]:
            return plugin.plan(harness(subject(artifact("int8"), of=of, **more), SOURCE, PLAIN, LOW))

        assert planned(of) == {claim("metric"), plain}
        assert planned(of, no_source="it is not here") == planned(task()) == {claim("metric")}
        assert planned(spec(pipeline=AROUND)) == set(), "nothing feeds it"
        monkeypatch.setattr(type(PRECISIONS["int8"]), "budget", Budget(min_snr_db=25.0))
        assert planned(of) == {plain}, "int8 says nothing of the metric"

    def test_what_the_pipeline_promises_is_asked_of_fp32_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []

        def prove_metric(of: Task, bench: Any, promises: Any, *rest: Any) -> dict[Claim, Evidence]:
            asked.extend(promises)
            return {}

        monkeypatch.setattr(metric, "prove_metric", prove_metric)
        claims = [claim("metric"), claim("metric", PLAIN)]
        of = task(pipeline={**AROUND, "max_metric_loss": 0.25}, precisions=budget(max_metric_loss=0.5))
        plugin.prove(claims, harness(subject(artifact("int8"), of=of)))
        assert {promise.claim: promise.wanted for promise in asked} == dict(zip(claims, (0.5, 0.25), strict=True))
        assert len(asked) == 2
        asked.clear()
        plugin.prove(claims, harness(subject(artifact("int8"), of=task(precisions=budget(max_metric_loss=0.5)))))
        assert [promise.wanted for promise in asked] == [0.5]

    def test_where_it_cannot_be_rated_it_is_missing(self) -> None:
        asked = spec(precisions=budget(max_metric_loss=0.1))
        (found,) = plugin.prove([claim("metric")], harness(subject(artifact("int8"), of=asked))).values()
        assert (found.outcome, found.stage) == (Outcome.MISSING, "environment")
        assert "the spec names no recipe that feeds the inputs" in found.reason
        away = harness(subject(artifact("int8"), of=task(), no_source="the recipe is not here"))
        (found,) = plugin.prove([claim("metric")], away).values()
        assert found.reason == (
            "the metric cannot be rated: the recipe is not here; or leave it out on purpose, --without metric"
        )
        assert plugin.prove([], harness(subject(artifact("int8"), of=task()))) == {}
        assert Narrowing(without=("metric",)).without == (plugin.kind,)


@pytest.mark.parametrize(
    ("bounds", "rows", "cuts"),
    [
        ((1, 4, 1), 10, [(0, 4), (4, 8), (8, 10)]),
        ((2, 4, 1), 9, [(0, 4), (4, 8)]),
        ((2, 4, 1), 10, [(0, 4), (4, 8), (8, 10)]),
        ((2, 4, 2), 7, [(0, 4), (4, 6)]),
        ((4, 8, 4), 3, []),
        ((1, 64, 1), 5, [(0, 5)]),
        (None, 7, [(0, 3), (3, 6)]),
        (None, 6, [(0, 3), (3, 6)]),
    ],
)
def test_samples_are_cut_as_large_as_the_spec_allows(
    bounds: tuple[int, int, int] | None, rows: int, cuts: list[tuple[int, int]]
) -> None:
    shape: list[Any] = ["batch", 2] if bounds else [3, 2]
    dims = {"batch": dict(zip(("min", "max", "multiple_of"), bounds, strict=True))} if bounds else {}
    for dim in dims.values():
        dim["typical"] = dim["min"]
    of = spec(inputs={"x": {"dtype": "float32", "shape": shape}}, dims=dims)
    assert _cuts(of, rows) == cuts


class Rated:
    """Held-out samples in two batches, what eager gives for them, and what an engine gives under another name."""

    def __init__(self, folder: Path, module: str) -> None:
        self.folder, self.module = folder, sys.modules.get(module) or __import__(module)
        self.eager: Array = self.module.ROWS[:6] @ self.module.WEIGHT
        self.labels: Array = self.module.LABELS[:6]

    def by(self, recipe: str, engine: Array, *further: str) -> metric.Rated:
        (self.folder / "into").mkdir()
        tensors, cases = {}, {"00000000": slice(0, 4), "00000004": slice(4, 6)}
        for index, (case, rows) in enumerate(cases.items()):
            tensors |= {f"{case}/eager/y": self.eager[rows], f"{case}/eager/z": self.eager[rows] * 0}
            save(self.folder / f"into/{index}.safetensors", {"inside.y": engine[rows], "inside.z": engine[rows] * 0})
        save(self.folder / "samples.safetensors", tensors)
        samples, into = self.folder / "samples.safetensors", self.folder / "into"
        names = {"y": "inside.y", "z": "inside.z"}
        where = f"{self.module.__name__}:{recipe}"
        return rate(RateRequest(where, samples, tuple(cases), into, ("y", *further), names))


@pytest.fixture
def rated(tmp_path: Path, recipes: str) -> Rated:
    return Rated(tmp_path, recipes)


def test_a_share_of_right_answers_is_compared_row_by_row(rated: Rated) -> None:
    engine = rated.eager.copy()
    engine[[1, 5]] = -engine[[1, 5]]
    lost, won = np.isin(np.arange(6), [1, 5]), np.zeros(6, bool)
    found = rated.by("accurate", engine)
    assert (found.metric, found.rows, found.sign) == ("accuracy", 6, 1.0)
    assert (found.value, found.eager) == (pytest.approx(4 / 6), 1.0)
    assert found.loss == pytest.approx(2 / 6)
    assert (found.low, found.high) == paired(lost, won)
    for name, index in _impostors([rated.eager], 6).items():
        expected = 1 - float((rated.eager[index].argmax(1) == rated.labels).mean())
        assert found.impostors[name] == pytest.approx(expected) and expected > 0


@pytest.mark.parametrize("times", [1, 2])
def test_outputs_are_equal_where_each_of_them_is(times: int, rated: Rated) -> None:
    """The second one always is."""
    found = rated.by("both", rated.eager * np.float32(times), "z")
    assert (found.equal, found.loss) == (times == 1, 0)


def test_what_was_won_is_no_loss(rated: Rated) -> None:
    right = rated.eager.copy()
    rated.eager[0] = -rated.eager[0]
    found = rated.by("accurate", right)
    lost, won = np.zeros(6, bool), np.arange(6) == 0
    assert found.loss == pytest.approx(-1 / 6) and (found.low, found.high) == paired(lost, won)


def bootstrapped(
    metric: Callable[[Array, Array], float], sign: float, sides: tuple[Array, Array], labels: Array
) -> Any:
    eager, engine = sides
    return bootstrap(
        lambda index: sign * (metric(eager[index], labels[index]) - metric(engine[index], labels[index])), 6
    )


def test_where_less_is_better_more_is_a_loss_and_rows_are_drawn_anew(rated: Rated) -> None:
    engine = rated.eager + np.float32(0.25) * np.arange(24, dtype="float32").reshape(6, 4)
    found = rated.by("near", engine)
    metric = rated.module.distance
    assert found.sign == -1.0
    assert found.loss == pytest.approx(metric(engine, rated.labels) - metric(rated.eager, rated.labels))
    assert found.value == pytest.approx(metric(engine, rated.labels))
    expected = bootstrapped(metric, -1.0, (rated.eager, engine), rated.labels)
    assert (found.low, found.high) == pytest.approx(expected) and expected[0] < expected[1]
    shuffled = _impostors([rated.eager], 6)["the answers shuffled"]
    lost = metric(rated.eager[shuffled], rated.labels) - metric(rated.eager, rated.labels)
    assert found.impostors["the answers shuffled"] == pytest.approx(lost)


def test_of_mistakes_those_are_lost_that_the_engine_alone_makes(rated: Rated) -> None:
    rated.eager[0] = -rated.eager[0]
    engine = rated.eager.copy()
    engine[4] = -engine[4]
    found = rated.by("faulty", engine)
    assert found.loss == pytest.approx(1 / 6)
    assert (found.low, found.high) == paired(np.arange(6) == 4, np.zeros(6, bool))


def test_where_the_rows_of_one_side_alone_are_right_or_wrong_it_is_no_share(rated: Rated) -> None:
    engine = np.zeros_like(rated.eager)
    engine[:, 0] = rated.labels + (np.arange(6) == 2)
    found = rated.by("near", engine)
    expected = bootstrapped(rated.module.distance, -1.0, (rated.eager, engine), rated.labels)
    assert found.value == pytest.approx(1 / 6) and (found.low, found.high) == pytest.approx(expected)


@pytest.mark.parametrize("wrong", ["engine", "eager"])
def test_a_metric_that_is_no_mean_of_its_rows_is_no_share(rated: Rated, wrong: str) -> None:
    """Each row alone is right or wrong, and yet the whole is not their mean."""
    engine = rated.eager.copy()
    (engine if wrong == "engine" else rated.eager)[2] *= -1
    found = rated.by("strict", engine)
    assert found.loss == (1.0 if wrong == "engine" else -1.0)
    expected = bootstrapped(rated.module.all_right, 1.0, (rated.eager, engine), rated.labels)
    assert (found.low, found.high) == pytest.approx(expected)


def test_impostors_give_rows_in_the_place_of_others() -> None:
    column = np.array([[1.0], [2.0], [3.0], [2.0]])
    found = _impostors([column, np.zeros((4, 9))], 4)
    assert found["the commonest answer for every row"].tolist() == [1] * 4
    assert sorted(found["the answers shuffled"].tolist()) == [0, 1, 2, 3]
    assert found["the answers shuffled"].tolist() == np.random.default_rng(0).permutation(4).tolist()
    assert list(_impostors([np.zeros((1, 3))], 1)) == ["the answers shuffled"], "one row has no other"
    deep = np.eye(3)[[2, 0, 0]].reshape(3, 1, 3)
    assert _impostors([deep], 3)["the commonest answer for every row"].tolist() == [1] * 3
    pair = _impostors([np.array([[0.0, 1.0], [1.0, 0.0]])], 2)
    assert pair["the commonest answer for every row"].tolist() == [1, 1], "of two as common the first label"


def test_samples_are_stored_in_batches_with_what_eager_makes_of_them(tmp_path: Path, recipes: str) -> None:
    of = task(f"{recipes}:accurate", model=f"{recipes}:build", dims={"batch": {"min": 1, "typical": 4, "max": 4}})
    weight = np.ones((3, 4), "float32")
    save(tmp_path / "w.safetensors", {"body.weight": weight})
    request = SamplesRequest(of, tmp_path / "w.safetensors", ("y",), tmp_path / "held_out.safetensors")
    assert prepare(request) == SamplesAnswer(("00000000", "00000004"))
    stored = load(tmp_path / "held_out.safetensors")
    rows = sys.modules[recipes].ROWS
    assert set(stored) == {f"{case}/{name}" for case in ("00000000", "00000004") for name in ("input/x", "eager/y")}
    assert np.array_equal(stored["00000004/input/x"], rows[4:7])
    assert np.allclose(stored["00000000/eager/y"], rows[:4] @ weight, atol=1e-6)
    prepare(replace(request, checkpoint=None))
    built = load(tmp_path / "held_out.safetensors")["00000000/eager/y"]
    assert np.allclose(built, rows[:4] @ sys.modules[recipes].WEIGHT, atol=1e-6), "the weights that it is built with"


def test_a_recipe_that_feeds_another_input_is_refused(tmp_path: Path, recipes: str) -> None:
    inputs = {"image": {"dtype": "float32", "shape": ["batch", 3], "values": "dataset"}}
    of = task(f"{recipes}:accurate", model=f"{recipes}:build", inputs=inputs)
    with pytest.raises(UsageError, match="the recipe feeds no 'image'") as caught:
        prepare(SamplesRequest(of, None, ("y",), tmp_path / "h"))
    assert caught.value.where == f"{recipes}:accurate"


class Asking:
    """It hears what children would be asked, and lets none run."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def answer(self, question: Question, run: Callable[[], tuple[dict[str, Any], Seen]]) -> dict[str, Any]:
        self.questions.append(question)
        raise ModelError("heard")


@pytest.mark.parametrize("checkpoint", [Path("w.safetensors"), None])
def test_eager_runs_with_the_checkpoint_of_the_bundle_and_only_for_promises(checkpoint: Path | None) -> None:
    asked = harness(subject(artifact("int8"), of=task(precisions=budget(max_metric_loss=0.1)), checkpoint=checkpoint))
    with remembering(memo := Asking()):
        assert plugin.prove([], asked) == {} and not memo.questions
        (found,) = plugin.prove([claim("metric")], asked).values()
    assert (found.outcome, found.reason) == (Outcome.MISSING, "no samples: heard")
    (question,) = memo.questions
    assert question.request["checkpoint"] == (str(checkpoint) if checkpoint else None)
    assert question.environment == SINGLE_THREAD and question.request["outputs"] == ["y", "label"]
    assert json.loads(json.dumps(question.request)) == question.request, "it is JSON as it stands"


REFUSING = Run("onnx", "int8", "openvino")


def test_each_engine_runs_on_the_samples_and_what_it_gives_is_rated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The children are not started: what they are asked, and what becomes of their answers."""
    asked: dict[str, Any] = {}
    jobs: dict[str, EngineJob] = {}
    rated = metric.Rated(
        *("accuracy", 7), value=0.75, eager=0.8125, sign=1.0, impostors={}, loss=0.0625, low=0.0, high=0.125
    )

    def answered(job: Job[Any, Any], request: Any, *limits: Limits, **how: Any) -> SamplesAnswer | metric.Rated:
        assert job.address not in asked, "an engine that refuses leaves nothing to rate"
        asked[job.address] = (request, limits, how)
        return SamplesAnswer(("00000000", "00000004")) if job is prepare else rated

    def ran(job: EngineJob, into: Path, setting: Setting) -> EngineAnswer:
        assert into.is_dir() and not list(into.iterdir()) and setting is made.setting
        jobs[str(into)] = job
        return EngineAnswer(load="no such operator") if job.engine == REFUSING.engine else EngineAnswer()

    monkeypatch.setattr(metric, "call", answered)
    monkeypatch.setattr(EngineJob, "run", ran)
    low = replace(artifact("int8"), outputs=("inside.y",), native_outputs=("inside.y",))
    of = subject(low, of=task(precisions=budget(max_metric_loss=0.1)), folder=tmp_path)
    made = harness(replace(of, outputs=of.outputs[:1]), REFUSING, LOW)
    made = replace(made, setting=Setting(Limits(seconds=7), on_event=lambda event: None))
    proven = plugin.prove([claim("metric", REFUSING), claim("metric")], made)
    assert proven[claim("metric", REFUSING)] == Evidence(Outcome.CRASHED, "no such operator", stage="run")
    found = proven[claim("metric")]
    assert (found.outcome, found.elements, found.metrics["loss"]) == (Outcome.MATCH, 7, 0.0625)
    assert "before" not in found.metrics, "without a checkpoint nothing was trained before"
    assert list(asked) == [prepare.address, rate.address]
    for _, limits, how in asked.values():
        assert limits == (made.setting.limits,)
        assert how == {"environment": SINGLE_THREAD, "imports": PADDLE, "on_event": made.setting.on_event}
    samples = asked[prepare.address][0].into
    (_, into), (_, job) = list(jobs), list(jobs.values())
    names = ("00000000", "00000004")
    rating = RateRequest("a:b", samples, names, Path(into), ("y",), {"y": "inside.y"})
    assert asked[rate.address][0] == rating
    assert (job.engine, job.golden) == (LOW.engine, samples)
    assert job.cases == (EngineCase("00000000", "00000000"), EngineCase("00000004", "00000004"))


class TestInChildren:
    """All of it: eager, a real engine on a real file, and the recipe's metric."""

    def written(self, folder: Path, module: str, weight: Array | None = None) -> None:
        own: Array = sys.modules.get(module, __import__(module)).WEIGHT
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["inside.y"])],
            "linear",
            [helper.make_tensor_value_info("x", 1, ["batch", 3])],
            [helper.make_tensor_value_info("inside.y", 1, ["batch", 4])],
            [numpy_helper.from_array(own if weight is None else weight, "w")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        (folder / "onnx-int8").mkdir(exist_ok=True)
        (folder / "onnx-int8/model.onnx").write_bytes(model.SerializeToString())

    def proved(self, folder: Path, module: str, before: str = "", **more: Any) -> Evidence:
        own: Array = sys.modules.get(module, __import__(module)).WEIGHT
        save(folder / "w.safetensors", {"body.weight": own}, {"before": before} if before else None)
        low = artifact("int8", **more)
        low = type(low)(**{**vars(low), "outputs": ("inside.y",), "native_outputs": ("inside.y",)})
        waiver = {"claim": "*/none", "reason": "a date is no JSON of itself", "until": "2999-01-01"}
        of = task(
            f"{module}:accurate", model=f"{module}:build", precisions=budget(max_metric_loss=0.1), waivers=[waiver]
        )
        made = subject(low, of=of, folder=folder, checkpoint=folder / "w.safetensors")
        made = type(made)(**{**vars(made), "outputs": made.outputs[:1]})
        (found,) = plugin.prove([claim("metric")], harness(made)).values()
        return found

    def test_a_file_that_computes_the_same_loses_nothing(self, tmp_path: Path, recipes: str) -> None:
        self.written(tmp_path, recipes)
        found = self.proved(tmp_path, recipes, before="1.0")
        assert (found.outcome, found.elements) == (Outcome.MATCH, 7), found
        assert (found.metrics["loss"], found.metrics["before"]) == (0.0, 1.0)
        assert found.reason.startswith("accuracy 1.0000, eager's is 1.0000, on 7 held-out samples")

    def test_another_file_loses_what_it_loses(self, tmp_path: Path, recipes: str) -> None:
        self.written(tmp_path, recipes, -sys.modules.get(recipes, __import__(recipes)).WEIGHT)
        found = self.proved(tmp_path, recipes)
        assert (found.outcome, found.metrics["loss"]) == (Outcome.MISMATCH, 1.0) and "before" not in found.metrics

    def test_an_engine_that_does_not_run_it_is_a_crash(self, tmp_path: Path, recipes: str) -> None:
        (tmp_path / "onnx-int8").mkdir()
        (tmp_path / "onnx-int8/model.onnx").write_bytes(b"\x08\x08no model")
        found = self.proved(tmp_path, recipes)
        assert (found.outcome, found.stage) == (Outcome.CRASHED, "run"), found

    def test_without_samples_the_claim_is_missing(self, tmp_path: Path, recipes: str) -> None:
        self.written(tmp_path, recipes)
        (tmp_path / f"{recipes}.py").write_text(RECIPE.replace("def build", "def built"))
        found = self.proved(tmp_path, recipes)
        assert (found.outcome, found.stage) == (Outcome.MISSING, "run") and found.reason.startswith("no samples: ")

    def test_outputs_without_a_row_for_each_sample_cannot_be_rated(self, tmp_path: Path, recipes: str) -> None:
        self.written(tmp_path, recipes)
        (tmp_path / f"{recipes}.py").write_text(RECIPE.replace("return self.body(x)", "return self.body(x).flatten()"))
        found = self.proved(tmp_path, recipes)
        assert (found.outcome, found.stage) == (Outcome.MISSING, "run")
        assert "output 'y' has shape [24] for 6 of the samples, and metric 'accuracy' takes one row" in found.reason
