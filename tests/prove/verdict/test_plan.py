from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.export.lower.convert import FORMATS, JUDGED_ONLY
from exporter.prove.verdict.plan import ENGINES, only_legacy, plan_runs, plan_some, source_engines, with_defaults
from exporter.spec.read import validate
from exporter.spec.source import FACTORY

ALL = [("pir", "fp32"), ("pdmodel", "fp32"), ("onnx", "fp32")]
USUAL = ("jit_load", "paddle_inference", "onnxruntime")


def pairs(runs: object) -> set[str]:
    return {f"{run.variant}/{run.engine}" for run in runs}  # type: ignore[attr-defined]


def test_every_engine_meets_every_variant_that_it_runs() -> None:
    assert pairs(plan_runs(USUAL, ALL, ("eager", "static"))) == {
        "source/eager",
        "source/static",
        "pir/jit_load",
        "pdmodel/jit_load",
        "pir/paddle_inference",
        "pdmodel/paddle_inference",
        "onnx/onnxruntime",
    }


def test_without_the_source_only_the_files_are_planned() -> None:
    assert not {run for run in plan_runs(USUAL, ALL) if run.format == "source"}


def test_what_is_installed_does_not_shape_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine whose package is missing is planned all the same, so that its claims are MISSING."""
    for name in ("onnxruntime", "openvino", "paddle"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    assert "onnx/openvino" in pairs(plan_runs((*USUAL, "openvino"), ALL))


def test_a_format_that_nothing_proves_is_refused() -> None:
    with pytest.raises(UsageError, match="no engine runs the format 'onnx'") as caught:
        plan_runs(("jit_load",), ALL, ("eager", "static"))
    assert "onnxruntime" in caught.value.hint


def test_an_engine_with_nothing_to_run_is_refused() -> None:
    with pytest.raises(UsageError, match="'onnxruntime' runs none of the formats"):
        plan_runs(("jit_load", "onnxruntime"), ALL[:1], ("eager", "static"))


@pytest.mark.parametrize("plan", [plan_runs, plan_some])
def test_an_unknown_engine_is_refused_with_the_likely_one(plan: object) -> None:
    with pytest.raises(UsageError, match="unknown engine 'onnxruntim'") as caught:
        plan(("onnxruntim",), ALL, True if plan is plan_some else ("eager",))  # type: ignore[operator]
    assert "did you mean 'onnxruntime'?" in caught.value.hint


def test_somebody_may_ask_for_one_engine() -> None:
    assert pairs(plan_some(("onnxruntime", "onnxruntime"), ALL, with_source=True)) == {"onnx/onnxruntime"}
    assert pairs(plan_some(("eager", "jit_load"), ALL[:1], with_source=True)) == {"source/eager", "pir/jit_load"}


def test_engines_that_read_no_artifact_prove_nothing_of_the_bundle() -> None:
    with pytest.raises(UsageError, match="eager and static read no artifact"):
        plan_some(("eager", "static"), ALL, with_source=True)


@pytest.mark.parametrize("engine", ["eager", "static", "onnxruntime"])
def test_asking_for_what_cannot_run_here_is_refused_and_plans_nothing(engine: str) -> None:
    with pytest.raises(UsageError, match=f"'{engine}' has nothing to run here") as caught:
        plan_some((engine,), ALL[:1], with_source=False)
    assert ("give --source DIR" in caught.value.hint) == (engine != "onnxruntime"), "it is asked for where it helps"


@pytest.mark.parametrize(("engines", "variants"), [((), ALL), ((), []), (USUAL, [])])
def test_no_plan_is_empty(engines: tuple[str, ...], variants: list[tuple[str, str]]) -> None:
    if not engines and not variants:
        assert plan_runs(engines, variants) == ()  # and a Verdict of it cannot be built
        return
    with pytest.raises(UsageError):
        plan_runs(engines, variants)


@pytest.mark.parametrize(
    ("formats", "engines"),
    [
        (["pir"], ("jit_load", "paddle_inference")),
        (["onnx"], ("onnxruntime",)),
        (["pdmodel", "onnx"], ("jit_load", "paddle_inference", "onnxruntime")),
    ],
)
def test_engines_that_nobody_named_follow_the_formats(formats: list[str], engines: tuple[str, ...]) -> None:
    inputs = {"x": {"dtype": "float32", "shape": [2]}}
    content = {"name": "n", "model": "a:b", "weights": "factory", "inputs": inputs, "formats": formats}
    settled = with_defaults(validate(content, "test"))
    assert settled.engines == engines and plan_runs(settled.engines, [(one, "fp32") for one in formats])
    named = validate({**content, "engines": ["onnxruntime", "jit_load"]}, "test")
    assert with_defaults(named) == named, "what a spec names is what it promises"


def test_every_engine_names_formats() -> None:
    for name, engine in ENGINES.all():
        assert engine.formats and set(engine.formats) <= {"source", *FORMATS.names(), *JUDGED_ONLY}, name


def test_a_variant_of_another_precision_is_planned_by_its_name() -> None:
    runs = plan_runs(("onnxruntime",), [("onnx", "fp32"), ("onnx", "fp16")])
    assert pairs(runs) == {"onnx/onnxruntime", "onnx-fp16/onnxruntime"}


def test_a_variant_that_nothing_proves_is_refused_with_the_engines_that_could() -> None:
    with pytest.raises(UsageError, match="no engine runs the format 'pdmodel' in int8, so") as caught:
        plan_runs(USUAL, [*ALL, ("pdmodel", "int8")])
    able = [name for name, engine in ENGINES.all() if engine.runs("pdmodel", "int8")]
    assert able and caught.value.hint == f"add one of: {', '.join(able)}" and "onnxruntime" not in able
    with pytest.raises(UsageError, match="no engine runs the format 'onnx', so"):
        plan_runs(("jit_load",), ALL)


def test_the_source_s_engines_may_be_named_beside_others() -> None:
    named = ("eager", "static", *USUAL)
    assert plan_runs(named, ALL, ("eager", "static")) == plan_runs(USUAL, ALL, ("eager", "static"))


def test_a_spec_is_settled_with_its_engines_and_the_steps_that_files_name(tmp_path: Path) -> None:
    config = tmp_path / "inference.yml"
    config.write_text("PreProcess:\n  transform_ops:\n  - ToCHWImage:\n")
    content = {"name": "n", "model": "a:b", "weights": "factory", "inputs": {"x": {"dtype": "float32", "shape": [2]}}}
    plain = {**content, "formats": ["onnx"]}
    assert with_defaults(validate(plain, "test")) == with_defaults(validate(plain, "test"))
    assert with_defaults(validate(plain, "test")).engines == ("onnxruntime",)
    steps = {"training": ["layout"], "deployment": f"paddleclas:{config}"}
    asked = validate({**plain, "pipeline": {"samples": ["*.png"], "preprocess": steps}}, "test")
    whole = with_defaults(asked)
    assert whole.engines == ("onnxruntime",) and whole.pipeline is not None
    assert whole.pipeline.preprocess.deployment == ({"decode": {"order": "rgb"}}, "layout")
    assert whole.pipeline.preprocess.training == ("layout",)


@pytest.mark.parametrize(
    ("program", "formats", "engines", "ways"),
    [
        ("inference.json", ["onnx", "pir"], ["onnxruntime", "jit_load"], ("file",)),
        ("inference.json", ["onnx"], ["onnxruntime", "paddle_inference_default"], ("file", "file_default")),
        ("inference.json", ["pdmodel"], ["jit_load", "paddle_inference_tensorrt"], ("file",)),
        ("inference.pdmodel", ["pdmodel"], ["paddle_inference_tensorrt"], ("file", "file_tensorrt")),
    ],
)
def test_a_file_is_run_as_it_is_to_be_served(
    program: str, formats: list[str], engines: list[str], ways: tuple[str, ...]
) -> None:
    described = {"name": "m", "weights": "factory", "inputs": {"x": {"dtype": "float32", "shape": [1]}}}
    described |= {"model": FACTORY, "args": {"program": program}, "formats": formats, "engines": engines}
    spec = validate(described, "a")
    planned = source_engines(spec)
    assert {f"source/{name}" for name in ways} < pairs(plan_runs(spec.engines, spec.variants(), planned))
    assert tuple(name for name in planned if name.startswith("file")) == ways and "eager" in planned
    plain = source_engines(validate({**described, "model": "a:b"}, "b"))
    assert not any(name.startswith("file") for name in plain)


@pytest.mark.parametrize(
    ("formats", "legacy"),
    [(["pdmodel"], True), (["pdmodel", "onnx"], False), (["pir"], False), (["openvino"], False)],
)
def test_the_trace_is_planned_where_a_variant_is_made_of_it(formats: list[str], legacy: bool) -> None:
    described = {"name": "m", "weights": "factory", "inputs": {"x": {"dtype": "float32", "shape": [1]}}, "model": "a:b"}
    spec = validate(described, "a").model_copy(update={"formats": tuple(formats)})  # somebody's IR is judged, too
    assert only_legacy(spec) is legacy
    assert source_engines(spec) == (("eager",) if legacy else ("eager", "static"))
