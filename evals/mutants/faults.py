"""Mutants of a source file: every small fault that one of the operators below can plant, in a fixed order.

The text around a fault stays as it is, line numbers too: tests compare lines of tracebacks and of messages. Words are
left alone: strings, docstrings, annotations, decorators, f-strings, what stands in a `raise`, and progress messages.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

#: Calls that only tell of progress, and keyword arguments that only word a message or guard our own mistakes.
SILENT_CALLS = {"say", "doing", "on_event"}
SILENT_KEYWORDS = {"hint", "where", "strict", "prefix", "encoding", "details"}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES = {"max": "min", "min": "max", "any": "all", "all": "any", "maximum": "minimum", "minimum": "maximum"}
#: What a function of this annotation returns instead; any other gives None.
RETURNS: dict[str, list[Any]] = {"bool": [True, False], "str": [""], "int": [0], "float": [0.0]}
EMPTY = {"list": "[]", "dict": "{}", "tuple": "()", "set": "set()", "frozenset": "frozenset()"}


@dataclass(frozen=True)
class Mutant:
    """One fault. `scope` is the function's qualified name, empty for what runs when the module is imported.

    `names` are the names that such an import binds: constants, functions whose defaults changed, fields. `times` counts
    the faults of one line that read alike.
    """

    file: str
    line: int
    column: int
    kind: str
    change: str
    scope: str
    text: str
    names: tuple[str, ...]
    source: str
    times: int = 1

    @property
    def id(self) -> str:
        """Its place and what it changes."""
        return f"{self.file}:{self.line}:{self.column} {self.kind}: {self.change}"

    @property
    def key(self) -> str:
        """Its name whatever lines move: the file, the function, the text of the line, what it changes."""
        again = f" (no. {self.times})" if self.times > 1 else ""
        return f"{self.file} | {self.scope} | {self.text} | {self.kind}: {self.change}{again}"


def mutants(file: str, source: str) -> list[Mutant]:
    """Every mutant of a file, each once, by line and column."""
    made: dict[str, Mutant] = {}
    for mutant in _Planter(file, source, ast.parse(source)).plant():
        made.setdefault(mutant.id, mutant)
    ordered = sorted(made.values(), key=lambda mutant: (mutant.line, mutant.column, mutant.kind, mutant.change))
    seen: Counter[str] = Counter()
    for at, mutant in enumerate(ordered):
        seen[mutant.key] += 1
        ordered[at] = replace(mutant, times=seen[mutant.key])
    return ordered


class _Planter:
    def __init__(self, file: str, source: str, tree: ast.Module) -> None:
        self._file, self._source, self._tree = file, source, tree
        self._lines = source.splitlines(keepends=True)
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def plant(self) -> Iterator[Mutant]:
        pending: list[ast.AST] = [self._tree]
        while pending:
            node = pending.pop()
            for kind, new in faults(node, self._parents):
                yield self._mutant(node, kind, new)
            pending += [child for child in _children(node) if not _is_words(child)]

    def _mutant(self, node: ast.AST, kind: str, new: str) -> Mutant:
        assert isinstance(node, (ast.expr, ast.stmt))
        first, last = self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)
        old = self._source[first:last]
        kept_lines = "\n" * old.count("\n")
        text = f"({new}{kept_lines})" if isinstance(node, ast.expr) else f"{new}{kept_lines}"
        return Mutant(
            file=self._file,
            line=node.lineno,
            column=node.col_offset,
            kind=kind,
            change=f"{_short(ast.unparse(node))} -> {_short(new)}",
            scope=".".join(_scope(node, self._parents)),
            text=self._lines[node.lineno - 1].strip(),
            names=tuple(_bound(node, self._parents)),
            source=self._source[:first] + text + self._source[last:],
        )

    def _offset(self, line: int | None, column: int | None) -> int:
        assert line is not None and column is not None
        before = sum(len(text) for text in self._lines[: line - 1])
        return before + len(self._lines[line - 1].encode()[:column].decode())


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "targets", "target"):
            continue
        yield from (child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST))


def _is_words(node: ast.AST) -> bool:
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _called(node.value) in SILENT_CALLS
    return isinstance(node, ast.keyword) and node.arg in SILENT_KEYWORDS


def faults(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[tuple[str, str]]:
    """Every fault that can stand in the place of this node: its kind and the new text."""
    if _inside(node, parents, ast.Raise):
        return
    if isinstance(node, ast.expr):
        yield from _of_expression(node)
        if _is_condition(node, parents):
            yield from (("forced", word) for word in ("True", "False") if ast.unparse(node) != word)
        parent = parents.get(node)
        if isinstance(parent, (ast.For, ast.AsyncFor)) and node is parent.iter:
            yield "skipped loop", "()"
        if isinstance(parent, ast.Return):
            yield from (("returned", value) for value in _instead(node, parents))
    elif isinstance(node, ast.stmt):
        yield from _of_statement(node, parents)


def _of_expression(node: ast.expr) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Compare):
        yield from _of_comparison(node)
    elif isinstance(node, ast.BoolOp):
        yield from _of_boolean(node)
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
            yield "negation", ast.unparse(node.operand)
    elif isinstance(node, ast.BinOp):
        if type(node.op) in OPERATORS and not any(_is_text(side) for side in (node.left, node.right)):
            yield "operator", ast.unparse(ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right))
    elif isinstance(node, ast.Constant):
        yield from (("constant", repr(value)) for value in _numbers(node.value))
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, (ast.Set, ast.List, ast.Dict)):
        yield from _of_collection(node)


def _of_boolean(node: ast.BoolOp) -> Iterator[tuple[str, str]]:
    swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "boolean", ast.unparse(ast.BoolOp(swapped, node.values))
    for at in range(len(node.values)):
        left = node.values[:at] + node.values[at + 1 :]
        yield "dropped operand", ast.unparse(left[0] if len(left) == 1 else ast.BoolOp(node.op, left))


def _of_collection(node: ast.Set | ast.List | ast.Dict) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Dict):
        for at in range(len(node.keys)):
            left_out = ast.Dict(node.keys[:at] + node.keys[at + 1 :], node.values[:at] + node.values[at + 1 :])
            yield "dropped entry", ast.unparse(left_out)
    elif isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        for at in range(len(node.elts)):
            left = node.elts[:at] + node.elts[at + 1 :]
            yield "dropped element", ast.unparse(ast.Set(left) if isinstance(node, ast.Set) else ast.List(left))


def _of_comparison(node: ast.Compare) -> Iterator[tuple[str, str]]:
    for at, operator in enumerate(node.ops):
        ops = [*node.ops[:at], COMPARISONS[type(operator)](), *node.ops[at + 1 :]]
        yield "comparison", ast.unparse(ast.Compare(node.left, ops, node.comparators))
        right = node.comparators[at]
        if isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) and not isinstance(right, ast.Constant):
            wider = ast.BinOp(right, ast.Mult(), ast.Constant(1.1))
            comparators = [*node.comparators[:at], wider, *node.comparators[at + 1 :]]
            yield "slack", ast.unparse(ast.Compare(node.left, node.ops, comparators))
        if isinstance(right, ast.Tuple) and isinstance(operator, (ast.In, ast.NotIn)):
            for index in range(len(right.elts)):
                fewer: ast.expr = ast.Tuple(right.elts[:index] + right.elts[index + 1 :], ast.Load())
                comparators = [*node.comparators[:at], fewer, *node.comparators[at + 1 :]]
                yield "dropped element", ast.unparse(ast.Compare(node.left, node.ops, comparators))


def _of_call(node: ast.Call) -> Iterator[tuple[str, str]]:
    name = _called(node)
    if name in NAMES:
        if isinstance(node.func, ast.Name):
            function: ast.expr = ast.Name(NAMES[name], ast.Load())
        else:
            assert isinstance(node.func, ast.Attribute)
            function = ast.Attribute(node.func.value, NAMES[name], ast.Load())
        yield "function", ast.unparse(ast.Call(function, node.args, node.keywords))
    for at, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg not in SILENT_KEYWORDS and not isinstance(keyword.value, ast.JoinedStr):
            left = node.keywords[:at] + node.keywords[at + 1 :]
            yield "dropped keyword", ast.unparse(ast.Call(node.func, node.args, left))


def _of_statement(node: ast.stmt, parents: dict[ast.AST, ast.AST]) -> Iterator[tuple[str, str]]:
    in_function = bool(_scope(node, parents))
    if isinstance(node, (ast.Raise, ast.Break, ast.Continue, ast.Delete)) or (
        isinstance(node, (ast.Expr, ast.Return))
        and isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom) if isinstance(node, ast.Expr) else type(None))
    ):
        yield "deleted", "pass"
    elif isinstance(node, ast.AugAssign):
        yield "deleted", "pass"
        if type(node.op) in OPERATORS and not _is_text(node.value):
            yield "operator", ast.unparse(ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value))
    elif isinstance(node, ast.Assign) and in_function and _bound_before(node, parents):
        yield "deleted", "pass"


def _numbers(value: object) -> list[object]:
    """Other values of a constant; none of a text."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1] if value == 0 else sorted({value + 1, value - 1, *([value * 10] if value > 2 else [])})
    if isinstance(value, float):
        return [value * 10, value * 0.5, 0.0] if value else [1.0]
    return []


def _instead(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> list[str]:
    """What the function of this `return` could give back instead."""
    function: ast.AST = node
    while not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        function = parents[function]
    wanted = ast.unparse(function.returns) if function.returns else ""
    container = EMPTY.get(wanted.partition("[")[0])
    values = [container] if container else [repr(value) for value in RETURNS.get(wanted, [None])]
    return [value for value in values if value != ast.unparse(node)]


def _is_condition(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    parent = parents.get(node)
    if isinstance(parent, (ast.If, ast.IfExp)) and node is parent.test:
        return True
    if isinstance(parent, ast.While) and node is parent.test:
        return not isinstance(node, ast.Constant)
    return isinstance(parent, ast.comprehension) and node in parent.ifs


def _bound_before(node: ast.Assign, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether what is assigned has a value without it, so that leaving it out is more than a NameError."""
    function: ast.AST = node
    while not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        function = parents[function]
    arguments = function.args
    bound = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for other in ast.walk(function):
        if isinstance(other, ast.Name) and isinstance(other.ctx, ast.Store) and other.lineno < node.lineno:
            bound.add(other.id)
    names = [name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return all(isinstance(name.ctx, ast.Load) or name.id in bound for name in names)


def _bound(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[str]:
    """The names that a statement at import binds; of a default, its function's; of a field, also its class's."""
    if _scope(node, parents):
        return
    while not isinstance(node, ast.Module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
        node = parents[node]


def _scope(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> list[str]:
    """The names of the functions and classes in whose body the node runs; none where it runs at import."""
    names: list[str] = []
    in_function = False
    while node in parents:
        parent = parents[node]
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and node in parent.body:
            in_function = True
            names.append(parent.name)
        elif isinstance(parent, ast.ClassDef):
            names.append(parent.name)
        node = parent
    return names[::-1] if in_function else []


def _inside(node: ast.AST, parents: dict[ast.AST, ast.AST], kind: type[ast.AST]) -> bool:
    while node in parents:
        node = parents[node]
        if isinstance(node, kind):
            return True
    return False


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _is_text(node: ast.expr) -> bool:
    literal = isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp))
    return literal or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:60]} … {line[-37:]}"
