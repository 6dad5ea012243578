"""Attributes that have other values for a while."""

from __future__ import annotations


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
