"""The verify.py of a bundle: the template, with the source of the rule in the place of its imports.

One file that an operator reads from top to bottom, and that judges by the very code of `exporter verify`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGE, _FUTURE = "exporter", "from __future__ import annotations"
_ROOT = Path(__file__).parents[1]


@cache
def verify_script() -> str:
    """The source of verify.py; the same for every bundle of one version of the exporter."""
    return inlined(_ROOT / "bundle/verify_template.py")


@cache
def modules() -> tuple[str, ...]:
    """The modules of the exporter that verify.py is made of, by their paths: it is the same where they are the same."""
    template = _ROOT / "bundle/verify_template.py"
    sources: dict[str, str] = {}
    for node in filter(_ours, ast.parse(template.read_text(encoding="utf-8")).body):
        _collect(str(getattr(node, "module", "")), sources)
    places = [_ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in sources]
    return tuple(path.relative_to(_ROOT.parent).as_posix() for path in (template, Path(__file__), *places))


def inlined(path: Path) -> str:
    """A script with the source of the exporter's modules that it imports in the place of these imports."""
    template = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(template), template.splitlines()
    places = [node for node in tree.body if _ours(node)]
    first, last = places[0].lineno - 1, places[-1].end_lineno or 0
    known = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    known |= {ast.unparse(node) for node in tree.body if isinstance(node, ast.Import)}
    return annotations_as_text("\n".join([*lines[:first], *_copied(places, known), *lines[last:]]) + "\n")


def annotations_as_text(source: str) -> str:
    """The same without `from __future__ import annotations`: Python would look for that module beside the script.

    Whatever Python 3.8 would evaluate stands in quotes.
    """
    tree, lines = ast.parse(source), source.encode().splitlines()
    for node in sorted(_evaluated(tree), key=lambda node: (node.lineno, node.col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or 0) - 1
        quoted = f'"{ast.unparse(node)}"'.encode()
        lines[first : last + 1] = [lines[first][: node.col_offset] + quoted + lines[last][node.end_col_offset :]]
    return "\n".join(line for line in b"\n".join(lines).decode().splitlines() if line != _FUTURE) + "\n"


def _evaluated(tree: ast.Module) -> Iterator[ast.expr]:
    """The annotations of parameters, results, and of names in modules and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
            annotations = [argument.annotation for argument in every if argument is not None]
            yield from (annotation for annotation in (*annotations, node.returns) if annotation is not None)
        elif isinstance(node, (ast.Module, ast.ClassDef)):
            yield from (inner.annotation for inner in node.body if isinstance(inner, ast.AnnAssign))


def _copied(places: list[ast.stmt], known: set[str]) -> list[str]:
    """The modules that are imported there, each behind those that it imports; what only they import comes first."""
    sources: dict[str, str] = {}
    for node in places:
        _collect(str(getattr(node, "module", "")), sources)
    trees = {name: ast.parse(source) for name, source in sources.items()}
    plain = sorted(
        {ast.unparse(node) for tree in trees.values() for node in tree.body if isinstance(node, ast.Import)}
        - {"import numpy as np", *known}
    )
    names: dict[str, set[str]] = {}
    for node in (node for tree in trees.values() for node in tree.body if isinstance(node, ast.ImportFrom)):
        if not _ours(node) and node.module != "__future__":
            names.setdefault(str(node.module), set()).update(alias.name for alias in node.names)
    missing = {module: sorted(names[module] - known - {"TYPE_CHECKING"}) for module in sorted(names)}
    lines = [*plain, *(f"from {module} import {', '.join(wanted)}" for module, wanted in missing.items() if wanted), ""]
    lines += ["Array = Any  # a numpy array, of whatever dtype and shape"]
    for name, source in sources.items():
        lines += ["", "", *_body(name, source, trees[name])]
    return lines


def _collect(module: str, into: dict[str, str]) -> None:
    """Put the source of a module behind those of its own kind that it imports."""
    source = _ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if _ours(node) and getattr(node, "module", "") not in into:
            _collect(str(getattr(node, "module", "")), into)
    into.setdefault(module, source)


def _body(name: str, source: str, tree: ast.Module) -> list[str]:
    """What follows the imports, under the module's docstring as a comment."""
    head = [f"{name.replace('.', '/')}.py", "", *(ast.get_docstring(tree) or "").splitlines()]
    start = max(
        node.end_lineno or 0 for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) or _for_types(node)
    )
    return [*(f"# {line}".rstrip() for line in head), *source.splitlines()[start:]]


def _for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _ours(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == _PACKAGE
