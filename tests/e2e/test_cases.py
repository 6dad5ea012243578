"""Layers and networks that went wrong when somebody tried them, as they came, through the command line (see cases.md).

`tests/data/cases` holds them; each file says whose reports they stand for. A row is right where it is passed in every
format, or refused at its line with a cure that works.
"""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT, Done, exporter
from tests.sampling import some

CASES = ROOT / "tests/data/cases"

#: What passes: `file:factory`, and where its file has no CASES the options of `convert`.
PASS: list[tuple[str, str]] = [
    ("a5_buffers_attrs:digits_int", ""),
    ("a7_numbers:deepmd64", ""),
    ("a7_numbers:index_put_acc", ""),
    ("a1_inplace:split_write", ""),
    ("a8_inputs:kw_only", ""),
    ("a12_siblings:zero_d_functions", ""),
    ("networks", "loop_over_lists:build --input x=float32[batch,4] --dim batch=1..3"),
    ("a10_dtypes_quant:zero_d_mixed", ""),
    ("a10_dtypes_quant:unique_labels", ""),
    ("a2_capture:cond_buffer", ""),
    ("a4_pylayer:hash_sign", ""),
    ("networks", "shape_compare:build --input x=float32[length,4] --dim length=3..6 --formats pdmodel"),
    ("networks", "a12_siblings:only_plus --input i=int64[b,4] --dim b=1..3 --values i=integers(1,50)"),
    ("a2_capture:while_helper", ""),
    ("a4_pylayer:sparsemax_inplace", ""),
    ("a4_pylayer:function_argument", ""),
    ("a4_pylayer:with_layer", ""),
    ("a4_pylayer:in_branch", ""),
    ("a2_capture:switch_case", ""),
    ("a2_capture:cond_nested", ""),
    ("a5_buffers_attrs:buf_returned", ""),
    ("a11_returned:scaled", ""),
    ("a11_returned:used_and_returned", ""),
    ("a12_siblings:half_scaled", ""),
    ("a10_dtypes_quant:promote_chain", ""),
    ("a14_deconv_unique:deconv_two_groups", ""),
    ("a14_deconv_unique:unique_only", ""),
    (
        "networks",
        "viterbi:build --input scores=float32[batch,length,5] --input lengths=int64[batch] "
        "--values lengths=integers(1,length+1) --dim batch=1..2 --dim length=3..5",
    ),
]

#: What is refused: exit code, the text of its line, and what is said.
REFUSED: list[tuple[str, str, int, str, tuple[str, ...]]] = [
    (
        "a2_capture:cond_attr", "", 4, "lambda: y + self.held[0]",
        ("forward reads a tensor of float32[4]", 'try: make it a buffer: `self.register_buffer("name", tensor)`'),
    ),
    (
        "a2_capture:cond_global", "", 4, "lambda: y + SHIFT",
        ("forward reads a tensor of float32[4]", 'try: make it a buffer: `self.register_buffer("name", tensor)`'),
    ),
    (
        "a2_capture:guard_equal", "", 4, "with paddle.static.program_guard",
        ("paddle.static.program_guard: it begins a program within the traced one", "try: take it out of forward"),
    ),
    (
        "a8_inputs:list_input", "", 4, "return self.fc(paddle.concat([e, dense], 1))",
        ("(InvalidArgument) In operator matmul", "the input `sparse` is one tensor"),
    ),
    (
        "networks", "listed_layer:build --input x=float32[batch,4] --dim batch=1..3", 4, "x = one(x)",
        ("forward reads the parameter 'linear_0.b_0' of float32[8]", "try: hold the layer that has it under a name"),
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    shutil.copytree(CASES, folder, dirs_exist_ok=True)
    return folder


def options(case: str, told: str) -> list[str]:
    """The arguments of `convert`: those that are told, or those of a file's CASES."""
    if told:
        return told.split()
    module, _, name = case.partition(":")
    body = ast.parse((CASES / f"{module}.py").read_text()).body
    table = next(one for one in body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "CASES")
    asked: dict[str, Any] = next(
        ast.literal_eval(value)
        for key, value in zip(table.value.keys, table.value.values, strict=True)  # type: ignore[attr-defined]
        if ast.literal_eval(key) == name
    )
    given = [("--input", "inputs"), ("--dim", "dims"), ("--values", "values")]
    listed = [word for option, key in given for value in asked.get(key, ()) for word in (option, value)]
    return [case, *listed, *(["--formats", asked["formats"]] if "formats" in asked else [])]


def line_of(file: Path, text: str) -> str:
    numbers = [number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    assert numbers, text
    return f"{file.name}:{numbers[0]}:"


@pytest.mark.parametrize(("case", "told"), some(PASS, 4))
def test_what_is_right_passes(case: str, told: str, place: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    done = exporter("convert", *options(case, told), "--out", bundle, cwd=place)
    assert done.code == 0, done.err
    judged = exporter("verify", bundle, "--source", ".", cwd=place)
    assert judged.code == 0 and "PASSED" in judged.out, judged.out


@pytest.mark.parametrize(("case", "told", "code", "line", "said"), REFUSED)
def test_what_cannot_be_exported_is_refused_at_its_line(
    case: str, told: str, code: int, line: str, said: tuple[str, ...], place: Path, tmp_path: Path
) -> None:
    words = options(case, told)
    done = exporter("convert", *words, "--out", tmp_path / "bundle", cwd=place)
    assert done.code == code, (done.out, done.err)
    first = next(text for text in done.err.splitlines() if text.startswith("error: "))
    assert line_of(place / f"{words[0].partition(':')[0]}.py", line) in first, done.err
    for text in said:
        assert text in done.err, done.err


def test_a_familys_failing_line_is_told(place: Path, tmp_path: Path) -> None:
    asked = ["--from", "paddledet:fake_family/configs/a.yml", "--repo", "fake_family"]
    done = exporter("convert", *asked, "--out", tmp_path / "bundle", cwd=place)
    assert done.code == 4
    first = next(text for text in done.err.splitlines() if text.startswith("error: "))
    assert "fake_family/ppdet/net.py:8: " in first and first.endswith("IndexError: list index out of range"), done.err


def test_check_names_cures_and_does_not_stop_what_is_exported_rightly(place: Path) -> None:
    cures = exporter("check", "a1b_cures.py", cwd=place)
    assert cures.code == 1
    offered = [line for line in cures.out.splitlines() if line.startswith("  = ")]
    assert len(offered) == 5
    for lacking in (".fill_diagonal(", "y.relu(", "y.set_value(", "y.fill(", "y = y.add("):
        assert not any(lacking in line for line in offered), offered
    known = exporter("check", "a1c_known_inputs.py", cwd=place)
    assert known.code == 0 and "warning[EX122]" in known.out, known.out


def test_a_number_that_is_added_hides_no_failure(place: Path) -> None:
    done = exporter("check", "a13_hidden_failure.py", cwd=place)
    assert done.code == 0 and "error[EX105]" not in done.out, done.out


@pytest.mark.parametrize("spec", [pytest.param(name, marks=pytest.mark.slow) for name in ("sig8", "search")] + ["fold"])
def test_a_first_network_of_ones_own_is_released(spec: str, place: Path, tmp_path: Path) -> None:
    done = released(spec, place, tmp_path)
    assert done.code == 0 and "PASSED" in done.out, done.out


@pytest.mark.slow
def test_the_worst_output_decides_a_search(place: Path, tmp_path: Path) -> None:
    """Both outputs keep their noise; what that costs is more than half of the size, which nobody promised to accept."""
    done = released("search2", place, tmp_path)
    assert (
        done.code == 1 and "onnx-int8/size" in done.out and "try: change `precisions.int8.budget.max_size`" in done.err
    )
    noise = [line for line in done.out.splitlines() if "snr_db/" in line and "at least 33.5 promised" in line]
    assert len(noise) == 2, done.out


@pytest.mark.slow
def test_a_norm_that_nothing_takes_in_can_be_drilled(place: Path, tmp_path: Path) -> None:
    done = released("bn", place, tmp_path)
    assert done.code == 0, done.out
    drilled = exporter("drill", tmp_path / "bn/1", cwd=place)
    assert drilled.code == 0 and "0 survived" in drilled.out, drilled.out + drilled.err


def released(spec: str, place: Path, root: Path) -> Done:
    return exporter("release", f"{spec}.yaml", "--out", root, cwd=place)
