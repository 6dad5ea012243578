"""What an export and a comparison say of findings: which refuse, which are put down, and which stay in doubt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import ModelError, NotATensor
from exporter.check import settle
from exporter.check.rules.base import Fault, Shown
from exporter.check.run import rules
from exporter.check.settle import Evidence

CODE = """\
def forward(self, x):
    if ask(x):
        x = x * 2
    else:
        x = x + 1
    if ask(x) and x.max() > 3:
        x = x * 3
    flag = ask(x)
    return x
"""
EVERY, DECISION, SOME, LOUD = "EX122", "EX112", "EX101", "EX114"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(CODE)
    return tmp_path / "net.py"


def found(code: str, file: Path, line: int) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, Location(str(file), line, 8), "said", "cure")


def ran(file: Path, eager: set[int], traced: set[int], differs: str = "") -> Evidence:
    path = str(file.resolve())
    return Evidence(4, differs, {path: frozenset(eager)}, {path: frozenset(traced)})


def severity(finding: Diagnostic, evidence: Evidence) -> str:
    (after,) = settle.settle([finding], evidence)
    return after.severity.value


@pytest.mark.parametrize(
    ("code", "differs", "expected"),
    [(EVERY, "", "warning"), (EVERY, "they differ", "error"), (SOME, "they differ", "warning")],
)
def test_what_builds_the_layer_is_felt_by_every_run(file: Path, code: str, differs: str, expected: str) -> None:
    """As `spectral_norm(…)` in `__init__`; a rule that speaks of `forward` alone is disproved there."""
    evidence = Evidence(4, differs, built={str(file.resolve()): frozenset({3})})
    assert severity(found(code, file, 3), evidence) == expected


@pytest.mark.parametrize("code", rules())
def test_a_rule_whose_fault_an_export_may_hide_says_where_it_would_show(code: str) -> None:
    rule = rules()[code]
    loud = set(rule.predicts) <= {Fault.FAILS, Fault.ENDS, Fault.UNUSABLE}
    assert rule.predicts and (rule.shown is Shown.EXPORT) is loud


@pytest.mark.parametrize(
    ("code", "line", "eager", "traced", "differs", "expected"),
    [
        (EVERY, 3, {2, 3}, {2, 3}, "", "warning"),
        (EVERY, 3, {2, 3}, {2, 3}, "the values differ", "error"),
        (EVERY, 3, {2, 5}, {2, 3}, "", "error"),  # only the trace runs it
        (EVERY, 3, {2, 5}, {2, 5}, "the values differ", "warning"),  # nothing runs it
        (DECISION, 2, {2, 3}, {2, 3}, "", "warning"),
        (DECISION, 2, {2, 3}, {2, 5}, "", "error"),  # equal values, other sides
        (DECISION, 6, {6}, {6}, "", "error"),  # another question decides as well
        (DECISION, 8, {8}, {8}, "", "error"),  # no condition: who knows what becomes of the answer
        (SOME, 3, {2, 3}, {2, 3}, "", "error"),
        (SOME, 3, {2, 5}, {2, 5}, "", "warning"),
        ("EX143", 3, {2, 3}, {2, 3}, "", "error"),  # equal at sizes for which the table has no entry
        (SOME, 1, set(), set(), "", "error"),  # a definition is no line that runs
        (LOUD, 3, {2, 3}, {2, 3}, "the values differ", "warning"),
    ],
)
def test_a_finding_is_put_down_only_by_what_disproves_it(
    file: Path, code: str, line: int, eager: set[int], traced: set[int], differs: str, expected: str
) -> None:
    assert severity(found(code, file, line), ran(file, eager, traced, differs)) == expected


def test_what_was_shown_by_a_run_or_cannot_be_parsed_is_never_put_down(file: Path) -> None:
    for code in (EVERY, SOME, LOUD):
        proved = replace(found(code, file, 3), proved=True)
        assert settle.refuses(proved) and severity(proved, ran(file, set(), set())) == "error"
    unreadable = found("EX001", file, 1)
    assert settle.refuses(unreadable) and severity(unreadable, ran(file, set(), set())) == "error"


def test_a_finding_that_foretells_a_failure_refuses_nothing_before_the_export(file: Path) -> None:
    loud, warned = found(LOUD, file, 3), replace(found(SOME, file, 3), severity=Severity.WARNING)
    assert not settle.refuses(loud) and not settle.refuses(warned)
    assert [one.severity for one in settle.exported([loud, warned])] == [Severity.WARNING] * 2


def test_a_failure_is_told_by_the_finding_that_foretold_it(file: Path) -> None:
    loud, elsewhere = found(LOUD, file, 3), found(LOUD, file, 8)
    told = settle.failed([loud, elsewhere], ModelError("pir: trace: no", where=f"{file}:3"))
    assert told is not None
    assert [one.proved for one in told] == [True, False, True], "the other is as doubtful as before"
    assert (told[2].code, told[2].location.line) == ("EX201", 3) and "trace: no" in told[2].message
    beside = settle.failed([loud], ModelError("pir: trace: no", where=f"{file}:9"))
    assert beside is not None
    assert [one.code for one in beside] == [LOUD, "EX201"] and beside[1].location.line == 9
    assert settle.failed([found(SOME, file, 3)], ModelError("no", where=f"{file}:3")) is None, "it foretold no failure"


def test_a_file_that_cannot_be_used_is_no_trace_that_failed(file: Path) -> None:
    """EX105 foretells a predictor that refuses the file: a trace that fails at its line has another cause."""
    unusable = found("EX105", file, 3)
    assert settle.failed([unusable], ModelError("pdmodel: trace: TypeError: int32", where=f"{file}:3")) is None
    told = settle.not_exported([unusable], ModelError("pdmodel: trace: TypeError: int32", where=f"{file}:3"))
    assert [(one.code, one.severity, one.proved) for one in told] == [
        ("EX105", Severity.WARNING, False),
        ("EX201", Severity.ERROR, True),
    ]
    refused = settle.failed([unusable], ModelError("pir: output 'y' is an input", where=f"{file}:1"))
    assert refused is not None and [one.code for one in refused] == ["EX105", "EX201"]


def test_an_output_that_is_no_tensor_is_told_by_its_finding_alone(file: Path) -> None:
    """The trace refuses it at `def forward`, and the finding stands at the return."""
    dropped, loud = found("EX110", file, 9), found(LOUD, file, 3)
    told = settle.failed([dropped, loud], NotATensor("pir: output '1' is None, not a tensor", where=f"{file}:1"))
    assert told is not None
    assert [(one.code, one.proved) for one in told] == [("EX110", True), (LOUD, False)]
