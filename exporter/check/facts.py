"""What happens while a model is interpreted: the facts that rules judge.

The interpreter knows Python and what a tensor is; it holds no opinion. A rule picks the kinds of fact it is about.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from exporter.check.domain.values import Broken, Instance, Mapping, Tensor, Value
from exporter.check.source.project import ClassInfo, ParsedModule


class Phase(Enum):
    """When code runs: at import, while the model is built, or while it is called."""

    MODULE = "module"
    INIT = "init"
    FORWARD = "forward"


@dataclass(eq=False, repr=False)
class Site:
    """Where something happens, and under what circumstances.

    `converted`: dy2static has rewritten the code; stock Paddle does not behind the call (module, node) of `partial`,
    `map`, `reduce` or a lambda that is `handed_over`. `branches` and `loops` count the conditions and loops around it
    that a tensor decides; `python_loops` the others. `called_from` is the call through which converted code came to
    code that is not. `quiet`: only a message is made of the result. `guard` is the `and` or `or` whose right side this
    is, if its left side is a tensor. `root` is the layer that is exported, if the code is run for one. `certain`: no
    condition that Python decides, and that is not known here, stands between the call and this. `caught` are the names
    of the exceptions that a `try` or `suppress` around it catches; "" stands for all.
    """

    module: ParsedModule
    node: ast.AST
    phase: Phase
    converted: bool
    branches: int
    loops: int
    python_loops: int
    called_from: tuple[ParsedModule, ast.AST] | None
    quiet: bool
    guard: tuple[ParsedModule, ast.AST] | None
    root: Instance | None
    certain: bool = True
    caught: frozenset[str] = frozenset()
    handed_over: tuple[ParsedModule, ast.AST] | None = None

    @property
    def forward(self) -> bool:
        """Whether it happens while the model is called."""
        return self.phase is Phase.FORWARD


@dataclass(eq=False, repr=False)
class Fact:
    """Something that happens at a place."""

    site: Site


@dataclass(eq=False, repr=False)
class Called(Fact):
    """A call of something of a library or a builtin: `numpy.sqrt`, `builtins.max`, `Tensor.tolist`, `list.append`.

    `dropped`: the value of the call is not used. `unread`: it was given a name that nothing reads. `aliased`: another
    name stands for the tensor it is a method of. `shared`: that one is a view, or there was already one of it.
    """

    name: str
    owner: Value | None
    arguments: tuple[Value, ...]
    keywords: dict[str, Value]
    dropped: bool
    aliased: bool = False
    unread: bool = False
    shared: bool = False


@dataclass(eq=False, repr=False)
class Asked(Fact):
    """An attribute of a tensor was read."""

    tensor: Tensor
    name: str


@dataclass(eq=False, repr=False)
class Tested(Fact):
    """A value was asked whether it is true; `form` is if, while, ifexp, assert, and, or, not, filter or chain.

    `right` is what stands behind an `and` or `or`, of which the value is used if `value_used`.
    """

    value: Value
    form: str
    right: Value | None = None
    value_used: bool = False


@dataclass(eq=False, repr=False)
class Iterated(Fact):
    """A value was walked through; `form` is for, comprehension, star, unpack, or the name of a builtin."""

    value: Value
    form: str


@dataclass(eq=False, repr=False)
class Overwritten(Fact):
    """Part of a tensor was written, and `shared`, a name that is read further on, holds another view of its data."""

    shared: str


@dataclass(eq=False, repr=False)
class Operated(Fact):
    """A binary operator or a comparison; `operator` is the name of its class in `ast`."""

    operator: str
    left: Value
    right: Value


@dataclass(eq=False, repr=False)
class Indexed(Fact):
    """A container was indexed."""

    container: Value
    index: Value

    @property
    def forgiven(self) -> bool:
        """Whether the code around it goes on where the index is a tensor, which Python cannot find or use."""
        key = {"KeyError", "LookupError"} if isinstance(self.container, Mapping) else {"TypeError"}
        return not self.site.caught.isdisjoint(key | {"", "Exception", "BaseException"})


@dataclass(eq=False, repr=False)
class Changed(Fact):
    """Something that outlives the call was changed; `what` names it: `self.step`, `global CALLS`.

    `stale`: its value from before the call is read in the same call, so the outputs depend on it. `kind` is attribute,
    buffer, global, container, or lazy: made once and only asked whether it is there. `varies`: what of
    the inputs the new value depends on, `data`, `shape` (of a tensor made from dimensions alone) or nothing. It does
    not `reach` an output where `forward` gives what it was given, as that of an observer does.
    """

    what: str
    kind: str
    stale: bool
    varies: str = ""
    reaches: bool = True


@dataclass(eq=False, repr=False)
class Left(Fact):
    """A raise, break, continue or return under a tensor condition; `loop` (python or tensor) is what it leaves."""

    form: str
    loop: str


@dataclass(eq=False, repr=False)
class Clashed(Fact):
    """A name that a tensor branch or loop left in a state that no program can hold, and that was read."""

    broken: Broken
    form: str


@dataclass(eq=False, repr=False)
class Captured(Fact):
    """A tensor made outside the trace and registered nowhere was used; `by` says what kept it: a global, a cache."""

    tensor: Tensor
    by: str


@dataclass(eq=False, repr=False)
class Looped(Fact):
    """A `for` or `while` statement was run."""


@dataclass(eq=False, repr=False)
class Strayed(Fact):
    """A layer (or a `parameter`) was taken out of a plain container, and no layer has it for a sublayer."""

    home: str
    parameter: bool


@dataclass(eq=False, repr=False)
class Recursed(Fact):
    """A function called itself under a tensor condition; `counted`: with another number than it was given."""

    function: str
    counted: bool = False


@dataclass(eq=False, repr=False)
class Returned(Fact):
    """`forward` of the exported layer gave this; not `certain` where an `if` of Python's may go another way."""

    value: Value
    certain: bool


@dataclass(eq=False, repr=False)
class Ignored(Fact):
    """No output of the exported layer depends on this input."""

    name: str


@dataclass(eq=False, repr=False)
class Defined(Fact):
    """The exported layer's `forward`, and its class."""

    cls: ClassInfo
    function: ast.FunctionDef


F = TypeVar("F", bound=Fact)


class Facts:
    """What happened while the models of one module ran, by kind."""

    def __init__(self, module: ParsedModule, facts: Iterable[Fact]) -> None:
        self.module = module
        self._by_kind: dict[type[Fact], list[Any]] = {Fact: [*facts]}
        for fact in self._by_kind[Fact]:
            self._by_kind.setdefault(type(fact), []).append(fact)
        self._in_forward: dict[type[Fact], list[Any]] = {}

    def of(self, kind: type[F]) -> list[F]:
        """The facts of one kind in their order; of `Fact`, all of them."""
        return self._by_kind.get(kind, [])

    def in_forward(self, kind: type[F]) -> list[F]:
        """Those of one kind that happened while the model was called, not built."""
        if kind not in self._in_forward:
            self._in_forward[kind] = [fact for fact in self.of(kind) if fact.site.phase is Phase.FORWARD]
        return self._in_forward[kind]
