"""Loops: two turns of each, and what a loop of the program carries from turn to turn."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exporter.check.domain.join import carried, join
from exporter.check.domain.values import (
    UNBOUND,
    Broken,
    Const,
    Extent,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Value,
    keys_of,
    only_tensor,
    options,
)
from exporter.check.facts import Clashed, Left, Looped
from exporter.check.interpret.assign import assign
from exporter.check.interpret.events import from_container, read_content
from exporter.check.interpret.items import iterate
from exporter.check.interpret.truth import ask, evaluate_condition, truth_of
from exporter.check.source.syntax import inside, of_kind
from exporter.check.state.run import Run

_TURNS = 2  # the second turn of a loop sees what the first left behind

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

    def turn() -> None:
        assign(run, node.target, iterate(run, source, node.iter, "for"))
        run.execute(node.body)

    certain = isinstance(source, Sequence) and bool(source.items) and source.kind != "range"
    certain = certain or (isinstance(source, Sequence) and source.kind == "range" and not tensor and bool(source.items))
    if certain and not tensor and isinstance(source, Sequence) and _is_short(run, source, node):
        return _item_by_item(run, source, node) and run.execute(node.orelse)
    _loop(run, turn, tensor, node, certain)
    return run.execute(node.orelse)


def _is_short(run: Run, source: Sequence, node: ast.For) -> bool:
    """Whether a loop can be run item by item: few are there, all are known, and nothing leaves it early."""
    now = run.now
    shallow = now.loops + now.python_loops < _DEEP_LOOPS - 1 and run.forward
    leaves = any(isinstance(each, (ast.Break, ast.Continue)) for part in node.body for each in inside(part))
    return shallow and source.settled and len(source.items) <= _FEW and not leaves


def _item_by_item(run: Run, source: Sequence, node: ast.For) -> bool:
    """Run the body once for each item; false if it returns."""
    iterate(run, source, node.iter, "for")
    if node.orelse:
        run.facts.append(Looped(run.site(node)))
    now = run.now
    deeper = {"python_loops": now.python_loops + 1, "unrolled": now.unrolled + 1}
    with run.circumstances(**deeper, loop_kind="python", loop_branches=now.branches):
        for item in source.items:
            assign(run, node.target, from_container(run, source, item, node.iter))
            if not run.execute(node.body):
                return False
    return True


def _while(run: Run, node: ast.While) -> bool:
    condition = evaluate_condition(run, node.test)
    ask(run, condition, "while", node)
    if truth_of(run, condition) is False:
        return run.execute(node.orelse)
    tensor = only_tensor(condition) and run.now.converted
    forever = truth_of(run, condition) is True and not of_kind(node, ast.Break)

    def turn() -> None:
        run.execute(node.body)
        after = evaluate_condition(run, node.test)
        if not tensor and only_tensor(after) and run.now.converted and run.forward:
            run.facts.append(Left(run.site(node), "test", "python"))

    _loop(run, turn, tensor, node)
    return not forever and run.execute(node.orelse)


def _loop(run: Run, turn: Callable[[], None], tensor: bool, node: ast.For | ast.While, certain: bool = False) -> None:
    if node.orelse and run.forward:
        run.facts.append(Looped(run.site(node)))
    now = run.now
    deeper = {"loops": now.loops + 1} if tensor else {"python_loops": now.python_loops + 1}
    turns = 1 if not run.forward or now.loops + now.python_loops >= _DEEP_LOOPS else _TURNS
    kind = "tensor" if tensor else "python"
    for number in range(turns):
        run.heap.begin()
        try:
            with run.circumstances(**deeper, loop_kind=kind, loop_branches=now.branches):
                turn()
        finally:
            before = run.heap.keep()
        for (_, key), (where, old) in before.items():
            new = where.get(key)
            if not isinstance(new, Value) or not isinstance(old, Value) or old is UNBOUND:
                continue
            if tensor and number == 0 and run.forward:
                if where is run.frame.names:
                    _carried(run, key, old, new, node)
                _attribute_carried(run, where, key, new, node)
            turned = certain and number == 0 and isinstance(old, Const) and only_tensor(new)
            if not turned and (not certain or number < turns - 1):
                run.heap.write(where, key, _after_turn(old, new, tensor))


def _after_turn(old: Value, new: Value, tensor: bool) -> Value:
    if tensor and isinstance(old, Const) and isinstance(new, (Const, Scalar)):
        return Tensor((), True) if isinstance(old.value, (int, float)) else join(old, new)
    if tensor and isinstance(old, Const) and isinstance(old.value, (int, float)) and isinstance(new, Tensor):
        return new
    if tensor and isinstance(old, Tensor) and isinstance(new, Tensor):
        return carried(old, new)
    if isinstance(old, Const) and isinstance(old.value, (int, float)) and isinstance(new, (Const, Scalar)):
        return Scalar("number")
    return join(old, new)


def _carried(run: Run, key: str, old: Value, new: Value, node: ast.For | ast.While) -> None:
    """A name that a tensor loop carries from turn to turn must be a tensor from the start."""
    if isinstance(old, Const) and old.value is None and any(only_tensor(each) for each in options(new)):
        start, end = run.memory.assigned_at(old), run.memory.assigned_at(new)
        broken = Broken("none", key, run.frame.module, start or node, new)
        at = end or node
        run.facts.append(Clashed(run.site(at), broken, "while" if isinstance(node, ast.While) else "for"))


def _attribute_carried(run: Run, where: object, key: str, new: Value, node: ast.For | ast.While) -> None:
    """A loop that reads and writes an attribute of a layer cannot be made an operator."""
    layer = run.frame.names.get("self")
    if not isinstance(layer, Instance) or where is not layer.attributes or not layer.cls.is_layer:
        return
    reads = (each for part in node.body for each in of_kind(part, ast.Attribute))
    if any(each.attr == key and isinstance(each.ctx, ast.Load) for each in reads):
        at = run.memory.assigned_at(new) or node
        broken = Broken("attribute", f"self.{key}", run.frame.module, at, new)
        run.facts.append(Clashed(run.site(at), broken, "branch"))


def _walks_a_tensor(source: Value) -> bool:
    if isinstance(source, Tensor):
        return source.size(0) is Extent.DYNAMIC and not source.guessed
    return isinstance(source, Sequence) and source.kind == "range" and any(only_tensor(each) for each in source.items)


STATEMENTS = {ast.For: _for, ast.While: _while}
