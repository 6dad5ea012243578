"""PGL's convolutions over graphs, from a checkout: nodes and edges are tensors, and there may be any number of them.

`--checkout graphs=FOLDER` names the folder that holds `pgl/`; nothing of it is copied here. `import pgl` needs a
compiled extension, which is asked for graphs of arrays alone; only the file of the layers is imported.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.families import graphs_layers as layers
from evals.zoo.families.paddlex_layers import scale
from evals.zoo.network import Network, Tensor

DIMS = {"nodes": {"min": 3, "typical": 7, "max": 12}, "edges": {"min": 2, "typical": 15, "max": 30}}
_WIDTH = 8
_FEATURE = Tensor(("nodes", _WIDTH), name="feature")
_EDGES = Tensor(("edges", 2), "int64", "integers(0,nodes)", "edges")
_WEIGHTS = Tensor(("edges", 1), "float32", "uniform(0.1,2)", "weights")
_OTHERS = Tensor(("edges", 2), "int64", "integers(0,nodes)", "others")
_SAME = {"input_size": _WIDTH, "hidden_size": _WIDTH}
_OUT = {"input_size": _WIDTH, "output_size": _WIDTH}


@dataclass(frozen=True)
class Entry:
    """Two layers of class `kind` of `pgl/nn/conv.py`."""

    name: str
    kind: str
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)
    layer: type[Any] = layers.Nodes
    inputs: tuple[Tensor, ...] = (_FEATURE, _EDGES)


ENTRIES = (
    Entry("GCN", "GCNConv", _OUT | {"activation": "relu"}),
    Entry("GAT", "GATConv", {"input_size": _WIDTH, "hidden_size": 4, "num_heads": 2, "activation": "elu"}),
    Entry("GATv2", "GATv2Conv", {"input_size": _WIDTH, "hidden_size": 4, "num_heads": 2, "activation": "elu"}),
    Entry("GraphSAGE", "GraphSageConv", _SAME | {"aggr_func": "mean"}),
    Entry("GraphSAGE_max", "GraphSageConv", _SAME | {"aggr_func": "max"}),
    Entry("PinSage", "PinSageConv", _SAME, layers.Weighed, (_FEATURE, _EDGES, _WEIGHTS)),
    Entry("GIN", "GINConv", _OUT | {"activation": "relu"}),
    Entry("APPNP", "APPNP", {"alpha": 0.2, "k_hop": 3}),
    Entry("GPR", "GPRConv", {"input_size": _WIDTH, "hidden_size": _WIDTH, "output_size": _WIDTH, "k_hop": 3}),
    Entry("GCNII", "GCNII", {"hidden_size": _WIDTH, "activation": "relu", "k_hop": 3}),
    Entry("TransformerConv", "TransformerConv", {"input_size": _WIDTH, "hidden_size": 4, "num_heads": 2}),
    Entry("SGC", "SGCConv", _OUT | {"cached": False}),
    Entry("SSGC", "SSGCConv", _OUT | {"cached": False}),
    Entry("NGCF", "NGCFConv", _OUT),
    Entry("LightGCN", "LightGCNConv"),
    Entry("FA", "FAConv", {"hidden_size": _WIDTH}),
    Entry("RGCN", "RGCNConv", {"in_dim": _WIDTH, "out_dim": _WIDTH, "etypes": ["near", "far"]}, layers.Types,
          (_FEATURE, _EDGES, _OTHERS)),
)  # fmt: skip


def networks() -> list[Network]:
    """PGL, where a checkout is named."""
    root = checkout("graphs", "pgl/nn")
    if root is None:
        return []
    return [
        Network("graphs", f"Graph_{entry.name}", partial(_build, entry, root), entry.inputs, DIMS, True)
        for entry in ENTRIES
    ]


def convolutions(root: Path | None = None) -> types.ModuleType | None:
    """The module `pgl.nn.conv`; None where no checkout is named."""
    root = root or checkout("graphs", "pgl/nn")
    if root is None:
        return None
    if "pgl" not in sys.modules:
        for name in ("pgl", "pgl.utils", "pgl.nn"):
            package = types.ModuleType(name)
            package.__path__ = [str(root.joinpath(*name.split(".")))]
            sys.modules[name] = package
        for name in ("utils", "nn"):
            setattr(sys.modules["pgl"], name, sys.modules[f"pgl.{name}"])
        importlib.import_module("pgl.utils.op")
        importlib.import_module("pgl.math")
    return importlib.import_module("pgl.nn.conv")


def _build(entry: Entry, root: Path) -> Any:
    kind = getattr(convolutions(root), entry.kind)
    network = entry.layer([kind(**entry.config) for _ in range(2)], _WIDTH)
    scale(network, np.random.default_rng(5))
    return network
