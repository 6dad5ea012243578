"""Sizes in a program: numbers where they are known while tracing, tensors where the program computes them."""

from __future__ import annotations

from typing import Any

from exporter.paddle.values import in_program


def known(sizes: Any) -> bool:
    """Whether all sizes are numbers, and none of them the -1 of a dynamic dim."""
    return all(isinstance(size, int) and size >= 0 for size in sizes)


def computed(sizes: Any) -> bool:
    """Whether it is a list with a tensor of a program in it."""
    return isinstance(sizes, (list, tuple)) and any(map(in_program, sizes))


def listed(value: Any, count: int) -> list[Any]:
    """One number for all dims, or one for each."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


def sizes_of(x: Any) -> list[Any]:
    """The sizes of a tensor: a number where it is known, else a tensor that the program computes."""
    import paddle

    return [size if size >= 0 else paddle.shape(x)[at] for at, size in enumerate(x.shape)]
