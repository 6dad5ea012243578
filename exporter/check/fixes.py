"""`check --fix`: rewrites that are certain, made in the text itself, so that nothing else of the file moves.

A rewrite is certain if the eager model computes the same before and after. One function a code: it gets the node that
the finding stands at and gives the pieces of text to replace, or nothing where it is not sure.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from exporter.base.diagnostics import Diagnostic
from exporter.base.files import write_bytes
from exporter.check.source.project import ParsedModule, Project


@dataclass(frozen=True, order=True)
class Edit:
    """Bytes of a file to be replaced; lines count from 1, columns are bytes from 0, as in `ast`."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


Fixer: TypeAlias = Callable[[ParsedModule, ast.AST], Iterator[Edit]]


@dataclass(frozen=True)
class Fix:
    """What rewrites the findings of a code, and what it needs to be certain."""

    edits: Fixer
    needs: str


@dataclass(frozen=True)
class Fixed:
    """How many findings were mended, and of each other one why it was not."""

    mended: int
    left: tuple[tuple[Diagnostic, str], ...]


def fix(findings: Sequence[Diagnostic]) -> Fixed:
    """Rewrite the files of the findings where that is certain."""
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    left: dict[Diagnostic, str] = {}
    for finding in findings:
        if finding.code in FIXERS:
            by_file[finding.location.path].append(finding)
        else:
            left[finding] = "no rewrite of this code computes the same for certain"
    for path, found in by_file.items():
        module = Project().read(Path(path), path)
        if isinstance(module, ParsedModule):
            left |= _fix_file(module, found)
        else:
            left |= dict.fromkeys(found, f"the file cannot be read: {module.message}")
    return Fixed(len(findings) - len(left), tuple((finding, left[finding]) for finding in findings if finding in left))


def _fix_file(module: ParsedModule, findings: Sequence[Diagnostic]) -> dict[Diagnostic, str]:
    """Rewrite one file; why findings were left."""
    wanted: dict[tuple[int, int], list[Diagnostic]] = defaultdict(list)
    for each in findings:
        wanted[each.location.line, each.location.column].append(each)
    chosen: list[Edit] = []
    left = {finding: FIXERS[finding.code].needs for finding in findings}
    for node in ast.walk(module.tree):
        if not hasattr(node, "lineno"):
            continue
        where = module.location(node)
        for finding in wanted.get((where.line, where.column), ()):
            edits = list(FIXERS[finding.code].edits(module, node)) if finding in left else []
            if any(_overlap(one, other) for one in edits for other in chosen):
                left[finding] = "another rewrite changes the same text: run it again"
            elif edits:
                chosen += edits
                left.pop(finding, None)
    if chosen:
        write_bytes(module.path, _applied(module.path.read_bytes(), chosen))
    return left


def _overlap(one: Edit, other: Edit) -> bool:
    return (one.start < other.end and other.start < one.end) or one == other


def _applied(content: bytes, edits: Sequence[Edit]) -> bytes:
    lines = content.splitlines(keepends=True)
    bom = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    for edit in sorted(edits, reverse=True):
        (first, start), (last, end) = edit.start, edit.end
        start, end = start + bom * (first == 1), end + bom * (last == 1)
        joined = b"".join(lines[first - 1 : last])
        before = sum(len(line) for line in lines[first - 1 : last - 1])
        lines[first - 1 : last] = [joined[:start] + edit.text.encode() + joined[before + end :]]
        lines[first:first] = [b""] * (last - first)  # later edits count lines as they were
    return b"".join(lines)


def _replace(node: ast.expr, text: str) -> Edit:
    end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return Edit((node.lineno, node.col_offset), end, text)


def _names(node: ast.AST | None) -> Iterator[ast.Name]:
    """Names that are returned as they are, alone or in displays, in the order of the code."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, (ast.Tuple, ast.List)):
        for each in node.elts:
            yield from _names(each)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _names(value)


def _output_repeated(module: ParsedModule, node: ast.AST) -> Iterator[Edit]:
    """EX104: `return y, y` becomes `return y, y.clone()`."""
    seen: set[str] = set()
    for name in _names(node.value if isinstance(node, ast.Return) else None):
        if name.id in seen:
            yield _replace(name, f"{name.id}.clone()")
        seen.add(name.id)


def _input_returned(module: ParsedModule, node: ast.AST) -> Iterator[Edit]:
    """EX105: `return y, x` becomes `return y, x.clone()`, if `x` is a parameter that nobody assigns to."""
    function = _function_around(module, node)
    if not isinstance(node, ast.Return) or function is None:
        return
    stored = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    inputs = {each.arg for each in function.args.args[1:]} - stored
    for name in _names(node.value):
        if name.id in inputs:
            yield _replace(name, f"{name.id}.clone()")


def _receiver_not_self(module: ParsedModule, node: ast.AST) -> Iterator[Edit]:
    """EX106: the first parameter, and every use of it, becomes `self`."""
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return
    receiver = node.args.args[0]
    inside = list(ast.walk(node))
    taken = {each.id for each in inside if isinstance(each, ast.Name)} | {
        each.arg for each in inside if isinstance(each, ast.arg) and each is not receiver
    }
    hidden = sum(isinstance(each, ast.arg) and each.arg == receiver.arg for each in inside) > 1
    if "self" in taken or hidden:
        return
    start = (receiver.lineno, receiver.col_offset)
    yield Edit(start, (receiver.lineno, receiver.col_offset + len(receiver.arg.encode())), "self")
    for each in inside:
        if isinstance(each, ast.Name) and each.id == receiver.arg:
            yield _replace(each, "self")


def _eager_question(module: ParsedModule, node: ast.AST) -> Iterator[Edit]:
    """EX112: `isinstance(x, paddle.Tensor)` becomes `paddle.is_tensor(x)`."""
    if not isinstance(node, ast.Call) or len(node.args) != 2 or ast.unparse(node.func) != "isinstance":
        return
    value, kind = node.args
    if isinstance(kind, ast.Attribute) and module.resolve(kind) == "paddle.Tensor":
        yield _replace(node, f"{ast.unparse(kind.value)}.is_tensor({ast.unparse(value)})")


def _hidden_truth(module: ParsedModule, node: ast.AST) -> Iterator[Edit]:
    """EX117: `a < y < b` becomes `(a < y and y < b)`, if reading `y` twice is the same as once."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 2:
        return
    left, middle, right = node.left, *node.comparators
    if isinstance(middle, (ast.Name, ast.Constant)):
        one = ast.unparse(ast.Compare(left, node.ops[:1], [middle]))
        other = ast.unparse(ast.Compare(middle, node.ops[1:], [right]))
        yield _replace(node, f"({one} and {other})")


def _inherited_super(module: ParsedModule, node: ast.AST) -> Iterator[Edit]:
    """EX135: `super()` becomes `super(TheClass, self)`, in a method of a class at the top level."""
    function = _function_around(module, node)
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
    if function is None or not function.args.args or not isinstance(node, ast.Call) or not plain:
        return
    for each in module.tree.body:
        if isinstance(each, ast.ClassDef) and function in each.body:
            yield _replace(node, f"super({each.name}, {function.args.args[0].arg})")


def _function_around(module: ParsedModule, node: ast.AST) -> ast.FunctionDef | None:
    for each in ast.walk(module.tree):
        if isinstance(each, ast.FunctionDef) and any(inner is node for inner in ast.walk(each)):
            return each
    return None


FIXERS: dict[str, Fix] = {
    "EX104": Fix(_output_repeated, "only names that the `return` itself repeats are rewritten"),
    "EX105": Fix(_input_returned, "only parameters that `return` names and nothing assigns to are rewritten"),
    "EX106": Fix(_receiver_not_self, "`self` is the name of something else there, or the parameter is hidden"),
    "EX112": Fix(_eager_question, "only `isinstance(x, paddle.Tensor)` is rewritten, for no other type or question"),
    "EX117": Fix(_hidden_truth, "only `a < y < b` is rewritten, and only where reading `y` twice is the same as once"),
    "EX135": Fix(_inherited_super, "only `super()` in a method of a class at the top level of the file is rewritten"),
}
