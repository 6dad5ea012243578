"""What a mend has to know of the program that is being traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exporter.paddle.patches import Patches
from exporter.paddle.refusal import CannotLower
from exporter.paddle.values import is_variable

Refuse = Callable[[CannotLower], None]


def in_program(value: Any) -> bool:
    """Whether `value` is a tensor of a program, legacy or PIR, and not an eager one."""
    from exporter.paddle.private import Value

    return is_variable(value) or isinstance(value, Value)


def known(sizes: Any) -> bool:
    """Whether all sizes are numbers, and none of them the -1 of a dynamic dim."""
    return all(isinstance(size, int) and size >= 0 for size in sizes)


def listed(value: Any, count: int) -> list[Any]:
    """One number for all dims, or one for each."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


def mend(patches: Patches, function: Any, new: Callable[..., Any], refuse: Refuse) -> None:
    """Where its first argument is a tensor of a program, a call of `function` becomes `new(stock, …)`."""

    def body(stock: Any, *args: Any, **kwargs: Any) -> Any:
        if not in_program(args[0] if args else kwargs.get("x")):
            return stock(*args, **kwargs)
        try:
            return new(stock, *args, **kwargs)
        except CannotLower as refusal:
            refuse(refusal)
            raise

    patches.body(function, body)
