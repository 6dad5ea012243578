"""References such as `recipes.digits:build`: where code of the user's is found, and who is to blame when it fails.

:func:`find_source` looks only at files and may be called anywhere; :func:`load_object` runs the user's code, so it
belongs in a child.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from exporter.base.diagnostics import short
from exporter.base.errors import EnvironmentLacks, UsageError, closest, did_you_mean

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

#: What foreign code raises when it fails: every family of the standard library's exceptions. One of another kind
#: escapes to the child's entry, which reports it as a failed child.
_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    SystemExit,
    TypeError,
    ValueError,
    Warning,
)


def split(reference: str) -> tuple[str, str]:
    """Return the module and the attribute of `module:attribute`.

    Raises:
        UsageError: it has another form.
    """
    if not _REFERENCE.fullmatch(reference):
        meant = as_reference(reference)
        hint = f"write {meant}" if meant else "write module:attribute, as recipes.digits:build"
        raise UsageError(f"'{reference}' is not a reference", where=reference, hint=hint)
    module, _, attribute = reference.partition(":")
    return module, attribute


def as_reference(text: str) -> str | None:
    """Return the `module:attribute` that a text means which names both in another way: a path, dots, a slash."""
    path, _, attribute = text.partition(":")
    module = ".".join(re.findall(r"[^\W\d]\w*", path.removesuffix(".py")))
    if not attribute and not path.endswith(".py"):
        module, _, attribute = module.rpartition(".")
    attribute = ".".join(re.findall(r"[^\W\d]\w*", attribute))
    return f"{module}:{attribute}" if module and attribute else None


def meant_reference(text: str) -> str:
    """Return the hint about a text that is no reference and means one whose module is there; "" for any other."""
    meant = as_reference(text)
    return f"write {meant}" if meant and meant != text and find_source(meant.partition(":")[0]) else ""


def likely_reference(reference: str) -> str:
    """Return the hint about a reference whose module is not there: one that is, written otherwise or near."""
    if meant := meant_reference(reference):
        return meant
    module, _, attribute = reference.partition(":")
    first, dot, inner = module.partition(".")
    names = {path.stem for path in Path.cwd().glob("*.py")} | {path.parent.name for path in Path.cwd().glob("*/*.py")}
    near = closest(first, sorted(names - {first}))
    if near and find_source(f"{near}{dot}{inner}"):
        return f"did you mean '{near}{dot}{inner}:{attribute}'?"
    return f"run from the folder that holds {first}, or correct the name"


def factory_text(reference: str, arguments: Mapping[str, Any]) -> str:
    """A factory and what it is called with as one text: `recipes.digits:build {"classes":10}`.

    What is keyed by the model's name is so keyed by its arguments, too. Without any it is the reference alone.
    """
    if not arguments:
        return reference
    return f"{reference} {json.dumps(dict(arguments), sort_keys=True, separators=(',', ':'), allow_nan=False)}"


def split_factory(text: str) -> tuple[str, dict[str, Any]]:
    """The reference and the arguments of :func:`factory_text`."""
    reference, _, arguments = text.partition(" ")
    return reference, dict(json.loads(arguments)) if arguments else {}


def bound_arguments(function: Callable[..., object], arguments: Mapping[str, Any], where: str) -> None:
    """Make sure that a factory takes the arguments, and needs no other.

    Raises:
        UsageError: it takes none of that name (the hint names the closest), or lacks one.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:  # written in C
        return
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [name for name, parameter in signature.parameters.items() if parameter.kind in named]
    for name in arguments:
        if name not in names and inspect.Parameter.VAR_KEYWORD not in kinds:
            hint = did_you_mean(name, names)
            raise UsageError(f"the factory takes no argument '{name}'", where=f"{where}: args", hint=hint)
    try:
        signature.bind(**arguments)
    except TypeError as error:
        known = f"with `args` {json.dumps(dict(arguments))}" if arguments else "without arguments"
        hint = "give what it needs under `args` of the spec, or name a function that needs none"
        raise UsageError(f"the factory cannot be called {known}: {error}", where=where, hint=hint) from error


def find_source(module: str, folder: Path | None = None) -> Path | None:
    """Return the file of a module, seen from the working folder, without importing it or its packages.

    A package that is installed in place (`pip install -e`) may be on no path: its finder is asked. With `folder` only
    what lies there is found. None where there is no such module, or it has no Python source.
    """
    relative = Path(*module.split("."))
    for place in [folder] if folder else [Path.cwd(), *map(Path, sys.path)]:
        for candidate in (place / relative / "__init__.py", place / relative.with_suffix(".py")):
            if candidate.is_file():
                return candidate
    return None if folder else find_installed(module)


def find_installed(module: str) -> Path | None:
    """Return the file of a module of an installed package, found by the package's place; nothing is imported.

    The standard library is not looked into. Packages that are installed in place (`pip install -e`) are found by their
    finder, which is asked for the top package alone: for a deeper one it would import what is above.
    """
    top, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # ValueError: a module that was made by hand has no spec
        return None
    if spec is None or _is_standard(spec.origin or ""):
        return None
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if not inner:
        return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    for place in places:
        stem = place.joinpath(*inner)
        for candidate in (stem / "__init__.py", stem.with_name(stem.name + ".py")):
            if candidate.is_file():
                return candidate
    return None


def _is_standard(origin: str) -> bool:
    """Whether a file is of Python's own library, below which installed packages lie, too."""
    installed = bool({"site-packages", "dist-packages"} & set(Path(origin).parts))
    return not installed and origin.startswith(sysconfig.get_path("stdlib") + "/")


def load_object(reference: str) -> Any:
    """Import the module of `module:attribute` and return the attribute.

    Raises:
        UsageError: the reference is malformed, the module does not exist, fails on import (the error names the file
            and line in the user's code), or has no such attribute (the hint names the closest).
    """
    module_name, attribute = split(reference)
    with user_code(f"cannot import {module_name}", reference):
        try:
            found: Any = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if module_name != missing and not module_name.startswith(missing + "."):
                raise  # a module that the user's module imports
            raise UsageError(
                f"no module named '{missing}'",
                where=reference,
                hint=likely_reference(reference),
            ) from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            public = [one for one in dir(found) if not one.startswith("_")]
            raise UsageError(
                f"{module_name} has no '{name}'",
                where=reference,
                hint=did_you_mean(name, public, f"define {name} in {module_name}"),
            )
        found = getattr(found, name)
    return found


@contextmanager
def user_code(what: str, where: str, hint: str = "correct the line named") -> Iterator[None]:
    """Blame the user's code, by file and line, for what it raises in here; our own errors pass as they are.

    `what` was being done ("cannot import recipes.digits"); `where` is said where no frame is the user's.

    Raises:
        UsageError: in place of what was raised.
        EnvironmentLacks: a library of the system is not there, which compiled code needs.
    """
    try:
        yield
    except _FAILURES as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        if library := _missing_library(error):
            hint = f"install the system's package that holds {library} (Debian: apt-file search {library})"
            raise EnvironmentLacks(f"{what}: {_first_line(reason)}", where=where, hint=hint) from error
        if isinstance(error, ModuleNotFoundError):
            hint = f"install {error.name}, or correct the import"
        raise UsageError(
            f"{what}: {type(error).__name__}: {_first_line(reason)}", where=blamed_line(error) or where, hint=hint
        ) from error


def _missing_library(error: BaseException) -> str:
    """The shared object that the dynamic linker did not find, as glibc and musl say it; "" for any other error."""
    if not isinstance(error, ImportError) or isinstance(error, ModuleNotFoundError):
        return ""
    said = re.search(r"(\S+): cannot open shared object file|Error loading shared library (\S+):", str(error))
    return (said[1] or said[2]) if said else ""


def blamed_line(error: BaseException) -> str:
    """Return `path:line` of the deepest frame that is neither ours nor an installed package's; "" if there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{short(Path(error.filename))}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if not frame.filename.startswith("<") and not _is_foreign(Path(frame.filename)):
            return f"{short(Path(frame.filename))}:{frame.lineno}"
    return ""


def _is_foreign(path: Path) -> bool:
    ours = Path(__file__).parents[1]
    libraries = (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(path.is_relative_to(folder) for folder in (ours, *libraries))


def _first_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[0] if lines else "(no message)"


def loaded_modules() -> dict[str, str]:
    """In a child: the file of every module that is loaded there, by the module's name."""
    files = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    return {name: file for name, file in files if isinstance(file, str)}
