"""The house of `check`: its order, its sizes, and that adding something is a line or a file."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exporter.check import catalogue
from tests.command import ROOT, environment
from tests.test_architecture import imported, module_of

CHECK = ROOT / "exporter" / "check"
FILES = sorted(CHECK.rglob("*.py"))
#: A file imports what stands above it, and nothing below; a room's files order themselves.
ORDER = (
    *(
        "source",
        "catalogue",
        "domain",
        "facts",
        "dy2static",
        "state",
        "interpret",
        "models",
        "tables",
        "inputs",
        "assumptions",
    ),
    *("entry", "rules", "codes", "settings", "suppressions", "targets", "settle", "changed", "probe", "run"),
    *("fixes", "rule_page", "github_command", "forms"),
)
#: Lines of code and prose in all files but the rules and the forms; it may fall, and rises only with a reason:
#: 95 since what a probe is asked and answers has types; 120 since a finding is settled by what was tried, and what
#: reading does not see proves nothing; 205 since a silent finding is an error only where its value reaches an output.
MOST_LINES = 9_446
#: Those that are neither blank nor comment nor docstring; 215 for the same.
MOST_LINES_OF_CODE = 6_725
MOST_METHODS = 25
_ASIDE = ("rules", "forms", "github_command")


def _room(module: str) -> str:
    return module.removeprefix("exporter.check").strip(".").partition(".")[0]


def _edges() -> dict[str, set[str]]:
    """What each file of the house imports of it, also in functions and for types alone."""
    edges = {module_of(path): set(imported(path)) - {module_of(path)} for path in FILES}
    return {name: {other for other in others if other in edges} for name, others in edges.items()}


def test_a_room_imports_what_stands_above_it() -> None:
    edges = _edges()
    wrong = {
        f"{name} imports {other}"
        for name, others in edges.items()
        for other in others
        if _room(name) and _room(other) and ORDER.index(_room(other)) > ORDER.index(_room(name))
    }
    assert len(edges) > 100
    assert not wrong


def test_no_file_imports_itself_in_a_circle() -> None:
    edges = _edges()
    while free := {name for name, others in edges.items() if not others & edges.keys()}:
        edges = {name: others for name, others in edges.items() if name not in free}
    assert not edges


def test_no_class_grows_into_an_interpreter() -> None:
    classes = [
        (sum(isinstance(part, ast.FunctionDef) for part in node.body), f"{module_of(path)}.{node.name}")
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    assert len(classes) > 60
    assert not [name for methods, name in classes if methods > MOST_METHODS]


def test_the_house_without_its_rules_stays_small() -> None:
    texts = [path.read_text() for path in FILES if _room(module_of(path)) not in _ASIDE]
    assert sum(len(text.splitlines()) for text in texts) <= MOST_LINES
    assert sum(_lines_of_code(text) for text in texts) <= MOST_LINES_OF_CODE


def _lines_of_code(text: str) -> int:
    """Lines that are neither blank nor comment nor docstring."""
    told = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in told
        for number, line in enumerate(text.splitlines(), 1)
    )


def test_lines_of_code_are_counted_without_prose() -> None:
    assert _lines_of_code(NET) == 10
    assert _lines_of_code('"""What\nit is."""\n\n#: why\nX = (\n    1,\n)\n') == 3


def test_the_corpus_is_few_files() -> None:
    listed = subprocess.run(["git", "ls-files", "evals/traps"], cwd=ROOT, capture_output=True, text=True, check=False)
    found = [
        str(path) for path in (ROOT / "evals/traps").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert 30 <= len(listed.stdout.split() or found) <= 120


NET = """\
import geometry
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = paddle.whirl(x)
        if frobnicate(x):
            y = y + y.tolist()[0]
        if geometry.turn().closed:
            y = y.set_value(3)
        return y
"""
OPERATOR = "whirl                    same        kept        random\n"
BUILTIN = '''"""A builtin of the future."""

from exporter.check.domain.values import Const

FUNCTIONS = {"builtins.frobnicate": lambda run, call: Const(False)}
'''
VALUE = '''"""Angles: a value of a library of one's own."""

from exporter.check.domain.values import Const, Value


class Angle(Value):
    """An angle, of which is known whether it is closed."""


FUNCTIONS = {"geometry.turn": lambda run, call: Angle()}
READERS = {Angle: lambda run, angle, name, node: Const(False)}
'''
RULE = '''"""EX199: something whirls."""

from exporter.check.facts import Called
from exporter.check.rules.base import Fault, Rule


class Whirls(Rule):
    """Something whirls."""

    code = "EX199"
    predicts = (Fault.VALUES,)

    def check(self, facts):
        for fact in facts.of(Called):
            if fact.name == "paddle.whirl":
                yield self.at(fact.site, "it whirls", "hold it")


plugin: Rule = Whirls()
'''


def _findings(package: Path, net: Path) -> set[tuple[int, str]]:
    command = [sys.executable, "-m", "exporter", "check", "--no-probe", "--json", str(net)]
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=package, env=environment(), check=False, timeout=120
    )
    return {(found["line"], found["code"]) for found in json.loads(run.stdout)["findings"]}


def test_an_operator_is_a_line_and_a_builtin_a_value_a_rule_are_a_file(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "exporter", tmp_path / "exporter", ignore=shutil.ignore_patterns("__pycache__"))
    net, check = tmp_path / "net.py", tmp_path / "exporter" / "check"
    net.write_text(NET)
    before = _findings(tmp_path, net)
    assert {line for line, _ in before} >= {9, 11}
    with (check / "catalogue.txt").open("a") as lines:
        lines.write(OPERATOR)
    (check / "models" / "future.py").write_text(BUILTIN)
    (check / "models" / "angles.py").write_text(VALUE)
    (check / "rules" / "kinds" / "whirls.py").write_text(RULE)
    after = _findings(tmp_path, net)
    assert {(7, "EX136"), (7, "EX199")} == after - before
    assert not {line for line, _ in after} & {9, 11}


def test_two_files_may_not_model_one_thing(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "exporter", tmp_path / "exporter", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "exporter/check/models/again.py").write_text('"""Again."""\n\nFUNCTIONS = {"builtins.len": None}\n')
    code = "from exporter.check.tables import tables; tables()"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False
    )
    assert run.returncode and "builtins.len" in run.stderr


@pytest.mark.parametrize(
    ("line", "word"),
    [("whirl round kept", "round"), ("whirl same warm", "warm"), ("whirl same kept dizzy", "dizzy")],
)
def test_a_line_with_a_word_that_the_catalogue_does_not_know_is_refused(line: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        catalogue.parse(line)


def test_patterns_fill_what_a_line_leaves_open() -> None:
    assert catalogue.entry("adaptive_avg_pool1d").sizes == "lead"  # of `*pool1d`
    assert catalogue.entry("adaptive_avg_pool1d").has("ends_strided")  # of its own line
    assert catalogue.entry("uniform_").has("fresh") and not catalogue.entry("tanh").has("fresh")
    assert catalogue.entry("there_is_no_such_operator") == catalogue.Entry()


def test_each_line_of_the_catalogue_is_of_a_name_of_its_own_and_of_known_words() -> None:
    lines = [line for line in (CHECK / "catalogue.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert len({line.split()[0] for line in lines}) == len(lines) > 300
    assert all(map(catalogue.parse, lines))


def test_each_operator_of_the_catalogue_is_one_of_paddles() -> None:
    """A name that Paddle does not have says nothing of it; those of later versions would stand here."""
    paddle = pytest.importorskip("paddle")
    parallel = pytest.importorskip("paddle.distributed.fleet.meta_parallel")
    rooms = (
        paddle,
        paddle.Tensor,
        paddle.nn.functional,
        paddle.nn,
        paddle.linalg,
        paddle.distribution.Normal,
        parallel,
    )
    missing = {name for name in catalogue.names() if not any(hasattr(room, name) for room in rooms)}
    assert missing <= NOT_PADDLES
    assert len(catalogue.names()) > 200


#: NumPy's names; what Paddle has in place alone (`cauchy_`, `exponential_`), or in another version.
NOT_PADDLES = frozenset("absolute around power gaussian cauchy exponential".split())
