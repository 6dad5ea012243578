"""How an attribute of a legacy operator is computed from the arguments of a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exporter.export.lower.pdmodel.call import Call


@dataclass(frozen=True)
class Attribute:
    """`source` is for the reader: the argument it comes from, and how. LEAVE_OUT keeps the operator's default."""

    source: str
    compute: Callable[[Call], Any]


#: What `compute` returns to leave the attribute out, so that a runtime that does not know it is not told of it.
LEAVE_OUT = object()


def integer(name: str) -> Attribute:
    """An int, also from a Tensor whose value is known."""
    return Attribute(name, lambda call: int(_scalar(call, name)))


def integers(name: str) -> Attribute:
    """A list of int; None is an empty one."""
    return Attribute(name, lambda call: _listed(call.constant(name)))


def number(name: str) -> Attribute:
    """A float."""
    return Attribute(name, lambda call: float(_scalar(call, name)))


def number_as_text(name: str) -> Attribute:
    """A float that the operator keeps as a string, so that no digit of a float64 is lost."""
    return Attribute(f"str({name})", lambda call: str(_scalar(call, name)))


def flag(name: str) -> Attribute:
    """A bool."""
    return Attribute(name, lambda call: bool(call.constant(name)))


def text(name: str) -> Attribute:
    """A string."""
    return Attribute(name, lambda call: str(call[name]))


def constant(value: Any) -> Attribute:
    """The same for every call."""
    return Attribute(repr(value), lambda call: value)


def computed(source: str, compute: Callable[[Call], Any]) -> Attribute:
    """Whatever has a rule of its own; `source` says which."""
    return Attribute(source, compute)


def _scalar(call: Call, name: str) -> Any:
    value = call.constant(name)
    while isinstance(value, list):  # a Tensor of one element
        (value,) = value
    return value


def _listed(value: Any) -> list[int]:
    if value is None:
        return []
    return [int(item) for item in value] if isinstance(value, list) else [int(value)]
