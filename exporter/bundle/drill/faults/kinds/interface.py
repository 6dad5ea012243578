"""Faults of what the file promises: its outputs, their names and dtypes, and its sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from exporter.bundle.drill.faults.base import Family, Kind, edited
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Operation, Program

_AND, _OF = " | ", " of "


def _outputs(material: Material) -> Iterable[str]:
    return list(material.program.outputs())


def _neighbours(material: Material) -> Iterator[str]:
    for one, other in pairwise(material.program.outputs()):
        yield f"{one}{_AND}{other}"


def _swap(program: Program, site: str) -> None:
    one, other = site.split(_AND)
    program.rename_outputs({one: other, other: one})


def _rename(program: Program, name: str) -> None:
    program.rename_outputs({name: f"{name}_1"})


def _repeat(program: Program, name: str) -> None:
    program.repeat_output(name, f"{name}_1")


def _retype(program: Program, site: str) -> None:
    program.follow(program.maker(program.outputs()[site]), Operation.OTHER_DTYPE)


def _batch(material: Material) -> Iterable[str]:
    return [f"{material.batch} rows"] if material.batch else []


def _freeze(material: Material, site: str, generator: np.random.Generator) -> None:
    del site, generator
    material.edit().freeze_batch(material.batch)


def _cut(material: Material, site: str, generator: np.random.Generator) -> None:
    del generator
    material.edit().cut_rows(site.partition(_OF)[2], material.batch)


def _batched(material: Material) -> Iterable[str]:
    return [f"{material.batch} rows{_OF}{name}" for name in material.program.outputs()] if material.batch else []


plugin: Family = (
    Kind("outputs swapped", _neighbours, edited(_swap), numeric=False),
    Kind("output renamed", _outputs, edited(_rename), numeric=False),
    Kind("output twice", _outputs, edited(_repeat), numeric=False),
    Kind("output's dtype", _outputs, edited(_retype), numeric=False),
    Kind("batch declared frozen", _batch, _freeze, numeric=False),
    Kind("batch cut", _batched, _cut, numeric=False),
)
