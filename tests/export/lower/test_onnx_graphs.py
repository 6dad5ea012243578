"""Messages along edges, segments and beams as ONNX: equal to eager at numbers of nodes and edges that vary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import paddle.geometric as geometric
import paddle.nn.functional as F
import pytest

from exporter.base.errors import ModelError
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from tests.export.lower.as_onnx import AsOnnx, Feed

Body = Callable[..., Any]
INDEX = ("int64", ("e",))
#: How many nodes, edges and rows of the output: none, one, many to one row, rows that nothing reaches.
SIZES = ((1, 0, 0), (1, 1, 0), (5, 7, 0), (9, 40, 12), (6, 3, 2))


def graph(nodes: int, edges: int, rows: int, dtype: str, seed: int = 0) -> Feed:
    draw = np.random.default_rng(seed)
    numbers = draw.standard_normal((nodes, 3)) * (9 if "int" in dtype else 1)
    return {
        "x": numbers.astype(dtype),
        "src": draw.integers(0, nodes, edges),
        "dst": draw.integers(0, rows or nodes, edges),
    }


@pytest.mark.parametrize(
    ("way", "dtype"),
    [("sum", "float32"), ("sum", "int64"), ("mean", "float64"), ("mean", "int32"), ("max", "float32"),
     ("max", "int32"), ("min", "float64"), ("min", "int64")],
)  # fmt: skip
def test_rows_go_along_edges(way: str, dtype: str, tmp_path: Path) -> None:
    body: Body = lambda x, src, dst: geometric.send_u_recv(x, src, dst, way)  # noqa: E731
    both = AsOnnx(body, {"x": (dtype, ("n", 3)), "src": INDEX, "dst": INDEX}, tmp_path)
    for seed, (nodes, edges, _) in enumerate(SIZES):
        both.must_equal_eager(graph(nodes, edges, 0, dtype, seed))


def test_of_infinite_messages_the_largest_is_not_zero(tmp_path: Path) -> None:
    body: Body = lambda x, src, dst: geometric.send_u_recv(x, src, dst, "max")  # noqa: E731
    both = AsOnnx(body, {"x": ("float32", ("n", 3)), "src": INDEX, "dst": INDEX}, tmp_path)
    feed = graph(4, 3, 0, "float32")
    both.must_equal_eager({**feed, "x": np.full((4, 3), -np.inf, "float32")})


@pytest.mark.parametrize("way", ["mean", "max"])
def test_how_many_rows_come_out_may_be_computed(way: str, tmp_path: Path) -> None:
    """Not positive, it is as many as go in. Without edges Paddle forgets a dim there, so there are some."""
    body: Body = lambda x, src, dst, rows: geometric.send_u_recv(x, src, dst, way, rows)  # noqa: E731
    shapes: Any = {"x": ("float32", ("n", 3)), "src": INDEX, "dst": INDEX, "rows": ("int32", ())}
    both = AsOnnx(body, shapes, tmp_path)
    for nodes, edges, rows in SIZES[1:]:
        both.must_equal_eager({**graph(nodes, edges, rows, "float32"), "rows": np.array(rows, "int32")})
    both.must_equal_eager({**graph(5, 7, 0, "float32"), "rows": np.array(-1, "int32")})


#: What the edges have: as many features as the nodes, one, none, and a dim more.
EDGES = {"same": (3,), "one": (1,), "none": (), "more": (2, 1)}


@pytest.mark.parametrize(
    ("message", "way", "shape"),
    [("add", "sum", "same"), ("sub", "mean", "one"), ("mul", "max", "none"), ("div", "min", "more"),
     ("mul", "sum", "more")],
)  # fmt: skip
def test_what_an_edge_has_goes_along(message: str, way: str, shape: str, tmp_path: Path) -> None:
    body: Body = lambda x, y, src, dst: geometric.send_ue_recv(x, y, src, dst, message, way)  # noqa: E731
    inner = EDGES[shape]
    both = AsOnnx(
        body, {"x": ("float32", ("n", 3)), "y": ("float32", ("e", *inner)), "src": INDEX, "dst": INDEX}, tmp_path
    )
    for nodes, edges, _ in SIZES:
        feed = graph(nodes, edges, 0, "float32")
        y = np.random.default_rng(edges).uniform(0.5, 2, (edges, *inner)).astype("float32")
        both.must_equal_eager({"x": feed["x"], "y": y, "src": feed["src"], "dst": feed["dst"]})


@pytest.mark.parametrize("message", ["sub", "div"])
def test_both_ends_of_an_edge(message: str, tmp_path: Path) -> None:
    body: Body = lambda x, y, src, dst: geometric.send_uv(x, y, src, dst, message)  # noqa: E731
    shapes: Any = {"x": ("float32", ("n", 2, 3)), "y": ("float32", ("n", 1)), "src": INDEX, "dst": INDEX}
    both = AsOnnx(body, shapes, tmp_path)
    for nodes, edges, _ in SIZES:
        feed, draw = graph(nodes, edges, 0, "float32"), np.random.default_rng(nodes)
        x, y = (side.astype("float32") for side in (draw.normal(size=(nodes, 2, 3)), draw.uniform(0.5, 2, (nodes, 1))))
        both.must_equal_eager({"x": x, "y": y, "src": feed["src"], "dst": feed["dst"]})


#: From 0, from 3, with gaps, one row, all in one.
NUMBERS = ([0, 0, 1, 1, 1], [3, 3, 4], [0, 5, 5, 9], [2], [0] * 70)


@pytest.mark.parametrize(
    ("way", "dtype"),
    [("sum", "float32"), ("mean", "float32"), ("max", "float32"), ("mean", "int32"), ("min", "float64")],
)  # fmt: skip
def test_segments(way: str, dtype: str, tmp_path: Path) -> None:
    body: Body = lambda x, numbers: getattr(geometric, f"segment_{way}")(x, numbers)  # noqa: E731
    both = AsOnnx(body, {"x": (dtype, ("n", 3, 2)), "numbers": ("int64", ("n",))}, tmp_path)
    for numbers in NUMBERS:
        x = np.random.default_rng(len(numbers)).standard_normal((len(numbers), 3, 2)) * 5
        both.must_equal_eager({"x": x.astype(dtype), "numbers": np.array(numbers)})


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_paths_of_beams(dtype: str, tmp_path: Path) -> None:
    """The parents of the first step are read by no one, and may be any numbers."""
    both = AsOnnx(F.gather_tree, {"ids": (dtype, ("t", "b", "k")), "parents": (dtype, ("t", "b", "k"))}, tmp_path)
    for shape in ((1, 1, 1), (4, 2, 3), (9, 1, 5), (2, 3, 1)):
        draw = np.random.default_rng(sum(shape))
        parents = draw.integers(0, shape[2], shape).astype(dtype)
        parents[0] = 99
        both.must_equal_eager({"ids": draw.integers(0, 1000, shape).astype(dtype), "parents": parents})


def test_the_largest_is_refused_at_opset_17(tmp_path: Path) -> None:
    body: Body = lambda x, src, dst: geometric.send_u_recv(x, src, dst, "max")  # noqa: E731
    AsOnnx(body, {"x": ("float32", ("n", 3)), "src": INDEX, "dst": INDEX}, tmp_path)
    with pytest.raises(ModelError, match="since opset 18"):
        onnx_format.write(None, tmp_path, tmp_path / "onnx", Wish(17))


class Network(paddle.nn.Layer):
    """Two rounds of messages, and a sum over each graph of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.update = paddle.nn.Linear(3, 8), paddle.nn.GRUCell(8, 3)

    def forward(self, x: Any, src: Any, dst: Any, graphs: Any) -> Any:
        h = x
        for _ in range(2):
            heard = geometric.send_u_recv(self.message(h), src, dst, out_size=x.shape[0])
            _, h = self.update(heard, h)
        return geometric.segment_mean(h, graphs)


def test_a_network_of_graphs(tmp_path: Path) -> None:
    paddle.seed(1)
    shapes: Any = {"x": ("float32", ("n", 3)), "src": INDEX, "dst": INDEX, "graphs": ("int64", ("n",))}
    both = AsOnnx(Network(), shapes, tmp_path)
    for nodes, edges, _ in SIZES[1:]:
        feed = graph(nodes, edges, 0, "float32")
        both.must_equal_eager({**feed, "graphs": np.sort(np.random.default_rng(nodes).integers(0, 3, nodes))})
