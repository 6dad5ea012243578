"""The converters beside each other, on a few small files; p2o is not installed here, and stands as a script."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from evals.lower.onnx_table import cases_of, record
from evals.sources.beside.converters import Program, Refused, by_exporter, by_p2o, in_own_process
from evals.sources.beside.tables import judged_case
from tests.command import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside the threads of the tests


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    record([case for case in cases_of("kind") if case.name.startswith("number x * 1.1")][:1], folder)
    return folder / "0000"


def test_each_converter_gets_its_word(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "evals/lower/pdmodel")

    def refuses(_program: Program, _model: Path) -> None:
        raise Refused("no conversion")

    def dies(_program: Program, _model: Path) -> None:
        os.abort()

    def writes_nonsense(_program: Program, model: Path) -> None:
        model.write_bytes(b"no model")

    converters = {"ours": by_exporter, "refuses": refuses, "dies": dies, "nonsense": writes_nonsense}
    words = {name: word.partition(":")[0] for name, word in judged_case(case, converters).items()}
    assert words == {"ours": "right", "refuses": "refused", "dies": "aborted", "nonsense": "wrong"}


def test_a_converter_that_computes_something_else_is_wrong(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnx
    from onnx import numpy_helper

    monkeypatch.syspath_prepend(ROOT / "evals/lower/pdmodel")

    def slightly_off(program: Program, model: Path) -> None:
        by_exporter(program, model)
        changed = onnx.load(model)
        number = changed.graph.initializer[0]
        number.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(number) * np.float32(1.001), number.name))
        onnx.save(changed, model)

    assert judged_case(case, {"off": slightly_off})["off"].startswith("wrong: draw 0")


@pytest.mark.parametrize(("code", "word"), [(1, "refused"), (101, "aborted")])
def test_a_panic_of_the_command_is_no_refusal(case: Path, tmp_path: Path, code: int, word: str) -> None:
    command = tmp_path / "p2o"
    command.write_text(f"#!/bin/sh\necho 'Error: Unsupported operator: rnn' >&2\nexit {code}\n")
    command.chmod(0o755)
    program = Program(case / "model.json", ("y",), frozenset())

    def convert() -> str:
        by_p2o(str(command))(program, tmp_path / "model.onnx")
        return "converted"

    said = in_own_process(convert, tmp_path / "answer")
    assert said.startswith(word)
    assert code != 1 or "Unsupported operator: rnn" in said
