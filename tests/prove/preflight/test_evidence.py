"""A finding that predicts a silent fault is put to the test: the model is exported and compared, in children."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import CannotRun
from exporter.check import settle
from exporter.process.workers import SINGLE_THREAD, Setting
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.preflight import evidence as code
from exporter.prove.preflight.evidence import gather, judged, weights_there
from exporter.spec.model import Spec
from exporter.spec.read import validate
from tests.models import doubted

FILE = Path(doubted.__file__)
NOWHERE = "nowhere:Net"  # whoever tries it fails
SILENT, LOUD = "EX112", "EX114"


def described(model: str, **more: Any) -> Spec:
    plain = {
        "name": "n",
        "model": model if ":" in model else f"{doubted.__name__}:{model}",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
        "formats": ["pir"],
        "engines": ["jit_load"],
    }
    return validate({key: value for key, value in {**plain, **more}.items() if value is not None}, "test")


def finding(name: str, code: str = SILENT, *, proved: bool = False) -> Diagnostic:
    """A finding at the first condition in `forward` of a model."""
    lines = FILE.read_text().splitlines()
    (start,) = (at for at, text in enumerate(lines) if text.startswith(f"class {name}("))
    line = next(at for at in range(start, len(lines)) if lines[at].strip().startswith("if ")) + 1
    return Diagnostic(code, Severity.ERROR, Location(str(FILE), line, 8), "said", "cure", proved=proved)


def severities(findings: tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity.value) for finding in findings]


@pytest.mark.parametrize(("name", "differs"), [("TypeName", ""), ("OtherBranch", "the values differ")])
def test_what_is_gathered_is_how_they_differ_and_which_lines_ran(name: str, differs: str) -> None:
    spec, doubt = described(name), finding(name)
    doings, said = list[str](), list[str]()
    setting = Setting(on_event=lambda event: doings.append(event["doing"]), say=said.append)
    evidence = gather(spec, [doubt], setting)
    assert {"running the layer on case batch=1", "running the program"} < set(doings)
    assert "comparing the program with the eager layer" in said
    assert evidence.cases == len(plan_cases(spec))
    assert evidence.differs.startswith(differs) and bool(evidence.differs) == bool(differs)
    assert evidence.shown == evidence.differs
    path, line = str(FILE.resolve()), doubt.location.line
    assert line in evidence.eager[path] and line in evidence.traced[path] and line not in evidence.built[path]
    inside = line + 1
    assert (inside in evidence.eager[path], inside in evidence.traced[path]) == (bool(differs), False)


def test_one_size_alone_is_no_comparison() -> None:
    """Of two rows the inputs are too large to be tried."""
    wide = {"x": {"dtype": "float32", "shape": ["batch", 2**21 + 1, 4]}}
    evidence = gather(described("TypeName", inputs=wide), [finding("TypeName")], Setting())
    assert (evidence.differs, evidence.shown) == ("one size alone could be run", "")


def test_children_run_in_one_thread_and_are_asked_for_nothing_that_the_verdict_alone_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Asked(Exception):
        pass

    requests: list[Any] = []

    def call(_: Any, request: Any, __: Any, *, environment: dict[str, str], **___: Any) -> None:
        requests.append(request)
        assert environment == SINGLE_THREAD
        raise Asked

    monkeypatch.setattr(code, "call", call)
    spec = described("TypeName", budget=2.0)
    with pytest.raises(Asked):
        gather(spec, [finding("TypeName")], Setting())
    assert spec.budget == 2.0 and requests[0].spec == spec.without_verdict() != spec


@pytest.mark.parametrize(("name", "severity"), [("TypeName", "warning"), ("OtherBranch", "error")])
def test_a_silent_fault_is_put_down_where_the_program_gives_what_eager_gives(name: str, severity: str) -> None:
    assert severities(judged(described(name), (finding(name),), Setting())) == [(SILENT, severity)]


def test_where_nothing_is_to_be_tried_nothing_runs() -> None:
    spec, doubt = described(NOWHERE), finding("OtherBranch")
    proved = finding("OtherBranch", proved=True)
    for findings in ((), (finding("OtherBranch", LOUD),), (doubt, proved), (proved,)):
        assert judged(spec, findings, Setting()) == findings
        if proved in findings:
            assert judged(spec, findings, Setting(), fully=True) == findings


def test_whoever_asks_fully_hears_of_a_difference_that_no_finding_foretold() -> None:
    (told,) = judged(described("OtherBranch"), (), Setting(), fully=True)
    assert (told.code, told.severity, told.proved) == ("EX205", Severity.ERROR, True)
    assert judged(described("TypeName"), (), Setting(), fully=True) == ()


def test_a_model_that_does_not_run_is_told_with_the_findings() -> None:
    wide = {"x": {"dtype": "float32", "shape": ["batch", 5]}}
    with pytest.raises(CannotRun) as failure:
        judged(described("TypeName", inputs=wide), (finding("TypeName"),), Setting())
    assert severities(failure.value.findings)[0][0] == SILENT


def test_an_export_that_fails_stands_beside_what_foretold_it() -> None:
    findings = judged(described("Hidden"), (finding("TypeName"), finding("OtherBranch", LOUD)), Setting())
    assert settle.CANNOT_EXPORT in {told.code for told in findings}
    assert {told.severity for told in findings if told.code == settle.CANNOT_EXPORT} == {Severity.ERROR}


@pytest.mark.parametrize("formats", [["pdmodel"], ["onnx", "pir"]])
def test_it_is_compared_as_a_trace_to_pir_unless_there_are_legacy_programs_alone(formats: list[str]) -> None:
    """ONNX is no program of Paddle's."""
    spec = described("TypeName", formats=formats, engines=["paddle_inference", "onnxruntime"])
    said: list[str] = []
    assert severities(judged(spec, (finding("TypeName"),), Setting(say=said.append))) == [(SILENT, "warning")]
    assert not any("onnx" in text for text in said), "nothing else is written unless somebody asks fully"
    assert any("pdmodel" in text for text in said) is (formats == ["pdmodel"])
    if "onnx" in formats:
        judged(spec, (finding("TypeName"),), Setting(say=said.append), fully=True)
        assert any("onnx" in text for text in said)


def test_without_data_and_without_a_silent_fault_the_model_is_exported_and_no_more() -> None:
    """As `convert` does, which asks for no data then."""
    rows = {"x": {"dtype": "float32", "shape": ["batch", 4], "values": "dataset"}}
    of_rows = described("TypeName", inputs=rows, recipe="nowhere:recipe", weights=None)
    (loud,) = judged(of_rows, (finding("TypeName", LOUD),), Setting(), fully=True)
    assert (loud.code, loud.severity) == (LOUD, Severity.WARNING)


def test_a_checkpoint_that_is_not_there_yet_is_the_factory_s_weights(tmp_path: Path) -> None:
    def there(**more: Any) -> Path | None:
        return weights_there(described("TypeName", weights=None, **more))

    file = tmp_path / "w.safetensors"
    assert weights_there(described("TypeName")) is None
    assert there(checkpoint=str(file)) is None
    file.touch()
    assert there(checkpoint=str(file)) == file
    (tmp_path / "folder.safetensors").mkdir()
    assert there(checkpoint=str(tmp_path / "folder.safetensors")) is None
