"""EX101: randomness, time or the environment of Python in `forward`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.check.module import ParsedModule
from exporter.check.paper.facts import Called
from exporter.check.paper.values import Tensor
from exporter.check.rules.base import Rule
from exporter.diagnostics import Diagnostic, Severity

_RANDOM = ("random.", "numpy.random.", "secrets.", "uuid.uuid")
_CLOCK = ("time.", "datetime.")
_OUTSIDE = ("os.getenv", "os.environ", "os.urandom", "os.getpid", "socket.", "getpass.", "platform.")
_IDENTITY = ("builtins.id", "builtins.hash")
_HARMLESS = ("time.sleep", "time.strftime", "random.seed", "numpy.random.seed", "datetime.timedelta")


class OutsideValue(Rule):
    """A value from outside the graph is drawn in `forward`.

    What:
        `forward` calls Python's or NumPy's random generator, reads a clock or an environment variable.

    Why:
        The call runs once, while the model is traced, and what it gave becomes a constant of the program: every user of
        the artifact gets the same "random" number. Nothing warns.

    Example:
        import numpy as np
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * float(np.random.uniform(0.5, 1.5))  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * paddle.uniform([1], min=0.5, max=1.5)

    Source:
        Measured on Paddle 3.3.1: 'python.random', 'numpy.random' and 'time' are evaluated at trace time only.
    """

    code = "EX101"

    def check(self, module: ParsedModule) -> Iterator[Diagnostic]:
        for fact in module.facts:
            if not isinstance(fact, Called) or not fact.site.forward or fact.site.quiet:
                continue
            name = fact.name
            if name.startswith(_HARMLESS):
                continue
            if name.startswith(_RANDOM):
                cure = "draw it with paddle (paddle.uniform), make it an input, or guard it with self.training"
                yield self.at(fact.site, f"`{name}` draws once, at export; its value becomes a constant", cure)
            elif name.startswith(_CLOCK):
                cure = "make the time an input of forward"
                yield self.at(fact.site, f"`{name}` is read once, at export; its value becomes a constant", cure)
            elif name == "paddle.seed" or (name in _IDENTITY and isinstance(fact.arguments[0], Tensor)):
                message = f"`{name}` is called once, at export; the program does not do it again"
                yield self.at(fact.site, message, "do it outside forward")
            elif name.startswith(_OUTSIDE):
                cure = "read it in __init__, where it is plain that the value is fixed"
                yield self.at(
                    fact.site, f"`{name}` is read once, at export; its value becomes a constant", cure, Severity.WARNING
                )


plugin: Rule = OutsideValue()
