"""The contract of a family of faults: a tuple of kinds, each with its sites and how it is planted.

A new fault is one entry in a family's tuple, or one new file beside these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from exporter.bundle.drill.material import Material
    from exporter.bundle.drill.programs.base import Node, Program


@dataclass(frozen=True)
class Kind:
    """One kind of fault.

    `sites` names the places where it can be planted; `plant` changes the material at one of them, with a generator for
    what is left to chance, and raises `Unplantable` where nothing would change. A fault that is not `numeric` changes
    what the file promises, so it is wrong even where every number stays right.
    """

    name: str
    sites: Callable[[Material], Iterable[str]]
    plant: Callable[[Material, str, np.random.Generator], None]
    numeric: bool = True


Family: TypeAlias = tuple[Kind, ...]
#: How a kind of fault is planted; see `Kind.plant`.
Plant: TypeAlias = "Callable[[Material, str, np.random.Generator], None]"


def at_node(change: Callable[[Program, Node], None]) -> Plant:
    """Plant by a change of the node that the site names."""
    return edited(lambda program, site: change(program, program.at(site)))


def edited(change: Callable[[Program, str], None]) -> Plant:
    """Plant by a change of the program that leaves nothing to chance."""

    def plant(material: Material, site: str, generator: np.random.Generator) -> None:
        del generator
        change(material.edit(), site)

    return plant
