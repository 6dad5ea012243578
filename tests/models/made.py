"""Factories that reading does not find, or that are no functions: only the import makes them."""

from __future__ import annotations

import functools
import sys
from typing import Any

import paddle
from models.made_elsewhere import *  # noqa: F403
from models.sound import mlp


class Kept:
    """A factory that is a member of a class."""

    @staticmethod
    def make() -> paddle.nn.Layer:
        return mlp()


def named(factory: Any) -> Any:
    @functools.wraps(factory)
    def inner() -> Any:
        return factory()

    return inner


@named
def decorated() -> paddle.nn.Layer:
    return mlp()


if "paddle" in sys.modules:

    def conditional() -> paddle.nn.Layer:
        return mlp()


partial = functools.partial(mlp)
alias = mlp
globals()["by_globals"] = mlp
for name in ("by_setattr",):
    setattr(sys.modules[__name__], name, mlp)


def __getattr__(name: str) -> Any:
    if name == "by_getattr":
        return mlp
    raise AttributeError(name)
