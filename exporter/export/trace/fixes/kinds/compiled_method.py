"""`np.random.default_rng(7).standard_normal(4)`: a method that is compiled, which Python takes for one of its own."""

from __future__ import annotations

import inspect
import types

import numpy as np

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _drawn(self: Layer, x: Tensor) -> Tensor:
    import paddle

    source = np.random.default_rng(7)
    return x + paddle.to_tensor(source.standard_normal(4).astype("float32"))


def _drawn_at_once(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return x + paddle.to_tensor(np.random.default_rng(7).standard_normal(4).astype("float32"))


class CompiledMethod(Fix):
    """dy2static wants the source of a method that Cython compiled, and fails (jit/dy2static/convert_call_func.py).

    A method of what it returns is looked up while code is rewritten, by running the call (`is_api_in_module`,
    jit/dy2static/transformers/utils.py). The lock of the rewriting is then taken a second time, and the trace waits
    for ever. There is nothing to rewrite in such a method, so it stays as it is.
    """

    apis = ("paddle.jit.to_static",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_drawn, (("n", 4),)), Example(_drawn_at_once, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import convert_call_func

        def call(stock: Value, function: Value) -> Value:
            compiled = inspect.ismethod(function) and not isinstance(function.__func__, types.FunctionType)
            return function if compiled else stock(function)

        patches.body(convert_call_func.convert_call, call)


plugin: Fix = CompiledMethod()
