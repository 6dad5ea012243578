"""Time two commands in turn, A B A B …, and compare them pair by pair: machines drift, ratios in one run hold.

The processor time is that of the whole tree of processes: this process is a subreaper, so what a command leaves behind
(a server, a daemon) becomes its child, is waited for, and is counted when it ends.
"""

from __future__ import annotations

import compileall
import contextlib
import ctypes
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
#: Seconds that what a command left behind has to end; then it is killed, since it would disturb the next.
_LEFT = 5.0


@dataclass(frozen=True)
class Run:
    """Wall seconds of one command, processor seconds of it and all that it started, and the tree's peak memory.

    The memory is resident, in MB; 0 if it was not watched.
    """

    seconds: float
    megabytes: float
    processor: float = 0.0


@dataclass(frozen=True)
class Command:
    """What to run, in which folder (this process's, unless given), with which further environment variables."""

    words: tuple[str, ...]
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def against_older(
    usage: str | None,
    measure: Callable[[str, Command, Command, int], bool],
    things: Sequence[str],
    lay_out: Callable[[Command], None] | None = None,
) -> int:
    """Measure things of this checkout and of an older one: OLD [ROUNDS] [THING...]; 1 if a limit is exceeded.

    Both sides are the start of the command line, each in a folder and with a cache of its own; `lay_out` prepares one.
    """
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "exporter").is_dir():
        sys.exit(usage)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as place:
        checkouts = {"new": Path(__file__).parents[1], "old": Path(sys.argv[1]).resolve()}
        new, old = (_side(Path(place) / name, checkout) for name, checkout in checkouts.items())
        for side in (new, old) if lay_out else ():
            lay_out(side)
        held = [measure(thing, new, old, rounds) for thing in sys.argv[3:] or things]
    return 0 if all(held) else 1


def _side(folder: Path, checkout: Path) -> Command:
    folder.mkdir()
    compileall.compile_dir(checkout / "exporter", quiet=1)  # as scripts/install does
    start = (sys.executable, "-c", "from exporter.cli import main; main()")
    return Command(start, folder, {"PYTHONPATH": str(checkout), "XDG_CACHE_HOME": str(folder / "cache")})


def lay_out(side: Command) -> None:
    """Copy the recipes and specs of a side's checkout into its folder."""
    assert side.folder
    for name in ("recipes", "specs"):
        came = Path(side.environment["PYTHONPATH"]) / name
        shutil.copytree(came, side.folder / name, ignore=shutil.ignore_patterns("__pycache__"))


def forget_releases(side: Command) -> None:
    """Remove what a side has released: a release that is repeated would not be made."""
    assert side.folder
    shutil.rmtree(side.folder / "cache", ignore_errors=True)
    shutil.rmtree(side.folder / "artifacts", ignore_errors=True)


def by_turns(step: Callable[[Command], T], new: Command, old: Command, rounds: int) -> tuple[list[T], list[T]]:
    """What a step takes on both sides, which begin in turn."""
    pairs: list[tuple[T, T]] = []
    for at in range(rounds):
        runs = {id(side): step(side) for side in ((new, old) if at % 2 else (old, new))}
        pairs.append((runs[id(new)], runs[id(old)]))
    return [mine for mine, _ in pairs], [theirs for _, theirs in pairs]


def run(command: Command | Sequence[str], *, memory: bool = False) -> Run:
    """Run a command to its end; it must succeed."""
    if not isinstance(command, Command):
        command = Command(tuple(command))
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    begin, before = time.perf_counter(), _processor()
    process = subprocess.Popen(
        command.words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=command.folder,
        env={**os.environ, **command.environment},
    )
    peak = 0
    while memory and process.poll() is None:
        peak = max(peak, _resident(process.pid))
        time.sleep(0.02)
    _, errors = process.communicate()
    seconds = time.perf_counter() - begin
    if process.returncode:
        sys.exit(f"{' '.join(command.words)} failed:\n{errors.decode(errors='replace')[-2000:]}")
    _reap()
    return Run(seconds, peak / 2**20, _processor() - before)


def run_all(commands: Sequence[Command | Sequence[str]], *, memory: bool = False) -> Run:
    """Run one after the other: times are added, of memory the largest counts."""
    parts = [run(command, memory=memory) for command in commands]
    return Run(
        sum(part.seconds for part in parts),
        max(part.megabytes for part in parts),
        sum(part.processor for part in parts),
    )


def compare(
    ours: Command | Sequence[str],
    theirs: Sequence[Command | Sequence[str]],
    runs: int,
    *,
    memory: bool = False,
) -> tuple[list[Run], list[Run]]:
    """Run ours and theirs (several commands, one after the other) once to warm up, then in turn; what was measured.

    The memory is that of the warm-up: who watches it walks the pages of every process, and so slows them down.
    """
    first, other_first = run(ours, memory=memory), run_all(theirs, memory=memory)
    pairs = [(run(ours), run_all(theirs)) for _ in range(runs)]
    return (
        [replace(mine, megabytes=first.megabytes) for mine, _ in pairs],
        [replace(other, megabytes=other_first.megabytes) for _, other in pairs],
    )


def report(
    name: str, ours: list[Run], theirs: list[Run], limit: float, field: str = "seconds", against: str = "bare"
) -> bool:
    """Print medians and the median of the ratios pair by pair; whether the limit holds."""
    mine, other = ([getattr(run, field) for run in runs] for runs in (ours, theirs))
    ratios = [a / b for a, b in zip(mine, other, strict=True)]
    unit = "MB" if field == "megabytes" else "s"
    holds = statistics.median(ratios) <= limit
    print(
        f"{name:<34} ours {statistics.median(mine):8.3f} {unit}   {against} {statistics.median(other):8.3f} {unit}   "
        f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}, limit {limit}) "
        f"{'holds' if holds else 'EXCEEDED'}",
        flush=True,
    )
    return holds


def report_times(name: str, ours: list[Run], theirs: list[Run], limit: float, against: str = "bare") -> bool:
    """Report the processor time of the tree, then the clock; whether both keep the limit."""
    return all(
        [
            report(f"{name}, processor", ours, theirs, limit, "processor", against),
            report(f"{name}, clock", ours, theirs, limit, "seconds", against),
        ]
    )


def _reap() -> None:
    """Wait for what the command left behind; kill what does not end."""
    deadline = time.monotonic() + _LEFT
    while left := psutil.Process().children():
        if time.monotonic() > deadline:
            for process in left:
                process.kill()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _resident(pid: int) -> int:
    """Resident bytes of a process and all below it; a page that several share (forks do) counts once."""
    with contextlib.suppress(psutil.Error):
        return sum(map(_proportional, [(parent := psutil.Process(pid)), *parent.children(recursive=True)]))
    return 0


def _proportional(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error, AttributeError):
        return int(process.memory_full_info().pss)
    return 0
