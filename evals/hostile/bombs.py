"""Programs that are well formed, made of listed operators, and loop or allocate far beyond what a model needs.

Each computes what the sound program computes, plus a scalar that is zero and takes its time or memory first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from evals.hostile.bases import Base
from evals.hostile.seal import digests_again, seal
from exporter.base.readers import read
from tests.command import ROOT, environment
from tests.conftest import working_folder

#: What `evals/hostile/endless.py` makes.
ENDLESS = (
    *("a loop", "loops in a loop", "a counted loop", "a loop that doubles", "ones", "tiled", "expanded", "a range"),
    "products",
)
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
_INT, _FLOAT, _BOOL = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL


class Graph:
    """The sound program's graph, to which nodes are added."""

    def __init__(self, path: Path) -> None:
        self.path, self.model = path, onnx.load(path)
        self.goldens: Mapping[str, Any] = {}
        self._names = 0

    @property
    def opset(self) -> int:
        """The version of the operators."""
        return int(self.model.opset_import[0].version)

    def constant(self, value: Any, dtype: str = "int64") -> str:
        """An initializer of these numbers."""
        name = self._name()
        self.model.graph.initializer.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """A node; the name of its first output."""
        names = [self._name() for _ in range(outputs)]
        self.model.graph.node.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0]

    @property
    def input(self) -> str:
        """The first input's name."""
        return self.model.graph.input[0].name

    def three(self) -> str:
        """A vector of one number that no folding of constants knows: 3, computed from the first size of the input."""
        first = self.add("Gather", self.add("Shape", self.input), self.constant([0]))
        return self.add("Add", self.add("Mul", first, self.constant([0])), self.constant([3]))

    def finish(self, bomb: str) -> None:
        """Add a zero that depends on `bomb` to the first output, and write the file."""
        output = self.model.graph.output[0].name
        node = next(node for node in self.model.graph.node if output in node.output)
        node.output[list(node.output).index(output)] = before = self._name()
        numbers = self.add("Cast", bomb, to=_FLOAT)
        total = self.add("ReduceSum", numbers, keepdims=0)
        zero = self.add("Mul", total, self.constant(0, "float32"))
        self.model.graph.node.append(helper.make_node("Add", [before, zero], [output]))
        sort_nodes(self.model.graph)
        onnx.save(self.model, self.path)

    def _name(self) -> str:
        self._names += 1
        return f"bomb{self._names}"


def sort_nodes(graph: onnx.GraphProto) -> None:
    """Put the nodes into an order in which each value is made before it is taken."""
    made = {value.name for value in (*graph.input, *graph.initializer)} | {""}
    waiting, ordered = list(graph.node), []
    while waiting:
        ready = [node for node in waiting if set(node.input) <= made]
        assert ready
        ordered += ready
        made |= {name for node in ready for name in node.output}
        waiting = [node for node in waiting if node not in ready]
    del graph.node[:]
    graph.node.extend(ordered)


def _shape(graph: Graph, *sizes: int) -> str:
    """A shape that is computed, so that only running the program tells it."""
    one = graph.add("Div", graph.three(), graph.constant([3]))
    return graph.add("Mul", one, graph.constant(sizes))


def _loop(graph: Graph, trips: str, *, grows: bool = False, depth: int = 1) -> str:
    """A loop whose condition never ends it, with others inside."""
    wide = graph.constant(np.ones(100_000 if grows else 1000), "float32")
    true = graph.constant(True, "bool")
    return graph.add("Loop", trips, true, wide, outputs=2 if grows else 1, body=_body(depth, grows=grows))


def _body(depth: int, *, grows: bool = False) -> onnx.GraphProto:
    """The body of a loop over a vector; each level has names of its own."""
    at, go, before, goes, after, trips, row = (
        f"{name}{depth}" for name in ("at", "go", "before", "goes", "after", "trips", "row")
    )
    inputs = [
        helper.make_tensor_value_info(at, _INT, []),
        helper.make_tensor_value_info(go, _BOOL, []),
        helper.make_tensor_value_info(before, _FLOAT, [None]),
    ]
    outputs = [helper.make_tensor_value_info(goes, _BOOL, []), helper.make_tensor_value_info(after, _FLOAT, [None])]
    nodes = [helper.make_node("Identity", [go], [goes])]
    if depth > 1:
        nodes.append(helper.make_node("Constant", [], [trips], value_int=1 << 20))
        nodes.append(helper.make_node("Loop", [trips, go, before], [after], body=_body(depth - 1)))
    else:
        nodes.append(helper.make_node("Sin", [before], [after]))
    if grows:
        nodes.append(helper.make_node("Identity", [after], [row]))
        outputs.append(helper.make_tensor_value_info(row, _FLOAT, [None]))
    return helper.make_graph(nodes, f"body{depth}", inputs, outputs)


def _sequence(graph: Graph) -> str:
    """A loop that appends to a sequence."""
    empty = graph.add("SequenceEmpty", dtype=_FLOAT)
    value = helper.make_tensor_sequence_value_info("seq", _FLOAT, None)
    nodes = [
        helper.make_node("Identity", ["go"], ["goes"]),
        helper.make_node("Constant", [], ["size"], value_ints=[1 << 18]),
        helper.make_node("ConstantOfShape", ["size"], ["row"]),
        helper.make_node("SequenceInsert", ["seq", "row"], ["more"]),
    ]
    inputs = [helper.make_tensor_value_info("at", _INT, []), helper.make_tensor_value_info("go", _BOOL, []), value]
    outputs = [
        helper.make_tensor_value_info("goes", _BOOL, []),
        helper.make_tensor_sequence_value_info("more", _FLOAT, None),
    ]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    grown = graph.add("Loop", graph.constant(1 << 40), graph.constant(True, "bool"), empty, body=body)
    return graph.add("SequenceLength", grown)


def _product(graph: Graph) -> str:
    side = graph.add("ConstantOfShape", _shape(graph, 4000, 4000), value=_one())
    for _ in range(200):
        side = graph.add("MatMul", side, side)
    return side


def _doubled(graph: Graph) -> str:
    value = graph.add("ConstantOfShape", _shape(graph, 1), value=_one())
    for _ in range(36):
        value = graph.add("Concat", value, value, axis=0)
    return value


def _one() -> TensorProto:
    return helper.make_tensor("one", _FLOAT, [1], [1.0])


def _column(graph: Graph, size: int) -> str:
    return graph.add("ConstantOfShape", _shape(graph, size, 1), value=_one())


def _onehot(graph: Graph) -> str:
    return graph.add("OneHot", graph.three(), graph.constant([1 << 33]), graph.constant([0.0, 1.0], "float32"))


def _range(graph: Graph, end: int) -> str:
    last = graph.add("Squeeze", graph.add("Mul", graph.three(), graph.constant([end // 3])))
    return graph.add("Range", graph.constant(0), last, graph.constant(1))


BOMBS: Mapping[str, Callable[[Graph], str]] = {
    "zeros of a constant shape": lambda graph: graph.add("ConstantOfShape", graph.constant([1 << 33])),
    "zeros of a computed shape": lambda graph: graph.add("ConstantOfShape", _shape(graph, 1 << 16, 1 << 17)),
    "zeros of 2 GB": lambda graph: graph.add("ConstantOfShape", _shape(graph, 1 << 29)),
    "expanded": lambda graph: graph.add("Expand", graph.constant([1.0], "float32"), _shape(graph, 1 << 16, 1 << 16)),
    "tiled": lambda graph: graph.add("Tile", graph.constant(np.ones(1000), "float32"), _shape(graph, 1 << 22)),
    "a range": lambda graph: _range(graph, 3 << 31),
    "an outer product": lambda graph: graph.add(
        "Mul", _column(graph, 1 << 17), graph.add("Transpose", _column(graph, 1 << 17), perm=[1, 0])
    ),
    "one-hot": _onehot,
    "padded": lambda graph: graph.add("Pad", graph.constant([1.0], "float32"), _shape(graph, 0, 1 << 33)),
    "doubled": _doubled,
    "products": _product,
    "a loop of 2**62": lambda graph: _loop(graph, graph.constant(1 << 62)),
    "a loop without trips": lambda graph: _loop(graph, ""),
    "a loop of computed trips": lambda graph: _loop(
        graph, graph.add("Squeeze", graph.add("Mul", graph.three(), graph.constant([1 << 50])))
    ),
    "a loop that keeps": lambda graph: _loop(graph, graph.constant(1 << 40), grows=True),
    "loops in loops": lambda graph: _loop(graph, graph.constant(1 << 20), depth=4),
    "a sequence": _sequence,
}


@cache
def paddle_programs() -> Path:
    """A folder with what `evals/hostile/endless.py` writes; it goes when this process ends."""
    place = tempfile.TemporaryDirectory()
    _FOLDERS.append(place)
    work = Path(place.name, "work")
    working_folder(work)
    command = [sys.executable, str(Path(__file__).with_name("endless.py")), place.name]
    env = environment(PYTHONPATH=os.pathsep.join((str(work), str(ROOT))))
    subprocess.run(command, cwd=work, env=env, check=True, capture_output=True)
    return Path(place.name)


def paddle_bomb(name: str, form: str) -> Callable[[Base, Path, Path], None]:
    """A bundle whose PIR or ProgramDesc is one of those, sealed again with its own names and digests."""

    def make(base: Base, folder: Path, _outside: Path) -> None:
        shutil.copytree(paddle_programs() / name / form, folder / form, dirs_exist_ok=True)
        for path in (folder / form).iterdir():
            if f"{form}/{path.name}" not in base.manifest["files"]:
                path.unlink()
        content = base.manifest
        main = next(file for file in content["variants"][form]["files"] if not file.endswith(".pdiparams"))
        names = [output.name for output in read(folder / main).outputs]
        content["variants"][form] |= {"outputs": names, "native_outputs": names}
        digests_again(folder, content)
        seal(folder, content)

    return make


def bomb(name: str) -> Callable[[Base, Path, Path], None]:
    """A bundle whose ONNX program is one of these, sealed again with the digests of its tensors."""

    def make(base: Base, folder: Path, _outside: Path) -> None:
        graph = Graph(folder / "onnx/model.onnx")
        graph.finish(BOMBS[name](graph))
        content = base.manifest
        digests_again(folder, content)
        seal(folder, content)

    return make
