"""Reading artifact files without the engine that wrote them: one file a format, pure Python, never a pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import UsageError
from exporter.base.readers.allowed import refuse_others as refuse_others
from exporter.base.readers.base import ModelFacts, Reader, map_file
from exporter.base.readers.external import refuse_misplaced
from exporter.base.readers.kinds import pdiparams
from exporter.base.registry import Registry

if TYPE_CHECKING:
    from exporter.base.tensors import Array


def read(path: Path) -> ModelFacts:
    """Tell what a file is, by its suffix.

    Raises:
        UsageError: no such file, or a suffix that no reader knows.
        BundleError: it is damaged; the message names the byte.
    """
    content = map_file(path)
    readers: Registry[Reader] = Registry(__name__, "format")
    known: list[str] = []
    for _, reader in readers.all():
        if path.suffix in reader.suffixes:
            return reader.facts(content, str(path))
        known += reader.suffixes
    raise UsageError("a file of an unknown kind", where=str(path), hint=f"one of: {', '.join(known)}, or a bundle")


def read_program(path: Path) -> ModelFacts:
    """Tell what a program is, and refuse one that does more than compute (`exporter/base/readers/allowed.py`).

    Raises:
        UsageError: no such file, or a suffix that no reader knows.
        BundleError: it is damaged, holds an operator that is not listed, or reads another file.
    """
    facts = read(path)
    refuse_others(facts, str(path))
    refuse_misplaced(facts.weights, path.parent)
    return facts


def named_parameters(program: Path, parameters: Path) -> dict[str, Array]:
    """The parameters of a `.pdmodel` or PIR `.json` by the names in the program; bfloat16 as uint16 bit patterns.

    These names are the framework's (`linear_0.w_0`), not the layer's (`fc.weight`).

    Raises:
        UsageError: a file is missing.
        BundleError: one is damaged, or the two do not belong together.
    """
    declared, content = read(program).weights, map_file(parameters)
    named = pdiparams.named(content, str(parameters), declared)
    return {name: weight.array(content) for name, weight in named.items()}
