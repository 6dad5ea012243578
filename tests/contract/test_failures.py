"""Every failure ends in `try:` and one command or edit: of each kind of error, of each verdict, and of each refusal."""

from __future__ import annotations

import ast
import errno
import itertools
import json
import re
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer

from exporter.base import errors
from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import ADVICE, ExitCode, ExporterError, Refusal
from exporter.base.registry import Registry
from exporter.bundle.trust.advisories import Compared, Hit
from exporter.cli import run, verb_of
from exporter.cli.doctor import Check, Diagnosis, Machine, State
from exporter.cli.kinds.gate import ending
from exporter.cli.outcome import conclude, conclude_matrix, conclude_report
from exporter.cli.screen import unreleased
from exporter.deploy.runtimes.matrix import Cell, Matrix, Row
from exporter.pipeline import Product
from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.report.advice import advice
from exporter.report.gate import Gated
from tests.command import ROOT
from tests.report.stored_reports import REPORTS

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ExporterError)]
#: What a hint may begin with: an imperative, one of some values, or a command.
IMPERATIVES = (
    "accumulate|add|ask|call|change|check|choose|clean|compute|convert|copy|correct|define|do not|end|export|find"
    "|fine-tune|free|get|give|go on|hand|import|install|keep|leave|let|log|look|lower|make|mend|move|name|narrow"
    "|pad|prune|put|quote|raise|release|remove|rename|report|return|run|save|say|see|seed|set|split|start|store"
    "|swap|take|train|try|turn|undo|uninstall|use|verify|wait|widen|wrap|write"
)
COMMANDS = "exporter|git|openssl|scripts/install|pip|cat|doctor"
BEGINS = re.compile(
    rf"(?i)(?:(?:{IMPERATIVES}|{COMMANDS})\b|did you mean|one of\b|e\.g\. (?:--|exporter )|github;|\{{\}}|`)"
)
#: Rooms whose words belong to the language of a spec and of findings.
OF_THEIR_OWN = ("exporter/check",)


@cache
def nodes() -> tuple[tuple[str, ast.Call | ast.Assign], ...]:
    """Every call and assignment of the package, with its place; of files that have to do with errors."""
    told = re.compile("|".join(["hint", *(kind.__name__ for kind in KINDS)]), re.IGNORECASE)
    files = [path for path in sorted((ROOT / "exporter").rglob("*.py")) if told.search(path.read_text())]
    return tuple(
        (f"{path.relative_to(ROOT)}:{node.lineno}", node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.Call, ast.Assign))
    )


def raised() -> Iterator[tuple[str, ast.Call]]:
    """Every place where one of our errors is made."""
    names = {kind.__name__ for kind in KINDS}
    for place, node in nodes():
        if isinstance(node, ast.Call) and _name(node.func) in names:
            yield place, node


def _name(node: ast.expr) -> str:
    """`hint` of `hint`, `self.hint` and the like."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def hint_of(call: ast.Call) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == "hint"), None)


def texts(hint: ast.expr) -> Iterator[str]:
    """What a hint can say, as far as it stands there: `{}` for what is worked out, both ways of an either-or."""
    if isinstance(hint, ast.Constant):
        yield str(hint.value)
    elif isinstance(hint, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in hint.values)
    elif isinstance(hint, ast.IfExp):
        yield from itertools.chain(texts(hint.body), texts(hint.orelse))
    elif isinstance(hint, ast.BinOp):
        yield from texts(hint.left)


def written() -> Iterator[tuple[str, str]]:
    """Every hint in the package: at an error, and under a name that ends in `hint`."""
    for place, call in raised():
        if (hint := hint_of(call)) is not None:
            yield from ((place, text) for text in texts(hint))
    for place, node in nodes():
        if isinstance(node, ast.Assign) and _name(node.targets[0]).lower() in ("hint", "_hint"):
            yield from ((place, text) for text in texts(node.value) if text)


def test_no_error_is_raised_without_a_hint() -> None:
    places = list(raised())
    assert len(places) > 300
    assert [
        place for place, call in places if hint_of(call) is None or list(texts(hint_of(call) or call)) == [""]
    ] == []


def test_a_hint_says_what_to_do() -> None:
    found = [(place, text) for place, text in written() if not place.startswith(OF_THEIR_OWN)]
    assert len(found) > 200
    assert [hint for hint in found if not BEGINS.match(hint[1])] == []


def commands() -> Iterator[tuple[str, str]]:
    """Every command of ours that a hint or an advice names, to the end of its words and options."""
    for place, text in [*written(), *((name.name, said) for name, said in ADVICE.items()), *advised()]:
        # Words that are no command: "the exporter that wrote it".
        yield from ((place, said) for said in re.findall(r"(?<!the )exporter ((?:[a-z]+)(?: [-\w=.{}/]+)*)", text))


def advised() -> Iterator[tuple[str, str]]:
    for name, report in failing():
        yield name, advice(report, "artifacts/net/failed")


def test_every_command_that_is_named_exists() -> None:
    app = typer.Typer()
    for name, verb in Registry[run.Verb]("exporter.cli", "verb").all():
        app.command(verb_of(name))(verb)
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    named = list(commands())
    assert {command.split()[0] for _, command in named} >= {"release", "verify", "doctor", "train", "explain"}
    for place, command in named:
        verb, *rest = command.split()
        assert verb in known, (place, command)
        options = {name for parameter in known[verb].params for name in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= options, (place, command)


def failing() -> Iterator[tuple[str, Report]]:
    """A report for each outcome that is no match, of each kind of claim and in each precision."""
    yield from ((name, make()) for name, make in REPORTS.items() if not make().verdict.passed)
    proofs = [path.stem for path in (ROOT / "exporter/prove/proofs/kinds").glob("[a-z]*.py")]
    for outcome, kind, precision in itertools.product(Outcome, proofs, ("fp32", "int8")):
        if outcome is Outcome.MATCH:
            continue
        engine = "" if kind in ("weights", "interface", "size") else "onnxruntime"
        claim = Claim("onnx", precision, engine, "batch=1" if kind == "outputs" else "", "", kind)
        for stage in ("compare", "environment"):
            verdict = Verdict(frozenset({claim}), {claim: Evidence(outcome, "r", stage=stage)})
            yield f"{outcome.value} {kind} {precision} {stage}", Report("net", "1", verdict, 4.0)
    right = Claim("onnx", "fp32", "onnxruntime", "batch=1", "y")
    sound = {right: Evidence(Outcome.MATCH, elements=1)}
    yield "objection", Report("net", "1", Verdict(frozenset({right}), sound, objections=("its release failed",)), 4.0)
    source = Claim("source", "fp32", "eager", "batch=1", "y")
    alone = Verdict(frozenset({source}), {source: Evidence(Outcome.MATCH, elements=1)}, narrowed="case batch=1")
    yield "narrowed", Report("net", "1", alone, 4.0)


def test_every_verdict_that_is_no_pass_has_its_advice() -> None:
    said = dict(advised())
    assert len(said) > 300
    begun = {name for name, text in said.items() if BEGINS.match(text)}
    assert set(said) - begun == set()
    assert [text for text in said.values() if "\n" in text] == []


def test_a_verdict_that_passes_needs_none() -> None:
    assert advice(REPORTS["passed"](), "x") == ""


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("missing", "exporter doctor"),
        ("inconclusive", "give the spec inputs"),
        ("failed", "exporter release SPEC, which writes the files anew"),
    ],
)
def test_the_gravest_claim_decides_what_is_tried(report: str, said: str) -> None:
    assert advice(REPORTS[report](), "b").startswith(said)


FORBIDS = Diagnostic("EX101", Severity.ERROR, Location("net.py", 6), "drawn once", "draw it with paddle")
ENDS: dict[str, tuple[Callable[[], object], int]] = {
    **{kind.__name__: (lambda kind=kind: _throw(kind("w", where="x")), int(kind.exit_code)) for kind in KINDS},  # type: ignore[misc]
    "no room": (lambda: _throw(OSError(errno.ENOSPC, "full", "f")), 3),
    "no rights": (lambda: _throw(PermissionError(errno.EACCES, "no", "f")), 2),
    "a bug": (lambda: 1 // 0, 70),
    "interrupted": (lambda: _throw(KeyboardInterrupt()), 130),
    "abort": (lambda: _throw(typer.Abort()), 130),
    "command line": (lambda: _throw(typer.BadParameter("no")), 2),
    **{f"refusal {code.name}": (lambda code=code: Refusal(code), int(code)) for code in ExitCode if code},  # type: ignore[misc]
    **{f"code {code.name}": (lambda code=code: code, int(code)) for code in (ExitCode.REFUSED, ExitCode.MODEL)},  # type: ignore[misc]
    "report": (lambda: conclude_report(REPORTS["failed"](), Path("b"), as_json=False), 1),
    "engine lacks": (lambda: conclude_report(REPORTS["missing"](), Path("b"), as_json=False), 3),
    "finding": (lambda: conclude(Product((FORBIDS,)), as_json=False), 1),
    "not released": (lambda: unreleased("b", "its verdict is failed", "signed", as_json=False), 1),
    "gate": (lambda: ending([Gated("a.yaml", "all"), Gated("b c.yaml", "all", ExitCode.MODEL)]), 4),
    "runtime fails": (
        lambda: conclude_matrix(_matrix(cells=(Cell("pir", "failed", "off"),)), Path("b"), as_json=False),
        1,
    ),
    "runtime lacks": (lambda: conclude_matrix(_matrix(why_not="no wheel"), Path("b"), as_json=False), 3),
}


def _throw(error: BaseException) -> None:
    raise error


def _matrix(cells: tuple[Cell, ...] = (), why_not: str = "") -> Matrix:
    return Matrix("net 1", "d", (Row("paddle 2.6.2", cells, why_not),))


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ends_a_verb_ends_in_what_to_try(
    end: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, lines = _ended(ENDS[end][0], [], capsys, monkeypatch)
    assert code == ENDS[end][1]
    assert re.fullmatch(r"  try: \S.*", lines[-1]), lines
    assert sum(line.startswith("  try: ") for line in lines) == 1


@pytest.mark.parametrize("end", [end for end in ENDS if end in {kind.__name__ for kind in KINDS}])
def test_json_has_the_hint_in_the_error(
    end: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, lines = _ended(ENDS[end][0], ["--json"], capsys, monkeypatch)
    assert (code, lines) == (ENDS[end][1], [])
    assert json.loads(out)["error"]["hint"] == ADVICE[ExitCode(code)]


def _ended(
    verb: Callable[[], object],
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[int, str, list[str]]:
    """The exit code, standard output, and the lines of standard error."""
    app = typer.Typer()

    @app.command()
    def ended(as_json: bool = typer.Option(False, "--json")) -> object:
        del as_json
        return verb()

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as left:
        run.run(app, arguments)
    told = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, told.out, told.err.splitlines()


def test_doctor_and_advisories_name_the_first_cure() -> None:
    checks = (Check("a", State.ABSENT, "x", "cure a"), Check("b", State.LACKING, "x", "cure b"))
    assert Diagnosis(checks, Machine.here()).cure == "cure b"
    hits = (Hit("GHSA-1", "numpy", "1.0", "", ("1.2", "1.3")), Hit("GHSA-2", "x", "1", "", ()))
    assert Compared(2, 2, hits).cure == "install numpy==1.2, then exporter release SPEC, which records it"
    assert Compared(2, 2, hits[1:]).cure.startswith("install another version of x")


@pytest.mark.parametrize(
    "line", ["::error::x", "  ::add-mask::x", "a ##[error]b", "##[group]", "\x1b::warning::", "\n::error::"]
)
def test_no_line_is_a_command_of_githubs_runner(line: str) -> None:
    shown = errors.printable(line)
    assert not shown.lstrip().startswith("::") and "##[" not in shown
    assert errors.printable("a::b ## [x]") == "a::b ## [x]"
