"""What the inputs of a model can decide in its code: a flow of influence through the functions that ran.

Of every expression it is known whether the inputs' values, or only their sizes, have a say in what it is. Configuration
has none of either: attributes that no function which ran writes, module constants, default arguments, `self.training`,
types and ranks of tensors, whether an argument was given. What cannot be resolved is taken for influenced, so that
a branch that inputs decide is not overlooked; names are followed without regard to order, calls by their name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from exporter.prove.goldens.branches import Function, may_raise

#: What sizes and values decide: the value of an expression, and (shifted) what kind of object it is at all.
NOTHING, SIZE, VALUE = 0, 1, 2
_KIND = 2  # bits to shift by

_ASKS_FOR_KIND = frozenset({"isinstance", "issubclass", "hasattr", "callable", "type", "id"})
_SIZES = frozenset({"shape", "size", "numel", "element_size"})
FIXED = frozenset(
    {"dtype", "ndim", "dim", "ndimension", "rank", "place", "stop_gradient", "name", "persistable", "type", "is_leaf"}
)
_GROWS = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})


@dataclass(frozen=True)
class Followed:
    """A function that ran, and the globals of its module.

    `inputs` are parameters that take the model's own inputs; `calls` the functions that were called from each line.
    """

    function: Function
    globals: Mapping[str, Any]
    inputs: frozenset[str] = frozenset()
    calls: Mapping[int, Set[Function]] = field(default_factory=dict)


def level(flags: int) -> int:
    """What has a say in an expression: VALUE, SIZE or NOTHING."""
    both = flags | flags >> _KIND
    return VALUE if both & VALUE else both & SIZE


class Influence:
    """The levels of all expressions in the functions that ran, worked out together."""

    def __init__(self, followed: Sequence[Followed]) -> None:
        self._own = {one.function.node.name for one in followed}
        self._names: dict[tuple[Function | None, str], int] = {}
        self._attributes: dict[str, int] = {}
        self._results: dict[Function, int] = {}
        self._absent: dict[Any, int] = {}  # what is None somewhere, so that who decides on it decides of its kind
        self._levels: dict[ast.AST, int] = {}
        self._control = NOTHING
        self._moved = True
        for one in followed:
            for name in one.inputs:
                self._names[one.function, name] = VALUE
        while self._moved:  # flags are only ever added, so it ends
            self._moved = False
            for self._now in followed:
                self._block(self._now.function.node.body)
        for self._now in followed:
            for question in self._now.function.questions:
                self._note(question.node, self._flags(question.node))

    def of(self, node: ast.AST) -> int:
        """The level of a branch, of an operand of `and` and `or` in its condition, or of what a question asks by."""
        return level(self._levels.get(node, NOTHING))

    # ---- statements

    def _block(self, body: Sequence[ast.AST]) -> None:
        for statement in body:
            visit = getattr(self, f"_{type(statement).__name__.lower()}", self._other)
            visit(statement)

    def _other(self, node: ast.AST) -> None:
        """A statement without rules of its own: its expressions are looked at, its blocks gone through."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._flags(child)
            elif isinstance(child, ast.stmt):
                self._block([child])

    def _functiondef(self, node: ast.AST) -> None:
        """It is followed by itself, if it ran."""

    _asyncfunctiondef = _classdef = _functiondef

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            for part, value in _pairs(target, node.value):
                self._write(part, self._flags(value), absent=_is_none(value))

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._write(node.target, self._flags(node.value), absent=_is_none(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        self._write(node.target, self._flags(node.value) | self._flags(node.target))

    def _return(self, node: ast.Return) -> None:
        self._put(self._results, self._now.function, self._flags(node.value), absent=_is_none(node.value))

    def _if(self, node: ast.If | ast.While) -> None:
        with self._under(self._note(node, self._flags(node.test))):
            self._block(node.body)
            self._block(node.orelse)

    _while = _if

    def _for(self, node: ast.For) -> None:
        self._write(node.target, self._flags(node.iter))
        with self._under(self._note(node, self._count(node.iter))):
            self._block(node.body)
            self._block(node.orelse)

    def _try(self, node: ast.Try) -> None:
        self._block(node.body)
        with self._under(self._note(node, _union(self._flags(part) for part in may_raise(node)))):
            self._block([statement for handler in node.handlers for statement in handler.body])
        self._block([*node.orelse, *node.finalbody])

    def _match(self, node: ast.Match) -> None:
        flags = self._flags(node.subject)
        with self._under(self._note(node, flags)):
            for case in node.cases:
                for part in ast.walk(case.pattern):
                    if isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name:
                        self._write(ast.Name(part.name), flags)
                self._block(case.body)

    def _with(self, node: ast.With) -> None:
        for item in node.items:
            flags = self._flags(item.context_expr)
            if item.optional_vars is not None:
                self._write(item.optional_vars, flags)
        self._block(node.body)

    # ---- what is written

    def _note(self, node: ast.AST, flags: int) -> int:
        self._add(self._levels, node, level(flags))
        return level(flags)

    @contextmanager
    def _under(self, control: int) -> Iterator[None]:
        """What is written meanwhile is written or not, as `control` decides."""
        before, self._control = self._control, self._control | control
        try:
            yield
        finally:
            self._control = before

    def _write(self, target: ast.expr, flags: int, *, absent: bool = False) -> None:
        if isinstance(target, ast.Name):
            owner = None if target.id in self._now.function.global_names else self._now.function
            self._put(self._names, (owner, target.id), flags, absent=absent)
        elif isinstance(target, ast.Attribute):
            self._put(self._attributes, target.attr, flags, absent=absent)
        elif isinstance(target, (ast.Subscript, ast.Starred)):
            self._write(target.value, flags, absent=True)  # which keys it has depends on the branch as well
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._write(part, flags)

    def _put(self, where: dict[Any, int], key: Any, flags: int, *, absent: bool) -> None:
        """Add flags, and those of the branch that this stands in; of what may be None it decides the kind as well."""
        if absent:
            self._add(self._absent, key, VALUE)
        control = self._control
        self._add(where, key, flags | control | (control << _KIND if key in self._absent else NOTHING))

    def _add(self, where: dict[Any, int], key: Any, flags: int) -> None:
        before = where.get(key, NOTHING)
        where[key] = before | flags
        self._moved |= where[key] != before

    # ---- expressions

    def _flags(self, node: ast.AST | None) -> int:
        if node is None:
            return NOTHING
        of_kind = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if of_kind is not None:
            return int(of_kind(node))
        return _union(self._flags(child) for child in ast.iter_child_nodes(node) if isinstance(child, _VALUES))

    def _of_name(self, node: ast.Name) -> int:
        flags, scope = self._names.get((None, node.id), NOTHING), self._now.function
        while True:
            flags |= self._names.get((scope, node.id), NOTHING)
            if scope.enclosing is None:
                return flags
            scope = scope.enclosing

    def _of_lambda(self, _node: ast.Lambda) -> int:
        return NOTHING

    def _of_attribute(self, node: ast.Attribute) -> int:
        flags = self._flags(node.value)
        if node.attr in FIXED:
            return _kind(flags)
        if node.attr in _SIZES and flags:
            return _size(flags)
        return flags | self._attributes.get(node.attr, NOTHING)

    def _of_compare(self, node: ast.Compare) -> int:
        flags = _union([self._flags(node.left), *(self._flags(part) for part in node.comparators)])
        if all(isinstance(one, (ast.In, ast.NotIn)) for one in node.ops) and _is_word(node.left):
            return _kind(flags)  # which keys a dict has
        return _kind(flags) if all(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops) else flags

    def _of_boolop(self, node: ast.BoolOp) -> int:
        return _union(
            self._note(operand, flags) and flags for operand in node.values if (flags := self._flags(operand))
        )

    def _of_ifexp(self, node: ast.IfExp) -> int:
        decided = level(self._flags(node.test))
        kind = decided << _KIND if _is_none(node.body) or _is_none(node.orelse) else NOTHING
        return self._flags(node.body) | self._flags(node.orelse) | decided | kind

    def _of_namedexpr(self, node: ast.NamedExpr) -> int:
        flags = self._flags(node.value)
        self._write(node.target, flags)
        return flags

    def _of_comprehension(self, node: ast.comprehension) -> int:
        self._write(node.target, self._flags(node.iter))
        return _union([self._count(node.iter), *(self._flags(test) for test in node.ifs)])

    def _of_listcomp(self, node: Any) -> int:
        around = _union(self._flags(part) for part in node.generators)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        return around | _union(self._flags(part) for part in parts)

    _of_setcomp = _of_generatorexp = _of_dictcomp = _of_listcomp

    def _count(self, node: ast.expr) -> int:
        """What decides how often a loop goes round: of a tensor or a list its length."""
        flags = self._flags(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            return flags
        return _size(flags)

    def _of_call(self, node: ast.Call) -> int:
        given = [self._flags(argument) for argument in node.args]
        named = {part.arg: self._flags(part.value) for part in node.keywords}
        everything = _union([*given, *named.values()])
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        receiver = self._flags(node.func.value) if isinstance(node.func, ast.Attribute) else NOTHING
        if name not in self._own and (known := self._of_library(name, node, everything | receiver)) is not None:
            return known
        if name in _GROWS and isinstance(node.func, ast.Attribute) and not isinstance(self._root(node), ModuleType):
            self._write(node.func.value, everything, absent=True)  # how long it is depends on the branch as well
        certain, callees = self._callees(node)
        for callee in callees:
            self._hand_over(callee, node, given, named)
            if callee.method and isinstance(node.func, ast.Attribute):
                self._add(self._names, (callee, callee.receiver), receiver)
        results = _union(self._results.get(callee, NOTHING) for callee in callees)
        return results if certain else everything | receiver | self._flags(node.func) | (results & ~(SIZE | VALUE))

    def _of_library(self, name: str, node: ast.Call, flags: int) -> int | None:
        """What decides a call that asks for a kind or a size; None where it asks for neither."""
        if name in _ASKS_FOR_KIND or name in FIXED:
            return _kind(flags)
        if name == "len" and node.args:
            first = node.args[0]
            rank = isinstance(first, ast.Attribute) and first.attr == "shape"
            return _kind(flags) if rank else _size(flags)
        return _size(flags) if name in _SIZES else None

    def _root(self, called: ast.expr) -> object:
        """What the name at the root of `a.b.c(…)` is bound to in the module; None where it is a local name."""
        root: ast.expr = called.func if isinstance(called, ast.Call) else called
        while isinstance(root, ast.Attribute):
            root = root.value
        return self._now.globals.get(root.id) if isinstance(root, ast.Name) else None

    def _callees(self, node: ast.Call) -> tuple[bool, Sequence[Function]]:
        """The functions that ran from the lines of a call; whether it must be they, and not a library's as well.

        A layer is called by whatever name it has: then it is its `forward` that ran.
        """
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        ran = [function for line in lines for function in self._now.calls.get(line, ())]
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if meant := [function for function in ran if function.node.name == name]:
                return True, meant
        if isinstance(self._root(node), ModuleType):
            return False, ()
        return False, [function for function in ran if function.node.name in ("forward", "__call__")]

    def _hand_over(
        self, callee: Function, node: ast.Call, given: Sequence[int], named: Mapping[str | None, int]
    ) -> None:
        spec = callee.node.args
        rest = [spec.vararg.arg] if spec.vararg else []
        starred = [at for at, argument in enumerate(node.args) if isinstance(argument, ast.Starred)]
        for at, flags in enumerate(given):
            if starred and at >= starred[0]:
                places = [*callee.parameters[at:], *rest]
            else:
                places = [callee.parameters[at]] if at < len(callee.parameters) else rest
            for name in places:
                self._add(self._names, (callee, name), flags)
        known = {*callee.parameters, *(parameter.arg for parameter in spec.kwonlyargs)}
        for keyword, flags in named.items():
            names = known if keyword is None else {keyword} & known or ({spec.kwarg.arg} if spec.kwarg else set())
            for name in names:
                self._add(self._names, (callee, name), flags)


_VALUES = (ast.expr, ast.comprehension, ast.keyword)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What is assigned to what, one by one where both sides are written out."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_none(node: ast.expr | None) -> bool:
    """Whether it is the word None; a bare `return` is, too."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _union(flags: Any) -> int:
    result = NOTHING
    for one in flags:
        result |= one
    return result


def _kind(flags: int) -> int:
    """What decides of what kind an object is: is it None, is it a tensor."""
    return flags >> _KIND


def _size(flags: int) -> int:
    """What decides how large it is; not its values."""
    return (SIZE if flags & (SIZE | VALUE) else NOTHING) | (flags >> _KIND << _KIND)
