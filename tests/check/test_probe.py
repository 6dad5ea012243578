"""What the probe shows by running: real Paddle in real children, so each case costs seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evals.traps.score import HERE, cases
from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.check.domain.values import Extent
from exporter.check.entry import Model
from exporter.check.inputs import Input
from exporter.check.probe.run import Outcome, probe, prove
from exporter.check.run import examine
from tests.sampling import some

HEAD = "import random, time\n\nimport paddle\nfrom paddle.static import InputSpec\n\n"
TAIL = "\n\ndef build():\n    return Net()\n\n\nSPECS = [InputSpec([None, 4], 'float32', 'x')]\n"
CLASS = "class Net(paddle.nn.Layer):\n    def forward(self, x):\n"


def probed(folder: Path, body: str, seconds: float = 60) -> list[tuple[str, int, bool]]:
    file = folder / "net.py"
    file.write_text(HEAD + body + TAIL)
    examination = examine([str(file)], probe_seconds=seconds)
    assert examination.probed == 1
    return [(each.code, each.location.line, each.proved) for each in examination.findings]


def test_a_suspicion_is_proved_at_its_own_line(tmp_path: Path) -> None:
    assert probed(tmp_path, CLASS + "        return x * random.random()\n") == [("EX101", 8, True)]


def test_a_sound_model_stays_without_a_finding(tmp_path: Path) -> None:
    body = CLASS + "        if x.mean() > 0:\n            return x * 2\n        return x - 1\n"
    assert probed(tmp_path, body) == []


def test_what_the_code_does_not_show_is_found_by_running(tmp_path: Path) -> None:
    hidden = CLASS + "        vars(self)['n'] = vars(self).get('n', 0) + 1\n        return (x + 2) * vars(self)['n']\n"
    assert probed(tmp_path, hidden) == [("EX205", 8, True)]


def test_a_failed_export_is_told_at_the_line_that_failed(tmp_path: Path) -> None:
    body = CLASS + "        y = x * 2\n        y = y * y.sum().__bool__()\n        return y\n"
    assert probed(tmp_path, body) == [("EX201", 9, True)]


PARTINGS = {
    "a value that is written in place": (
        "y = x * 2\n        paddle.assign(y * 3, y)\n        w = y + 1\n        return w + y",
        9,
    ),
    "a condition": ("y = x * 2\n        if isinstance(y, paddle.Tensor):\n            y = y + 1\n        return y", 9),
    "the order of outputs": ("y = x * 2\n        return {'b': y, 'a': y.sum()}", 9),
}


NAMED = """class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 4, paddle.ParamAttr(name='named'))

    def forward(self, x):
        vars(self)['n'] = vars(self).get('n', 0) + 1
        return self.linear(x) * vars(self)['n']
"""


def test_a_model_that_names_its_parameters_is_built_as_often_as_the_search_for_the_line_needs(tmp_path: Path) -> None:
    assert probed(tmp_path, NAMED) == [("EX205", 12, True)]


@pytest.mark.parametrize("what", some(PARTINGS, len(PARTINGS)))
def test_the_line_where_eager_and_program_part_is_found(what: str, tmp_path: Path) -> None:
    body, line = PARTINGS[what]
    file = tmp_path / "net.py"
    file.write_text(HEAD + CLASS + f"        {body}\n" + TAIL)
    outcome = probe(file, Model("build", Location(str(file), 7, 5), (Input("x", (Extent.DYNAMIC, 4), "float32"),)), 60)
    assert [each.location.line for each in prove([], [outcome])] == [line]


@pytest.mark.parametrize("statement", ["raise SystemExit(3)", "time.sleep(600)"])
def test_a_module_that_leaves_or_hangs_on_import_is_not_probed(tmp_path: Path, statement: str) -> None:
    body = f"{statement}\n\n" + CLASS + "        return x * 2\n"
    assert probed(tmp_path, body, seconds=8) == [("EX206", 9, False)]


def test_what_else_a_program_depends_on_is_found_by_changing_it(tmp_path: Path) -> None:
    body = (
        "import os\n\n\nclass Net(paddle.nn.Layer):\n    def forward(self, x):\n"
        "        if time.time() // 3600 % 2 == 1:\n            return x * 3\n"
        "        return x * (5 if os.getenv('WIDE_NET') == '1' else 2)\n"
    )
    assert probed(tmp_path, body) == [("EX101", 11, True), ("EX101", 13, True)]


def test_a_suspicion_that_the_export_refutes_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    outcome = Outcome(Model("Net", Location(str(file), 1, 1), ()), "agrees", "", 0)
    suspicion = Diagnostic("EX119", Severity.ERROR, Location(str(file), 2, 1), "it cannot be", "rewrite it")
    (found,) = prove([suspicion], [outcome])
    assert found.severity is Severity.WARNING and "exported" in found.message
    (found,) = prove([suspicion], [replace(outcome, kind="fails")])
    assert found.severity is Severity.ERROR and found.proved


def test_what_stock_paddle_alone_exports_wrongly_is_a_warning(tmp_path: Path) -> None:
    """The exporter's own trace follows what is written in place, as `convert` does."""
    file = tmp_path / "net.py"
    file.write_text(HEAD + CLASS + "        y = x * 2\n        y.add_(paddle.ones([4]))\n        return y\n" + TAIL)
    (found,) = examine([str(file)], probe_seconds=60).findings
    assert (found.code, found.severity, found.proved) == ("EX122", Severity.WARNING, False)
    assert "exporter's own export follows it" in found.message


SAMPLE = frozenset({"060_echo_input", "118_rows_comprehension"})


def test_a_sample_of_the_corpus_is_proved() -> None:
    for case in cases(HERE, 20, SAMPLE):
        assert any(each.proved for each in case.findings) == (case.truth != "clean"), case


@pytest.mark.slow
def test_the_corpus_with_the_probe() -> None:
    every = list(cases(HERE, 60))
    clean = [each for each in every if each.truth == "clean"]
    traps = [each for each in every if each.truth != "clean"]
    assert [each.name for each in clean if each.alarmed] == []
    assert sum(each.found for each in traps) >= 0.95 * len(traps)
    proved = sum(any(one.proved and one.severity is Severity.ERROR for one in each.findings) for each in traps)
    assert proved >= 0.9 * len(traps)
