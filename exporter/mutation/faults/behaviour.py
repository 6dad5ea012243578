"""Faults of behaviour: right at one time and wrong at another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from exporter.mutation.faults.base import Family, Kind
from exporter.mutation.faults.graph import floats, node_at
from exporter.mutation.material import Material
from exporter.mutation.programs.base import Operation, Program

_NORMS = ("batch_norm", "batchnormalization")


def _dropouts(material: Material) -> Iterable[str]:
    """ONNX says it by an input, and the converter leaves no dropout there."""
    nodes = material.program.live
    return [one.site for one in nodes if one.kind == "dropout" and "is_test" in one.attributes]


def _wake(material: Material, site: str, generator: np.random.Generator) -> None:
    del generator
    program = material.edit()
    program.wake(node_at(program, site))


def _norms(material: Material) -> Iterable[str]:
    return [one.site for one in material.program.live if one.kind in _NORMS]


def _train(material: Material, site: str, generator: np.random.Generator) -> None:
    del generator
    program = material.edit()
    program.train(node_at(program, site))


def _anywhere(material: Material) -> Iterable[str]:
    return [one.site for one in floats(material)]


def _disturb(material: Material, site: str, generator: np.random.Generator) -> None:
    del generator
    program = material.edit()
    program.follow(node_at(program, site), Operation.NOISE)


def _worn(material: Material) -> Iterator[str]:
    """Formats whose programs keep state can be right in the first run and wrong in the second; ONNX cannot."""
    if type(material.program).wear is not Program.wear:
        yield from material.parameters


def _wear(material: Material, site: str, generator: np.random.Generator) -> None:
    del generator
    material.edit().wear(site)


plugin: Family = (
    Kind("dropout alive", _dropouts, _wake),
    Kind("batch norm in training", _norms, _train),
    Kind("noise", _anywhere, _disturb),
    Kind("wrong from the second run", _worn, _wear),
)
