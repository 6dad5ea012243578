"""EX125: a tensor indexes or multiplies something of Python's."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import Const, Mapping, Sequence, Value, only_tensor
from exporter.check.facts import Facts, Indexed, Operated
from exporter.check.rules.base import Fault, Rule, Shown


class TensorAsIndex(Rule):
    """A tensor indexes or multiplies something of Python's.

    What:
        A list, tuple, dict, LayerList or LayerDict is indexed by a tensor (also by `int(tensor)`) or by a dimension
        that varies, or a list is multiplied by one.

    Why:
        Python needs a number at once, and while the model is traced there is none: the export fails. Of what goes on
        without one, such as `dict.get`, EX143 tells.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.experts = paddle.nn.LayerList([paddle.nn.Linear(8, 4) for _ in range(3)])

            def forward(self, x):
                best = int(paddle.argmax(x.sum(axis=0)))
                return self.experts[best](x)  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.experts = paddle.nn.LayerList([paddle.nn.Linear(8, 4) for _ in range(3)])

            def forward(self, x):
                every = paddle.stack([expert(x) for expert in self.experts])
                return paddle.index_select(every, paddle.argmax(x.sum(axis=0)).reshape([1]), axis=0)

    Source:
        Measured on Paddle 3.3.1: "list indices must be integers or slices, not paddle.base.libpaddle.pir.Value".
    """

    code = "EX125"
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        cure = "stack the parts and use paddle.index_select, or paddle.where"
        for fact in facts.in_forward(Indexed):
            if _is_pythons(fact.container) and only_tensor(fact.index) and not fact.forgiven:
                grown = isinstance(fact.container, Sequence) and fact.container.grown_in_branch
                unread = (
                    isinstance(fact.container, Mapping) and fact.container.rest is not None
                )  # a key may be a tensor
                if not grown and not unread:  # such a list is an array of the program, which takes a tensor
                    yield self.at(fact.site, "a tensor indexes a container of Python's: the export fails", cure)
        for operated in facts.in_forward(Operated):
            pair = (operated.left, operated.right) if operated.operator == "Mult" else ()
            if any(isinstance(each, Sequence) for each in pair) and any(only_tensor(each) for each in pair):
                message = "a list is multiplied by a tensor: its length must be known while the model is traced"
                yield self.at(operated.site, message, "use paddle.full([n], value) or tile")


def _is_pythons(container: Value) -> bool:
    """Whether it is a container of Python's: a list, a dict, a text."""
    text = isinstance(container, Const) and isinstance(container.value, str)
    made = isinstance(container, Mapping) and container.factory is not None  # a default that EX143 tells of
    return text or (isinstance(container, (Sequence, Mapping)) and not made)


plugin: Rule = TensorAsIndex()
