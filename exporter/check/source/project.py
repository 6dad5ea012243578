"""The user's code, read but never run: modules, their names, and the classes that are layers."""

from __future__ import annotations

import ast
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeAlias

from exporter.base.diagnostics import Diagnostic, Location, Severity, short
from exporter.check.source.def_use import changed_names
from exporter.check.source.mro import linearized
from exporter.check.source.syntax import inside, is_generator, of_kind

#: Libraries that are looked into only where their own source is checked: what matters of them is known by name.
LIBRARIES = frozenset(
    "paddle numpy torch scipy cv2 PIL math random time os sys functools itertools collections typing dataclasses abc "
    "logging copy warnings re json pathlib datetime uuid secrets operator enum contextlib inspect types threading "
    "sklearn matplotlib pandas tqdm yaml six builtins string numbers secrets einops paddlenlp jax tensorflow".split()
)
#: What is looked into nevertheless, where a factory takes its model from there.
_MODELS = ("paddle.vision.models",)
_LAYERS = ("paddle.nn.", "paddle.vision.models.")
_IMPORTS_PADDLE = re.compile(r"^\s*(import|from)\s+\w*paddle", re.MULTILINE)
#: Base classes with a `forward` that is not a layer's.
_NOT_LAYERS = ("paddle.autograd.PyLayer", "paddle.autograd.LegacyPyLayer", "torch", "abc.", "typing.", "enum.")

Binding: TypeAlias = ast.stmt
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_MOST_LINES_KEPT = 20_000


@dataclass(eq=False, repr=False)
class ClassInfo:
    """A class of the user's: its own methods and class attributes, and the names of its bases."""

    name: str
    module: ParsedModule
    node: ast.ClassDef
    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    assigned: dict[str, ast.expr] = field(default_factory=dict)
    setters: dict[str, ast.FunctionDef] = field(default_factory=dict)

    @cached_property
    def bases(self) -> tuple[ClassInfo | str, ...]:
        """Each base: a class of the user's, or a qualified name."""
        found = (self.module.resolve(base) for base in self.node.bases)
        return tuple(each for each in found if each is not None)

    @property
    def family(self) -> tuple[ClassInfo | str, ...]:
        """The class and all its bases in the order of C3, nearest first; those of libraries by qualified name."""
        return (self, *self._above)

    @cached_property
    def _above(self) -> tuple[ClassInfo | str, ...]:
        """The family without the class itself, which would keep itself in memory."""
        if all(isinstance(base, str) for base in self.bases):
            return tuple(dict.fromkeys(self.bases))
        family: tuple[ClassInfo | str, ...] = linearized(self, lambda cls: () if isinstance(cls, str) else cls.bases)
        return family[1:]

    @cached_property
    def is_layer(self) -> bool:
        """Whether it derives from a layer; a class with a `forward` and a base that cannot be read is taken for one.

        Not so in a file that imports PyTorch and not Paddle.
        """
        unread = False
        for one in self.family:
            if isinstance(one, str):
                if one.startswith(_LAYERS) or (one.startswith("paddle.") and one.endswith(".Layer")):
                    return True
                if one.startswith(_NOT_LAYERS):
                    return False
                unread = unread or one not in ("builtins.object", "object")
        of_torch = "import torch" in self.module.text and not _IMPORTS_PADDLE.search(self.module.text)
        return unread and not of_torch and self.method("forward") is not None and "__init__" in self.methods

    @cached_property
    def is_py_layer(self) -> bool:
        """Return whether it derives from `PyLayer`: a user's operator with its own gradient."""
        return any(isinstance(one, str) and one.endswith("PyLayer") for one in self.family)

    @cached_property
    def is_dataclass(self) -> bool:
        """Return whether it is decorated with `dataclasses.dataclass`."""
        marks = (one.func if isinstance(one, ast.Call) else one for one in self.node.decorator_list)
        return any(self.module.resolve(mark) == "dataclasses.dataclass" for mark in marks)

    @cached_property
    def is_tuple(self) -> bool:
        """Return whether its instances are tuples (`NamedTuple`)."""
        return any(isinstance(one, str) and one.endswith(("NamedTuple", "builtins.tuple")) for one in self.family)

    @property
    def fields(self) -> tuple[str, ...]:
        """The annotated names of the class, which are the fields of a dataclass or named tuple."""
        annotated = (each.target for each in self.node.body if isinstance(each, ast.AnnAssign))
        return tuple(each.id for each in annotated if isinstance(each, ast.Name))

    def method(self, name: str, after: ClassInfo | None = None) -> tuple[ClassInfo, ast.FunctionDef] | None:
        """Find a method in the family; `after` starts behind that class, as `super()` does."""
        passed = after is None
        for one in self.family:
            if isinstance(one, str):
                continue
            if passed and name in one.methods:
                node = one.methods[name]
                return (one, node) if isinstance(node, ast.FunctionDef) else None
            passed = passed or one is after
        return None

    def setter(self, name: str) -> tuple[ClassInfo, ast.FunctionDef] | None:
        """Find the setter of a property in the family."""
        known = (each for each in self.family if isinstance(each, ClassInfo) and name in each.setters)
        return next(((each, each.setters[name]) for each in known), None)

    def attribute(self, name: str) -> tuple[ClassInfo, ast.expr] | None:
        """Find a class attribute in the family."""
        known = (each for each in self.family if isinstance(each, ClassInfo) and name in each.assigned)
        return next(((each, each.assigned[name]) for each in known), None)


class ParsedModule:
    """One file: its tree, its source lines and what its names stand for."""

    def __init__(self, path: Path, shown: str, source: str, project: Project) -> None:
        self.path = path
        self.shown = shown
        self.text, self._yields = source, "yield" in source
        self.project = project
        self.tree = ast.parse(source, filename=shown)
        self.names: dict[str, list[Binding]] = {}
        self.classes: dict[str, ClassInfo] = {}
        self.globals: dict[str, object] = {}
        #: Whether another module imports it, and may know its classes.
        self.shared = False
        _index(self.tree.body, self)

    @cached_property
    def lines(self) -> list[str]:
        """The text by lines, as the parser counts them: a form feed ends none."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def mentions(self, node: Definition, names: Iterable[str]) -> bool:
        """Return whether the text of a node holds one of the names: only then is it worth a walk through its nodes."""
        first = (*node.decorator_list, node)[0].lineno
        text = "\n".join(self.lines[first - 1 : node.end_lineno])
        return any(map(text.__contains__, names))

    def generates(self, function: ast.AST) -> bool:
        """Return whether a function of this module is a generator."""
        return self._yields and is_generator(function)

    @cached_property
    def package(self) -> tuple[str, ...]:
        """The packages that the file lies in, outermost first."""
        found: list[str] = []
        folder = self.path.parent
        while (folder / "__init__.py").is_file() and folder.name:
            found.insert(0, folder.name)
            folder = folder.parent
        return tuple(found)

    def location(self, node: ast.AST) -> Location:
        """Return the location of a node: file, line, and column in characters from 1."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1)
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if not text.isascii():  # the parser counts bytes
            column = len(text.encode()[:column].decode(errors="ignore"))
        return Location(self.shown, line, column + 1)

    def resolve(self, node: ast.expr) -> ClassInfo | str | None:
        """Return what a dotted name at the top level stands for: a class of the user's, or a qualified name."""
        if isinstance(node, ast.Subscript):
            return self.resolve(node.value)
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if not isinstance(base, str):
                return None
            return self.project.member(base, node.attr, self) or f"{base}.{node.attr}"
        return self.lookup(node.id) if isinstance(node, ast.Name) else None

    def lookup(self, name: str, depth: int = 0) -> ClassInfo | str | None:
        """Return what a top-level name stands for; a name that nothing binds is a builtin."""
        if name in self.classes:
            return self.classes[name]
        for statement in self.names.get(name, ()):
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                full = self.imported(statement, name)
                if depth > 8 or isinstance(statement, ast.Import):
                    return full
                module, _, attribute = full.rpartition(".")
                found = self.project.find(module, self)
                inner = found.lookup(attribute, depth + 1) if found and attribute in found.bound else None
                return inner or full
        return None if name in self.names else f"builtins.{name}"

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name bound at the top level."""
        return frozenset(self.names) | frozenset(self.classes)

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Top-level names that some function declares `global`."""
        if "global " not in self.text:
            return frozenset()
        return frozenset(name for node in of_kind(self.tree, ast.Global) for name in node.names)

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names of containers that a function other than a constructor changes; see :func:`changed_names`."""
        return changed_names(self.tree, self.mentions)

    def imported(self, statement: ast.Import | ast.ImportFrom, name: str) -> str:
        """The qualified name that an import binds to `name`."""
        for alias in statement.names:
            bound = alias.asname or alias.name.partition(".")[0]
            if bound != name:
                continue
            if isinstance(statement, ast.Import):
                return alias.name if alias.asname else bound
            return f"{self._source_of(statement)}.{alias.name}"
        return name

    def _source_of(self, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        kept = self.package[: len(self.package) - statement.level + 1]
        return ".".join((*kept, *((statement.module,) if statement.module else ())))


class Project:
    """The user's modules, each read once; what was read longest ago is forgotten when it grows large."""

    def __init__(self) -> None:
        self._modules: OrderedDict[Path, ParsedModule | Diagnostic] = OrderedDict()
        self._found: dict[tuple[str, Path], Path | None] = {}
        self._kept = 0
        self._comments: dict[str, list[tuple[int, str]]] = {}
        #: Whether models in installed packages are followed too: a target's class may lie in one.
        self.installed = False
        #: Modules of which top-level names have been evaluated.
        self.asked: set[ParsedModule] = set()

    def read(self, path: Path, shown: str | None = None) -> ParsedModule | Diagnostic:
        """Parse a file, or say why it cannot be."""
        key = path.resolve()
        if key in self._modules:
            self._modules.move_to_end(key)
            return self._modules[key]
        module = _parse(key, shown or short(path), self)
        self._modules[key] = module
        self._kept += _length(module)
        if isinstance(module, ParsedModule) and "exporter:" in module.text:
            self._comments[module.shown] = [pair for pair in enumerate(module.lines, 1) if "exporter:" in pair[1]]
        while len(self._modules) > 1 and self._kept > _MOST_LINES_KEPT:
            self._kept -= _length(self._modules.popitem(last=False)[1])
        return module

    def release(self, module: ParsedModule) -> None:
        """Forget a target that no other module imports, cut from its classes: it is freed without a collection."""
        if not module.shared and self._modules.pop(module.path, None) is not None:
            self._kept -= _length(module)
            module.classes.clear()
            vars(module.tree).clear()

    def comments(self, shown: str) -> Sequence[tuple[int, str]]:
        """The lines of a file that speak to us, with their numbers, by the path that findings show."""
        return self._comments.get(shown, ())

    def forget_globals(self) -> None:
        """Forget what top-level names stand for; they are looked up anew."""
        for module in self.asked:
            module.globals.clear()
        self.asked.clear()

    def find(self, name: str, importer: ParsedModule) -> ParsedModule | None:
        """The user's module of that qualified name, seen from a file that imports it; None for a library's."""
        top = name.partition(".")[0]
        models = self.installed and name.startswith(_MODELS)
        own = importer.package[:1] == (top,) and "site-packages" not in importer.path.parts
        if not top or (top in LIBRARIES and not models and not own):
            return None
        base = importer.path.parents[len(importer.package)]
        key = (name, base)
        if key not in self._found:
            self._found[key] = _file_of(name, (base, Path.cwd()))
        path = self._found[key] or (_installed(name) if self.installed else None)
        found = self.read(path) if path else None
        if not isinstance(found, ParsedModule):
            return None
        found.shared = True
        return found

    def member(self, module: str, name: str, importer: ParsedModule) -> ClassInfo | str | None:
        """A member of a module of the user's, if there is such a one."""
        found = self.find(module, importer)
        return found.lookup(name) if found and name in found.bound else None


def _file_of(name: str, places: tuple[Path, ...]) -> Path | None:
    for place in places:
        stem = place.joinpath(*name.split("."))
        for candidate in (stem.with_name(stem.name + ".py"), stem / "__init__.py"):
            if candidate.is_file() and "site-packages" not in candidate.parts:
                return candidate
    return None


@lru_cache(maxsize=4096)
def _installed(name: str) -> Path | None:
    """The file of a module that is on the path, if it may hold a model or hand one on: nothing is imported for it."""
    from exporter.base.references import find_installed

    path = find_installed(name)
    try:
        fits = path is not None and (path.name == "__init__.py" or b"paddle" in path.read_bytes())
        return path if fits else None
    except OSError:
        return None


def _length(module: ParsedModule | Diagnostic) -> int:
    return module.text.count("\n") if isinstance(module, ParsedModule) else 0


def _parse(path: Path, shown: str, project: Project) -> ParsedModule | Diagnostic:
    where = Location(shown)
    try:
        return ParsedModule(path, shown, path.read_bytes().decode("utf-8-sig"), project)
    except UnicodeDecodeError as error:
        message, cure = f"not UTF-8 at byte {error.start}", "save the file as UTF-8"
    except OSError as error:
        message, cure = f"cannot be read: {error.strerror}", "mend the path or its permissions"
    except SyntaxError as error:
        where = Location(shown, error.lineno or 0, max(error.offset or 0, 0))
        message, cure = f"not valid Python: {error.msg}", "mend the line; nothing of it was checked"
    except (RecursionError, MemoryError):
        message, cure = "nested too deeply to be parsed", "split the expression"
    except ValueError as error:
        message, cure = f"not valid Python: {error}", "mend the file; nothing of it was checked"
    return Diagnostic("EX001", Severity.ERROR, where, message, cure, proved=True)


def _index(body: list[ast.stmt], module: ParsedModule) -> None:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            module.classes.setdefault(statement.name, _class(statement, module))
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            module.names.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                module.names.setdefault(alias.asname or alias.name.partition(".")[0], []).append(statement)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            _index_targets(statement, module)
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            for block in ("body", "orelse", "finalbody"):
                _index(getattr(statement, block, []), module)
            for handler in getattr(statement, "handlers", []):
                _index(handler.body, module)


def _index_targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign, module: ParsedModule) -> None:
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        for node in (target, *inside(target)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                module.names.setdefault(node.id, []).append(statement)


def _class(node: ast.ClassDef, module: ParsedModule) -> ClassInfo:
    info = ClassInfo(node.name, module, node)
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = [each.attr for each in statement.decorator_list if isinstance(each, ast.Attribute)]
            if "setter" not in marks and "deleter" not in marks:
                info.methods[statement.name] = statement
            elif "setter" in marks and isinstance(statement, ast.FunctionDef):
                info.setters[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    info.assigned[target.id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            info.assigned[statement.target.id] = statement.value
    return info
