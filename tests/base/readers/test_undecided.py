"""What no input decides, read from files: by data, by a condition, from within a body, by a size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx
import pytest
from onnx import NodeProto, TensorProto, helper

from exporter.base.errors import BundleError
from exporter.base.readers.program import Block, Operator, TensorType, Value
from exporter.base.readers.undecided import (
    Reach,
    reach,
    reach_in,
    reach_in_all,
    undecided,
    undecided_in,
    undecided_in_all,
)


def graph(nodes: Sequence[NodeProto], outputs: Sequence[str], inputs: Sequence[str] = ()) -> onnx.GraphProto:
    values = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in side] for side in (inputs, outputs)
    ]
    held = [helper.make_tensor("held", TensorProto.FLOAT, [2], [1.0, 2.0])]
    return helper.make_graph(list(nodes), "net", values[0], values[1], held if inputs else [])


def of_onnx(place: Path, *nodes: NodeProto) -> frozenset[str] | None:
    onnx.save(helper.make_model(graph(nodes, ["y", "z"], ["x"])), place / "m.onnx")
    return undecided(place / "m.onnx")


def node(kind: str, inputs: Sequence[str], output: str, **attributes: object) -> NodeProto:
    return helper.make_node(kind, list(inputs), [output], **attributes)


Z = node("Neg", ["held"], "z")
WAYS = {
    "by data": [node("Add", ["held", "x"], "y")],
    "on a long way": [node("Neg", ["x"], "a"), node("Abs", ["a"], "b"), node("Add", ["held", "b"], "y")],
    "in any order of the file": [node("Add", ["held", "b"], "y"), node("Abs", ["x"], "b")],
    "by a size": [node("Shape", ["x"], "s"), node("ConstantOfShape", ["s"], "y")],
    "by a condition": [
        node(
            "If",
            ["x"],
            "y",
            then_branch=graph([node("Neg", ["held"], "t")], ["t"]),
            else_branch=graph([node("Abs", ["held"], "e")], ["e"]),
        )
    ],
    "from within a body": [
        node(
            "If",
            ["held"],
            "y",
            then_branch=graph([node("Neg", ["x"], "t")], ["t"]),
            else_branch=graph([node("Abs", ["held"], "e")], ["e"]),
        )
    ],
    "as what a body gives": [
        node("If", ["held"], "y", then_branch=graph([], ["x"]), else_branch=graph([node("Abs", ["held"], "e")], ["e"]))
    ],
}


@pytest.mark.parametrize("way", WAYS)
def test_what_an_input_leads_to_is_decided(way: str, tmp_path: Path) -> None:
    assert of_onnx(tmp_path, *WAYS[way], Z) == frozenset(["z"])


def test_what_is_made_of_constants_alone_is_not(tmp_path: Path) -> None:
    assert of_onnx(tmp_path, node("Add", ["held", "held"], "y"), Z) == frozenset(["y", "z"])
    assert undecided_in_all([tmp_path / "m.onnx"] * 2) == frozenset(["y", "z"])
    other = tmp_path / "m.xml"
    assert (
        undecided(other) is None
        and undecided_in_all([tmp_path / "m.onnx", other]) == undecided_in_all([]) == frozenset()
    )


def test_a_file_that_is_none_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"\xff\xff\xff")
    (tmp_path / "m.pdmodel").write_bytes(b"\x0a\x7f")
    for name in ("m.onnx", "m.pdmodel"):
        with pytest.raises(BundleError):
            undecided(tmp_path / name)


FREE, FIXED = TensorType("float32", (-1, 4)), TensorType("float32", (2, 4))


def pir(*operators: tuple[str, tuple[int, ...], tuple[int, ...]], x: TensorType = FREE, y: int = 2) -> frozenset[str]:
    """A program with the input 1 and the parameter 9, whose output `y` is the value of this number."""
    first = [Operator("data", 0, (), (Value(1, x),), {}), Operator("parameter", 1, (), (Value(9, FIXED),), {})]
    rest = [
        Operator(name, at, operands, tuple(Value(one, FREE) for one in results), {})
        for at, (name, operands, results) in enumerate(operators, start=2)
    ]
    return undecided_in(Block((), (*first, *rest, Operator("fetch", 99, (y,), (), {"name": "y"}))))


def test_a_program_in_pir_is_followed_too() -> None:
    assert pir(("scale", (9,), (2,))) == frozenset(["y"])
    assert pir(("add", (9, 1), (2,))) == frozenset()
    assert pir(("shape", (1,), (3,)), ("full_with_tensor", (3,), (2,))) == frozenset()
    assert pir(("shape", (1,), (3,)), ("full_with_tensor", (3,), (2,)), x=FIXED) == frozenset(["y"]), (
        "its sizes are fixed"
    )
    assert pir(("full_like", (1, 1), (2,)), x=FIXED) == frozenset(), "the number itself is the input's"


def test_what_is_written_in_place_is_decided_and_what_nobody_follows_decides_all() -> None:
    assert pir(("assign_out_", (1, 9), (3,)), y=9) == frozenset()
    assert pir(("batch_norm_", (1, 5, 6, 9, 8), (3,)), y=9) == frozenset(["y"]), "a norm reads its gain"
    assert pir(("scale", (9,), (2,)), ("builtin.set_parameter", (1,), ())) == frozenset()


def reach_of_onnx(place: Path, *nodes: NodeProto) -> dict[str, Reach] | None:
    onnx.save(helper.make_model(graph(nodes, ["y", "z"], ["x"])), place / "m.onnx")
    return reach(place / "m.onnx")


SIZES = node("Shape", ["x"], "s")
LEADS = {
    "a size": ([SIZES, node("ConstantOfShape", ["s"], "y")], Reach.SIZES),
    "a size of a computed value": ([node("Relu", ["x"], "a"), node("Shape", ["a"], "y")], Reach.SIZES),
    "a count": ([node("Size", ["x"], "y")], Reach.SIZES),
    "a size that values decide": ([node("NonZero", ["x"], "a"), node("Shape", ["a"], "y")], Reach.VALUES),
    "a size that values decide, further on": (
        [node("NonZero", ["x"], "a"), node("Relu", ["a"], "b"), node("Shape", ["b"], "y")],
        Reach.VALUES,
    ),
    "a size that values of an operand decide": (
        [node("Tile", ["held", "x"], "a"), node("Shape", ["a"], "y")],
        Reach.VALUES,
    ),
    "what is tiled has a size": ([node("Tile", ["x", "held"], "a"), node("Shape", ["a"], "y")], Reach.SIZES),
    "what is resized has a size": ([node("Resize", ["x", "", "held"], "a"), node("Shape", ["a"], "y")], Reach.SIZES),
    "values say how large it becomes": (
        [node("Resize", ["held", "", "x"], "a"), node("Shape", ["a"], "y")],
        Reach.VALUES,
    ),
    "what is sampled has a size": ([node("GridSample", ["held", "x"], "a"), node("Shape", ["a"], "y")], Reach.SIZES),
    "a size beside a value": ([SIZES, node("Add", ["s", "x"], "y")], Reach.VALUES),
    "an operator that nobody knows": ([node("Unheard", ["x"], "a"), node("Shape", ["a"], "y")], Reach.VALUES),
    "within a body": (
        [
            SIZES,
            node(
                "If",
                ["s"],
                "y",
                then_branch=graph([node("Neg", ["held"], "t")], ["t"]),
                else_branch=graph([node("Abs", ["held"], "e")], ["e"]),
            ),
        ],
        Reach.SIZES,
    ),
    "a size that is read within a body": (
        [
            node(
                "If",
                ["held"],
                "y",
                then_branch=graph([node("Shape", ["x"], "t")], ["t"]),
                else_branch=graph([node("Abs", ["held"], "e")], ["e"]),
            )
        ],
        Reach.VALUES,
    ),
}


@pytest.mark.parametrize("way", LEADS)
def test_sizes_are_told_from_values(way: str, tmp_path: Path) -> None:
    nodes, leads = LEADS[way]
    assert reach_of_onnx(tmp_path, *nodes, Z) == {"y": leads, "z": Reach.NOTHING}
    assert reach_in_all([tmp_path / "m.onnx"] * 2) == {"y": leads, "z": Reach.NOTHING}
    assert reach_in_all([tmp_path / "m.onnx", tmp_path / "m.xml"]) == {}


def reach_of_pir(*operators: tuple[str, tuple[int, ...], tuple[int, ...]]) -> Reach:
    first = [Operator("data", 0, (), (Value(1, FREE),), {}), Operator("parameter", 1, (), (Value(9, FIXED),), {})]
    rest = [
        Operator(name, at, operands, tuple(Value(one, FREE) for one in results), {})
        for at, (name, operands, results) in enumerate(operators, start=2)
    ]
    return reach_in(Block((), (*first, *rest, Operator("fetch", 99, (2,), (), {"name": "y"}))))["y"]


def test_sizes_are_told_from_values_in_pir() -> None:
    assert reach_of_pir(("shape64", (1,), (3,)), ("full_with_tensor", (9, 3), (2,))) == Reach.SIZES
    assert reach_of_pir(("relu", (1,), (3,)), ("full_like", (3, 9), (2,))) == Reach.SIZES
    assert reach_of_pir(("relu", (1,), (3,)), ("full_like", (3, 1), (2,))) == Reach.VALUES
    assert reach_of_pir(("nonzero", (1,), (3,)), ("shape64", (3,), (2,))) == Reach.VALUES
    assert reach_of_pir(("reshape", (1, 9), (3,)), ("shape64", (3,), (2,))) == Reach.SIZES
    assert reach_of_pir(("reshape", (9, 1), (3,)), ("shape64", (3,), (2,))) == Reach.VALUES
    assert reach_of_pir(("grid_sample", (9, 1), (3,)), ("shape64", (3,), (2,))) == Reach.SIZES
    assert reach_of_pir(("one_hot", (1, 9), (3,)), ("shape64", (3,), (2,))) == Reach.SIZES
    assert reach_of_pir(("one_hot", (9, 1), (3,)), ("shape64", (3,), (2,))) == Reach.VALUES
    assert reach_of_pir(("shape64", (1,), (3,)), ("assign_out_", (1, 3), (2,))) == Reach.VALUES
    assert reach_of_pir(("shape64", (1,), (3,)), ("builtin.set_parameter", (3,), ())) == Reach.VALUES
