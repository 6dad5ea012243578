"""A call: where it stands, and with what."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from exporter.check.domain.contents import inputs_of
from exporter.check.domain.values import UNKNOWN, Const, Sequence, Tensor, Value


@dataclass(eq=False, repr=False)
class Call:
    """Where something is called, and with what; `name` is the qualified one of what a library has, or of a method."""

    node: ast.AST
    arguments: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    name: str = ""

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    @property
    def first(self) -> Value:
        """The first argument, `UNKNOWN` if there is none."""
        return self.arguments[0] if self.arguments else UNKNOWN

    @property
    def every(self) -> tuple[Value, ...]:
        """All arguments, positional ones first."""
        return (*self.arguments, *self.keywords.values())

    @property
    def inputs(self) -> frozenset[str]:
        """The inputs of `forward` that any argument depends on."""
        return inputs_of(self.every)

    def given(self, position: int, *names: str, default: Value = UNKNOWN) -> Value:
        """The argument of one of these names, else that at a position, else the default."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.arguments[position] if len(self.arguments) > position else default

    @cached_property
    def tensor(self) -> Tensor | None:
        """The first tensor among the arguments, sequences looked into."""
        return _first_tensor(self.every)

    def says(self, name: str, value: object) -> bool:
        """Whether a keyword is given that constant."""
        return self.keywords.get(name) == Const(value)


def _first_tensor(values: tuple[Value, ...]) -> Tensor | None:
    for value in values:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, Sequence) and (inner := _first_tensor(value.parts())) is not None:
            return inner
    return None
