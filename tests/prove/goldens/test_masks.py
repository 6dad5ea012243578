"""Which inputs of real numbers act as masks: read from a program of each format."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import helper

from exporter.base.readers.nodes import Node
from exporter.export.lower.base import Artifact
from exporter.prove.goldens import masks
from exporter.prove.goldens.masks import masks_in, program_of
from tests.base.readers.test_program import operator, program
from tests.command import exporter
from tests.export.lower.passes.models import model

SHAPES = ("--input", "x=float32[batch,seq,8]", "--input", "mask=float32[batch,seq]", "--dim", "batch=1..5")
USES = {"condition": True, "bias": True, "factor": True, "pixels": False}


@pytest.mark.parametrize("how", USES)
def test_what_a_mask_meets_tells_it_from_pixels(workplace: Path, how: str) -> None:
    """In the files of all formats; and the release of what masks by -inf fails at a row of zeros."""
    uniform = ("--values", "mask=uniform(0,1)", "--dim", "seq=8..24/8", "--set", f"args.how={how}")
    done = exporter("convert", "models.rows:Soft", *SHAPES, *uniform, "--out", "made", "--json", cwd=workplace)
    assert done.code == 0, done.out + done.err
    programs = [workplace / "made" / path for path in ("pir/model.json", "pdmodel/model.pdmodel", "onnx/model.onnx")]
    expected = ("mask",) if USES[how] else ()
    assert [masks_in(path, ["x", "mask"], ["mask"]) for path in programs] == [expected] * 3
    assert [masks_in(path, ["x", "mask"], ["x"]) for path in programs] == [()] * 3
    if how in ("condition", "pixels"):
        verified = exporter("verify", "made", "--source", ".", "--engines", "onnxruntime", "--json", cwd=workplace)
        checks = [check for check in verified.json()["checks"] if ":rows_of_mask" in check["case"]]
        assert {check["outcome"] for check in checks} == ({"match", "mismatch"} if USES[how] else set())


def test_the_program_that_says_most_is_read(tmp_path: Path) -> None:
    def made(format: str, precision: str = "fp32") -> Artifact:
        return Artifact(format, precision, (f"{format}/model.{format}",), ("x",), ("y",), ("y",))

    found = program_of(tmp_path, [made("onnx", "int8"), made("pdmodel"), made("onnx")])
    assert found == tmp_path / "onnx/model.onnx"
    assert program_of(tmp_path, [made("onnx", "int8"), made("other")]) is None


def test_no_program_of_a_lower_precision_is_read(tmp_path: Path) -> None:
    low = Artifact("pir", "fp16", ("low/model.json",), ("x",), ("y",), ("y",))
    full = Artifact("pir", "fp32", ("pir/model.json",), ("x",), ("y",), ("y",))
    assert program_of(tmp_path, [full, low]) == program_of(tmp_path, [low, full]) == tmp_path / "pir/model.json"
    assert program_of(tmp_path, [low]) is None


def pir(folder: Path, *lines: str) -> Path:
    """A `.json` program of the inputs `m` and `x`, and of lines such as `y = add m x`, whose values nobody types."""
    number = {"m": 1, "x": 2, "c": 3}
    named = [{"N": "name", "AT": {"#": "0.a_str", "D": name}} for name in number]
    made = [operator("1.data", [], [(at, {"#": "NULL"})], [one]) for at, one in zip((1, 2), named, strict=False)]
    made.append(operator("1.full", [], [(3, {"#": "NULL"})]))
    for line in lines:
        result, _, call = line.partition(" = ")
        kind, *operands = call.split()
        number.setdefault(result, len(number) + 1)
        made.append(operator(f"1.{kind}", [number[one] for one in operands], [(number[result], {"#": "NULL"})]))
    return program(folder, made)


@pytest.mark.parametrize(
    "lines",
    [
        ("y = where m x c",),
        ("a = greater_than m c", "b = cast a", "y = where b x c"),
        ("y = masked_fill x m c",),
        ("y = masked_fill_ x m c",),
        ("y = masked_select x m",),
        ("y = multiply x m",),
        ("a = subtract c m", "b = multiply a c", "y = multiply b x"),
        ("a = matmul x c", "y = multiply m a"),
        ("a = add x m", "y = softmax a"),
        ("a = add m x", "b = scale a", "d = reshape b", "y = log_softmax d"),
        ("a = subtract x m", "y = exp a"),
        ("a = sub x m", "y = logsoftmax a"),
        ("y = mul x m",),
        ("a = add x m", "y = multiply a m"),
        ("a = matmul m x", "y = multiply a m"),
        ("a = relu m", "y = multiply x m"),
    ],
)
def test_a_mask_decides_multiplies_or_is_added_to_scores(lines: tuple[str, ...], tmp_path: Path) -> None:
    assert masks_in(pir(tmp_path, *lines), ["m", "x"], ["m"]) == ("m",)


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("y = where x m c",),
        ("a = where x m c", "y = where a x c"),
        ("y = masked_fill m x c",),
        ("y = masked_select m x",),
        ("y = multiply m m",),
        ("y = multiply m c",),
        ("y = multiply x c",),
        ("a = cast c", "y = multiply x a"),
        ("a = add m c", "y = softmax a"),
        ("a = add x c", "y = softmax a"),
        ("y = softmax m",),
        ("a = add x m", "y = relu a"),
        ("a = add x m", "b = relu a", "y = softmax b"),
        ("a = matmul x m", "y = softmax a"),
        ("a = concat x m", "y = softmax a"),
        ("a = relu m", "y = multiply x a"),
        ("a = relu m", "y = where a x c"),
        ("a = maximum x m", "y = where a x c"),
    ],
)
def test_what_is_looked_at_is_no_mask(lines: tuple[str, ...], tmp_path: Path) -> None:
    assert masks_in(pir(tmp_path, *lines), ["m", "x"], ["m"]) == ()


def test_only_candidates_are_told_in_their_order_and_an_input_that_the_program_lacks_is_none(tmp_path: Path) -> None:
    path = pir(tmp_path, "y = multiply m x")
    assert masks_in(path, ["m", "x"], ["x", "m"]) == ("x", "m") and masks_in(path, ["m", "x"], ["x"]) == ("x",)
    assert masks_in(path, ["m", "x", "gone"], ["gone", "m"]) == ("m",)


def test_onnx_and_pdmodel_have_names_of_their_own(tmp_path: Path) -> None:
    nodes = [helper.make_node("Where", ["m", "x", "x"], ["a"]), helper.make_node("Mul", ["a", "n"], ["y"])]
    (tmp_path / "model.onnx").write_bytes(model(nodes, {"x": [2], "m": [2], "n": [2]}))
    assert masks_in(tmp_path / "model.onnx", ["x", "m", "n", "none"], ["x", "m", "n", "none"]) == ("m", "n")
    slots = {"X": ("x",), "Condition": ("c",), "Mask": ("m",), "0": ("first",)}
    read = {kind: masks._of_node(Node(kind, slots, {"Out": ("y", "z")}, {})) for kind in ("Where", "masked_fill")}
    assert (read["Where"].condition, read["masked_fill"].condition) == ("first", "m")
    del slots["0"]
    step = masks._of_node(Node("where", slots, {"Out": ("y", "z")}, {}))
    assert (step.condition, step.takes, step.gives) == ("c", ["x", "c", "m"], ["y", "z"])
    assert masks._of_node(Node("elementwise_mul", {}, {}, {})).kind == "mul"
    assert masks._of_node(Node("reshape2", {}, {}, {})).kind == "reshape"
