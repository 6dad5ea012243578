"""One abstract run of a model: its state, and the tables that say how each kind of node and value is interpreted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, NamedTuple, ParamSpec
from weakref import proxy

from exporter.check.domain.call import Call
from exporter.check.domain.contents import inputs_of
from exporter.check.domain.values import UNKNOWN, Instance, Value
from exporter.check.facts import Called, Fact, Phase, Site
from exporter.check.source.project import ParsedModule
from exporter.check.state.effects import Effects
from exporter.check.state.frames import Circumstances, Frame
from exporter.check.state.heap import Heap, Held

P = ParamSpec("P")

#: Nodes evaluated for one model before the rest is taken as unknown; ResNet-50 with all its blocks needs some 20,000.
BUDGET = 120_000
DEEPEST = 24


class OutOfBudget(Exception):  # caught where the model was begun; what was found so far stands
    """The model is too large to be interpreted to its end."""


class Tables(NamedTuple):
    """How each kind of expression, statement, called value and read value is interpreted, by its class.

    `functions` are the models of libraries by qualified name, `packages` those of whole packages.
    """

    expressions: Mapping[type[ast.expr], Callable[..., Value]]
    statements: Mapping[type[ast.stmt], Callable[..., bool | None]]
    callers: Mapping[type[Value], Callable[..., Value]]
    readers: Mapping[type[Value], Callable[..., Value]]
    functions: Mapping[str, Callable[..., Value]]
    packages: Mapping[str, Callable[..., Value]]


class Run:
    """The state of one run. Whatever changes while code is interpreted is here or in the heap.

    `frame` is the call in progress, `now` its circumstances, `stack` the calls around it; `root` is the exported layer
    and `exported` its `forward`. `blank`: nothing is known of what the model was built with. `control_dependent` are
    the inputs that decided something, or went where nothing is known of.
    """

    def __init__(self, tables: Tables) -> None:
        self.heap = Heap()
        self.now = Circumstances()
        self.frame: Frame
        self.stack: list[Frame] = []
        self.root: Instance | None = None
        self.exported: ast.AST | None = None
        self.blank = False
        self.facts: list[Fact] = []
        self.outputs: tuple[Value, ...] = ()
        self.control_dependent: frozenset[str] = frozenset()
        self.visited: set[ast.AST] = set()
        run = proxy(self)  # who refers to itself is not freed at its end
        self.effects = Effects(lambda: run.now.phase is Phase.FORWARD)
        self.memory = Memory()
        self.usage = Usage()
        #: Calls whose value has a name that was not read yet, by the scope and the name.
        self.awaited: dict[tuple[int, str], Called] = {}
        self.tables = tables
        self._steps = 0

    # ------------------------------------------------------------------------------------------------------ the tables

    def evaluate(self, node: ast.expr) -> Value:
        """What an expression gives; `UNKNOWN` for syntax that no table knows.

        Raises:
            OutOfBudget: it was one step too many.
        """
        self._steps += 1
        if self._steps > BUDGET:
            raise OutOfBudget
        handler = self.tables.expressions.get(type(node))
        return handler(self, node) if handler is not None else UNKNOWN

    def execute(self, body: list[ast.stmt]) -> bool:
        """Run statements; false if they never reach their end."""
        for statement in body:
            self._steps += 1
            handler = self.tables.statements.get(type(statement))
            if handler is not None and handler(self, statement) is False:
                return False
            if isinstance(statement, (ast.Break, ast.Continue)):
                return True  # what stands behind it never runs
        return True

    def call(self, function: Value, call: Call) -> Value:
        """What a call gives."""
        handler = self.tables.callers.get(type(function))
        return handler(self, function, call) if handler is not None else self.unmodelled(call)

    def unmodelled(self, call: Call) -> Value:
        """Nothing is known of what a call gives, which may depend on all that it is given."""
        self.consume(*call.every)
        return UNKNOWN

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Value:
        """What an attribute of a value is."""
        handler = self.tables.readers.get(type(owner))
        return handler(self, owner, name, node) if handler is not None else UNKNOWN

    # ----------------------------------------------------------------------------------------------- the circumstances

    @property
    def forward(self) -> bool:
        """Whether the model is being called, not built."""
        return self.now.phase is Phase.FORWARD

    def site(self, node: ast.AST) -> Site:
        """The present circumstances at a node."""
        phase, converted, branches, loops, walks, _, undecided, _, _, source, quiet, guard, caught, handed = self.now
        place = self.frame.module, node, phase, converted
        return Site(*place, branches, loops, walks, source, quiet, guard, self.root, not undecided, caught, handed)

    def note(self, kind: Callable[Concatenate[Site, P], Fact], node: ast.AST, *what: P.args, **more: P.kwargs) -> None:
        """What happens at a node while the model is called is a fact."""
        if self.forward:
            self.facts.append(kind(self.site(node), *what, **more))

    def circumstances(self, **changed: Any) -> Held:
        """Inside the block, some circumstances are others."""
        return Held(self, now=self.now._replace(**changed))

    def elsewhere(self, frame: Frame, now: Circumstances) -> Held:
        """Inside the block, another frame and other circumstances hold."""
        return Held(self, frame=frame, now=now, stack=[*self.stack, frame])

    def at_import(self, module: ParsedModule) -> Held:
        """Inside the block, code of a module's top level runs."""
        return self.elsewhere(Frame(module, {}), Circumstances())

    # ----------------------------------------------------------------------------------------------------- bookkeeping

    def name_read(self, scope: Mapping[str, Value], name: str) -> None:
        """A name is read: what the call that gave it its value gave is used."""
        fact = self.awaited.pop((id(scope), name), None)
        if fact is not None:
            fact.unread = False

    def consume(self, *values: Value) -> None:
        """Values decide something, or go where nothing is known of: whatever comes out may depend on them."""
        self.control_dependent |= inputs_of(values)


class Memory:
    """What a run remembers so that it need not do it twice."""

    def __init__(self) -> None:
        self._assigned: dict[int, tuple[Value, ast.AST]] = {}
        #: The one object for several that are made of the same class from the same arguments, by these.
        self.instances: dict[Any, Instance] = {}
        #: How often a function was entered with arguments of the same kinds, and what it gave last.
        self.calls: dict[Any, tuple[int, Value]] = {}
        #: What class attributes were given since.
        self.class_attributes: dict[str, Value] = {}
        #: Scopes that functions made here keep, and attributes of objects: these may lie in them themselves.
        self.scopes: list[dict[str, Value]] = []
        #: Functions with a cache that were called before the model was.
        self.cached_early: set[ast.AST] = set()

    def assign(self, value: Value, node: ast.AST) -> None:
        """A name or attribute was given this very value."""
        self._assigned[id(value)] = (value, node)

    def assigned_at(self, value: Value) -> ast.AST | None:
        """Where a name was last given this very value."""
        entry = self._assigned.get(id(value))
        return entry[1] if entry else None


class Usage:
    """What becomes of the value of an expression, which its statement knows and the expression does not."""

    def __init__(self) -> None:
        #: Operators `and` and `or` whose truth alone counts.
        self.tested: set[ast.AST] = set()
        #: Expressions of which nothing is made.
        self.dropped: set[ast.AST] = set()
        #: What the innermost `for` statement goes through.
        self.walked: ast.AST | None = None
        #: The value of the present assignment, and the name that is given it.
        self.bound: tuple[ast.AST | None, str] = (None, "")
