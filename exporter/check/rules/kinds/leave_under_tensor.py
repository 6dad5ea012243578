"""EX119: a statement that leaves, under a condition that a tensor decides."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Facts, Left
from exporter.check.rules.base import Fault, Rule

_CURES = {
    "raise": "check the result outside the model, or use `assert`, which becomes an operator of the program",
    "break": "make the loop a `while` on the tensor condition, or keep the old value: paddle.where(done, old, new)",
    "test": "start it as a tensor: paddle.to_tensor(True), or test the tensor itself",
    "uneven": "return on every way with if and else, or keep the result in a variable and return it once",
    "return": "keep the result in a variable and return it once, behind the loop",
}
_MESSAGES = {
    "raise": "`raise` under a condition that a tensor decides is run while the model is traced",
    "break": "stock Paddle cannot leave a loop of Python's where a tensor says so; exporter's own export can,"
    " where its turns can be those of a loop of the program",
    "test": "the condition of this `while` is Python's at first and a tensor's after a turn, which stock Paddle refuses"
    "; exporter's own export goes on with a loop of the program, where its turns can be those of one",
    "uneven": "some ways through this branch of a tensor's return and others go on; dy2static cannot join them",
    "return": "`return` under a tensor condition inside a loop: the sides of the branch return different things",
}


class LeaveUnderTensor(Rule):
    """A statement leaves under a condition that a tensor decides.

    What:
        `raise` under a tensor `if`; `break` under a tensor `if` in a `for` or `while` of Python's; `return` under a
        tensor `if` inside any loop; a tensor `if` of which some ways return and others go on, where what follows cannot
        be taken for its other side: inside a `with`, a `try` or another `if`; a `while` whose condition is Python's at
        first and a tensor's later. (`continue`, `break` in a loop that is itself decided by a tensor, and a chain of
        early returns are converted well.) A `break` and such a `while` are warnings: the exporter goes on with a loop
        of the program, unless each turn has a layer or a number of Python's of its own.

    Why:
        Both sides of a tensor `if` are traced, so the `raise` is run; and a loop that Python unrolls cannot be left
        at a moment that only a run will know. Both sides of a branch must give the same things, so both must return or
        both go on. The export fails.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                for _ in range(5):
                    y = paddle.tanh(y)
                    if y.abs().mean() < 0.3:
                        break  # <- here
                return y

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                for _ in range(5):
                    y = paddle.where(y.abs().mean() < 0.3, y, paddle.tanh(y))
                return y

    Source:
        Measured on Paddle 3.3.1.
    """

    code = "EX119"
    predicts = (Fault.FAILS, Fault.ENDS)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Left):
            wrong = (
                fact.form in ("uneven", "test")
                or fact.form == "raise"
                or (fact.form == "break" and fact.loop == "python")
                or (fact.form == "return" and fact.loop != "")
            )
            if wrong:
                severity = Severity.WARNING if fact.form in ("break", "test") else None
                yield self.at(fact.site, _MESSAGES[fact.form], _CURES[fact.form], severity)


plugin: Rule = LeaveUnderTensor()
