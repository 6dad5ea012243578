"""The eager layer and its exported program on the same cases: what differs, and which lines each of them ran."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import load, save_scratch
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.trace.fixes import fixes_in_force
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import trace
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.preflight import compare
from exporter.prove.preflight.compare import EagerAnswer, EagerRequest, ProgramRequest, eager, program
from exporter.spec.model import Spec
from exporter.spec.read import validate

BATCH = {"min": 1, "typical": 2, "max": 4}
LINES = Path(__file__).read_text().splitlines()


class Branching(paddle.nn.Layer):
    """The trace takes the other side, with the same numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = 2.0  # built

    def forward(self, x: Any, scale: Any) -> Any:
        if paddle.in_dynamic_mode():
            y = x * self.factor  # eager alone
        else:
            y = x * 2.0  # traced alone
        if self.factor > 3:
            y = y * 3  # in neither
        return y * scale.astype("float32"), y - 1  # both


class Worded(paddle.nn.Layer):
    """Give a word beside a tensor, and None."""

    def forward(self, x: Any) -> Any:
        return x * 2, "a word", None


class Picky(paddle.nn.Layer):
    """Refuse the typical size, or values that are all alike."""

    def __init__(self, rows: int, constant: bool) -> None:
        super().__init__()
        self.rows, self.constant = rows, constant

    def forward(self, x: Any) -> Any:
        if x.shape[0] == self.rows:
            raise ValueError("of so many rows it knows nothing")
        if self.constant and float(x.max() - x.min()) == 0:
            raise ValueError("all of them are alike")
        return x * 2


def described(layer: str, inputs: Any = None, **more: Any) -> Spec:
    x = {"dtype": "float32", "shape": ["batch", 3]}
    plain = {"name": "n", "model": f"{__name__}:{layer}", "weights": "factory", "dims": {"batch": BATCH}}
    return validate({**plain, "inputs": inputs or {"x": x}, "formats": ["pir"], **more}, "test")


def branching(**more: Any) -> Spec:
    scale = {"dtype": "int64", "shape": ["batch", 1], "values": "integers(1,4)"}
    return described("Branching", {"scale": scale, "x": {"dtype": "float32", "shape": ["batch", 3]}}, **more)


def asked(spec: Spec, folder: Path) -> EagerRequest:
    return EagerRequest(spec, None, (__file__,), folder / "cases.safetensors")


def line_of(comment: str) -> int:
    (line,) = (at for at, text in enumerate(LINES, 1) if text.endswith(f"  # {comment}"))
    return line


def written(spec: Spec, folder: Path) -> tuple[EagerAnswer, ProgramRequest]:
    """What eager gave, and the request for the program that was written of the same layer."""
    request = asked(spec, folder)
    answer = eager(request)
    place = folder / "pir"
    place.mkdir()
    with fixes_in_force("pir", ()), pir.session(None):
        traced = trace(load_layer(spec.factory, None, 0), spec.input_specs(), None, {})
        pir.write(traced, None, place, Wish())
    of_program = ProgramRequest(
        *(spec, None, request.paths, request.file),
        format="pir",
        program=place,
        outputs=tuple(output.name for output in traced.outputs),
        native=traced.native_outputs,
        leaves=answer.leaves,
    )
    return answer, of_program


def test_a_program_that_gives_what_eager_gives_does_not_differ_and_each_tells_its_lines(tmp_path: Path) -> None:
    spec = branching()
    answer, request = written(spec, tmp_path)
    assert answer.few == "" and answer.leaves == (2,) * len(plan_cases(spec))
    other = program(request)
    assert other.differs == ""
    eagerly, traced, built = (set(lines[__file__]) for lines in (answer.lines, other.lines, answer.built))
    assert {line_of("eager alone"), line_of("both")} <= eagerly and {line_of("traced alone"), line_of("both")} <= traced
    assert not {line_of("traced alone"), line_of("in neither"), line_of("built")} & eagerly
    assert not {line_of("eager alone"), line_of("in neither"), line_of("built")} & traced
    assert line_of("built") in built and line_of("both") not in built
    assert list(answer.lines[__file__]) == sorted(answer.lines[__file__])


def test_only_the_lines_of_the_files_in_question_are_told(tmp_path: Path) -> None:
    beside = replace(asked(branching(), tmp_path), paths=(str(tmp_path / "other.py"),))
    assert eager(beside).lines == {str(tmp_path / "other.py"): ()}


@pytest.mark.parametrize("case", [0, 3])
def test_the_output_that_differs_in_a_case_is_told(case: int, tmp_path: Path) -> None:
    _, request = written(branching(), tmp_path)
    tensors = load(request.file)
    tensors[f"{case}/output/1"] = tensors[f"{case}/output/1"] + np.float32(1)
    save_scratch(request.file, tensors)
    assert program(request).differs.startswith("the values differ by up to 1")
    tensors[f"{case}/output/1"] = tensors[f"{case}/output/1"].astype("int64")
    save_scratch(request.file, tensors)
    assert program(request).differs == "dtype int64 became float32"


def test_the_first_difference_is_told(tmp_path: Path) -> None:
    _, request = written(branching(), tmp_path)
    tensors = load(request.file)
    for case, off in ((1, 5), (2, 7)):
        tensors[f"{case}/output/0"] = tensors[f"{case}/output/0"] + np.float32(off)
    save_scratch(request.file, tensors)
    assert program(request).differs.startswith("the values differ by up to 5")


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_outputs_is_told(count: int, tmp_path: Path) -> None:
    answer, request = written(branching(), tmp_path)
    leaves = (*answer.leaves[:2], count, *answer.leaves[3:])
    assert program(replace(request, leaves=leaves)).differs == f"eager gives {count} outputs, the program 2"


def test_what_eager_gives_beside_tensors_is_no_output_of_a_program(tmp_path: Path) -> None:
    answer = eager(asked(described("Worded"), tmp_path))
    tensors = load(tmp_path / "cases.safetensors")
    assert {count > 1 for count in answer.leaves} == {True}
    assert "0/output/0" in tensors and "0/output/1" not in tensors
    _, request = written(branching(), tmp_path)
    tensors = load(request.file)
    tensors.pop("2/output/1")
    save_scratch(request.file, tensors)
    assert program(request).differs == f"eager gives no tensor as output '{request.outputs[1]}'"


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the cases that the layer is run on."""
    names: list[str] = []

    def note(doing: str) -> None:
        if doing.startswith("running the layer on case "):
            names.append(doing.removeprefix("running the layer on case "))

    monkeypatch.setattr(compare, "doing", note)
    return names


def test_promised_cases_are_run_first_and_the_smaller_before_the_larger(tmp_path: Path, order: list[str]) -> None:
    spec = branching()
    eager(asked(spec, tmp_path))
    cases = {case.name: case for case in plan_cases(spec)}
    assert sorted(order) == sorted(cases)
    kinds = [bool(cases[name].kind) for name in order]
    assert kinds == sorted(kinds)
    sizes = [cases[name].dims["batch"] for name in order if not cases[name].kind]
    assert sizes == sorted(sizes) and len(set(sizes)) > 2


def test_time_ends_it_after_one_case_at_least(
    tmp_path: Path, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compare._SECONDS == 20.0
    monkeypatch.setattr(compare, "_SECONDS", -1.0)
    answer = eager(asked(branching(), tmp_path))
    assert len(order) == len(answer.leaves) == 1
    assert answer.few == "one size alone could be run"


def test_one_size_is_worth_something_where_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_SECONDS", -1.0)
    assert eager(asked(branching(dims={"batch": {"min": 2, "typical": 2, "max": 2}}), tmp_path)).few == ""


def test_cases_of_large_inputs_are_left_out(tmp_path: Path, order: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    spec = branching()
    row = 3 * 4 + 8
    assert compare._MOST_BYTES == 2**26
    monkeypatch.setattr(compare, "_MOST_BYTES", 2 * row)
    eager(asked(spec, tmp_path))
    assert sorted(order) == sorted(case.name for case in plan_cases(spec) if case.dims["batch"] <= 2)


def test_what_is_promised_has_to_run_and_what_probes_has_not(tmp_path: Path, order: list[str]) -> None:
    def run(rows: int) -> Callable[[], EagerAnswer]:
        return lambda: eager(asked(described("Picky", args={"rows": rows, "constant": True}), tmp_path))

    answer = run(9)()
    assert len(answer.leaves) < len(order)
    with pytest.raises(ModelError, match="of so many rows it knows nothing") as failure:
        run(4)()
    assert "case batch=4" in str(failure.value)
