"""What `check` was asked to look at: files, folders, `module:Class` and specs. No code of the user's is run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from exporter.base.errors import UsageError, did_you_mean_file
from exporter.check.domain.values import Extent
from exporter.check.entry import Given
from exporter.check.inputs import Input, Inputs

if TYPE_CHECKING:
    from exporter.spec.model import Spec

_NOT_OURS = frozenset("__pycache__ node_modules site-packages build dist venv".split())


class Target(NamedTuple):
    """One file, and in it one class or factory (`name`), or all; its `inputs` and `arguments` where a spec gives them.

    `named`: the file was named itself, not only a folder above it.
    """

    path: Path
    name: str = ""
    inputs: Inputs = ()
    named: bool = True
    arguments: Given = ()


def resolve(targets: Sequence[str | Target]) -> tuple[Target, ...]:
    """The files that the targets mean, each once, in the order of the targets; folders in alphabetical order.

    Raises:
        UsageError: a target does not exist, or is of no kind that can be checked.
    """
    if not targets:
        raise UsageError("nothing to check", hint="name files, folders, module:Class or specs")
    found: dict[Target, None] = {}
    for target in targets:
        found.update(dict.fromkeys([target] if isinstance(target, Target) else _resolve(target)))
    return tuple(found)


def _resolve(target: str) -> Iterator[Target]:
    path = Path(target)
    try:
        folder, file = path.is_dir(), path.is_file()
    except OSError as error:  # a loop of links, or a name that is too long
        raise UsageError(f"cannot be read: {error.strerror}", where=target, hint="name a file or a folder") from error
    if folder:
        yield from (Target(each, named=False) for each in _python_files(path))
    elif file and path.suffix in (".yaml", ".yml"):
        from exporter.spec.read import read_spec

        yield of_spec(read_spec(path))
    elif file and path.suffix == ".py":
        yield Target(path)
    elif file:
        raise UsageError(f"not Python and not a spec: '{path.suffix}'", where=target, hint="name .py or .yaml files")
    elif ":" in target:
        yield _from_reference(target)
    elif path.is_symlink():
        raise UsageError("a symbolic link to nothing, or to itself", where=target, hint="mend or remove the link")
    else:
        from exporter.base.references import meant_reference as meant

        hint = meant(target) or did_you_mean_file(path, "name a file, a folder, module:Class or a spec")
        raise UsageError("no such file or folder", where=target, hint=hint)


def _python_files(folder: Path) -> list[Path]:
    """Every Python file below; links to folders are not followed, so that a loop of them ends."""
    found: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in _NOT_OURS and not each.startswith("."))
        found += [Path(parent, each) for each in sorted(files) if each.endswith(".py")]
    return found


def _from_reference(reference: str) -> Target:
    from exporter.base.references import find_source, likely_reference, split

    module, name = split(reference)
    source = find_source(module)
    if source is None:
        raise UsageError(f"no module '{module}' with Python source", where=reference, hint=likely_reference(reference))
    return _followed(module, source, name)


def _followed(module: str, source: Path, name: str, hops: int = 8) -> Target:
    """Where a name is defined, if a package only hands it on: `from .resnet import resnet18` in its `__init__.py`."""
    from exporter.base.references import find_source

    try:
        body = ast.parse(source.read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return Target(source, name)  # reading it says what is wrong
    first = name.partition(".")[0]
    for node in body:
        if not isinstance(node, ast.ImportFrom) or not hops:
            continue
        for alias in node.names:
            if first != (alias.asname or alias.name):
                continue
            package = module.split(".") if source.name == "__init__.py" else module.split(".")[:-1]
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            if (found := find_source(origin)) is not None:
                return _followed(origin, found, name.replace(first, alias.name, 1), hops - 1)
    return Target(source, name)


def of_spec(spec: Spec) -> Target:
    """The model of a spec, with its inputs: which of their sizes are fixed decides what can be traced."""
    target = _from_reference(spec.model)
    arguments = tuple((name, repr(value)) for name, value in spec.args.items())
    if spec.pipeline is not None and spec.pipeline.fold:  # its inputs are those of the steps, and the model has its own
        return Target(target.path, target.name, arguments=arguments)
    inputs = tuple(
        Input(name, tuple(each if isinstance(each, int) else Extent.DYNAMIC for each in one.shape), one.dtype)
        for name, one in spec.inputs.items()
    )
    return Target(target.path, target.name, inputs, arguments=arguments)
