"""In how many threads this process's Paddle computes."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path


def set_threads(threads: int) -> None:
    """Compute in so many threads from now on.

    Paddle's wheels bring two OpenMP runtimes: MKL and oneDNN use Intel's, Paddle's own loops GNU's. Its setter reaches
    only the first (3.3.1, measured), so each that is loaded is told.
    """
    from exporter.paddle.private import core

    core.set_num_threads(threads)
    for runtime in _openmp():
        runtime.omp_set_num_threads(threads)


def run_programs_in_place() -> None:
    """Have programs that are loaded from now on compute in the calling thread.

    By itself each starts a pool of its own, and 700 small ones had 3,500 threads (3.3.1).
    """
    import paddle

    paddle.set_flags({"FLAGS_enable_pir_in_executor_trace_run": True})


def threads_now() -> int | str:
    """How many threads the OpenMP runtimes of this process say they will use; all numbers, where they differ.

    Where there is none to ask, what the process was started with.
    """
    counts = {int(runtime.omp_get_max_threads()) for runtime in _openmp()}
    counts = counts or {int(os.environ.get("OMP_NUM_THREADS", 0))}
    return counts.pop() if len(counts) == 1 else " and ".join(map(str, sorted(counts)))


def _openmp() -> list[ctypes.CDLL]:
    """The OpenMP runtimes loaded into this process (Linux tells which)."""
    maps = Path("/proc/self/maps")
    text = maps.read_text() if maps.exists() else ""
    found = re.findall(r"(/\S*/lib(?:iomp5|gomp|omp)[-.\w]*\.so\S*)$", text, re.MULTILINE)
    return [ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY) for path in dict.fromkeys(found)]
