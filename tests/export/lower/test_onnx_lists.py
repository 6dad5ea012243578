"""Lists that grow in a loop or a branch, as ONNX, of members of any size; and tensors that these write in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import numpy_helper

from exporter.base.errors import ModelError
from exporter.base.readers.program import Block, Operator, TensorType, Value
from exporter.export.lower.onnx_program.write import Program, from_program
from tests.export.lower import growing
from tests.export.lower.as_onnx import AsOnnx

ROWS: Any = {"x": ("float32", ("n", 3, "w"))}


def rows(count: int, width: int) -> dict[str, Any]:
    return {"x": np.random.default_rng(count).standard_normal((count, 3, width)).astype("float32")}


def test_what_a_loop_appends(tmp_path: Path) -> None:
    both = AsOnnx(growing.kinds, ROWS, tmp_path)
    for count, width in ((2, 4), (1, 1), (5, 3)):
        both.must_equal_eager(rows(count, width))


def test_members_of_several_lengths(tmp_path: Path) -> None:
    both = AsOnnx(growing.lengths, {"x": ("float32", ("n", 3)), "counts": ("int64", ("k",))}, tmp_path)
    x = np.random.default_rng(0).standard_normal((6, 3)).astype("float32")
    for counts in ([2, 6, 1], [4], [3, 3]):
        both.must_equal_eager({"x": x, "counts": np.array(counts, "int64")})


def test_a_list_in_a_loop_of_a_loop(tmp_path: Path) -> None:
    both = AsOnnx(growing.nested, ROWS, tmp_path)
    for count, width in ((2, 4), (3, 1)):
        both.must_equal_eager(rows(count, width))


def test_members_are_joined_along_their_first_axis_only(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="along their first axis only"):
        AsOnnx(growing.second_axis, ROWS, tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        growing.in_a_branch,
        growing.in_one_branch,
        growing.in_a_branch_alone,
        growing.in_a_branch_of_an_inner_loop,
    ],
    ids=lambda body: body.__name__,
)
def test_what_branches_append(body: Any, tmp_path: Path) -> None:
    both = AsOnnx(body, ROWS, tmp_path)
    for count, width in ((2, 4), (1, 1), (5, 3), (6, 2)):
        both.must_equal_eager(rows(count, width))


def program_that_writes_in_place(owner: str) -> Block:
    """`y` is what of `x` the owner's block makes in place, where `flag` holds; the loop's block ends the loop."""
    plane, flag = TensorType("float32", (-1, 3)), TensorType("bool", ())
    place = {"place": 0}
    operators = [
        Operator("data", 0, (), (Value(1, plane),), {"name": "x", "dtype": "float32", "shape": [-1, 3], **place}),
        Operator("data", 1, (), (Value(2, flag),), {"name": "flag", "dtype": "bool", "shape": [], **place}),
        Operator("assign", 2, (1,), (Value(3, plane),), {}),
    ]
    relu = Operator("relu_", 4, (3,), (Value(4, plane),), {})
    if owner == "if":
        last = Operator("cf.yield", 5, (), (), {})
        blocks: tuple[Block, ...] = (Block((), (relu, last)), Block((), (last,)))
    else:
        ends = Operator("logical_not", 5, (2,), (Value(5, flag),), {})
        blocks = (Block((), (relu, ends, Operator("cf.yield", 6, (5,), (), {}))),)
    operators.append(Operator(owner, 3, (2,), (), {}, blocks))
    operators.append(Operator("fetch", 7, (3,), (Value(6, plane),), {"name": "y", "col": 0}))
    return Block((), tuple(operators))


@pytest.mark.parametrize("owner", ["if", "while"])
def test_a_tensor_from_outside_that_a_block_writes(owner: str) -> None:
    model, constants = from_program(Program(None, program_that_writes_in_place(owner), {}), 17)
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.array([[1, -2, 3]], "float32")
    for flag, want in ((True, np.maximum(x, 0)), (False, x)):
        (got,) = session.run(None, {"x": x, "flag": np.array(flag)})
        np.testing.assert_array_equal(got, want)
