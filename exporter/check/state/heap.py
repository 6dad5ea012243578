"""Writes that can be taken back, so that both sides of a branch start from one state; and values for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from exporter.check.domain.values import UNBOUND

#: One place: a dict of names or of attributes, and a key of it.
Place: TypeAlias = tuple[int, str]
#: What one side of a branch wrote: each place, with the dict it lies in and the value there in the end.
Changes: TypeAlias = dict[Place, tuple[dict[str, Any], Any]]
Merge: TypeAlias = Callable[[str, Any, Any, Any], Any]

_ABSENT = object()


class Heap:
    """Every write to a name or an attribute goes through :meth:`write`; a trail of them can be undone."""

    def __init__(self) -> None:
        self._trails: list[dict[Place, tuple[dict[str, Any], Any]]] = []

    def write(self, where: dict[str, Any], key: str, value: Any) -> None:
        """Put a value in its place, and remember what stood there first."""
        if self._trails:
            trail, place = self._trails[-1], (id(where), key)
            if place not in trail:
                trail[place] = (where, where.get(key, _ABSENT))
        where[key] = value

    def change(self, owner: object, **attributes: Any) -> None:
        """Give attributes of an object other values."""
        for name, value in attributes.items():
            self.write(vars(owner), name, value)

    def begin(self) -> None:
        """Start a trail."""
        self._trails.append({})

    def undo(self) -> Changes:
        """End the trail: put everything back, and return what had been written."""
        trail = self._trails.pop()
        changes: Changes = {}
        for place, (where, before) in trail.items():
            changes[place] = (where, where[place[1]])
            if before is _ABSENT:
                del where[place[1]]
            else:
                where[place[1]] = before
        return changes

    def keep(self) -> Changes:
        """End the trail and leave everything as it is; return what stood there before (`UNBOUND` for nothing)."""
        trail = self._trails.pop()
        before = {place: (where, UNBOUND if old is _ABSENT else old) for place, (where, old) in trail.items()}
        if self._trails:
            outer = self._trails[-1]
            for place, entry in trail.items():
                outer.setdefault(place, entry)
        return before

    def apply(self, changes: Changes) -> None:
        """Write the changes of one side as they are."""
        for (_, key), (where, value) in changes.items():
            self.write(where, key, value)

    def merge(self, one: Changes, other: Changes, how: Merge) -> None:
        """Write what both sides give together: `how(key, before, one, other)`; a side that left a place keeps it."""
        for place in {**one, **other}:
            where = (one.get(place) or other[place])[0]
            before = where.get(place[1], UNBOUND)
            left = one[place][1] if place in one else before
            right = other[place][1] if place in other else before
            self.write(where, place[1], how(place[1], before, left, right))


class Held:
    """Inside the block, attributes have other values; a class, since a generator takes three times as long."""

    __slots__ = ("_owner", "_values")

    def __init__(self, owner: object, **values: object) -> None:
        self._owner, self._values = owner, values

    def __enter__(self, *_: object) -> None:
        owner, values = self._owner, self._values
        for name in values:
            before = getattr(owner, name)
            setattr(owner, name, values[name])
            values[name] = before

    __exit__ = __enter__
