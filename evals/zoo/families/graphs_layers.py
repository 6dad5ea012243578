"""What PGL's layers compute on a graph whose edges are a tensor: two layers each, over nodes and edges of any number.

PGL's own class of graphs sorts edges by a compiled extension as it is built; the one here has the same methods, by
`paddle.geometric` and by what PGL's methods call themselves.
"""

from __future__ import annotations

import importlib
from typing import Any

import paddle
from paddle import nn


class Graph:
    """Edges [edges, 2] from the first to the second node; what PGL's layers ask of a graph, and no more."""

    def __init__(self, edges: Any, count: Any) -> None:
        self.edges, self.num_nodes = edges, count
        self.source, self.target = edges[:, 0], edges[:, 1]

    def indegree(self) -> Any:
        """How many edges lead to each node."""
        zeros = paddle.zeros([self.num_nodes], dtype="float32")
        return paddle.scatter_nd_add(zeros, self.target.unsqueeze(1), paddle.ones_like(self.target, dtype="float32"))

    def send_recv(self, feature: Any, reduce_func: str = "sum", out_size: Any = None) -> Any:
        """What the sources of each node's edges hold, reduced."""
        return paddle.geometric.send_u_recv(feature, self.source, self.target, reduce_op=reduce_func, out_size=out_size)

    def send_uv(self, source: Any, target: Any, message_op: str) -> Any:
        """For each edge, what both ends hold."""
        return paddle.geometric.send_uv(source, target, self.source, self.target, message_op=message_op)

    def send_ue_recv(self, feature: Any, edge_feature: Any, message_op: str, reduce_op: str) -> Any:
        """What sources and edges hold, reduced for each node."""
        return paddle.geometric.send_ue_recv(
            feature, edge_feature, self.source, self.target, message_op=message_op, reduce_op=reduce_op
        )

    def sorted_edges(self, sort_by: str) -> tuple[Any, Any, Any]:
        """Sources, targets and numbers of the edges, by their targets."""
        assert sort_by == "dst"
        order = paddle.argsort(self.target, stable=True)
        return paddle.gather(self.source, order), paddle.gather(self.target, order), order

    def get_segment_ids(self, source: Any, target: Any, segment_by: str) -> tuple[Any, Any]:
        """The nodes that have edges, and for each edge the place of its target among them."""
        assert segment_by == "dst"
        unique, places = paddle.unique(target, return_inverse=True)
        return unique, places

    def send(self, message_func: Any, src_feat: Any, dst_feat: Any = None, edge_feat: Any = None) -> Any:
        """The messages of all edges, by what their ends hold."""
        sources = {name: paddle.gather(value, self.source) for name, value in src_feat.items()}
        targets = {name: paddle.gather(value, self.target) for name, value in (dst_feat or {}).items()}
        return message_func(sources, targets, edge_feat or {})

    def recv(self, reduce_func: Any, msg: Any) -> Any:
        """The messages of all edges reduced for each node; zeros where none arrives."""
        _, target, order = self.sorted_edges("dst")
        unique, places = self.get_segment_ids(None, target, "dst")
        sent = {name: paddle.gather(value, order) for name, value in msg.items()}
        reduced = reduce_func(importlib.import_module("pgl.message").Message(sent, places))
        zeros = paddle.zeros([self.num_nodes, reduced.shape[-1]], dtype=reduced.dtype)
        return paddle.scatter(zeros, unique, reduced)


class Nodes(nn.Layer):
    """Some convolutions in a row, each over the same edges, and classes of nodes."""

    def __init__(self, convolutions: list[Any], width: int) -> None:
        super().__init__()
        self.convolutions, self.head = nn.LayerList(convolutions), nn.Linear(width, 4)

    def forward(self, feature, edges):
        graph = Graph(edges, feature.shape[0])
        for convolution in self.convolutions:
            feature = convolution(graph, feature)
        return self.head(feature)


class Weighed(Nodes):
    """PinSage, whose edges have weights."""

    def forward(self, feature, edges, weights):
        graph = Graph(edges, feature.shape[0])
        for convolution in self.convolutions:
            feature = convolution(graph, feature, weights)
        return self.head(feature)


class Types(Nodes):
    """RGCN: edges of two types."""

    def forward(self, feature, edges, others):
        graphs = {"near": Graph(edges, feature.shape[0]), "far": Graph(others, feature.shape[0])}
        for convolution in self.convolutions:
            feature = convolution(graphs, feature)
        return self.head(feature)
