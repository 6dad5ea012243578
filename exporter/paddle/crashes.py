"""What a crash does to a process that has imported Paddle: it ends it, at once."""

from __future__ import annotations

import faulthandler
from types import ModuleType


def hand_back(paddle: ModuleType) -> None:
    """Take Paddle's handlers of SIGSEGV, SIGABRT and others away, and set Python's own again where they were on.

    Paddle catches these signals to print C++ frames. Where a kernel has corrupted memory its handler waits for ever for
    a lock of the allocator (3.3.1: an LSTM given a length beyond the sequence), and the child seems to hang. Python's
    own handler takes its place: it needs no memory, and prints the Python frames.
    """
    paddle.disable_signal_handler()
    if faulthandler.is_enabled():  # it believes that its handlers are still there
        faulthandler.disable()
        faulthandler.enable()
