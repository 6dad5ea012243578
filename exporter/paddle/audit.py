"""The installed Paddle against the table of private names: `python -m exporter.paddle.audit` prints what differs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

from exporter.paddle import private


def demand_known() -> None:
    """Refuse a Paddle that lacks one of the private names that it should have.

    Raises:
        EnvironmentLacks: with the names.
    """
    if found := tuple(missing()):
        raise private.differs(found)


def missing() -> Iterator[str]:
    """Each private name, and each private member, that the installed Paddle lacks and an older one has."""
    for name in private.NAMES.values():
        if not private.newer(name):
            yield from _gone(name.path, *(f"{name.path}.{member}" for member in name.members))
    if importlib.import_module("paddle").is_compiled_with_cuda():
        yield from _gone(*(f"paddle.base.core.{member}" for member in private.OF_GPU))
    for path, members in private.MEMBERS.items():
        owner = private.found(path)
        if owner is None:
            yield f"{path} (gone)"
        else:
            yield from (f"{path}.{member} (gone)" for member in members if not _has(owner, member))


def _gone(*paths: str) -> Iterator[str]:
    yield from (f"{path} (gone)" for path in paths if private.found(path) is None)


def _has(owner: type, member: str) -> bool:
    """Whether objects of a class have a member: by the class, or since a method of it reads or writes it."""
    functions = [value for kind in owner.__mro__ for value in vars(kind).values()]
    return hasattr(owner, member) or any(member in _names(function) for function in functions)


def _names(function: Any) -> tuple[str, ...]:
    return tuple(getattr(getattr(function, "__code__", None), "co_names", ()))


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in missing()) or "nothing differs\n")
