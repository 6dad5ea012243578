"""An ellipsis beside tensors in an index: `x[..., i]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from exporter.export.trace.fixes.base import Example, Fix, Refuse
from exporter.paddle.patches import Patches

if TYPE_CHECKING:
    import paddle


def _last(self: object, x: paddle.Tensor) -> paddle.Tensor:
    import paddle

    return x[..., paddle.argmax(x, axis=1)]


def _first(self: object, x: paddle.Tensor) -> paddle.Tensor:
    import paddle

    return x[paddle.argmax(x, axis=1) % 2, ..., None, 1:3]


class EllipsisBesideTensors(Fix):
    """Stock looks for `None` and `...` by `==`, which of a legacy variable appends an operator, and fails."""

    apis = ("paddle.Tensor.__getitem__",)
    formats = ("pdmodel",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_last, (("n", 4),)), Example(_first, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import replace_ellipsis

        patches.body(replace_ellipsis, self.within_programs(_spelled_out, refuse))


def _spelled_out(
    stock: Callable[..., Sequence[object]], var: paddle.Tensor, item: Sequence[object]
) -> Sequence[object]:
    """The index with one `:` for each dim that the ellipsis stands for."""
    places = [place for place, part in enumerate(item) if part is Ellipsis]
    if len(places) != 1:
        return stock(var, item)
    dims = len(var.shape) - sum(part is not None and part is not Ellipsis for part in item)
    return [*item[: places[0]], *[slice(None)] * dims, *item[places[0] + 1 :]]


plugin: Fix = EllipsisBesideTensors()
