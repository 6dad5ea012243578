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

from exporter.check.module import ParsedModule, Project
from exporter.diagnostics import Diagnostic
from exporter.files import write_bytes


@dataclass(frozen=True, order=True)
class Edit:
    """Bytes of a file to be replaced; lines count from 1, columns are bytes from 0, as in `ast`."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


Fixer: TypeAlias = Callable[[ParsedModule, ast.AST], Iterator[Edit]]


def fix(findings: Sequence[Diagnostic]) -> int:
    """Rewrite the files of the findings where that is certain; return how many findings were mended."""
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for finding in findings:
        if finding.code in FIXERS:
            by_file[finding.location.path].append(finding)
    mended = 0
    for path, found in by_file.items():
        module = Project().read(Path(path), path)
        if isinstance(module, ParsedModule):
            mended += _fix_file(module, found)
    return mended


def _fix_file(module: ParsedModule, findings: Sequence[Diagnostic]) -> int:
    wanted: dict[tuple[int, int], list[str]] = defaultdict(list)
    for each in findings:
        wanted[each.location.line, each.location.column].append(each.code)
    chosen: list[Edit] = []
    mended = 0
    for node in ast.walk(module.tree):
        if not hasattr(node, "lineno"):
            continue
        where = module.location(node)
        for code in wanted.get((where.line, where.column), ()):
            edits = list(FIXERS[code](module, node))
            if edits and not any(_overlap(one, other) for one in edits for other in chosen):
                chosen += edits
                mended += 1
    if chosen:
        write_bytes(module.path, _applied(module.path.read_bytes(), chosen))
    return mended


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


FIXERS: dict[str, Fixer] = {
    "EX104": _output_repeated,
    "EX105": _input_returned,
    "EX106": _receiver_not_self,
    "EX112": _eager_question,
    "EX117": _hidden_truth,
    "EX135": _inherited_super,
}
