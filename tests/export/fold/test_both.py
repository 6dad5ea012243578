"""Recorded samples through the steps and the plain layer, and through the layer with the steps in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.errors import UsageError
from exporter.base.tensors import Array, load, save_scratch
from exporter.export.fold.both import BothRequest, run_both
from exporter.export.trace.layer import load_layer
from exporter.prove.proofs.kinds.folded import ANSWER, READY, judge_both
from exporter.prove.verdict.claim import Outcome
from exporter.spec.read import validate
from exporter.steps.chain import read_chain, steps_of

PICTURE = {"dtype": "uint8", "shape": ["batch", 4, 4, 1], "values": "integers(0,256)"}
FACTOR = {"dtype": "float32", "shape": ["batch", 1]}
BEFORE: list[Any] = [{"normalize": {"scale": 1 / 16}}, "layout"]
HEADS = "tests.export.fold.test_layer:Heads"
RANDOM = np.random.RandomState(0)
#: The recorded inputs of three cases, whose factors turn the best class into the worst.
CASES = {
    f"batch={rows}": {
        "image": RANDOM.randint(0, 17, (rows, 4, 4, 1)).astype("uint8"),
        "factor": np.where(np.arange(rows)[:, None] % 2, 1, -1).astype("float32"),
    }
    for rows in (3, 5, 1)
}


class Scores(paddle.nn.Layer):
    """A picture [batch, 1, 4, 4] to scores without a name."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(16, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.linear(x.flatten(1))


class Pooled(Scores):
    """One row, whatever the batch."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x).mean(axis=0, keepdim=True)


class Mixed(Scores):
    """A row for each picture, and one beside them."""

    def forward(self, x: paddle.Tensor) -> dict[str, paddle.Tensor]:
        scores = super().forward(x)
        return {"scores": scores, "mean": scores.mean(axis=0, keepdim=True)}


class Summed(Scores):
    """No row."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x).sum()


def run(
    folder: Path,
    model: str,
    after: Sequence[Any],
    before: Sequence[Any] = BEFORE,
    cases: Sequence[str] = tuple(CASES),
    checkpoint: Path | None = None,
    **more: Any,
) -> dict[str, Array]:
    """What is written of cases, of a model that is made with its seed."""
    inputs = {"image": PICTURE} if "Heads" not in model else {"factor": FACTOR, "image": PICTURE}
    sides = {"preprocess": before, "postprocess": after}
    chains = {side: {"training": steps, "deployment": steps} for side, steps in sides.items()}
    dims = {"batch": {"min": 1, "typical": 3, "max": 5}}
    spec = {"name": "n", "model": model, "weights": "factory", "inputs": inputs, "dims": dims, "formats": ["onnx"]}
    pipeline = {"samples": ["*.npy"], "fold": True, "input": "image", **chains}
    save_scratch(
        folder / "golden",
        {f"{case}/input/{name}": value for case, values in CASES.items() for name, value in values.items()},
    )
    of = validate({**spec, "pipeline": pipeline, **more}, "test")
    run_both(BothRequest(of, checkpoint, folder / "golden", tuple(cases), folder / "both"))
    return load(folder / "both")


def ready(case: str) -> Array:
    """What the steps before the model make of a case's samples."""
    chain = read_chain(BEFORE)
    return np.stack([[*steps_of(chain, {"value": image})][-1]["value"] for image in CASES[case]["image"]])


def matches(made: dict[str, Array]) -> bool:
    """Whether the proof lets both ways pass."""
    return all(judge_both(made, what).outcome is Outcome.MATCH for what in (READY, ANSWER))


def test_both_ways_give_what_the_steps_around_the_plain_layer_give(tmp_path: Path) -> None:
    made = run(tmp_path, HEADS, [{"take": {"output": "scores"}}, "argmax"], args={"classes": 4}, seed=3)
    assert set(made) == {
        f"{case}/{what}/{way}/value" for case in CASES for what in ("ready", "answer") for way in ("steps", "graph")
    }
    plain = load_layer(f'{HEADS} {{"classes": 4}}', None, 3)
    for case, inputs in CASES.items():
        outputs = plain(paddle.to_tensor(inputs["factor"]), paddle.to_tensor(ready(case)))
        for way in ("steps", "graph"):
            assert np.array_equal(made[f"{case}/ready/{way}/value"], ready(case))
            assert np.array_equal(made[f"{case}/answer/{way}/value"], outputs["scores"].numpy().argmax(1))
    assert matches(made)


def test_the_first_output_is_handed_on(tmp_path: Path) -> None:
    made = run(tmp_path, HEADS, [{"cast": {"dtype": "int64"}}])
    for case in CASES:
        for way in ("steps", "graph"):
            sums = ready(case).sum(axis=(1, 2, 3)).astype("int64")
            assert np.array_equal(made[f"{case}/answer/{way}/value"], sums)


def test_of_the_cases_those_that_are_asked_for_run(tmp_path: Path) -> None:
    assert {name.partition("/")[0] for name in run(tmp_path, HEADS, ["sigmoid"], cases=["batch=5"])} == {"batch=5"}


def test_a_checkpoint_is_loaded(tmp_path: Path) -> None:
    best = {"linear.weight": np.zeros((16, 4), "float32"), "linear.bias": np.float32([0, 0, 7, 0])}
    save_scratch(tmp_path / "best", best)
    made = run(tmp_path, "tests.export.fold.test_both:Scores", ["argmax"], checkpoint=tmp_path / "best")
    assert made["batch=5/answer/steps/value"].tolist() == made["batch=5/answer/graph/value"].tolist() == [2] * 5


@pytest.mark.parametrize("model", ["Scores", "Heads"])
def test_the_scores_of_a_topk_are_compared_too(model: str, tmp_path: Path) -> None:
    """Whether the model has an output of that name or none."""
    named = f"tests.export.fold.test_{'both' if model == 'Scores' else 'layer'}:{model}"
    first = [] if model == "Scores" else [{"take": {"output": "scores"}}]
    made = run(tmp_path, named, [*first, {"topk": {"k": 2}}])
    assert {name for name in made if "/answer/" in name} == {
        f"{case}/answer/{way}/{name}" for case in CASES for way in ("steps", "graph") for name in ("value", "scores")
    }
    for case in CASES:
        assert made[f"{case}/answer/graph/value"].dtype == np.int64
        assert made[f"{case}/answer/graph/scores"].shape == made[f"{case}/answer/graph/value"].shape
    assert matches(made)


def test_without_steps_behind_the_model_the_answer_is_its_first_output(tmp_path: Path) -> None:
    """So its rows need not be those of the samples."""
    made = run(tmp_path, "tests.export.fold.test_both:Pooled", ["tests.steps.users:doubled"])
    plain = load_layer("tests.export.fold.test_both:Pooled", None, 0)
    for case in CASES:
        for way in ("steps", "graph"):
            wanted = plain(paddle.to_tensor(ready(case))).numpy()
            assert np.array_equal(made[f"{case}/answer/{way}/value"], wanted)


def test_without_steps_before_the_model_it_gets_what_was_recorded(tmp_path: Path) -> None:
    made = run(tmp_path, "tests.export.fold.test_both:Bytes", ["argmax"], before=["tests.steps.users:halved"])
    for case, inputs in CASES.items():
        assert np.array_equal(made[f"{case}/ready/steps/value"], inputs["image"])
    assert matches(made)


class Bytes(Scores):
    """Takes pictures as they were recorded."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return super().forward(x.astype("float32"))


@pytest.mark.parametrize(
    ("model", "shapes"), [("Pooled", "[[1, 4]]"), ("Mixed", "[[3, 4], [1, 4]]"), ("Summed", "[[]]")]
)
def test_a_model_without_a_row_for_each_sample_has_no_steps_behind_it(model: str, shapes: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        run(tmp_path, f"tests.export.fold.test_both:{model}", ["argmax"])
    assert caught.value.what == f"the model gives {shapes} for 3 samples, so no step can take one"
    assert caught.value.where == "pipeline.postprocess.deployment"


def test_a_spec_without_a_pipeline_folds_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a spec without a pipeline folds nothing in"):
        run(tmp_path, HEADS, [], pipeline=None)
