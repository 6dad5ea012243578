"""EX114: a function of Python needs the value of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Dim, Sequence, Value, only_tensor, options
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule

_COMPARING = {"max": "paddle.maximum", "min": "paddle.minimum", "sorted": "paddle.sort of the stacked tensors"}
_TRUTH = {"any": "paddle.any of the stacked tensors", "all": "paddle.all of the stacked tensors"}
_NUMBERS = {"builtins.divmod": "`//` and `%`", "builtins.round": "paddle.round"}
_SEARCHES = ("list.index", "list.count", "list.remove", "tuple.index", "tuple.count")
_MATH_WELL = ("math.prod",)
#: Those that the exporter has the program compute (exporter/export/trace/fixes/kinds/scalar_math.py).
_COMPUTED = tuple(f"math.{name}" for name in ("sqrt", "exp", "log", "log2", "log10", "ceil", "floor"))


class PythonFunction(Rule):
    """A function of Python needs the value of a tensor.

    What:
        `max`, `min`, `sorted`, `any`, `all`, `divmod`, `round` or a function of `math` is given a tensor, or a
        dimension that varies; or a list is asked for the `index` of a tensor. `max` and `min` of dimensions and whole
        numbers alone, and `math.sqrt`, `exp`, `log`, `log2`, `log10`, `ceil` and `floor`, are a note: the exporter has
        the program compute them.

    Why:
        Python compares or converts the values at once; in a trace they do not exist yet and the export fails. `int`,
        `float`, `abs`, `len`, `math.prod` and `sum` of a list are converted well.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                scale = max(y.abs().max(), paddle.to_tensor(1.0))  # <- here
                return y / scale

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                scale = paddle.maximum(y.abs().max(), paddle.to_tensor(1.0))
                return y / scale

    Source:
        Measured on Paddle 3.3.1: "bool(Tensor) is not supported in static graph mode".
    """

    code = "EX114"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.site.quiet or "key" in fact.keywords:
                continue  # what a key gives is what is compared: a fact of its own
            space, _, name = fact.name.rpartition(".")
            if space == "builtins" and name in _COMPARING and _compares(fact.arguments):
                yield self._comparing(fact, name)
            elif space == "builtins" and name in _TRUTH and _compares(fact.arguments):
                message = f"`{name}` of Python asks tensors for their truth while the model is traced"
                yield self.at(fact.site, message, f"use {_TRUTH[name]}")
            elif fact.name in ("operator.truth", "operator.not_") and any(only_tensor(each) for each in fact.arguments):
                message = f"`{fact.name}` asks a tensor for its truth while the model is traced"
                yield self.at(fact.site, message, "write it as the condition of an `if`")
            elif fact.name in _NUMBERS and any(only_tensor(each) for each in fact.arguments):
                message = f"`{name}` of Python needs a number; while the model is traced there is only a tensor"
                yield self.at(fact.site, message, f"use {_NUMBERS[fact.name]}")
            elif fact.name in _SEARCHES and any(only_tensor(each) for each in fact.arguments):
                message = f"`{name}` compares with each item: Python asks tensors for their truth"
                yield self.at(fact.site, message, "stack the items and compare the whole: (stacked == value).argmax()")
            elif fact.name == "list.sort" and fact.owner is not None and _compares((fact.owner,)):
                message = "`sort` of Python compares values that do not exist while the model is traced"
                yield self.at(fact.site, message, f"use {_COMPARING['sorted']}")
            elif space == "math" and fact.name not in _MATH_WELL:
                yield from self._math(fact, name)

    def _comparing(self, fact: Called, name: str) -> Diagnostic:
        cure = f"use {_COMPARING[name]}"
        if name != "sorted" and _whole(fact.arguments):
            message = f"stock Paddle cannot trace `{name}` of sizes that vary, which the exporter's program computes"
            return self.at(fact.site, message, cure, Severity.INFO)
        return self.at(
            fact.site, f"`{name}` of Python compares values that do not exist while the model is traced", cure
        )

    def _math(self, fact: Called, name: str) -> Iterator[Diagnostic]:
        certain = any(map(only_tensor, fact.arguments))
        if certain or any(only_tensor(one) for each in fact.arguments for one in options(each)):
            if fact.name in _COMPUTED:
                message = f"stock Paddle cannot trace `{fact.name}` of a tensor, which the exporter's program computes"
                yield self.at(fact.site, message, f"use paddle.{name} of the tensor", Severity.INFO)
                return
            message = f"`{fact.name}` needs a number; while the model is traced there is only a tensor"
            cure = f"use paddle.{name} of `paddle.to_tensor(...)`, or of the tensor"
            yield self.at(fact.site, message, cure, None if certain else Severity.WARNING)


def _compares(arguments: tuple[Value, ...]) -> bool:
    if len(arguments) == 1 and isinstance(arguments[0], Sequence):
        items = [[each for each in options(item) if each != Const(None)] for item in arguments[0].parts()]
        return any(item and all(map(only_tensor, item)) for item in items)
    return len(arguments) > 1 and any(only_tensor(each) for each in arguments)


def _whole(arguments: tuple[Value, ...]) -> bool:
    """Return whether all that is compared are sizes and whole numbers."""
    several = arguments[0].parts() if len(arguments) == 1 and isinstance(arguments[0], Sequence) else arguments
    values = [value for item in several for value in options(item)]
    return all(isinstance(value, Dim) or (isinstance(value, Const) and type(value.value) is int) for value in values)


plugin: Rule = PythonFunction()
