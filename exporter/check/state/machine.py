"""The state of a run on paper: frames, circumstances, the facts found so far, and a bound on the work."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from exporter.check.domain.values import UNKNOWN, Broken, Instance, Tensor, Value, holds, inputs_of
from exporter.check.facts import Captured, Changed, Clashed, Fact, Phase, Site
from exporter.check.source.project import ClassInfo, ParsedModule
from exporter.check.source.syntax import inside, last_name
from exporter.check.state.heap import Store

#: Nodes evaluated for one model before the rest is taken as unknown; ResNet-50 with all its blocks needs some 20,000.
BUDGET = 120_000
DEEPEST = 24


class OutOfBudget(Exception):  # caught where the model was begun; what was found so far stands
    """The model is too large to be run on paper to its end."""


@dataclass(frozen=True)
class Result:
    """What a call gave at one `return`; `by_tensor`: a tensor chose this way, `certain`: Python surely goes it."""

    node: ast.AST
    value: Value
    by_tensor: bool
    certain: bool


class Scope(dict[str, Value]):
    """The names of a call; `lasting` ones were there before the model was called, and closures keep them."""

    lasting = False


@dataclass
class Frame:
    """A call in progress: its names, the scopes around it, and what it has returned so far."""

    module: ParsedModule
    names: dict[str, Value]
    scopes: tuple[dict[str, Value], ...] = ()
    cls: ClassInfo | None = None
    node: ast.AST | None = None
    returns: list[Result] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    outer: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    branches: int = 0
    loops: int = 0
    unrolled: int = 0
    undecided: int = 0


@dataclass(frozen=True)
class Circumstances:
    """See :class:`exporter.check.facts.Site`.

    `undecided` counts the conditions that Python will decide, `unrolled` those of the `python_loops` that are run item
    by item.
    """

    phase: Phase = Phase.MODULE
    converted: bool = True
    branches: int = 0
    loops: int = 0
    python_loops: int = 0
    unrolled: int = 0
    undecided: int = 0
    loop_kind: str = ""
    loop_branches: int = 0
    called_from: tuple[ParsedModule, ast.AST] | None = None
    quiet: bool = False
    guard: tuple[ParsedModule, ast.AST] | None = None


@dataclass
class Change:
    """A lasting thing that `forward` writes, kept until it is known whether it was read first."""

    site: Site
    what: str
    kind: str
    varies: str


class Machine:
    """State and bookkeeping; the evaluation of expressions, calls and statements builds on it."""

    def __init__(self) -> None:
        self.store = Store()
        self.now = Circumstances()
        self.frame: Frame
        self.stack: list[Frame] = []
        self.root: Instance | None = None
        self.facts: list[Fact] = []
        self.steps = 0
        self.spent: dict[Any, int] = {}
        self.visited: set[ast.AST] = set()
        self._read: dict[tuple[int, str], bool] = {}
        self._written: dict[tuple[int, str], Change] = {}
        self._reread: set[tuple[int, str]] = set()
        self._emptied: set[tuple[int, str]] = set()
        self._put_on: dict[tuple[int, str], int] = {}
        #: Lasting containers that were asked whether they hold a key.
        self.asked_for_keys: set[tuple[int, str]] = set()
        self._weak = False
        #: The attribute or global that the present statement gives a new value.
        self._updated = ""
        #: The attribute that the present `if` asks for, and sets for good.
        self._flag = ""
        self._own: set[tuple[int, str]] = set()
        #: What a lasting attribute was before this call wrote it.
        self._first: dict[tuple[int, str], Value | None] = {}
        self._flags: set[tuple[int, str]] = set()

    # ------------------------------------------------------------------------------------------------- circumstances

    @contextmanager
    def circumstances(self, **changed: Any) -> Iterator[None]:
        """Inside the block, some circumstances are others."""
        before = self.now
        self.now = replace(before, **changed)
        try:
            yield
        finally:
            self.now = before

    def site(self, node: ast.AST) -> Site:
        """The present circumstances at a node."""
        now = self.now
        return Site(
            self.frame.module,
            node,
            now.phase,
            now.converted,
            now.branches,
            now.loops,
            now.python_loops,
            now.called_from,
            now.quiet,
            now.guard,
            self.root,
        )

    @property
    def forward(self) -> bool:
        """Whether the model is being called, not built."""
        return self.now.phase is Phase.FORWARD

    def tick(self) -> None:
        """Count one step.

        Raises:
            OutOfBudget: it was one too many.
        """
        self.steps += 1
        if self.steps > BUDGET:
            raise OutOfBudget

    # ------------------------------------------------------------------------------------------- names and attributes

    @contextmanager
    def updating(self, target: ast.expr) -> Iterator[None]:
        """Inside the block, what is read of the target is read for its own next value."""
        while isinstance(target, ast.Subscript):
            target = target.value
        name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
        before, self._updated = self._updated, name
        try:
            yield
        finally:
            self._updated = before

    @contextmanager
    def weakly(self) -> Iterator[None]:
        """Inside the block, reading a lasting value is no use of it yet (`self.cache is None`, `self.seen.append`)."""
        before, self._weak = self._weak, True
        try:
            yield
        finally:
            self._weak = before

    def note_read(self, place: tuple[int, str]) -> None:
        """A lasting place was read; what this call wrote itself is its own."""
        if not self.forward:
            return
        if place not in self._written:
            self._read[place] = self._read.get(place, False) or not (self._weak or self._is_own(place))
            if self._is_own(place):
                self._own.add(place)
            if place[1] == self._flag:
                self._flags.add(place)
        elif not self._weak:
            self._reread.add(place)

    def note_looked_into(self, place: tuple[int, str]) -> None:
        """The content of a lasting container was read; what was added in this call does not hide what lay there."""
        if not self.forward or place in self._emptied:
            return
        if self._is_own(place):
            self._own.add(place)
        else:
            self._read[place] = True
            self._reread.add(place)

    def note_put_on(self, place: tuple[int, str]) -> None:
        """One more item lies on a lasting list, which may be taken off again."""
        if self.forward and (place in self._put_on or place not in self._written):
            self._put_on[place] = self._put_on.get(place, 0) + 1

    def taken_off(self, place: tuple[int, str]) -> bool:
        """Take off the last item, if this call put it there; with the last of them the list is as it was."""
        left = self._put_on.get(place, 0) - 1
        if left < 0:
            return False
        self._put_on[place] = left
        if not left:
            del self._put_on[place]
            self._written.pop(place, None)
        return True

    def has_written(self, place: tuple[int, str]) -> bool:
        """Whether this call has changed a lasting place."""
        return place in self._written

    def _is_own(self, place: tuple[int, str]) -> bool:
        """Whether a lasting value is read only to be given its next one: `self.n = self.n + 1`."""
        return place[1] == self._updated

    def note_reread(self, place: tuple[int, str]) -> None:
        """What this call itself wrote is read, not only to be changed once more."""
        if not self._is_own(place):
            self._reread.add(place)

    def note_emptied(self, place: tuple[int, str]) -> None:
        """A lasting container was emptied, before anything of it was read."""
        if self.forward and not self._read.get(place):
            self._emptied.add(place)

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Inside the block, a lasting place that this call wrote before gets its old value back: it is unchanged."""
        before, self._written = self._written, {}
        try:
            yield
        finally:
            once = {place: change for place, change in self._written.items() if place not in before}
            self._written = {place: each for place, each in before.items() if place not in self._written} | once

    def note_made_once(self, place: tuple[int, str], value: Value) -> None:
        """An object that is made only where there is none yet outlives the call as what keeps it does."""
        if self.forward and isinstance(value, Instance) and self._read.get(place) is False:
            value.lasting = True

    def take_back(self, before: dict[tuple[int, str], Change], body: ast.AST) -> None:
        """A context manager has run: what it sets behind its `yield` too is as it was when the block is left."""
        pauses = [each.lineno for each in inside(body) if isinstance(each, (ast.Yield, ast.YieldFrom))]
        behind = [each for each in inside(body) if getattr(each, "lineno", 0) > max(pauses, default=0)]
        stored = [each for each in behind if isinstance(getattr(each, "ctx", None), ast.Store)]
        names = {last_name(each) for each in stored}
        self._written = {place: one for place, one in self._written.items() if place in before or place[1] not in names}

    def note_restored(self, place: tuple[int, str], before: Value | None, value: Value) -> None:
        """A lasting attribute is written; one that for certain gets its old value back is unchanged."""
        now = self.now
        if not self.forward:
            return
        if place not in self._written:
            self._first[place] = before
        elif value == self._first.get(place) and not (now.branches or now.undecided or now.loops or now.python_loops):
            del self._written[place]

    def note_change(self, place: tuple[int, str], node: ast.AST, what: str, kind: str, value: Value = UNKNOWN) -> None:
        """A lasting place was written while the model is called."""
        if self.forward and place not in self._written:
            by_data = holds(value, lambda one: _varies_by(one) == "data")
            by_shape = holds(value, lambda one: _varies_by(one) == "shape")
            varies = "data" if by_data else "shape" if by_shape else ""
            self._written[place] = Change(self.site(node), what, kind, varies)

    def finish(self) -> None:
        """The call has ended: say what it changed for the next one."""
        for place, change in self._written.items():
            read = self._read.get(place)
            if change.kind == "container" and read is False:
                read = None  # it was only reached for, to put something in
            cache = change.kind == "container" and place in self.asked_for_keys and change.varies != "data"
            kind = "lazy" if read is False or cache else change.kind
            if place in self._own and not read:
                kind = change.kind if place in self._reread else "own"
            if place in self._flags and read is False:
                kind = "once"
            if kind == "buffer" and place in self._reread and isinstance(change.site.node, ast.Attribute):
                kind = "rebound"
            self.facts.append(
                Changed(change.site, change.what, kind, read is not None or place in self._own, change.varies)
            )
        self._read.clear()
        self._written.clear()
        self._reread.clear()
        self._own.clear()
        self._first.clear()
        self._flags.clear()
        self._emptied.clear()
        self._put_on.clear()

    def bind(self, name: str, value: Value, node: ast.AST) -> None:
        """Assign to a name of the frame, or of the scope that `global` or `nonlocal` points to."""
        frame = self.frame
        if name in frame.globals:
            place = (id(frame.module.globals), name)
            self.note_change(place, node, f"global {name}", "global", value)
            self.store.write(frame.module.globals, name, value)
        elif name in frame.outer:
            where = next((scope for scope in frame.scopes if name in scope), frame.names)
            if getattr(where, "lasting", False):
                self.note_change((id(where), name), node, f"nonlocal {name}", "closure", value)
            self.store.write(where, name, value)
        else:
            self.store.write(frame.names, name, value)

    def settle(self, value: Value, node: ast.AST) -> Value:
        """Reading a broken name is a fact; go on with what it most likely is."""
        if isinstance(value, Broken):
            if self.forward and self.now.converted:
                self.facts.append(Clashed(self.site(node), value, "branch"))
            return value.value
        return value

    def capture(self, value: Value, node: ast.AST, by: str) -> Value:
        """A tensor made outside the trace and registered nowhere, used in it, is a fact."""
        if self.forward and isinstance(value, Tensor) and value.origin == "eager":
            self.facts.append(Captured(self.site(node), value, by))
        return value

    # ------------------------------------------------------------------ what the classes built on this one must provide

    def evaluate(self, node: ast.expr) -> Value:
        """What an expression gives."""
        return UNKNOWN

    def call(self, function: Value, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
        """What a call gives."""
        return UNKNOWN

    def execute(self, body: list[ast.stmt]) -> bool:
        """Run statements; false if they never reach their end."""
        return True


def _varies_by(value: Value) -> str:
    """What of the inputs a value depends on: their `data`, their `shape` alone, or nothing."""
    if not inputs_of((value,)):
        return ""
    return "shape" if isinstance(value, Tensor) and value.shaped else "data"
