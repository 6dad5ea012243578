"""Which lines and branches of the model's own code the cases reached, by the `coverage` package.

A branch that no case takes is a branch that nothing proves. Looked at are the functions of the user's files that ran
while eager answered, and every `forward` of the layers in the model; not Paddle's code, and not `__init__`.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import coverage
from coverage.exceptions import CoverageException

_ELSEWHERE = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


class Reached:
    """Watches the user's files while eager runs; `unreached` says what is left."""

    def __init__(self, layer: Any) -> None:
        self._forwards = set(_forwards(layer))
        self.files = sorted({path for path, _ in self._forwards} | _imported_beside(self._forwards))
        self._coverage = coverage.Coverage(data_file=None, branch=True, include=self.files, config_file=False)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count what runs meanwhile."""
        if not self.files:
            yield
            return
        self._coverage.start()
        try:
            yield
        finally:
            self._coverage.stop()

    def unreached(self) -> list[tuple[str, int, str]]:
        """File, line and what did not happen there; sorted."""
        if not self.files:
            return []
        with tempfile.TemporaryDirectory() as place:
            report = Path(place) / "report.json"
            try:
                self._coverage.json_report(morfs=self.files, outfile=str(report))
            except CoverageException:  # no file of the user's ran at all
                return []
            files = json.loads(report.read_text())["files"]
        found = []
        for path, about in files.items():
            whole = str(Path(path).resolve())
            inside = self._lines_of_interest(whole, set(about["executed_lines"]))
            missing = {line for line in about["missing_lines"] if line in inside}
            found += [(whole, line, "is reached by no case") for line in missing - _continued(missing)]
            for start, end in about["missing_branches"]:
                one_line = end == -start  # a lambda, or a function in one line, has no other way out
                if start in inside and not one_line and not {abs(end), start} & missing:
                    way = f"to line {end}" if end > 0 else "to the end of the function"
                    found.append((whole, start, f"never goes {way} in any case"))
        return sorted(found)

    def _lines_of_interest(self, path: str, executed: set[int]) -> set[int]:
        """The bodies of functions that ran, and of every `forward`."""
        inside: set[int] = set()
        for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name != "__init__":
                lines = set(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
                if lines & executed or (path, node.lineno) in self._forwards:
                    inside |= lines
        return inside


def _continued(lines: set[int]) -> set[int]:
    """Lines that follow a missing line: the first of a block is enough to name."""
    return {line for line in lines if line - 1 in lines}


def _forwards(layer: Any) -> Iterator[tuple[str, int]]:
    """File and first line of the `forward` of every layer in the model whose code is the user's."""
    for sublayer in layer.sublayers(include_self=True):
        forward = inspect.unwrap(type(sublayer).forward)
        code = getattr(forward, "__code__", None)
        if code is not None and not code.co_filename.startswith((*_ELSEWHERE, "<")):
            yield str(Path(code.co_filename).resolve()), code.co_firstlineno


def _imported_beside(forwards: set[tuple[str, int]]) -> set[str]:
    """The user's other modules in the same folders: helpers that `forward` may call."""
    folders = {Path(path).parent for path, _ in forwards}
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return {str(Path(file).resolve()) for file in files if file and Path(file).resolve().parent in folders}
