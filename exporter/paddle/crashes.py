"""What a crash does to a process that has imported Paddle: it ends it, at once."""

from __future__ import annotations

import faulthandler
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def end_at_crashes() -> None:
    """Call `paddle.disable_signal_handler()` as soon as this process imports Paddle, whoever imports it.

    Paddle catches SIGSEGV, SIGABRT and others to print C++ frames. Where a kernel has corrupted memory its handler
    waits for ever for a lock of the allocator (3.3.1: an LSTM given a length beyond the sequence), and the child seems
    to hang. Python's own handler takes its place: it needs no memory, and prints the Python frames.
    """
    if "paddle" in sys.modules:
        _hand_back(sys.modules["paddle"])
    else:
        sys.meta_path.insert(0, _OnImport())


class _OnImport(MetaPathFinder):
    """Finds Paddle as the others do, and runs :func:`_hand_back` after it."""

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

            def execute_and_hand_back(module: ModuleType) -> None:
                execute(module)
                _hand_back(module)

            spec.loader.exec_module = execute_and_hand_back  # type: ignore[method-assign]
        return spec


def _hand_back(paddle: ModuleType) -> None:
    paddle.disable_signal_handler()
    if faulthandler.is_enabled():  # it believes that its handlers are still there
        faulthandler.disable()
        faulthandler.enable()
