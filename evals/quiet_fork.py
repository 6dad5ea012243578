"""Work in a fork of this process that says nothing, since what is tried there may end it."""

from __future__ import annotations

import os
from collections.abc import Callable


def quiet_fork(work: Callable[[], None]) -> int:
    """Run `work` in a fork without output, and return the status of `os.waitpid`; what it raises only ends it."""
    child = os.fork()
    if child == 0:
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]
