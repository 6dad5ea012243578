"""The tests on other machines than this one, as far as one machine can stand for others: `python -m evals.levels`.

Each level runs the suite again with fewer instruction sets, fewer or more cores, or beside a load, and the table says
what each gave; it ends with 1 where a test failed. With `--json` it goes on where it was cut off::

    python -m evals.levels --levels as_is,load --runs 3 --json levels.json
    python -m evals.levels --levels sse -- tests/export/lower tests/engines

The levels `avx2` and `sse` reach the libraries that can be told to keep off an instruction set: oneDNN, MKL, OpenBLAS
and numpy. ONNX Runtime picks its kernels by the CPU alone; what its int8 kernels do without VNNI is computed in numpy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exporter.base import machine
from exporter.base.files import write_bytes
from tests.command import ROOT

_CLOSING = re.compile(r"^(?:=+ )?(\d+ (?:passed|failed|error).* in [0-9.]+s.*)$", re.MULTILINE)
_MOST_SAID = 200_000
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Level:
    """One kind of machine: variables that keep libraries off instruction sets, cores to use, busy processes beside."""

    environment: Mapping[str, str] = field(default_factory=dict)
    cores: int = 0
    load: int = 0


LEVELS = {
    "as_is": Level(),
    "avx2": Level({"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "OPENBLAS_CORETYPE": "Haswell"}),
    "sse": Level(
        {
            "ONEDNN_MAX_CPU_ISA": "SSE41",
            "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
            "OPENBLAS_CORETYPE": "Nehalem",
            "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
        }
    ),
    "one_core": Level(cores=1),
    "load": Level(load=8),
}


#: Why OpenVINO at its default cannot run: it computes in bfloat16 where the CPU has that, and asks oneDNN for it.
KEPT_OFF = "OpenVINO's default is bfloat16 here, from which ONEDNN_MAX_CPU_ISA keeps oneDNN"


def bfloat16_is_kept_off() -> bool:
    """Whether a variable keeps oneDNN from the bfloat16 that this CPU has."""
    return machine.onednn_is_limited() and "avx512_bf16" in machine.cpu()["abilities"]


def main() -> int:
    options = _options()
    results: list[dict[str, Any]] = (
        json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    )
    for name in options.levels.split(","):
        for number in range(1, options.runs + 1):
            if any((row["level"], row["run"]) == (name, number) for row in results):
                continue
            results.append({"level": name, "run": number, **run(LEVELS[name], options.pytest)})
            print(_line(results[-1]), flush=True)
            if options.json:
                write_bytes(options.json, json.dumps(results, indent=1).encode())
    return report(results)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.levels", description=__doc__)
    parser.add_argument("--levels", default=",".join(LEVELS), help=f"of: {', '.join(LEVELS)}")
    parser.add_argument("--runs", type=int, default=1, help="how often each level is run")
    parser.add_argument("--json", type=Path, help="keep results here, and go on from them")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args()
    if unknown := set(options.levels.split(",")) - set(LEVELS):
        parser.error(f"no such level: {', '.join(sorted(unknown))}; there are {', '.join(LEVELS)}")
    return options


def run(level: Level, arguments: list[str]) -> dict[str, Any]:
    """One run of pytest: its closing line, the tests that failed, what it said then, and the seconds by the clock."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    if level.cores:
        command = ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[: level.cores])), *command]
    began = time.monotonic()
    with loaded(level.load):
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **level.environment}, capture_output=True, text=True, check=False
        )
    closing = _CLOSING.findall(done.stdout)
    return {
        "code": done.returncode,
        "closing": closing[-1].strip("= ") if closing else (done.stdout + done.stderr)[-500:],
        "failed": sorted(set(_FAILED.findall(done.stdout))),
        # What a test said that fails in one of many runs is seldom said again.
        "said": done.stdout[-_MOST_SAID:] if done.returncode else "",
        "seconds": round(time.monotonic() - began),
        "cpu": machine.cpu(),
    }


@contextlib.contextmanager
def loaded(processes: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile, with `stress-ng` where it is installed (Debian's package)."""
    if not processes:
        yield
        return
    if shutil.which("stress-ng"):
        commands = [["stress-ng", "--quiet", "--cpu", str(processes)]]
    else:
        commands = [[sys.executable, "-c", "while True: pass"]] * processes
    busy = [subprocess.Popen(command) for command in commands]
    try:
        yield
    finally:
        for process in busy:
            process.terminate()
            process.wait()


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['level']} {row['run']}: {row['closing']}" + "".join(f"\n  {name}" for name in row["failed"])


def report(results: list[dict[str, Any]]) -> int:
    """A line a level; 1 where a run did not pass."""
    for name in dict.fromkeys(row["level"] for row in results):
        runs = [row for row in results if row["level"] == name]
        passed = sum(row["code"] == 0 for row in runs)
        print(f"{name:9} {passed} of {len(runs)} runs passed, {', '.join(str(row['seconds']) for row in runs)} s")
    return int(any(row["code"] != 0 for row in results))


if __name__ == "__main__":
    sys.exit(main())
