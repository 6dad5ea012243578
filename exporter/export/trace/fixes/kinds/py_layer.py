"""`PyLayer.apply`: a program computes its `forward`, and needs no `backward`."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Refuse, Value
from exporter.paddle.patches import Patches


def _scaled(ctx: Value, x: Value, *, by: float = 2.0) -> Value:
    ctx.save_for_backward(x)
    return x * by


def _same(ctx: Value, x: Value) -> Value:
    return x


def _layer_of(forward: Value) -> Value:
    from paddle.autograd import PyLayer

    return type("Made", (PyLayer,), {"forward": staticmethod(forward), "backward": staticmethod(_same)})


def _keyword(self: Value, x: Value) -> Value:
    scale = self.scale
    return scale.apply(x, by=0.5) + x


def _bound(self: Value, x: Value) -> Value:
    return self.same(x)


class Inlined(Fix):
    """Stock writes an operator `pylayer` with two bodies, which only Paddle's own executor runs (3.3.1).

    Stock's `apply` cannot be called with arguments by name; a legacy program loses the name of what is saved for
    `backward`; and a bound `apply` that was kept in a variable is C++, which takes no tensor of a program
    (jit/dy2static/py_layer.py). Inference needs `forward` alone, so it is traced as any other function.
    """

    apis = ("paddle.autograd.PyLayer.apply",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_keyword, (("n", 4),), {"scale": lambda: _layer_of(_scaled)}),
        Example(_bound, (("n", 4),), {"same": lambda: _layer_of(_same).apply}),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import PyLayerMeta, StaticPyLayer, convert_call_func, convert_to_static

        def inlined(layer: Value, *args: Value, **kwargs: Value) -> Value:
            return _own(convert_to_static(layer.forward)(_Context(), *args, **kwargs), [*args, *kwargs.values()])

        def build(stock: Value, self: Value, layer: Value) -> None:
            self.dyfunc_self = layer

        def apply(stock: Value, self: Value, *args: Value, **kwargs: Value) -> Value:
            return inlined(self.dyfunc_self, *args, **kwargs)

        def call(stock: Value, function: Value) -> Value:
            layer = getattr(function, "__self__", None)
            if isinstance(layer, PyLayerMeta) and function.__name__ == "apply":
                return StaticPyLayer(layer).apply
            return stock(function)

        patches.body(StaticPyLayer.__init__, build)
        patches.body(StaticPyLayer.apply, apply)
        patches.body(convert_call_func.convert_call, call)


class _Context:
    """What `forward` notes for `backward`, which a program does not have."""

    def __init__(self) -> None:
        self._saved: tuple[Value, ...] = ()

    def save_for_backward(self, *tensors: Value) -> None:
        self._saved = tensors

    def saved_tensor(self) -> tuple[Value, ...]:
        return self._saved

    def mark_not_inplace(self, *tensors: Value) -> None:
        """Say nothing of the result: it concerns the gradient."""

    def mark_non_differentiable(self, *tensors: Value) -> None:
        """Say nothing of the result: it concerns the gradient."""

    def set_materialize_grads(self, value: bool) -> None:
        """Say nothing of the result: it concerns the gradient."""


def _own(returned: Value, arguments: list[Value]) -> Value:
    """Copy what `forward` returns untouched: `apply` gives a tensor of its own for it."""
    import paddle

    def copied(value: Value) -> Value:
        return paddle.assign(value) if any(value is argument for argument in arguments) else value

    return paddle.utils.map_structure(copied, returned)


plugin: Fix = Inlined()
