"""Which files a recipe is made of, without importing it: what a checkpoint owes its existence to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from exporter.base.diagnostics import short
from exporter.base.errors import UsageError, did_you_mean_file
from exporter.base.files import sha256_bytes
from exporter.base.references import find_source, split

_HINT = "name a recipe: digits, or recipes/digits.py"


def recipe_reference(text: str) -> str:
    """Return `module:attribute` for what a user may write: that, a file such as `recipes/digits.py`, or `digits`.

    Raises:
        UsageError: it is none of these, or there is no such file.
    """
    if ":" in text:
        split(text)
        return text
    if text.endswith(".py") or "/" in text:
        return f"{_module_of(Path(text))}:recipe"
    module = text if "." in text else f"recipes.{text}"
    split(f"{module}:recipe")
    return f"{module}:recipe"


def _module_of(path: Path) -> str:
    full, here = path.resolve(), Path.cwd().resolve()
    if not full.is_file():
        raise UsageError("no such file", where=str(path), hint=did_you_mean_file(path, _HINT, "*.py"))
    if not full.is_relative_to(here):
        raise UsageError("the file lies outside the working folder", where=str(path), hint="run from a folder above it")
    parts = full.relative_to(here).with_suffix("").parts
    if full.suffix != ".py" or not all(part.isidentifier() for part in parts):
        raise UsageError(
            "this path is no module", where=str(path), hint="rename it: its names must be words, and end in .py"
        )
    return ".".join(parts)


def default_folder(reference: str) -> Path:
    """Where a recipe's run lies unless the user says otherwise: `recipes.digits:recipe` → `runs/digits`."""
    module, attribute = split(reference)
    name = module.rpartition(".")[2]
    return Path("runs", name if attribute == "recipe" else f"{name}-{attribute}")


def source_digest(reference: str) -> str:
    """Hex sha256 over the names and bytes of the recipe's file and of every local file that it imports.

    Local are the modules in the folder that holds the recipe's top package; `exporter` itself and what is installed
    are not. Imports are read from the source, wherever they stand in it.

    Raises:
        UsageError: the recipe has no source file, or one of the files is not valid Python.
    """
    files = sources(reference)
    return sha256_bytes(b"".join(f"{name} {sha256_bytes(path.read_bytes())}\n".encode() for name, path in files))


def sources(reference: str, folder: Path | None = None) -> list[tuple[str, Path]]:
    """Return the module names and files that :func:`source_digest` covers, sorted; with `folder` those that lie there.

    Raises:
        UsageError: as :func:`source_digest`.
    """
    module, _ = split(reference)
    start = find_source(module, folder)
    if start is None:
        here = ", ".join(sorted(path.stem for path in Path("recipes").glob("[a-z]*.py")))
        hint = f"one of the recipes here: {here}" if here else "run from the folder that holds it, or correct the name"
        raise UsageError(f"no module named '{module}'", where=reference, hint=hint)
    depth = module.count(".") + (start.name == "__init__.py")
    root = start.resolve().parents[depth]
    found: dict[str, Path] = {}
    waiting = list(_with_parents(module))
    while waiting:
        name = waiting.pop()
        path = _local(name, root, module.partition(".")[0])
        if name in found or path is None:
            continue
        found[name] = path
        waiting += _imports(name, path)
    return sorted(found.items())


def _local(module: str, root: Path, package: str) -> Path | None:
    top = module.partition(".")[0]
    installed = root.name in ("site-packages", "dist-packages")
    if top != package and (installed or top == "exporter"):
        return None
    return find_source(module, root)


def _imports(module: str, path: Path) -> Iterator[str]:
    """Yield every module that a file may import: `from a import b` may mean the module a.b."""
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else 0
        raise UsageError(
            f"not valid Python: {error.args[0]}", where=f"{short(path)}:{line}", hint="correct it"
        ) from error
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield from _with_parents(base)
            yield from (f"{base}.{alias.name}" for alias in node.names if re.fullmatch(r"\w+", alias.name))


def _with_parents(module: str) -> Iterator[str]:
    """A package's `__init__` runs before its modules."""
    parts = module.split(".")
    yield from (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
