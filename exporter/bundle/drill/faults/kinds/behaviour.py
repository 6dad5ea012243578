"""Faults of behaviour: right at one time and wrong at another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exporter.bundle.drill.faults.base import Family, Kind, at_node, edited
from exporter.bundle.drill.faults.kinds.graph import anywhere
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Operation, Program

_NORMS = ("batch_norm", "batchnormalization")


def _dropouts(material: Material) -> Iterable[str]:
    """ONNX says it by an input, and the converter leaves no dropout there."""
    nodes = material.program.live
    return [node.site for node in nodes if node.kind == "dropout" and "is_test" in node.attributes]


def _norms(material: Material) -> Iterable[str]:
    return [node.site for node in material.program.live if node.kind in _NORMS]


def _worn(material: Material) -> Iterator[str]:
    """Formats whose programs keep state can be right in the first run and wrong in the second; ONNX cannot."""
    if type(material.program).wear is not Program.wear:
        yield from material.parameters


plugin: Family = (
    Kind("dropout alive", _dropouts, at_node(lambda program, node: program.wake(node))),
    Kind("batch norm in training", _norms, at_node(lambda program, node: program.train(node))),
    Kind("noise", anywhere, at_node(lambda program, node: program.follow(node, Operation.NOISE))),
    Kind("wrong from the second run", _worn, edited(lambda program, tensor: program.wear(tensor))),
)
