"""A promise of low precision that nothing could keep or break is refused before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from exporter.base.errors import UsageError
from exporter.prove.verdict.plan import refuse_promises, with_defaults
from exporter.spec.model import Spec
from exporter.spec.read import validate
from tools.spec_pages import sections

IMAGE = {"dtype": "float32", "shape": [2], "values": "dataset"}


def spec(budget: dict[str, Any], precision: str = "int8", **more: Any) -> Spec:
    content = {
        "name": "n",
        "model": "a:b",
        "recipe": "a:r",
        "inputs": {"x": IMAGE},
        "formats": ["pir", "onnx"],
        "engines": ["jit_load", "onnxruntime"],
        "precisions": {"fp32": {}, precision: {"formats": ["onnx"], "budget": budget}},
    }
    return validate({**content, **more}, "test")


def refusal(asked: Spec) -> UsageError:
    with pytest.raises(UsageError) as caught:
        refuse_promises(asked)
    return caught.value


@pytest.mark.parametrize(
    "budget",
    [
        {},
        {"min_snr_db": 30},
        {"max_metric_loss": 0.0},
        {"max_metric_loss": "unrated"},
        {"min_speedup": {"engine": "onnxruntime", "ratio": 2}},
        {"min_speedup": {"engine": "onnxruntime", "ratio": 2, "over": "jit_load"}},
    ],
)
def test_what_can_be_measured_may_be_promised(budget: dict[str, Any]) -> None:
    assert refuse_promises(spec(budget)) is None


def test_a_metric_needs_a_recipe() -> None:
    asked = spec({"max_metric_loss": 0.0}, recipe=None, weights="factory", inputs={"x": {**IMAGE, "values": "normal"}})
    found = refusal(asked)
    assert "nothing says what it is measured on" in found.what
    assert found.where == "precisions.int8.budget.max_metric_loss"


def test_no_metric_needs_nothing() -> None:
    inputs = {"x": {**IMAGE, "values": "normal"}}
    asked = spec({"max_metric_loss": "unrated"}, recipe=None, weights="factory", inputs=inputs)
    assert refuse_promises(asked) is None
    assert refuse_promises(spec({}, inputs=inputs, pipeline={**AROUND, "max_metric_loss": "unrated"})) is None


def test_a_metric_needs_the_recipe_s_data_in_every_input() -> None:
    inputs = {"x": IMAGE, "y": {**IMAGE, "values": "normal"}}
    assert "max_metric_loss" in refusal(spec({"max_metric_loss": 0.5}, inputs=inputs)).where
    refuse_promises(spec({"min_top1": 0.5}, inputs=inputs))


def test_a_speed_of_an_engine_that_is_not_planned_is_refused_with_the_likely_one() -> None:
    found = refusal(spec({"min_speedup": {"engine": "onnxruntim", "ratio": 2}}))
    assert "'onnxruntim', which is none of the spec's engines" in found.what
    hint = "did you mean 'onnxruntime'? one of: jit_load, onnxruntime"
    assert (found.where, found.hint) == ("precisions.int8.budget.min_speedup.engine", hint)
    assert refusal(spec({"min_speedup": {"engine": "tflite", "ratio": 2}})).hint == ("one of: jit_load, onnxruntime")


def test_a_speed_needs_an_engine_that_runs_the_variant() -> None:
    found = refusal(spec({"min_speedup": {"engine": "jit_load", "ratio": 2}}))
    assert "'jit_load', which runs no int8 variant of the spec" in found.what and "in fp32" in found.hint


def test_a_speed_over_an_engine_needs_one_that_runs_fp32() -> None:
    found = refusal(spec({"min_speedup": {"engine": "onnxruntime", "ratio": 2, "over": "static"}}))
    assert "'static' runs no fp32 variant" in found.what and found.where.endswith("min_speedup.over")


def test_one_variant_that_the_engine_runs_is_enough() -> None:
    speed = {"min_speedup": {"engine": "onnxruntime", "ratio": 2}}
    both = {"fp32": {}, "int8": {"formats": ["pdmodel", "onnx"], "budget": speed}}
    assert refuse_promises(spec({}, formats=["pdmodel", "onnx"], precisions=both)) is None


def test_a_variant_that_the_spec_does_not_make_keeps_no_promise() -> None:
    speed = {"min_speedup": {"engine": "paddle_inference_int8", "ratio": 2}}
    engines = ["paddle_inference_int8", "onnxruntime"]
    assert "runs no int8 variant" in refusal(spec(speed, formats=["pdmodel", "onnx"], engines=engines)).what


def folded(training: list[Any] | None, deployment: list[Any] | None, *, fold: bool = True) -> Spec:
    """A spec whose steps behind the model are these; with None there are none."""
    sides: dict[str, Any] = {"preprocess": {"training": ["layout"], "deployment": ["layout"]}}
    if training is not None:
        sides["postprocess"] = {"training": training, "deployment": deployment}
    return spec({}, pipeline={"samples": ["*.npy"], "fold": fold, **sides})


def test_behind_a_folded_model_training_has_the_steps_of_deployment() -> None:
    """Those in the graph are not compared with others: nothing would notice that they differ."""
    refused = refusal(folded(["softmax", "argmax"], ["argmax"]))
    assert refused.what == "the steps behind a folded model are deployment's, and training has others"
    assert refused.where == "pipeline.postprocess"
    for same in (folded(["argmax"], ["argmax"]), folded(None, None), spec({})):
        assert refuse_promises(same) is None


def test_without_fold_both_sides_are_run_and_compared() -> None:
    assert refuse_promises(folded(["softmax", "argmax"], ["argmax"], fold=False)) is None


NORMAL = {"x": {**IMAGE, "values": "normal"}}
AROUND = {"samples": ["*.npy"], "preprocess": {"training": ["layout"], "deployment": ["layout"]}}


def test_the_loss_of_a_pipeline_needs_the_recipe_s_data_where_somebody_bounds_it() -> None:
    asked = spec({}, inputs=NORMAL, pipeline={**AROUND, "max_metric_loss": 0.001})
    assert refusal(asked).where == refusal(with_defaults(asked)).where == "pipeline.max_metric_loss"
    refuse_promises(with_defaults(spec({}, inputs=NORMAL, pipeline=AROUND)))
    refuse_promises(spec({}, pipeline={**AROUND, "max_metric_loss": 0.001}))


@pytest.mark.parametrize("key", [{"opset": 18}, {"writer": "paddle2onnx"}, {"external_data_mb": 1.0}])
def test_a_key_about_onnx_needs_onnx(key: dict[str, Any]) -> None:
    plain = {"precisions": ["fp32"], **key}
    assert refusal(spec({}, formats=["pir"], **plain)).where == next(iter(key))
    refuse_promises(spec({}, **plain))


#: What answers each key of a spec, in every spec that has it: it is what is made, or a claim or a refusal is about it.
MADE = """name version model source args recipe checkpoint weights prune prune.flops prune.importance
    prune.multiple_of inputs
    inputs.NAME.dtype inputs.NAME.shape inputs.NAME.values inputs.NAME.empty_rows inputs.NAME.finite
    dims dims.NAME.min dims.NAME.typical dims.NAME.max
    dims.NAME.multiple_of outputs formats engines precisions golden_mb seed device pipeline pipeline.samples
    pipeline.input pipeline.preprocess pipeline.preprocess.training pipeline.preprocess.deployment pipeline.postprocess
    pipeline.fold precisions.NAME.budget""".split()
CLAIMED = """budget determinism pipeline.tolerance precisions.NAME.budget.min_snr_db precisions.NAME.budget.min_top1
    precisions.NAME.budget.max_size precisions.NAME.budget.min_speedup.ratio
    precisions.NAME.budget.min_speedup.batch""".split()
#: By the test that shows the refusal; `precision` by :meth:`Precision.refuse`, `model` by the spec's own validators.
REFUSED_BY = {
    "here": """opset writer external_data_mb targets pipeline.max_metric_loss precisions.NAME.budget.max_metric_loss
        precisions.NAME.budget.min_speedup precisions.NAME.budget.min_speedup.engine
        precisions.NAME.budget.min_speedup.over pipeline.postprocess.training pipeline.postprocess.deployment""",
    "tests/weights/prune/test_search.py": "prune.epochs",
    "tests/e2e/test_candidates.py": "candidates candidates[].file candidates[].name",
    "tests/gate/test_touched.py": "ignores",
    "tests/spec/test_decoding.py": """decoding decoding.cache decoding.steps decoding.tokens decoding.counts
        decoding.held""",
    "tests/e2e/test_preflight.py": "depends waivers waivers[].claim waivers[].reason waivers[].until",
    "model": "ranks precisions.NAME.timed precisions.NAME.epochs precisions.NAME.formats",
    "precision": """precisions.NAME.samples precisions.NAME.data precisions.NAME.noise precisions.NAME.method
        precisions.NAME.activations precisions.NAME.keep precisions.NAME.search precisions.NAME.ranges
        precisions.NAME.cpu""",
}


def test_every_key_of_a_spec_is_answered() -> None:
    """A new key has to be put under one of these, and what is refused elsewhere is shown to be by a test of it."""
    refused = [key for keys in REFUSED_BY.values() for key in keys.split()]
    known = [*MADE, *CLAIMED, *refused]
    assert len(set(known)) == len(known)
    assert set(known) == {key.place for section in sections() for key in section.keys}
