"""EX104: one tensor is returned twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.value_numbers import same_number
from exporter.check.domain.values import Broken, Mapping, Sequence, Tensor, Value
from exporter.check.facts import Facts, Returned
from exporter.check.rules.base import Fault, Rule, Shown


def leaves(value: Value) -> Iterator[Value]:
    """The values in a result, containers opened, in the order of the code."""
    return (leaf for _, leaf in named_leaves(value))


def named_leaves(value: Value, path: str = "") -> Iterator[tuple[str, Value]]:
    """Like :func:`leaves`, each with its keys and positions, such as `1.scores`; "" is the result itself."""
    if isinstance(value, Broken):
        value = value.value
    named: Iterable[tuple[object, Value]]
    if isinstance(value, Sequence):
        named = enumerate((*value.items, *((value.rest,) if value.rest is not None else ())))
    elif isinstance(value, Mapping):
        named = value.items.items()
    else:
        yield path, value
        return
    for key, inner in named:
        yield from named_leaves(inner, f"{path}.{key}" if path else str(key))


def doubt(fact: Returned) -> Severity | None:
    """The severity where the code may also go another way; None for that of the rule."""
    return None if fact.certain else Severity.WARNING


class OutputRepeated(Rule):
    """The same tensor is returned twice.

    What:
        `forward` of the exported layer returns one tensor in two places, or the same computation of the same values,
        written twice. A cast to the dtype that a tensor has gives the tensor itself.

    Why:
        Stock Paddle saves the two as one output: a consumer that counts outputs by position gets the wrong ones, and
        nothing warns. Of two like computations the optimiser keeps one, and the predictor fails. The exporter's own
        export puts a copy in place of the second, so that this is a note.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y, y  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y, y.clone()

    Source:
        Measured on Paddle 3.3.1 ('paddle.jit.save' merges equal outputs).
    """

    code = "EX104"
    predicts = (Fault.STRUCTURE, Fault.UNUSABLE)
    shown = Shown.EVERY_RUN
    mended = True

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Returned):
            tensors = [each for each in leaves(fact.value) if isinstance(each, Tensor)]
            if any(same_number(one, other) for at, one in enumerate(tensors) for other in tensors[:at]):
                message = "one tensor is returned twice; the program will have it as one output"
                yield self.at(fact.site, message, "return it once, or a copy: `y.clone()`", doubt(fact))


plugin: Rule = OutputRepeated()
