"""`def split(x, heads=HEADS)`: the default of a parameter, where the function is rewritten."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches

_TIMES, _MORE = 3, [1.0]


def _scaled(x: Value, times: int = _TIMES, *, more: list[float] = _MORE) -> Value:
    return x * times + more[0]


def _forward(self: Layer, x: Tensor) -> Tensor:
    return _scaled(x)


class Defaults(Fix):
    """dy2static runs the rewritten `def` in a module of its own, and gives it the globals of the old one afterwards.

    So a default that names one ends in a NameError (`jit/dy2static/utils.py`, `ast_to_func`), and one that is made
    there, such as a list, is not the one that eager has. The rewritten function has the defaults of the old one.
    """

    apis = ("paddle.jit.to_static",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_forward, (("n", 2),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import ast_to_func

        def with_defaults(stock: Value, root: Value, function: Value, *more: Value, **named: Value) -> Value:
            from paddle.utils import gast

            own = (getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None))
            definition = next((node for node in gast.walk(root) if isinstance(node, gast.FunctionDef)), None)
            if definition is None or own == (None, None):
                return stock(root, function, *more, **named)
            stated = definition.args  # the tree is kept for the next function of the same text, which has its own
            stated.defaults = [gast.Constant(None, None) for _ in stated.defaults]
            stated.kw_defaults = [node and gast.Constant(None, None) for node in stated.kw_defaults]
            rewritten, file = stock(root, function, *more, **named)
            rewritten.__defaults__, rewritten.__kwdefaults__ = own
            return rewritten, file

        patches.body(ast_to_func, with_defaults)


plugin: Fix = Defaults()
