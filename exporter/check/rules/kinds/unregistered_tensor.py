"""EX123: a tensor that the layer does not own is used in `forward`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Captured, Facts
from exporter.check.rules.base import Fault, Rule

_WHERE = {
    "global": "made at import",
    "closure": "made outside forward",
    "default": "that is a parameter's default, made once,",
    "container": "kept in a plain list or dict",
    "object": "kept on an object that is no layer",
    "cache": "kept by a cache from one call to the next",
    "late cache": "kept by a cache, from the first call or from the trace,",
}


class UnregisteredTensor(Rule):
    """A tensor that the layer does not own is used in `forward`.

    What:
        `forward` uses a tensor that was made before the call and is no parameter or buffer: a global, one in a plain
        list or dict on `self`, one that a closure holds, the default of a parameter, one from a function with
        `lru_cache`.

    Why:
        The program refers to a value that is not among the saved parameters: the export fails.

    Example:
        import paddle

        FREQS = paddle.arange(8, dtype="float32")

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return paddle.sin(x * FREQS)  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.register_buffer("freqs", paddle.arange(8, dtype="float32"))

            def forward(self, x):
                return paddle.sin(x * self.freqs)

    Source:
        Measured on Paddle 3.3.1; a tensor that is a direct attribute of a layer becomes a buffer ('Layer.__setattr__').
    """

    code = "EX123"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Captured):
            place = (fact.site.module, fact.site.node)
            if fact.by in ("container", "object", "cache", "late cache") and fact.tensor.made is not None:
                place = fact.tensor.made
            message = f"a tensor {_WHERE[fact.by]} is used in forward; it is no parameter or buffer of the layer"
            # right as long as nothing was run before, and as long as nothing but its size is asked for
            empty = fact.by == "default" and 0 in fact.tensor.sizes
            mild = Severity.WARNING if fact.by == "late cache" or empty else None
            yield self.on(
                place, fact.site, message, "register it in __init__: self.register_buffer(name, tensor)", mild
            )


plugin: Rule = UnregisteredTensor()
