"""What every child asks of Paddle as soon as it is imported, whoever imports it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from exporter.paddle.crashes import hand_back
from exporter.paddle.device import start_on_cpu
from exporter.paddle.reads import tell_of_reads


def prepare_paddle() -> None:
    """End at crashes, compute on the CPU, tell of files: now if Paddle is imported, else at its import."""
    if "paddle" in sys.modules:
        _prepare(sys.modules["paddle"])
    else:
        sys.meta_path.insert(0, _OnImport())


def _prepare(paddle: ModuleType) -> None:
    hand_back(paddle)
    start_on_cpu(paddle)
    tell_of_reads()


class _OnImport(MetaPathFinder):
    """Finds Paddle as the others do, and runs :func:`_prepare` after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != "paddle":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_prepare(module: ModuleType) -> None:
                execute(module)
                _prepare(module)

            spec.loader.exec_module = execute_and_prepare  # type: ignore[method-assign]
        return spec
