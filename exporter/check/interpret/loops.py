"""Loops: two turns of each, and what a loop of the program carries from turn to turn."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

from exporter.check.domain.join import alike, carried, join, widen
from exporter.check.domain.values import (
    UNBOUND,
    Broken,
    Const,
    Container,
    Extent,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Value,
    keys_of,
    only_tensor,
    options,
)
from exporter.check.facts import Clashed, Left, Looped
from exporter.check.interpret.assign import assign
from exporter.check.interpret.events import clash, from_container, read_content
from exporter.check.interpret.items import iterate
from exporter.check.interpret.truth import asked, evaluate_condition, truth_of
from exporter.check.source.syntax import inside, of_kind
from exporter.check.state.heap import Changes, Place
from exporter.check.state.run import Run

_USUAL = 2  # turns that a loop may well make, and times that something may grow before it is widened
_MOST = 12  # turns of a loop that changes in place what its head held, so that it never looks the same

_DEEP_LOOPS = 3

_FEW = 4  # items of a loop that is run one by one


def _for(run: Run, node: ast.For) -> bool:
    run.usage.walked = node.iter
    source = run.evaluate(node.iter)
    if isinstance(source, Mapping) and source.rest is None:
        read_content(run, source)
        source = keys_of(source)
    if isinstance(source, Sequence) and not source.items and source.settled:
        return run.execute(node.orelse)
    tensor = run.now.converted and _walks_a_tensor(source)
    unseen = isinstance(source, Container) and not source.parts()  # what fills it was not read: nothing may fill it

    def turn() -> None:
        with run.circumstances(undecided=run.now.undecided + unseen):
            assign(run, node.target, iterate(run, source, node.iter, "for"))
            run.execute(node.body)

    turns = len(source.items) if isinstance(source, Sequence) and not tensor else 0
    if turns and isinstance(source, Sequence) and _is_short(run, source, node):
        return _item_by_item(run, source, node) and run.execute(node.orelse)
    exactly = turns > 0 and isinstance(source, Sequence) and source.settled
    _loop(run, turn, tensor, node, turns, turns if exactly else _MOST)
    return run.execute(node.orelse)


def _is_short(run: Run, source: Sequence, node: ast.For) -> bool:
    """Tell whether a loop can be run item by item: few are there, all are known, and nothing leaves it early."""
    now = run.now
    shallow = now.depth < _DEEP_LOOPS - 1 and run.forward
    leaves = any(isinstance(each, (ast.Break, ast.Continue)) for part in node.body for each in inside(part))
    return shallow and source.settled and len(source.items) <= _FEW and not leaves


def _item_by_item(run: Run, source: Sequence, node: ast.For) -> bool:
    """Run the body once for each item; false if it returns."""
    iterate(run, source, node.iter, "for")
    if node.orelse:
        run.note(Looped, node)
    now = run.now
    deeper = {"python_loops": now.python_loops + 1, "unrolled": now.unrolled + 1}
    with run.circumstances(**deeper, loop_kind="python", loop_branches=now.branches):
        for item in source.items:
            assign(run, node.target, from_container(run, source, item, node.iter))
            if not run.execute(node.body):
                return False
    return True


def _while(run: Run, node: ast.While) -> bool:
    condition = asked(run, node.test, "while", node)
    if truth_of(condition) is False:
        return run.execute(node.orelse)
    tensor = only_tensor(condition) and run.now.converted
    forever = truth_of(condition) is True and not of_kind(node, ast.Break)

    def turn() -> None:
        run.execute(node.body)
        after = evaluate_condition(run, node.test)
        if not tensor and only_tensor(after) and run.now.converted:
            run.note(Left, node, "test", "python")

    _loop(run, turn, tensor, node)
    return not forever and run.execute(node.orelse)


def _loop(
    run: Run, turn: Callable[[], None], tensor: bool, node: ast.For | ast.While, certain: int = 0, most: int = _MOST
) -> None:
    """Run turns until nothing grows that stands at the head of the loop; `certain` of them are sure to be made.

    A loop of a constructor, or one inside three others, makes one: what it leaves is seen in the next turn of those.
    """
    if node.orelse:
        run.note(Looped, node)
    now = run.now
    deeper = {"loops": now.loops + 1} if tensor else {"python_loops": now.python_loops + 1}
    if not run.forward or now.depth >= _DEEP_LOOPS:
        most = 1
    growths: Counter[Place] = Counter()
    for number in itertools.count(1):
        later = {"undecided": now.undecided + (number > max(certain, _USUAL)), "loop_branches": now.branches}
        run.heap.begin()
        try:
            with run.circumstances(**deeper, **later, loop_kind="tensor" if tensor else "python"):
                turn()
        finally:
            before = run.heap.keep()
        if tensor and run.forward:
            _carried(run, before, growths, node)
        peeled = certain > 0 and number == 1
        head: Changes = {
            (at, key): (where, _after_turn(old, where.get(key), tensor, peeled, growths[at, key]))
            for (at, key), (where, old) in before.items()
        }
        grown = [place for place, (_, new) in head.items() if not alike(before[place][1], new)]
        if number > 1 and grown:
            there = _there(run, before)
            grown = [place for place in grown if place[0] in there]
        growths.update(grown)
        ends = number >= min(most, _MOST) or (number > 1 and not grown)
        if not (certain and ends):
            run.heap.apply(head)
        if ends:
            return


def _after_turn(old: Any, new: Any, tensor: bool, peeled: bool, growths: int) -> Any:
    """Tell what stands at the head of a loop after a turn; the first that is sure has made a number a tensor."""
    if isinstance(old, dict) and isinstance(new, dict):  # the items of a dict
        return {key: _after_turn(old.get(key, UNBOUND), new[key], tensor, peeled, growths) for key in new}
    if not isinstance(old, Value) or not isinstance(new, Value) or old is UNBOUND:
        return new
    if isinstance(old, Const):
        number = isinstance(old.value, (int, float))
        if (peeled and only_tensor(new)) or (number and tensor and isinstance(new, Tensor)):
            return new
        if number and isinstance(new, (Const, Scalar)) and (tensor or old != new):
            return Tensor((), True) if tensor else Scalar("number")
    if tensor and isinstance(old, Tensor) and isinstance(new, Tensor):
        return carried(old, new)
    return widen(old, new) if growths >= _USUAL else join(old, new)


def _there(run: Run, before: Changes) -> set[int]:
    """Where the names at the head of a loop led to, by identity: what a turn makes anew and fills has not grown."""
    waiting: list[dict[str, Any]] = [run.frame.names, *run.frame.scopes, run.frame.module.globals]
    found: set[int] = set()
    while waiting:
        where = waiting.pop()
        if id(where) in found:
            continue
        found.add(id(where))
        for key, now in where.items():
            held = before.get((id(where), key), (where, now))[1]
            for value in held.values() if isinstance(held, dict) else held if isinstance(held, tuple) else (held,):
                if isinstance(value, Instance):
                    waiting.append(value.attributes)
                elif isinstance(value, (Container, Union)):
                    waiting.append(vars(value))
    return found


def _carried(run: Run, before: Changes, growths: Counter[Place], node: ast.For | ast.While) -> None:
    """Names that a loop of the program carries from turn to turn must be tensors from the start; and no attributes."""
    for (at, key), (where, old) in before.items():
        new = where.get(key)
        if isinstance(new, Value) and isinstance(old, Value) and old is not UNBOUND:
            if where is run.frame.names and old == Const(None) and any(map(only_tensor, options(new))):
                start, end = run.memory.assigned_at(old), run.memory.assigned_at(new)
                broken = Broken("none", key, run.frame.module, start or node, new)
                form = "while" if isinstance(node, ast.While) else "for"
                run.note(Clashed, end or node, broken, form)
            if not growths[at, key]:
                _attribute_carried(run, where, key, new, node)


def _attribute_carried(run: Run, where: object, key: str, new: Value, node: ast.For | ast.While) -> None:
    """A loop that reads and writes an attribute of a layer cannot be made an operator."""
    layer = run.frame.names.get("self")
    if not isinstance(layer, Instance) or where is not layer.attributes or not layer.cls.is_layer:
        return
    reads = (each for part in node.body for each in of_kind(part, ast.Attribute))
    if any(each.attr == key and isinstance(each.ctx, ast.Load) for each in reads):
        clash(run, "attribute", f"self.{key}", run.memory.assigned_at(new) or node, new)


def _walks_a_tensor(source: Value) -> bool:
    if isinstance(source, Tensor):
        return source.size(0) is Extent.DYNAMIC and not source.guessed
    return isinstance(source, Sequence) and source.kind == "range" and any(only_tensor(each) for each in source.items)


STATEMENTS = {ast.For: _for, ast.While: _while}
