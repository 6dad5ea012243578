"""`if y.shape != [rows, 4]: raise …` and `assert y.shape == [rows, 4]`: checks of sizes that only raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.export.trace.fixes.sizes import is_of_sizes
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches


def _lists(self: Layer, x: Tensor) -> Tensor:
    y = x * 2.0
    rows = x.shape[0]
    if y.shape != [rows, 4]:
        raise ValueError(f"{y.shape} is not {[rows, 4]}")
    return y


def _tuples(self: Layer, x: Tensor) -> Tensor:
    y = x.t() @ x
    if x.ndim != 2 or tuple(y.shape) != (4, 4) or not list(x.shape) == [x.shape[0], 4]:
        raise ValueError("sizes")
    return y


def _asserted(self: Layer, x: Tensor) -> Tensor:
    y = x * 2.0
    assert y.shape == [x.shape[0], 4], f"{y.shape}"  # noqa: S101 - the fix is for it
    assert len(y.shape) == 2  # noqa: S101 - one that Python answers
    return y + 1.0


class SizeGuard(Fix):
    """Lists that hold sizes that vary are compared by Python, which asks a tensor of the program for its truth.

    A file cannot raise: such a check is for eager code, and eagerly it holds wherever the file is compared. So within
    it sizes that the program computes count as equal. A check of anything else stays as it is.
    """

    apis = ("paddle.Tensor.__bool__",)
    formats = ("pir",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_lists, (("n", 4),)), Example(_tuples, (("n", 4),)), Example(_asserted, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import AssertTransformer, IfElseTransformer, Value, dy2static

        checking: list[bool] = []
        stock = Value.__bool__

        def checked(test: Callable[[], Any]) -> Any:
            checking.append(True)
            try:
                return test()
            finally:
                checking.pop()

        def truth(self: Any) -> bool:
            if checking and is_of_sizes(self):
                kind = str(self.get_defining_op().name())
                if kind in ("pd_op.equal", "pd_op.not_equal"):
                    return kind == "pd_op.equal"
            return bool(stock(self))

        def visited(stock: Any, self: Any, node: Any) -> Any:
            from paddle.utils import gast

            if not node.orelse and all(isinstance(statement, gast.Raise) for statement in node.body):
                node.test = _checked(node.test)
            return stock(self, node)

        def asserted(stock: Any, self: Any, node: Any) -> Any:
            node.test = _checked(node.test)
            return stock(self, node)

        patches.attribute(dy2static, "exporter_checked", checked)
        patches.attribute(Value, "__bool__", method(truth))
        patches.body(IfElseTransformer.visit_If, visited)
        patches.body(AssertTransformer.visit_Assert, asserted)


def _checked(test: Any) -> Any:
    """The code that makes a test within a check."""
    from paddle.utils import gast

    call = gast.parse("_jst.exporter_checked(lambda: None)").body[0].value
    call.args[0].body = test
    return call


plugin: Fix = SizeGuard()
