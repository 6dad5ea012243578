"""Which Python files of a project some code may import: told by reading, and all of them where reading cannot tell."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from exporter.base.references import find_installed

#: Modules that import others by names which no reader knows, or run other programs.
_IMPORTERS = frozenset(
    "cloudpickle code codeop dill hydra imp joblib multiprocessing pickle pkg_resources pkgutil pydoc runpy "
    "shelve stevedore subprocess zipimport".split()
)
#: Members of `importlib` that import nothing new; and that which imports what it is given.
_HARMLESS = ("importlib.metadata", "importlib.resources", "importlib.abc", "importlib.reload")
_IMPORT_MODULE = "importlib.import_module"
_CALLS = frozenset(("__import__", "compile", "eval", "exec"))
_MEMBERS = {
    "sys": frozenset(("meta_path", "modules", "path", "path_hooks")),
    "os": frozenset(("execv", "execve", "execvp", "fork", "popen", "posix_spawn", "spawnv", "system")),
    "site": frozenset(("addsitedir",)),
}
#: What every Python imports where it lies on the path.
_ALWAYS = frozenset(("sitecustomize", "usercustomize"))
_WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_SCRIPT = re.compile(r"[\w./-]+\.py\b")
#: Bytes of a text file in which names of modules are looked for.
_MOST_TEXT = 1 << 20
#: A spec of the project; each names code of its own.
SPECS = re.compile(r"specs/.*\.ya?ml", re.IGNORECASE)
_CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")


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
    reading = _Reading(files)
    for text in (*code, *texts):
        reading.read_text(text)
    for name in files:
        if name.endswith(_CONFIGURATIONS) and not SPECS.fullmatch(name):
            reading.read_text(_text_of(name))
    reading.run()
    return Reached(frozenset(reading.reached), reading.blind)


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
        self.files, self.reached, self.blind = frozenset(files), set[str](), ""
        self.folders = {str(parent) for name in files if name.endswith(".py") for parent in PurePosixPath(name).parents}
        places = dict.fromkeys([".", *(os.path.relpath(place or ".") for place in sys.path)])
        self.roots = [place for place in places if place == "." or place in self.folders]
        self.roots += sorted(folder for folder in self.folders if PurePosixPath(folder).name == "src")
        self._waiting: list[str] = []
        self._asked: set[str] = set()

    def run(self) -> None:
        """Follow what waits to its end."""
        while self._waiting and not self.blind:
            name = self._waiting.pop()
            self._read(name)

    def read_text(self, text: str) -> None:
        """Take each name in a text for a module; one with a dot for a package, too, with all that lies in it."""
        for name in dict.fromkeys(_WORD.findall(text)):
            self._ask(name, whole="." in name)
        for path in dict.fromkeys(_SCRIPT.findall(text)):
            self._reach(os.path.normpath(path))

    def _ask(self, module: str, *, whole: bool = False) -> None:
        """Reach the files of a module and of the packages that it lies in; with `whole` all that lies in a package."""
        if module in self._asked and not whole:
            return
        self._asked.add(module)
        parts = module.rstrip(".").split(".")
        for root in self.roots:
            stem = os.path.normpath(root)
            for part in parts:
                stem = os.path.normpath(os.path.join(stem, part))  # noqa: PTH118
                self._reach(f"{stem}.py")
                self._reach(f"{stem}/__init__.py")
            if whole and stem in self.folders:
                for name in self.files:
                    if name.startswith(f"{stem}/") and name.endswith(".py"):
                        self._reach(name)
        if parts[0] not in self._asked:
            self._asked.add(parts[0])
            self._ask_installed(parts[0])

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

    def _read(self, name: str) -> None:
        """Ask for whatever a file may import."""
        if not os.path.isfile(name):  # noqa: PTH113 - it is gone, and its name was asked for
            return
        try:
            tree = ast.parse(Path(name).read_bytes(), name)
        except (OSError, SyntaxError, ValueError):
            self.blind = f"{name} cannot be read as Python"
            return
        calls = _Calls.of(tree)
        for module in calls.modules:
            self._ask(module, whole=module.endswith("."))
        for node in ast.walk(tree):
            if why := _beyond_reading(node, calls):
                self.blind = f"{name}:{getattr(node, 'lineno', 0)} uses {why}"
                return
            for module in _imported(node, name):
                self._ask(module)
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                self._ask(next(_imported(node, name), ""), whole=True)
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.read_text(node.value)
            if isinstance(node, ast.ImportFrom) and node.level:
                self._relative(node, name)

    def _relative(self, node: ast.ImportFrom, name: str) -> None:
        """Reach what a relative import names, by the places of files."""
        folder = PurePosixPath(name).parent
        for _ in range(node.level - 1):
            folder = folder.parent
        base = folder.joinpath(*(node.module or "").split(".")) if node.module else folder
        for stem in (base, *(base / alias.name for alias in node.names)):
            self._reach(f"{stem}.py")
            self._reach(f"{stem}/__init__.py")
        if any(alias.name == "*" for alias in node.names):
            for other in self.files:
                if other.startswith(f"{base}/") and other.endswith(".py"):
                    self._reach(other)


def _imported(node: ast.AST, name: str) -> Iterator[str]:
    """Yield the modules that a statement imports by full names: `from a import b` may mean the module a.b."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name != "*")


@dataclass(frozen=True)
class _Calls:
    """The calls of `import_module` in a file: the nodes that name it there, and the modules that they name.

    A name that ends in a dot is a package of which any module may be meant. `aliases` are what it is called in the
    file, and `owners` the nodes that name a module of which a member is taken.
    """

    known: frozenset[int]
    modules: tuple[str, ...]
    aliases: frozenset[str]
    owners: frozenset[int]

    @classmethod
    def of(cls, tree: ast.AST) -> _Calls:
        """Find those whose argument begins with a text that names a package."""
        aliases = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "importlib"
            for alias in node.names
            if alias.name == "import_module"
        }
        known, modules = set[int](), []
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or len(node.args) != 1:
                continue
            plain = isinstance(node.func, ast.Name) and node.func.id in aliases
            if (plain or ast.unparse(node.func) == _IMPORT_MODULE) and (module := _beginning(node.args[0])):
                modules.append(module)
                known |= {id(part) for part in ast.walk(node.func)}
        owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        return cls(frozenset(known), tuple(modules), frozenset(aliases), frozenset(owners))


def _beginning(node: ast.expr) -> str:
    """Return the module that a text names, or its package with a dot where only the beginning is known, or nothing."""
    text, whole = _constant(node)
    if whole:
        return text if not text.startswith(".") else ""
    package = text.rpartition(".")[0]
    return f"{package}." if package else ""


def _constant(node: ast.expr) -> tuple[str, bool]:
    """Return the constant text that an expression begins with, and whether that is all of it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, whole = _constant(node.left)
        right, all_of_it = _constant(node.right) if whole else ("", False)
        return left + right, whole and all_of_it
    if isinstance(node, ast.JoinedStr):
        text = ""
        for part in node.values:
            if not isinstance(part, ast.Constant):
                return text, False
            text += str(part.value)
        return text, True
    return "", False


def _beyond_reading(node: ast.AST, calls: _Calls) -> str:
    """Name what of a node may import a module that nobody can name; return an empty text where nothing does."""
    for module in _imported(node, ""):
        if module.partition(".")[0] in _IMPORTERS:
            return module
        if module.startswith("importlib.") and not module.startswith((*_HARMLESS, _IMPORT_MODULE)):
            return module
    if isinstance(node, ast.Import) and any(alias.name == "importlib" and alias.asname for alias in node.names):
        return "importlib by another name"
    if isinstance(node, ast.ImportFrom) and node.module == "importlib" and node.names[0].name == "*":
        return "all of importlib"
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        beyond = node.id in {*_CALLS, *calls.aliases} or (node.id == "importlib" and id(node) not in calls.owners)
        return node.id if beyond and id(node) not in calls.known else ""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        member = f"{node.value.id}.{node.attr}"
        if node.value.id == "importlib":
            return "" if id(node) in calls.known or member in _HARMLESS else member
        return member if node.attr in _MEMBERS.get(node.value.id, ()) else ""
    if isinstance(node, ast.ImportFrom) and node.module in _MEMBERS:
        hit = sorted(_MEMBERS[node.module] & {alias.name for alias in node.names})
        return f"{node.module}.{hit[0]}" if hit else ""
    return ""


def _text_of(name: str) -> str:
    """Return the text of a configuration; an empty one where it is too long or gone."""
    path = Path(name)
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_size <= _MOST_TEXT else ""
    except OSError:
        return ""
