"""`enumerate(x, start=1)` and `zip(a, b, strict=True)`: what dy2static puts in their place takes no names."""

from __future__ import annotations

from typing import Any

from exporter.paddle.patches import Patches


def install(patches: Patches) -> None:
    """Let the two take them (`jit/dy2static/convert_operators.py`, 3.0 to 3.3)."""
    from exporter.paddle.private import convert_call_func

    stock_zip, stock_enumerate = convert_call_func.convert_zip, convert_call_func.convert_enumerate

    def zipped(*iterables: Any, **named: Any) -> Any:
        made = stock_zip(*iterables)  # refuses a tensor whose length varies
        return zip(*iterables, **named) if named else made  # noqa: B905 - `strict` is the caller's

    def enumerated(*given: Any, **named: Any) -> Any:
        order = [named[name] for name in ("iterable", "start") if name in named]
        return stock_enumerate(*given, *order)

    patches.attribute(convert_call_func, "convert_zip", zipped)
    patches.attribute(convert_call_func, "convert_enumerate", enumerated)
