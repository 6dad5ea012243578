"""`tile`, `expand` and what calls them, of bool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeGuard

from exporter.export.trace.fixes.base import Example, Fix
from exporter.paddle.values import in_program

if TYPE_CHECKING:
    import paddle


def _tiled(self: object, x: paddle.Tensor) -> paddle.Tensor:
    return x.astype("bool").tile([1, 3])


def _expanded(self: object, x: paddle.Tensor) -> paddle.Tensor:
    return x.astype("bool").unsqueeze(1).expand([-1, 2, 4])


def _like(self: object, x: paddle.Tensor) -> paddle.Tensor:
    return x.astype("bool")[:, :1].expand_as(x)


class BoolGradient(Fix):
    """A program refuses bool of which a gradient may be asked; eager takes it, and none of bool is ever computed."""

    apis = ("paddle.tile", "paddle.expand", "paddle.expand_as")
    seen = ("3.0.0", "3.3.1")
    examples = (
        Example(_tiled, (("n", 4),)),
        Example(_expanded, (("n", 4),)),
        Example(_like, (("n", 4),), formats=("pir",)),
    )

    def instead(self, stock: Callable[..., paddle.Tensor], *args: object, **kwargs: object) -> paddle.Tensor:
        """Return what stock gives of bool that no gradient can be asked of; Paddle has more than one name for `x`."""
        for value in (*args, *kwargs.values()):
            if _is_bool(value):
                value.stop_gradient = True
        return stock(*args, **kwargs)


def _is_bool(value: object) -> TypeGuard[paddle.Tensor]:
    return in_program(value) and str(getattr(value, "dtype", "")).rpartition(".")[2].lower() == "bool"


plugin: Fix = BoolGradient()
