"""EX101: randomness, time or the environment of Python in `forward`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.catalogue import entry
from exporter.check.domain.values import Tensor
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.source.reach import may_reach

_RANDOM = ("random.", "numpy.random.", "secrets.", "uuid.uuid")
_CLOCK = ("time.", "datetime.")
_OUTSIDE = ("os.getenv", "os.environ", "os.urandom", "os.getpid", "socket.", "getpass.", "platform.")
_IDENTITY = ("builtins.id", "builtins.hash")
_HARMLESS = ("time.sleep", "time.strftime", "random.seed", "numpy.random.seed", "datetime.timedelta")


class OutsideValue(Rule):
    """A value from outside the graph is drawn in `forward`.

    What:
        `forward` calls Python's or NumPy's random generator, reads a clock or an environment variable, sets a seed, or
        asks for the `id` of a tensor. What reaches no output is a warning, and so is a clock
        that only feeds messages, attributes, waiting and code that is handed it.

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
            def forward(self, x, scale):
                return x * scale

    Source:
        Measured on Paddle 3.3.1: 'python.random', 'numpy.random' and 'time' are evaluated at trace time only.
    """

    code = "EX101"
    predicts = (Fault.VALUES,)
    shown = Shown.SOME_RUNS

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.site.quiet or fact.unread:
                continue
            name = fact.name
            if name.startswith(_HARMLESS):
                continue
            if name.startswith(_RANDOM):
                cure = "make it an input, guard it with self.training, or draw it with paddle (paddle.uniform)"
                mild = None if may_reach(fact.site.module.tree, fact.site.node) else Severity.WARNING
                yield self.at(fact.site, f"`{name}` draws once, at export; its value becomes a constant", cure, mild)
            elif name.startswith(_CLOCK):
                cure = "make the time an input of forward"
                mild = None if may_reach(fact.site.module.tree, fact.site.node, measures=True) else Severity.WARNING
                yield self.at(fact.site, f"`{name}` is read once, at export; its value becomes a constant", cure, mild)
            elif name == "paddle.seed" or (name in _IDENTITY and isinstance(fact.arguments[0], Tensor)):
                message = f"`{name}` is called once, at export; the program does not do it again"
                idle = name == "paddle.seed" and not any(map(_draws, facts.in_forward(Called)))
                yield self.at(fact.site, message, "do it outside forward", Severity.WARNING if idle else None)
            elif name.startswith(_OUTSIDE):
                cure = "read it in __init__, where it is plain that the value is fixed"
                yield self.at(
                    fact.site, f"`{name}` is read once, at export; its value becomes a constant", cure, Severity.WARNING
                )


def _draws(fact: Called) -> bool:
    """Return whether a call is one of Paddle's that draw."""
    name = fact.name.rpartition(".")[2].removesuffix("_")
    return fact.name.startswith(("paddle.", "Tensor.")) and (entry(name).has("random") or "dropout" in name.lower())


plugin: Rule = OutsideValue()
