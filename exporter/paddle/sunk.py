"""The APIs whose bodies the installed Paddle has only in C++, and how they are called."""

from __future__ import annotations

import inspect
from typing import Any


def sunk_apis() -> tuple[str, ...]:
    """The APIs that the installed Paddle has only in C++; none before 3.2."""
    from exporter.paddle.private import sunk

    return () if sunk is None else tuple(sorted({name for name, _ in _entries(sunk)}))


def sunk_methods() -> tuple[str, ...]:
    """Those of them that are also methods of Tensor."""
    from exporter.paddle.private import sunk

    return () if sunk is None else tuple(sorted(name for name, _ in sunk.methods_map))


def documented(api: str) -> inspect.Signature | None:
    """The signature that Paddle documents for a sunk API; None where it has none, or the API is not sunk.

    The places of `name` and `out` differ: `logical_and(x, y, out=None, name=None)` in 3.2.2, and in 3.3
    `logical_and(x, y, name=None, *, out=None)`.
    """
    from exporter.paddle.private import sunk

    entry = None if sunk is None else dict(_entries(sunk)).get(api)
    signature: inspect.Signature | None = getattr(entry, "__signature__", None)
    return signature


def plainly(signature: inspect.Signature) -> str:
    """Without annotations: `(x, axis=None)`."""
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(inspect.Signature(parameters))


def _entries(sunk: Any) -> list[tuple[str, Any]]:
    return [*sunk.methods_map, *sunk.funcs_map, *sunk.nn_funcs_map]
