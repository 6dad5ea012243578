"""Which Python files of a project some code may import: told by reading, and all of them where reading cannot tell."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NoReturn

from exporter.base.references import find_installed

#: Modules that import others by names which no reader knows, or run other programs.
_IMPORTERS = frozenset(
    "cloudpickle code codeop dill hydra imp joblib multiprocessing pickle pkg_resources pkgutil pydoc runpy "
    "shelve stevedore subprocess zipimport".split()
)
#: Members of modules that do so; of `importlib` all but these, and the one that imports what it is given.
_MEMBERS = {
    "sys": frozenset("* meta_path modules path path_hooks".split()),
    "os": frozenset("* execv execve execvp fork popen posix_spawn spawnv system".split()),
    "site": frozenset("* addsitedir".split()),
}
_HARMLESS = ("importlib.metadata", "importlib.resources", "importlib.abc", "importlib.reload")
_IMPORT_MODULE = "importlib.import_module"
_CALLS = frozenset(("__import__", "compile", "eval", "exec", "importlib"))
#: What every Python imports where it lies on the path.
_ALWAYS = frozenset(("sitecustomize", "usercustomize"))
_WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_SCRIPT = re.compile(r"[\w./-]+\.py\b")
#: Bytes of a text file in which names of modules are looked for.
_MOST_TEXT = 1 << 20
#: A spec of the project; each names code of its own.
SPECS = re.compile(r"specs/.*\.ya?ml", re.IGNORECASE)
_CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")


class _BlindError(Exception):
    """Reading does not tell what is imported; says where and why."""


@dataclass(frozen=True)
class Reached:
    """Files that some code may import; `blind` says why any file may be, and is empty where that is known."""

    files: frozenset[str]
    blind: str = ""


def reached(code: Iterable[str], texts: Iterable[str], files: Collection[str]) -> Reached:
    """Return what of the `files` of a project the modules and functions named `code` may import, themselves included.

    A name in a text counts as a module where a file has that name: in the `texts`, in strings of the code that is
    reached, and in configurations of the project.
    """
    reading, blind = _Reading(files), ""
    for text in (*code, *texts):
        reading.read_text(text)
    for name in files:
        if name.endswith(_CONFIGURATIONS) and not SPECS.fullmatch(name):
            reading.read_text(_text_of(name))
    try:
        reading.run()
    except _BlindError as error:
        blind = str(error)
    return Reached(frozenset(reading.reached), blind)


def hides_installed(name: str) -> bool:
    """Return whether a Python file of the working folder would be imported in the place of an installed module."""
    top = PurePosixPath(name).parts[0].removesuffix(".py")
    if name not in (f"{top}.py", f"{top}/__init__.py"):
        return False
    if top in _ALWAYS or top in sys.stdlib_module_names:
        return True
    installed = find_installed(top) if top.isidentifier() else None
    return installed is not None and not installed.resolve().is_relative_to(Path.cwd())


class _Reading:
    """Code that is read from module to module."""

    def __init__(self, files: Collection[str]) -> None:
        self.files, self.reached = frozenset(files), set[str]()
        self.folders = {str(parent) for name in files if name.endswith(".py") for parent in PurePosixPath(name).parents}
        places = dict.fromkeys([".", *(os.path.relpath(place or ".") for place in sys.path)])
        self.roots = [place for place in places if place == "." or place in self.folders]
        self.roots += sorted(folder for folder in self.folders if PurePosixPath(folder).name == "src")
        self._waiting: list[str] = []
        self._asked: set[str] = set()

    def run(self) -> None:
        """Read what is reached, to its end.

        Raises:
            _BlindError: reading does not tell what a file imports.
        """
        while self._waiting:
            name = self._waiting.pop()
            if os.path.isfile(name):  # noqa: PTH113 - else it is gone, and its name was asked for
                try:
                    _File(self, name).visit(ast.parse(Path(name).read_bytes(), name))
                except (OSError, RecursionError, SyntaxError, ValueError):
                    raise _BlindError(f"{name} cannot be read as Python") from None

    def read_text(self, text: str) -> None:
        """Take each name in a text for a module; one with a dot for a package, too, with all that lies in it."""
        for name in dict.fromkeys(_WORD.findall(text)):
            self.ask(name, whole="." in name)
        for path in dict.fromkeys(_SCRIPT.findall(text)):
            self._reach(os.path.normpath(path))

    def ask(self, module: str, *, whole: bool = False) -> None:
        """Reach a module by its full name."""
        top = module.partition(".")[0]
        if whole or module not in self._asked:
            self._asked.add(module)
            self.reach(module, self.roots, whole=whole)
        if top not in self._asked:
            self._asked.add(top)
            self._ask_installed(top)

    def reach(self, module: str, roots: Sequence[str], *, whole: bool = False) -> None:
        """Reach the files of a module and of the packages that it lies in; with `whole` all that lies in a package."""
        for root in roots:
            stem = root
            for part in module.rstrip(".").split("."):
                stem = os.path.normpath(os.path.join(stem, part))  # noqa: PTH118
                self._reach(f"{stem}.py")
                self._reach(f"{stem}/__init__.py")
            if whole and stem in self.folders:
                for name in self.files:
                    if name.startswith(f"{stem}/") and name.endswith(".py"):
                        self._reach(name)

    def _ask_installed(self, top: str) -> None:
        """A package of the project that is installed in place lies on no path: its finder names its folder."""
        if top in sys.stdlib_module_names or f"{top}.py" in self.files or top in self.folders:
            return
        if (source := find_installed(top)) is None:
            return
        root = os.path.relpath(source.parent.parent if source.name == "__init__.py" else source.parent)
        if root in self.folders and root not in self.roots:
            self.roots.append(root)
            self._asked.clear()

    def _reach(self, name: str) -> None:
        if name in self.files and name not in self.reached:
            self.reached.add(name)
            self._waiting.append(name)
            if os.path.islink(name):  # noqa: PTH114
                self._reach(os.path.relpath(os.path.realpath(name), Path.cwd().resolve()))


class _File(ast.NodeVisitor):
    """One file: asks for whatever it may import, and raises a `_BlindError` where nobody can name that."""

    def __init__(self, reading: _Reading, name: str) -> None:
        self._reading, self._name, self._aliases = reading, name, set[str]()

    def visit_Module(self, node: ast.Module) -> None:
        """Note first by which names the file calls `import_module`."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom) and inner.module == "importlib":
                self._aliases |= {alias.asname or alias.name for alias in inner.names if alias.name == "import_module"}
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._import(alias.name, node)
            if alias.name == "importlib" and alias.asname:
                self._be_blind("importlib by another name", node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        folders = PurePosixPath(self._name).parents
        for alias in node.names:  # each may be a module
            if node.level:
                name, folder = f"{node.module or ''}.{alias.name}", folders[min(node.level, len(folders)) - 1]
                self._reading.reach(name.strip(".*"), [str(folder)], whole=alias.name == "*")
            else:
                self._import(f"{node.module}.{alias.name}", node)

    def visit_Call(self, node: ast.Call) -> None:
        by_alias = isinstance(node.func, ast.Name) and node.func.id in self._aliases
        imports = len(node.args) == 1 and (by_alias or _dotted(node.func) == _IMPORT_MODULE)
        if module := _beginning(node.args[0]) if imports else "":
            self._reading.ask(module, whole=module.endswith("."))
        for inner in ast.iter_child_nodes(node):
            if not (module and inner is node.func):
                self.visit(inner)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = _dotted(node)
        self._refuse_member(name, node)
        if not name.startswith("importlib."):
            self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in {*_CALLS, *self._aliases}:
            self._be_blind(node.id, node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._reading.read_text(node.value)

    def _import(self, name: str, node: ast.stmt) -> None:
        """Ask for a module by its full name, or for a member of one; `a.*` is all of a package."""
        if name.partition(".")[0] in _IMPORTERS:
            self._be_blind(name, node)
        if name != _IMPORT_MODULE:
            self._refuse_member(name, node)
        self._reading.ask(name.removesuffix(".*"), whole=name.endswith("*"))

    def _refuse_member(self, name: str, node: ast.stmt | ast.expr) -> None:
        module, _, member = name.partition(".")
        beyond = module == "importlib" and member and not name.startswith(_HARMLESS)
        if beyond or member in _MEMBERS.get(module, ()):
            self._be_blind(name, node)

    def _be_blind(self, why: str, node: ast.stmt | ast.expr) -> NoReturn:
        raise _BlindError(f"{self._name}:{node.lineno} uses {why}")


def _dotted(node: ast.expr) -> str:
    """Return `a.b` for an attribute of a name, and nothing for what is none."""
    plain = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return ast.unparse(node) if plain else ""


def _beginning(node: ast.expr) -> str:
    """Return the module that a text names, or its package with a dot where only the beginning is known, or nothing."""
    first: ast.expr = node
    while not isinstance(first, ast.Constant):
        if isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add):
            first = first.left
        elif isinstance(first, ast.JoinedStr) and first.values:
            first = first.values[0]
        else:
            return ""
    text = first.value if isinstance(first.value, str) else ""
    known = text if first is node else text[: text.rfind(".") + 1]
    return "" if known.startswith(".") else known


def _text_of(name: str) -> str:
    """Return the text of a configuration; an empty one where it is too long or gone."""
    path = Path(name)
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_size <= _MOST_TEXT else ""
    except OSError:
        return ""
