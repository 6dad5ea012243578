"""`F.max_pool1d(x, kernel_size=x.shape[2])`: a pool over all of a dim that varies, as text CNNs have it."""

from __future__ import annotations

from functools import partial

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.sizes import is_size_of, listed
from exporter.paddle.patches import Patches
from exporter.paddle.private import found
from exporter.paddle.values import in_program

#: By the name of the API without its number of dims: what the whole dims become.
_REDUCES = {"max_pool": "max", "avg_pool": "mean"}


def _text(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.max_pool1d(x, kernel_size=x.shape[2]).squeeze(2) + F.avg_pool1d(x, x.shape[-1], stride=1).squeeze(2)


def _image(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.avg_pool2d(x, x.shape[2:])


class WholePool(Fix):
    """A pool takes numbers alone for its kernel (3.3.1); over all of each dim it is the largest number, or the mean."""

    apis = tuple(f"paddle.nn.functional.{name}{count}d" for name in _REDUCES for count in (1, 2, 3))
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_text, (("n", 3, "h"),)), Example(_image, (("n", 3, "h", "w"),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        for api in self.apis:
            name, count = api.rpartition(".")[2][:-2], int(api[-2])
            if function := found(api):
                cure = partial(self._pooled, _REDUCES[name], count)
                patches.body(function, self.within_programs(cure, refuse))

    @staticmethod
    def _pooled(reduce: str, count: int, stock: Value, *args: Value, **kwargs: Value) -> Value:
        import paddle

        names = ("x", "kernel_size", "stride", "padding")
        call = {**dict(zip(names, args, strict=False)), **kwargs}
        x, kernel = call["x"], listed(call["kernel_size"], count)
        axes = range(2, 2 + count)
        whole = all(
            is_size_of(size, x, axis) if in_program(size) else size == x.shape[axis]
            for size, axis in zip(kernel, axes, strict=True)
        )
        first = str(call.get("data_format", "NC")).startswith("NC")
        padded = any(map(bool, listed(call.get("padding", 0), 1)))
        if not any(map(in_program, kernel)) or not whole or padded or not first or call.get("return_mask"):
            return stock(*args, **kwargs)
        return getattr(paddle, reduce)(x, axis=[*axes], keepdim=True)


plugin: Fix = WholePool()
