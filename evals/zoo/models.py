"""Every network of the zoo as a factory that a spec can name: `evals.zoo.models:resnet18`.

`evals.zoo.calibrated:resnet18` is the same with statistics as after training, see there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from evals.zoo.families import FAMILIES, networks_of
from evals.zoo.network import Network


@cache
def networks(family: str) -> dict[str, Network]:
    """A family's networks by key; importing it may take seconds."""
    return {network.key: network for network in networks_of(family)}


def found(key: str) -> Network:
    """The network of that key, in the first family that has it."""
    for family in FAMILIES:
        if key in networks(family):
            return networks(family)[key]
    raise AttributeError(key)


def __getattr__(name: str) -> Callable[[], Any]:
    if name.startswith("_"):
        raise AttributeError(name)
    return found(name).build
