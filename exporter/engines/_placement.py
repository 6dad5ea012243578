"""Where each node of an ONNX graph really ran: read from ONNX Runtime's profile of one run.

`get_providers()` of a session lists what was registered, not what computes: a provider that takes no node stays first
in the list (1.31.1, seen with AzureExecutionProvider). The profile names the provider of every node that ran, with the
types and shapes of what it took and gave.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.engines.base import EngineRefused

#: Operators that read no number of what they take, only its sizes.
_OF_SIZES = ("Shape", "Size")
_WHOLE = ("int64", "int32", "bool")
#: Factors that are computed from sizes, such as the scales of a Resize, are floats. No more of them count as such.
_FEW = 8


@dataclass(frozen=True)
class Node:
    """A node that ran: its name, its operator, what ran it, and whether it computes nothing but sizes."""

    name: str
    operator: str
    provider: str
    of_sizes: bool


def nodes_of(profile: Path) -> tuple[Node, ...]:
    """Every node of a profile once, in the order in which they ran first; none of a graph that was folded away.

    Raises:
        EngineRefused: it is no profile.
    """
    try:
        events = json.loads(profile.read_text())
        ran = [_node(event) for event in events if event.get("cat") == "Node" and "provider" in event["args"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineRefused(f"ONNX Runtime's profile of the run cannot be read: {error}") from error
    return tuple(dict.fromkeys(ran))


def _node(event: Mapping[str, Any]) -> Node:
    about = event["args"]
    tensors = [*about.get("input_type_shape", ()), *about.get("output_type_shape", ())]
    of_sizes = about["op_name"] in _OF_SIZES or all(_sizes(*pair) for tensor in tensors for pair in tensor.items())
    name = event["name"].removesuffix("_kernel_time")
    return Node(name, about["op_name"], about["provider"], of_sizes)


def _sizes(dtype: str, shape: Sequence[int]) -> bool:
    """Whether a tensor can be a list of sizes: one dimension or none, of whole numbers or of few others."""
    return len(shape) < 2 and (dtype in _WHOLE or sum(shape) <= _FEW)


def told(nodes: Sequence[Node], provider: str) -> dict[str, str]:
    """What is recorded of a run that was to be on `provider`.

    `placement` counts the nodes of each provider. `sizes_elsewhere` and `values_elsewhere` count, by operator, those
    that ran on another one: ONNX Runtime leaves the arithmetic of sizes on the CPU on purpose.
    """
    elsewhere = [node for node in nodes if node.provider != provider]
    return {
        "placement": _counted(node.provider for node in nodes),
        "sizes_elsewhere": _counted(node.operator for node in elsewhere if node.of_sizes),
        "values_elsewhere": _counted(node.operator for node in elsewhere if not node.of_sizes),
    }


def _counted(names: Any) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(Counter(names).items()))


def computes(nodes: Sequence[Node], provider: str) -> str:
    """The provider that computes the values: `provider` if it runs any node that does, else what runs the most."""
    if not nodes:
        return provider
    of_values = [node.provider for node in nodes if not node.of_sizes] or [node.provider for node in nodes]
    return provider if provider in of_values else Counter(of_values).most_common(1)[0][0]
