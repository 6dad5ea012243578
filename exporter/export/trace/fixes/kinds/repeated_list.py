"""`[row] * x.shape[0]`: a list repeated by a size that varies."""

from __future__ import annotations

from typing import Any

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches
from exporter.paddle.refusal import CannotLower, cannot_lower


def _rows(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return x + paddle.to_tensor([[x.shape[1], 1, 2]] * x.shape[0], dtype="float32")


def _numbers(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return x * paddle.to_tensor([3.0] * x.shape[0]).unsqueeze(1)


def _walked(self: Layer, x: Tensor) -> Tensor:
    for number in [0.5] * x.shape[0]:
        x = x + number
    return x


class RepeatedList(Fix):
    """A program multiplies by the size, or fails at it. `paddle.to_tensor` of such a list repeats the row instead.

    Whatever else is done with it is refused: no list of a program is as long as a size says that is not known.
    """

    apis = ("paddle.to_tensor",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_rows, (("n", 3),)),
        Example(_numbers, (("n", 3),)),
        Example(_walked, (("n", 3),), refused="how long it is is known only when the model runs"),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        from exporter.paddle.private import Value, Variable

        for owner in (Value, Variable):
            for name in ("__mul__", "__rmul__"):
                patches.attribute(owner, name, method(_multiplied(getattr(owner, name), refuse)))
        patches.body(paddle.to_tensor, _tensor)


class _Repeated:
    """`row` as often as `count` says, for `paddle.to_tensor` alone."""

    def __init__(self, row: list[Any], count: Any, refuse: Refuse) -> None:
        self.row, self.count, self._refuse = row, count, refuse

    def __getattr__(self, name: str) -> Any:
        raise self._refusal()

    def __iter__(self) -> Any:
        raise self._refusal()

    def __len__(self) -> int:
        raise self._refusal()

    def __getitem__(self, at: Any) -> Any:
        raise self._refusal()

    def __add__(self, other: Any) -> Any:
        raise self._refusal()

    def __radd__(self, other: Any) -> Any:
        raise self._refusal()

    def _refusal(self) -> CannotLower:
        refusal = cannot_lower(
            "a list repeated by a size that varies",
            "how long it is is known only when the model runs",
            "make a tensor of it at once, with paddle.to_tensor, or call paddle.full or paddle.tile with the size",
        )
        self._refuse(refusal)
        return refusal


def _multiplied(stock: Any, refuse: Refuse) -> Any:
    def multiplied(self: Any, other: Any) -> Any:
        if isinstance(other, list) and list(self.shape) in ([], [1]) and "int" in str(self.dtype).lower():
            return _Repeated(other, self, refuse)
        return stock(self, other)

    return multiplied


def _tensor(stock: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
    import paddle

    if not isinstance(data, _Repeated):
        return stock(data, *args, **kwargs)
    row = stock(data.row, *args, **kwargs)
    return paddle.tile(row, [data.count.reshape([]), *([1] * (len(row.shape) - 1))])


plugin: Fix = RepeatedList()
