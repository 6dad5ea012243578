"""EX101: randomness, time or the environment of Python in `forward`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Tensor
from exporter.check.facts import Called, Facts, Site
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.source.syntax import inside, of_kind

_RANDOM = ("random.", "numpy.random.", "secrets.", "uuid.uuid")
_CLOCK = ("time.", "datetime.")
_OUTSIDE = ("os.getenv", "os.environ", "os.urandom", "os.getpid", "socket.", "getpass.", "platform.")
_IDENTITY = ("builtins.id", "builtins.hash")
_HARMLESS = ("time.sleep", "time.strftime", "random.seed", "numpy.random.seed", "datetime.timedelta")


class OutsideValue(Rule):
    """A value from outside the graph is drawn in `forward`.

    What:
        `forward` calls Python's or NumPy's random generator, reads a clock or an environment variable, sets a seed, or
        asks for the `id` of a tensor. A clock that only feeds messages, attributes and waiting is a warning.

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
                yield self.at(fact.site, f"`{name}` draws once, at export; its value becomes a constant", cure)
            elif name.startswith(_CLOCK):
                cure = "make the time an input of forward"
                mild = Severity.WARNING if _only_told(fact.site) else None
                yield self.at(fact.site, f"`{name}` is read once, at export; its value becomes a constant", cure, mild)
            elif name == "paddle.seed" or (name in _IDENTITY and isinstance(fact.arguments[0], Tensor)):
                message = f"`{name}` is called once, at export; the program does not do it again"
                yield self.at(fact.site, message, "do it outside forward")
            elif name.startswith(_OUTSIDE):
                cure = "read it in __init__, where it is plain that the value is fixed"
                yield self.at(
                    fact.site, f"`{name}` is read once, at export; its value becomes a constant", cure, Severity.WARNING
                )


def _only_told(site: Site) -> bool:
    """Whether a value goes into messages and attributes only, by the names of the function: it measures, no more."""
    around = next((each for each in of_kind(site.module.tree, ast.FunctionDef) if site.node in inside(each)), None)
    if around is None:
        return False
    names: set[str] = set()
    for statement in (each for each in inside(around) if isinstance(each, (ast.Assign, ast.AugAssign))):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if site.node in inside(statement) or _reads(statement.value, names):
            if any(isinstance(each, ast.Subscript) for each in targets):
                return False
            names |= {each.id for each in targets if isinstance(each, ast.Name)}
            names |= {each.attr for each in targets if isinstance(each, ast.Attribute)}
    used = [each for each in of_kind(around, ast.Return, ast.Expr) if not _tells(each)]
    asking = [each for each in inside(around) if isinstance(each, (ast.If, ast.While, ast.IfExp))]
    tests = [each.test for each in asking if not (isinstance(each, ast.If) and _only_tells(each))]
    return not any(_reads(each, names) or site.node in inside(each) for each in (*used, *tests))


def _only_tells(branch: ast.If) -> bool:
    return all(map(_tells, (*branch.body, *branch.orelse)))


def _reads(node: ast.AST, names: set[str]) -> bool:
    every = (each for each in (node, *inside(node)) if isinstance(each, (ast.Name, ast.Attribute)))
    return any((each.id if isinstance(each, ast.Name) else each.attr) in names for each in every)


def _tells(statement: ast.AST) -> bool:
    """Return whether a statement prints, logs or waits."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr in ("debug", "info", "warning", "error", "log", "write", "sleep")
    return isinstance(function, ast.Name) and function.id == "print"


plugin: Rule = OutsideValue()
