"""The graph of a file that failed, and the own error of each node of it, as Google's Model Explorer reads them.

Its graph is a list of graphs of nodes (graph_builder.py of the package `ai-edge-model-explorer`), its node data values
by node (node_data_builder.py there). Nodes of ONNX are called as its adapter for ONNX calls them, by their names.
"""

from __future__ import annotations

import json

from exporter.prove.verdict.blame import Blame, OperatorError

#: Up to which own error a node has which colour; each entry is an upper bound.
THRESHOLDS = (
    (1.0, "#ffffff", "#1b2230"),
    (4.0, "#fdeceb", "#1b2230"),
    (16.0, "#f8c9c5", "#1b2230"),
    (1000.0, "#e0655c", "#1b2230"),
    (1e18, "#8c1d18", "#ffffff"),
)


def node_data(blame: Blame) -> str:
    """The own error of each operator where it is known, by the id of its node."""
    return json.dumps(
        {
            "results": {
                operator.name: {"value": float(f"{operator.own:.6g}")}
                for operator in blame.operators
                if operator.own is not None
            },
            "thresholds": [
                {"value": value, "bgColor": background, "textColor": ink} for value, background, ink in THRESHOLDS
            ],
        },
        indent=1,
    )


def graph(blame: Blame) -> str:
    """The operators as a graph, whose groups are the sublayers."""
    nodes = [_node(operator, blame.operators) for operator in blame.operators]
    return json.dumps([{"id": blame.claim.variant, "nodes": nodes}], indent=1)


def _node(operator: OperatorError, operators: tuple[OperatorError, ...]) -> dict[str, object]:
    facts = {"own error": operator.own, "with what came in": operator.total, "line": operator.line}
    return {
        "id": operator.name,
        "label": operator.kind,
        "namespace": operator.sublayer.replace(".", "/"),
        "attrs": [
            {"key": key, "value": value if isinstance(value, str) else f"{value:.6g}"}
            for key, value in facts.items()
            if value not in (None, "")
        ],
        "incomingEdges": [
            {"sourceNodeId": operators[read].name, "sourceNodeOutputId": "0", "targetNodeInputId": str(at)}
            for at, read in enumerate(operator.reads)
        ],
        "outputsMetadata": [
            {"id": str(at), "attrs": [{"key": "__tensor_tag", "value": value}, *_shape(operator, at)]}
            for at, value in enumerate(operator.values)
        ],
    }


def _shape(operator: OperatorError, at: int) -> list[dict[str, str]]:
    return [{"key": "tensor_shape", "value": operator.size}] if at == 0 and operator.size else []
