"""What one call of the model does to the places that outlive it: reads, writes, kills."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from exporter.check.domain.contents import holds, inputs_of
from exporter.check.domain.values import UNKNOWN, Dim, Instance, Value
from exporter.check.facts import Changed, Site
from exporter.check.source.reach import may_reach
from exporter.check.source.syntax import inside, last_name, of_kind
from exporter.check.state.heap import Held, Place


class Write(NamedTuple):
    """The first write to a place: where, what it is called, of what kind, and what of the inputs it varies by."""

    site: Site
    what: str
    kind: str
    varies: str


#: Where a place is read: the module's tree, and the expression.
Use: TypeAlias = tuple[ast.AST, ast.AST]


@dataclass(eq=False, repr=False)
class Access:
    """What a call did to one persistent place.

    `read` is None where its value from before the call was never read, False where it was only reached for
    (`self.cache is None`, `self.seen.append`), True where it was used. `updated`: it was read for its own next value
    alone (`self.n = self.n + 1`). `reread`: the call read what it had written itself. `killed`: it was emptied before
    anything of it was read. `pushed` counts the items that the call put on a list and has not taken off. `guarded`: the
    `if` that sets it asked for it. `uses` are the places where it was used, and `further` those where it was reread,
    None where one is not known. `keys` are those that the call wrote, `searched` whether it asked for any.
    """

    read: bool | None = None
    write: Write | None = None
    before: Value | None = None
    reread: bool = False
    killed: bool = False
    updated: bool = False
    guarded: bool = False
    searched: bool = False
    pushed: int = 0
    uses: list[Use | None] = field(default_factory=list)
    further: list[Use | None] = field(default_factory=list)
    keys: set[Value] = field(default_factory=set)


class Effects:
    """The accesses of one call by place; nothing is noted while `recording()` is false, as at import."""

    def __init__(self, recording: Callable[[], bool]) -> None:
        self._recording = recording
        self._accesses: dict[Place, Access] = {}
        self._reaching = False
        #: The attribute or global that the present statement gives a new value.
        self._updated = ""
        #: The attributes that the present `if` asks for, and sets: a key of what is kept, or a mark of its being there.
        self.guards: frozenset[str] = frozenset()

    def of(self, place: Place | None) -> Access:
        """The accesses of a place so far; of what has no place none are kept, here and below."""
        if place is None:
            return Access()
        known = self._accesses.get(place)
        if known is None:
            known = self._accesses[place] = Access()
        return known

    # -------------------------------------------------------------------------------------------------- how it is read

    def updating(self, target: ast.expr) -> Held:
        """Inside the block, what is read of the target is read for its own next value."""
        return Held(self, _updated=last_name(target))

    def reaching(self) -> Held:
        """Inside the block, reading a place is no use of its value yet (`self.cache is None`, `self.seen.append`)."""
        return Held(self, _reaching=True)

    def _for_its_next(self, place: Place | None) -> bool:
        return place is not None and place[1] == self._updated

    # ----------------------------------------------------------------------------------------------------------- reads

    def read(self, place: Place, use: Use | None = None) -> None:
        """A place was read; what the call wrote itself is its own."""
        if not self._recording():
            return
        access = self.of(place)
        if access.write is None:
            next_value = self._for_its_next(place)
            guards = place[1] in self.guards
            used = not (self._reaching or guards or next_value)
            if used:
                access.uses.append(use)
            access.read = bool(access.read) or used
            access.updated = access.updated or next_value
            access.guarded = access.guarded or guards
        elif not self._reaching and not self._for_its_next(place):
            access.further.append(use)
            access.reread = True

    def read_content(self, place: Place) -> None:
        """The content of a container was read; what this call added does not hide what lay there."""
        if not self._recording():
            return
        access = self.of(place)
        if access.killed:
            return
        if self._for_its_next(place):
            access.updated = True
        else:
            access.read = access.reread = True
            access.uses.append(None)
            access.further.append(None)

    def read_again(self, place: Place | None) -> None:
        """What this call itself wrote is read, not only to be changed once more."""
        if not self._for_its_next(place):
            access = self.of(place)
            access.reread = True
            access.further.append(None)

    # ------------------------------------------------------------------------------------------------ writes and kills

    def write(self, place: Place, site: Site, what: str, kind: str, value: Value = UNKNOWN) -> None:
        """A place was written; of several writes the first counts."""
        if not self._recording() or (access := self.of(place)).write is not None:
            return
        by_data = holds(value, lambda part: _varies_by(part) == "data")
        by_shape = holds(value, lambda part: _varies_by(part) == "shape")
        access.write = Write(site, what, kind, "data" if by_data else "shape" if by_shape else "")

    def restore(self, place: Place, before: Value | None, value: Value, certain: bool) -> bool:
        """An attribute is written; whether that certainly gives it back its old value, so that it is unchanged."""
        if not self._recording():
            return False
        access = self.of(place)
        if access.write is None:
            access.before = before
        elif value == access.before:
            access.write = None if certain else access.write._replace(varies="")  # on one way, nothing is kept
            return certain
        return False

    def kill(self, place: Place | None) -> None:
        """A container was emptied, before anything of it was read."""
        if self._recording() and not self.of(place).read:
            self.of(place).killed = True

    def push(self, place: Place | None) -> None:
        """One more item lies on a list, which may be taken off again."""
        access = self.of(place)
        if self._recording() and (access.pushed or access.write is None):
            access.pushed += 1

    def pop(self, place: Place) -> bool:
        """Take off the last item, if this call put it there; with the last of them the list is as it was."""
        access = self.of(place)
        if not access.pushed:
            return False
        access.pushed -= 1
        if not access.pushed:
            access.write = None
        return True

    def made_once(self, place: Place, value: Value) -> None:
        """An object that is made only where there is none yet outlives the call as what keeps it does."""
        if self._recording() and isinstance(value, Instance) and self.of(place).read is False:
            value.persistent = True

    # ------------------------------------------------------------------------------------------------------ taken back

    def written(self) -> Mapping[Place, Write]:
        """The writes that hold so far."""
        return {place: access.write for place, access in self._accesses.items() if access.write is not None}

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Inside the block, a place that this call wrote before gets its old value back: it is unchanged."""
        before = self.written()
        for place in before:
            self.of(place).write = None
        try:
            yield
        finally:
            for place, write in before.items():
                access = self.of(place)
                access.write = None if access.write is not None else write

    def take_back(self, before: Mapping[Place, Write], body: ast.AST) -> None:
        """A context manager has run: what it sets behind its `yield` too is as it was when the block is left."""
        pauses = [node.lineno for node in of_kind(body, ast.Yield, ast.YieldFrom)]
        behind = [node for node in inside(body) if getattr(node, "lineno", 0) > max(pauses, default=0)]
        names = {last_name(node) for node in behind if isinstance(getattr(node, "ctx", None), ast.Store)}
        for place, access in self._accesses.items():
            if place not in before and place[1] in names:
                access.write = None

    # ----------------------------------------------------------------------------------------------------- the account

    def changes(self, reaches: bool) -> Iterator[Changed]:
        """When the call has ended: what it changed for the next one, and whether that may reach an output."""
        for access in self._accesses.values():
            if (write := access.write) is not None:
                if _are_idle(access.uses):
                    access.read = None  # it decides what is told, and no output
                access.reread = access.reread and not _are_idle(access.further)
                stale = access.read is not None and not (write.kind == "container" and access.read is False)
                stale = stale or access.updated
                yield Changed(write.site, write.what, _kind(access, write), stale, write.varies, reaches)


def _are_idle(uses: list[Use | None]) -> bool:
    """Whether there are uses, and none may reach an output."""
    return bool(uses) and not any(use is None or may_reach(*use) for use in uses)


def _kind(access: Access, write: Write) -> str:
    """See :class:`exporter.check.facts.Changed`."""
    written = write.kind
    container = written == "container"
    read = None if container and access.read is False else access.read  # it was reached for, to put something in
    cache = container and access.searched and write.varies != "data"
    kind = "lazy" if read is False or cache else written
    if access.updated and not read:
        kind = written if access.reread else "own"
    if access.guarded and read is False and not (write.varies and access.reread):
        kind = "once"
    if kind == "buffer" and access.reread and isinstance(write.site.node, ast.Attribute):
        kind = "rebound"
    return kind


def _varies_by(value: Value) -> str:
    """What of the inputs a value depends on: their `data`, their `shape` alone, or nothing."""
    if not inputs_of((value,)):
        return ""
    # as far as is known such a size is the same in each call
    return "shape" if getattr(value, "shaped", isinstance(value, Dim) and not value.dynamic) else "data"
