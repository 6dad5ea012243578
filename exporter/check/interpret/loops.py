"""Loops on paper: two turns of each, and what a loop of the program carries from turn to turn."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exporter.check.domain.join import join
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
    only_tensor,
    options,
)
from exporter.check.facts import Clashed, Left, Looped
from exporter.check.interpret.calls import Calls
from exporter.check.models.methods import keys_of
from exporter.check.source.syntax import inside

_TURNS = 2  # the second turn of a loop sees what the first left behind
_DEEP_LOOPS = 3
_FEW = 4  # items of a loop that is run one by one


class Loops(Calls):
    """Evaluation of `for` and `while`."""

    def do_for(self, node: ast.For) -> bool:
        self.walked = node.iter
        source = self.evaluate(node.iter)
        if isinstance(source, Mapping) and source.rest is None:
            self.note_content(source)
            source = keys_of(source)
        if isinstance(source, Sequence) and not source.items and source.settled:
            return self.execute(node.orelse)
        tensor = self.now.converted and _walks_a_tensor(source)

        def turn() -> None:
            self.assign(node.target, self.iterate(source, node.iter, "for"))
            self.execute(node.body)

        certain = isinstance(source, Sequence) and bool(source.items) and source.kind != "range"
        certain = certain or (
            isinstance(source, Sequence) and source.kind == "range" and not tensor and bool(source.items)
        )
        if certain and not tensor and isinstance(source, Sequence) and self._is_short(source, node):
            return self._each(source, node) and self.execute(node.orelse)
        self._loop(turn, tensor, node, certain)
        return self.execute(node.orelse)

    def _is_short(self, source: Sequence, node: ast.For) -> bool:
        """Whether a loop can be run item by item: few are there, all are known, and nothing leaves it early."""
        now = self.now
        shallow = now.loops + now.python_loops < _DEEP_LOOPS - 1 and self.forward
        leaves = any(isinstance(each, (ast.Break, ast.Continue)) for part in node.body for each in inside(part))
        return shallow and source.settled and len(source.items) <= _FEW and not leaves

    def _each(self, source: Sequence, node: ast.For) -> bool:
        """Run the body once for each item; false if it returns."""
        self.iterate(source, node.iter, "for")
        if node.orelse:
            self.facts.append(Looped(self.site(node)))
        now = self.now
        deeper = {"python_loops": now.python_loops + 1, "unrolled": now.unrolled + 1}
        with self.circumstances(**deeper, loop_kind="python", loop_branches=now.branches):
            for item in source.items:
                self.assign(node.target, self.from_container(source, item, node.iter))
                if not self.execute(node.body):
                    return False
        return True

    def do_while(self, node: ast.While) -> bool:
        condition = self.condition(node.test)
        self.test(condition, "while", node)
        if self.truth(condition) is False:
            return self.execute(node.orelse)
        tensor = only_tensor(condition) and self.now.converted
        forever = self.truth(condition) is True and not any(isinstance(each, ast.Break) for each in ast.walk(node))

        def turn() -> None:
            self.execute(node.body)
            after = self.condition(node.test)
            if not tensor and only_tensor(after) and self.now.converted and self.forward:
                self.facts.append(Left(self.site(node), "test", "python"))

        self._loop(turn, tensor, node)
        return not forever and self.execute(node.orelse)

    def _loop(self, turn: Callable[[], None], tensor: bool, node: ast.For | ast.While, certain: bool = False) -> None:
        if node.orelse and self.forward:
            self.facts.append(Looped(self.site(node)))
        now = self.now
        deeper = {"loops": now.loops + 1} if tensor else {"python_loops": now.python_loops + 1}
        turns = 1 if not self.forward or now.loops + now.python_loops >= _DEEP_LOOPS else _TURNS
        kind = "tensor" if tensor else "python"
        for number in range(turns):
            self.store.begin()
            try:
                with self.circumstances(**deeper, loop_kind=kind, loop_branches=now.branches):
                    turn()
            finally:
                before = self.store.keep()
            for (_, key), (where, old) in before.items():
                new = where.get(key)
                if not isinstance(new, Value) or not isinstance(old, Value) or old is UNBOUND:
                    continue
                if tensor and number == 0 and self.forward:
                    if where is self.frame.names:
                        self._carried(key, old, new, node)
                    self._attribute_carried(where, key, new, node)
                turned = certain and number == 0 and isinstance(old, Const) and only_tensor(new)
                if not turned and (not certain or number < turns - 1):
                    self.store.write(where, key, self._after_turn(old, new, tensor))

    @staticmethod
    def _after_turn(old: Value, new: Value, tensor: bool) -> Value:
        if tensor and isinstance(old, Const) and isinstance(new, (Const, Scalar)):
            return Tensor((), True) if isinstance(old.value, (int, float)) else join(old, new)
        if tensor and isinstance(old, Const) and isinstance(old.value, (int, float)) and isinstance(new, Tensor):
            return new
        if isinstance(old, Const) and isinstance(old.value, (int, float)) and isinstance(new, (Const, Scalar)):
            return Scalar("number")
        return join(old, new)

    def _carried(self, key: str, old: Value, new: Value, node: ast.For | ast.While) -> None:
        """A name that a tensor loop carries from turn to turn must be a tensor from the start."""
        if isinstance(old, Const) and old.value is None and any(only_tensor(each) for each in options(new)):
            start, end = self.assigned_at(old), self.assigned_at(new)
            broken = Broken("none", key, self.frame.module, start or node, new)
            at = end or node
            self.facts.append(Clashed(self.site(at), broken, "while" if isinstance(node, ast.While) else "for"))

    def _attribute_carried(self, where: object, key: str, new: Value, node: ast.For | ast.While) -> None:
        """A loop that reads and writes an attribute of a layer cannot be made an operator."""
        layer = self.frame.names.get("self")
        if not isinstance(layer, Instance) or where is not layer.attributes or not layer.cls.is_layer:
            return
        reads = (each for part in node.body for each in inside(part) if isinstance(each, ast.Attribute))
        if any(each.attr == key and isinstance(each.ctx, ast.Load) for each in reads):
            at = self.assigned_at(new) or node
            broken = Broken("attribute", f"self.{key}", self.frame.module, at, new)
            self.facts.append(Clashed(self.site(at), broken, "branch"))


def _walks_a_tensor(source: Value) -> bool:
    if isinstance(source, Tensor):
        return source.size(0) is Extent.DYNAMIC and not source.guessed
    return isinstance(source, Sequence) and source.kind == "range" and any(only_tensor(each) for each in source.items)
