"""EX112: code that asks whether it runs eagerly, and gets another answer while it is traced."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.check.module import ParsedModule
from exporter.check.paper.facts import Asked, Called
from exporter.check.paper.values import Const, Dim, External, Sequence, Tensor, Value, options
from exporter.check.rules.base import Rule
from exporter.diagnostics import Diagnostic, Severity

_MODES = ("in_dynamic_mode", "in_dygraph_mode", "in_dynamic_or_pir_mode", "in_static_mode", "_in_legacy_dygraph")
_ATTRIBUTES = {
    "stop_gradient": "is set by the trace, not by the caller",
    "device": "is unknown while the model is traced",
    "place": "is unknown while the model is traced",
    "name": "is another one while the model is traced",
    "is_leaf": "is another one while the model is traced",
    "__class__": "is another one while the model is traced",
    "persistable": "is another one while the model is traced",
}


class EagerQuestion(Rule):
    """The code asks something that a trace answers differently.

    What:
        `forward` asks `isinstance(x, paddle.Tensor)`, `type(x)`, `hasattr(x, …)`, `paddle.in_dynamic_mode()`, or for
        `x.stop_gradient`, `x.place`, `x.name` of a tensor; or whether a dimension is an int.

    Why:
        While the model is traced there are no eager tensors, and a dimension that varies is no int: the code goes the
        other way, and that way is exported. Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                if isinstance(y, paddle.Tensor):  # <- here
                    y = y / 255.0
                return y

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                if paddle.is_tensor(y):
                    y = y / 255.0
                return y

    Source:
        Measured on Paddle 3.3.1: in a PIR trace values are 'paddle.base.libpaddle.pir.Value'; 'paddle.is_tensor'
        knows them.
    """

    code = "EX112"

    def check(self, module: ParsedModule) -> Iterator[Diagnostic]:
        for fact in module.facts:
            if not fact.site.forward or fact.site.quiet:
                continue
            if (
                isinstance(fact, Asked)
                and fact.name in _ATTRIBUTES
                and fact.tensor.origin not in ("parameter", "buffer")
            ):
                message = f"`.{fact.name}` of a tensor {_ATTRIBUTES[fact.name]}"
                told = fact.name == "stop_gradient" and fact.tensor.origin != "input"  # behind a layer it is the same
                cure = "decide it by an argument or by an attribute set in __init__"
                yield self.at(fact.site, message, cure, Severity.WARNING if told else None)
            elif isinstance(fact, Called):
                yield from self._called(fact)

    def _called(self, fact: Called) -> Iterator[Diagnostic]:
        name = fact.name.rpartition(".")[2]
        if fact.name.startswith("paddle.") and name in _MODES:
            message = f"`{name}()` gives another answer while the model is traced; that branch is exported"
            yield self.at(fact.site, message, "write code that is the same in both modes")
        elif fact.name == "builtins.isinstance" and len(fact.arguments) == 2:
            yield from self._isinstance(fact)
        elif fact.name == "functools.singledispatch":
            if fact.arguments and any(isinstance(each, Tensor) for each in options(fact.arguments[0])):
                message = "the function is chosen by the type of a tensor, which is another one while it is traced"
                yield self.at(fact.site, message, "call the function that is meant, or ask paddle.is_tensor(x)")
        elif fact.name in ("builtins.type", "builtins.hasattr", "builtins.getattr") and fact.arguments:
            if not any(isinstance(each, Tensor) for each in options(fact.arguments[0])):
                return
            if name == "getattr" and (len(fact.arguments) < 3 or not _probes(fact.arguments[1])):
                return
            message = f"`{name}` of a tensor gives another answer while the model is traced"
            yield self.at(fact.site, message, "use paddle.is_tensor(x), x.dtype or x.shape, or decide it in __init__")

    def _isinstance(self, fact: Called) -> Iterator[Diagnostic]:
        value, kinds = fact.arguments
        every = kinds.items if isinstance(kinds, Sequence) else (kinds,)
        names = {each.name for each in every if isinstance(each, External)}
        if isinstance(value, Tensor) and value.recipe[:1] == ("number",) and names & {"builtins.int", "builtins.float"}:
            message = "a number taken from a tensor is a tensor while the model is traced; the other branch is exported"
            yield self.at(fact.site, message, "treat it as a number in every case")
        if isinstance(value, Dim) and value.dynamic and "builtins.int" in names:
            message = "a dimension that varies is no int while the model is traced; the other branch is exported"
            yield self.at(fact.site, message, "treat it as a number in every case")
        if not any(name.startswith("paddle.") and name.endswith((".Tensor", ".EagerTensor")) for name in names):
            return
        if any(name.endswith((".Value", ".Variable")) and name.startswith("paddle.") for name in names):
            return
        possible = options(value)
        message = "`isinstance(…, paddle.Tensor)` is False while the model is traced; the other branch is exported"
        if any(isinstance(each, Tensor) for each in possible):
            yield self.at(fact.site, message, "ask paddle.is_tensor(x)")
        elif any(type(each) is Value for each in possible):
            yield self.at(fact.site, message, "ask paddle.is_tensor(x)", Severity.WARNING)


def _probes(name: Value) -> bool:
    """Whether an attribute asked for with a default is one that may be missing."""
    return isinstance(name, Const) and name.value not in ("shape", "dtype", "ndim")


plugin: Rule = EagerQuestion()
