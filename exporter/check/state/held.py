"""Attributes that have another value for a while."""

from __future__ import annotations


class Held:
    """Inside the block, an attribute has another value; a class, since a generator takes three times as long."""

    __slots__ = ("_name", "_owner", "_value")

    def __init__(self, owner: object, name: str, value: object) -> None:
        self._owner, self._name, self._value = owner, name, value

    def __enter__(self) -> None:
        before = getattr(self._owner, self._name)
        setattr(self._owner, self._name, self._value)
        self._value = before

    def __exit__(self, *_: object) -> None:
        setattr(self._owner, self._name, self._value)
