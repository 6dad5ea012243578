"""A planted fault by its name, and how it is planted again wherever it is needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from exporter.base.registry import Registry
from exporter.bundle.drill.faults.base import Family, Kind
from exporter.bundle.drill.material import Material

FAMILIES: Registry[Family] = Registry("exporter.bundle.drill.faults", "family of faults")


@dataclass(frozen=True)
class Fault:
    """One fault: its kind, and the site in its variant. Family, kind, site and seed tell it whole."""

    family: str
    kind: str
    site: str
    variant: str
    seed: int

    def __str__(self) -> str:
        return f"{self.family}: {self.kind}: {self.site}"

    @property
    def numeric(self) -> bool:
        """Whether it can be harmless where no number changes."""
        return self._kind().numeric

    def plant(self, material: Material) -> None:
        """Plant it, and nothing else.

        Raises:
            Unplantable: it cannot be expressed here, or would change nothing.
        """
        material.clear()
        key = f"{self.seed}/{self.family}/{self.kind}/{self.site}".encode()
        generator = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:8], "little"))
        self._kind().plant(material, self.site, generator)

    def _kind(self) -> Kind:
        return next(one for one in FAMILIES[self.family] if one.name == self.kind)


def candidates(material: Material, variant: str, seed: int) -> Iterator[Fault]:
    """Every fault that the artifact has a site for, in a seeded order: one of each kind, then the next of each."""
    queues: list[list[Fault]] = []
    for family, kinds in FAMILIES.all():
        for kind in kinds:
            sites = sorted(set(kind.sites(material)))
            order = np.random.default_rng([seed, len(queues)]).permutation(len(sites))
            queues.append([Fault(family, kind.name, sites[at], variant, seed) for at in order])
    for turn in range(max(map(len, queues))):
        yield from (queue[turn] for queue in queues if turn < len(queue))
