"""Asked and effective: what is told of each session, and where the two are not the same."""

from __future__ import annotations

from dataclasses import replace

from exporter.base.numbers.golden import GoldenCase, one_thread, to_run
from exporter.engines.base import Settings
from exporter.export.lower.base import Artifact
from exporter.prove.judge.settings import conditions, differences
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from tests.prove.compare.goldens import cases_of

ONNX = Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",), {}, {"opset_asked": 17, "opset": 17})
CLAIM = Claim("onnx", "fp32", "openvino", "batch=4", "y")


def verdict(*settings: Settings | None) -> Verdict:
    claims = [replace(CLAIM, case=f"batch={at}") for at in range(len(settings))]
    evidence = {
        claim: Evidence(Outcome.MATCH, elements=1, under=under) for claim, under in zip(claims, settings, strict=True)
    }
    return Verdict(frozenset(claims), evidence)


def test_one_condition_for_each_session() -> None:
    one, two = Settings({"threads": 1}, {"threads": 1}), Settings({"threads": 2}, {"threads": 2})
    assert [found.settings for found in conditions(verdict(one, one, two, None))] == [one, two]


def test_nothing_is_said_where_all_is_as_asked() -> None:
    assert not differences(verdict(Settings({"precision": "f32"}, {"precision": "f32"})), {"onnx": ONNX})


def test_a_default_precision_that_is_not_the_variant_s_is_said() -> None:
    (note,) = differences(verdict(Settings({}, {"precision": "bf16"})), {"onnx": ONNX})
    assert note == "onnx/openvino computes in bf16 by its own default; the variant is fp32"


def test_a_variant_of_another_precision_may_be_computed_in_it() -> None:
    half = replace(CLAIM, precision="fp16")
    found = Evidence(Outcome.MATCH, elements=1, under=Settings({}, {"precision": "f16"}))
    assert not differences(Verdict(frozenset({half}), {half: found}), {})


def test_a_setting_that_was_not_taken_is_said() -> None:
    (note,) = differences(verdict(Settings({"threads": 2}, {"threads": 1})), {"onnx": ONNX})
    assert "threads 2 was asked for and 1 is in effect" in note


def test_a_raised_opset_is_said() -> None:
    raised = replace(ONNX, details={"opset_asked": 11, "opset": 16})
    (note,) = differences(verdict(None), {"onnx": raised})
    assert "opset 11 was asked for" in note and "wrote opset 16" in note


def test_a_value_that_is_declared_otherwise_than_its_kernel_gives_it_is_said() -> None:
    other = replace(ONNX, details={**ONNX.details, "declared_otherwise": ["operator unique", "operator where"]})
    notes = differences(verdict(None), {"pir": other, "onnx": ONNX})
    assert notes == ["pir: operator unique", "pir: operator where"]


def test_the_largest_case_is_run_in_other_threads_and_the_first_again() -> None:
    sizes = {"batch=4": 4, "batch=9": 9, "batch=1": 1}
    recorded = [
        GoldenCase(name, {"batch": size}, {"y": one}, name)
        for (name, size), one in zip(sizes.items(), cases_of([(size, 3) for size in sizes.values()]), strict=True)
    ]
    again, shared = to_run(recorded)[3:]
    assert (again.name, again.recorded, again.threads) == ("batch=4:again", "batch=4", 1)
    assert (shared.name, shared.recorded, shared.threads) == ("batch=9:threads=2", "batch=9", 2)
    assert [one_thread(case.name) for case in to_run(recorded)] == [True] * 4 + [False]


def test_values_that_were_computed_off_the_gpu_are_said_and_sizes_are_not() -> None:
    asked = {"provider": "CUDAExecutionProvider"}
    placed = {"provider": "CUDAExecutionProvider", "sizes_elsewhere": "Shape 2", "values_elsewhere": "NonZero 1"}
    (note,) = differences(verdict(Settings(asked, placed)), {"onnx": ONNX})
    assert note.endswith("CUDAExecutionProvider was asked for, and these computed values elsewhere: NonZero 1")
    assert not differences(verdict(Settings(asked, {**placed, "values_elsewhere": ""})), {"onnx": ONNX})
