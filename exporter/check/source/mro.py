"""In which order a class and its bases are asked for a member: C3, as Python does."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

C = TypeVar("C", bound=Hashable)


def linearized(cls: C, bases_of: Callable[[C], Sequence[C]]) -> tuple[C, ...]:
    """The class and all its bases, nearest first.

    Python refuses classes whose bases have no consistent order; of these, and of a class that is its own ancestor, each
    is named once, in the order in which it is first listed. No recursion: a chain of bases may be long.

    Source: https://docs.python.org/3/howto/mro.html
    """
    orders: dict[C, list[C]] = {}
    bases: dict[C, list[C]] = {}
    path = {cls: None}  # in order: from the class to the base whose order is wanted
    while path:
        current = next(reversed(path))
        if current not in bases:
            bases[current] = [base for base in dict.fromkeys(bases_of(current)) if base not in path]
        missing = next((base for base in bases[current] if base not in orders), None)
        if missing is not None:
            path[missing] = None
            continue
        above = [orders[base] for base in bases[current]]
        del path[current]
        orders[current] = [current, *(above[0] if len(above) == 1 else _merged([*above, bases[current]]))]
    return tuple(orders[cls])


def _merged(orders: list[list[C]]) -> list[C]:
    """Take what comes first in some order and later in none, again and again."""
    merged: list[C] = []
    while orders := [order for order in orders if order]:
        heads = [order[0] for order in orders]
        free = (head for head in heads if not any(head in order[1:] for order in orders))
        first = next(free, heads[0])
        merged.append(first)
        orders = [[cls for cls in order if cls != first] for order in orders]
    return merged
