"""What `forward` returned, as leaves in the order that its author wrote.

Paddle flattens nested outputs with dict keys sorted (`paddle/utils/layers_utils.py:flatten`, 3.3.1), and drops what is
no tensor. So names are given to leaves in the author's order, and carried through Paddle's order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf with its path, such as `boxes` or `1.scores`; dicts by insertion, sequences by position."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        fields = getattr(value, "_fields", range(len(value)))
        for key, inner in zip(fields, value, strict=True):
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def numbered(value: Any) -> Any:
    """Return the same structure with each leaf replaced by its number in the author's order."""
    count = iter(range(1 << 30))

    def number(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {key: number(one) for key, one in inner.items()}
        if isinstance(inner, (list, tuple)):
            return [number(one) for one in inner]
        return next(count)

    return number(value)


def output_names(value: Any, wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    """Name each leaf: as the spec wants, else by its dict key, else by its number, as `output_0`.

    Where `forward` returns a dict whose keys are just the wanted names, the names go with the keys, not the order.

    Raises:
        ValueError: the number of names is not the number of leaves; the message gives both.
    """
    paths = [path for path, _ in leaves(value)]
    if wanted is None:
        plain = [path.replace(".", "_") for path in paths]
        return tuple(name if name.isidentifier() else f"output_{index}" for index, name in enumerate(plain))
    if len(wanted) != len(paths):
        raise ValueError(f"forward returns {len(paths)} values, and {len(wanted)} are named")
    return tuple(paths) if set(wanted) == set(paths) else wanted
