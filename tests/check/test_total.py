"""Whatever the code is, a check ends and does not break: real code as `forward`, mutilated models, hostile shapes."""

from __future__ import annotations

import argparse
import ast
import decimal
import difflib
import inspect
import statistics
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.traps import corpus
from evals.traps.score import HERE
from exporter.check.run import check, examine

MODELS = [corpus.source(case) for case in corpus.read(HERE).values()]
HEAD = "import os, sys, random, time, math, functools, itertools\nimport numpy as np\nimport paddle\n"
VALUES = ("x", "self", "x.shape[0]", "None", "[x, x]", '{"a": x}', "1", '"s"', "np.ones(3)", "lambda t: t", "x.shape")


@pytest.mark.parametrize(
    "module", [argparse, ast, decimal, difflib, statistics, textwrap], ids=lambda one: one.__name__
)
def test_functions_of_the_standard_library_can_be_forward(module: ModuleType, tmp_path: Path) -> None:
    tree = ast.parse(inspect.getsource(module))
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)][:60]
    body, calls = [], []
    for number, function in enumerate(functions):
        function.name, function.decorator_list = f"f{number}", []
        count = len(function.args.posonlyargs + function.args.args)
        given_values = [VALUES[(number + at) % len(VALUES)] for at in range(count)]
        body.append(ast.unparse(function))
        calls.append(f"        x = f{number}({', '.join(given_values)})")
    text = "\n".join(
        [HEAD, *body, "class Net(paddle.nn.Layer):", "    def forward(self, x):", *calls, "        return x"]
    )
    file = tmp_path / "net.py"
    file.write_text(text + "\n")
    assert examine([str(file)]).layers == 1


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(MODELS), st.randoms(use_true_random=False))
def test_a_model_with_lines_cut_out_never_breaks_the_check(text: str, random: object) -> None:
    import random as generator
    import tempfile

    assert isinstance(random, generator.Random)
    lines = text.splitlines()
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(lines))
        lines[at] = random.choice(["", lines[random.randrange(len(lines))], lines[at].replace("(", "", 1)])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "net.py"
        file.write_text("\n".join(lines))
        for finding in check([str(file)]):
            assert finding.message
            assert finding.cure
            assert 0 <= finding.location.line <= len(lines) + 1


def test_modules_that_derive_from_each_other_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(
        "import paddle\nfrom b import B\nclass A(B):\n    def forward(self, x):\n        return x\n"
    )
    (tmp_path / "b.py").write_text(
        "import paddle\nfrom a import A\nclass B(A):\n    def go(self, x):\n        return self.go(x)\n"
    )
    (tmp_path / "c.py").write_text("from c import *\nfrom d import D\nX = X\nclass E(D, E): pass\n")
    (tmp_path / "d.py").write_text("from c import E\nclass D(E): pass\n")
    assert isinstance(check(["."]), tuple)


def test_fifty_thousand_lines_in_one_forward_end(tmp_path: Path) -> None:
    lines = "".join(f"        x = x * {number}.0\n" for number in range(50_000))
    file = tmp_path / "net.py"
    file.write_text(
        f"import paddle\n\nclass Net(paddle.nn.Layer):\n    def forward(self, x):\n{lines}        return x\n"
    )
    assert {each.code for each in check([str(file)])} <= {"EX003"}


def test_a_chain_of_calls_that_doubles_at_each_step_ends(tmp_path: Path) -> None:
    steps = "".join(f"def f{n}(x):\n    return f{n + 1}(x) + f{n + 1}(x * {n})\n" for n in range(40))
    net = "class Net(paddle.nn.Layer):\n    def forward(self, x):\n        return f0(x * 2)\n"
    file = tmp_path / "net.py"
    file.write_text(f"import paddle\n\n{steps}def f40(x):\n    return x\n\n{net}")
    assert check([str(file)]) == ()
