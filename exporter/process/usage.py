"""What a child uses: processor time, memory, and the time for which it does nothing; not the clock.

A child that waits for a processor on a busy machine is charged nothing, an endless loop what it computes, and a
deadlock the time that it sleeps. Linux tells all of it: `/proc/PID/stat` (proc(5)) the time computed, that of ended
children that were waited for included, `/proc/PID/task/TID/schedstat` (Documentation/scheduler/sched-stats.rst) how
long each thread stood in the queue for a processor, and `/proc/stat` how long a virtual machine's processors were the
host's for others.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: Seconds of sleep that one look charges at most: the looking process may itself have been stopped (Ctrl-Z) or starved.
_MOST_ASLEEP = 2.0
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROC = Path("/proc")
#: States of a process that waits only for its parent to take leave of it.
_ENDED = "ZX"


@dataclass(frozen=True)
class _Process:
    """One line of `/proc/PID/stat`: seconds computed, by itself and by children that it waited for; bytes resident."""

    parent: int
    state: str
    own: float
    ended: float
    resident: int


@dataclass(frozen=True)
class _Look:
    """All processes of a child; `queued` is each thread's time in the queue, None if it is unknown.

    On a busy machine the looking takes long itself: it was done between the moments `since` and `until`. `stolen` is
    the time that the host took from each processor; `busy` says whether any thread did something, or stood in a queue
    for it; `whole` whether no process had ended by the time that it was looked at.
    """

    since: float
    until: float
    own: float = 0.0
    ended: float = 0.0
    resident: int = 0
    queued: Mapping[int, float] | None = field(default_factory=dict)
    stolen: tuple[float, ...] = ()
    busy: bool = False
    whole: bool = True


class Meter:
    """Charges a child, look by look: `worked` seconds of processor time, and `slept` seconds of doing nothing.

    Threads and processes that compute at the same time are charged the time that passed, once.
    """

    def __init__(self) -> None:
        self.worked = self.slept = 0.0
        now = time.monotonic()
        self._before = _Look(now, now)

    @property
    def charged(self) -> float:
        """What counts against a limit of seconds."""
        return self.worked + self.slept

    def look(self, pid: int | None) -> int:
        """Charge what was used since the last look; the resident bytes of the process and all below it."""
        now = _look(pid)
        before, self._before = self._before, now
        if pid is None:  # it is still to be forked
            return 0
        reaped = max(0.0, now.ended - before.ended)
        # What an ended child had used moves from its own line to its parent's.
        worked = min(now.until - before.until, max(0.0, now.own + now.ended - before.own - before.ended))
        self.worked += worked
        # It does something; or it waited for children that came and went unseen; or one of them has ended, and nobody
        # knows what it did last.
        if now.busy or reaped or not now.whole:
            return now.resident
        if now.queued is None or before.queued is None:
            if worked:
                return now.resident
            queued = 0.0
        else:
            # Of all together, since they wait for each other: one that is queued lets the next one sleep.
            queued = sum(late - before.queued.get(thread, 0.0) for thread, late in now.queued.items())
        # Of the time between the two looks: what was done during a look may be in its numbers or not.
        stolen = max((late - early for early, late in zip(before.stolen, now.stolen, strict=False)), default=0.0)
        self.slept += min(_MOST_ASLEEP, max(0.0, now.since - before.until - worked - queued - stolen))
        return now.resident


def resident_bytes(pid: int) -> int:
    """The resident memory of one process; 0 where it has ended. Cheap, so that it can be asked often."""
    try:
        return int((_PROC / str(pid) / "statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _look(pid: int | None) -> _Look:
    since = time.monotonic()
    family = dict(_family(pid)) if pid is not None else {}
    threads = {number: list(_threads(number)) for number in family}
    every = [thread for of_process in threads.values() for thread in of_process]
    counted = all(thread.ran > 0 for thread in every if thread.number == pid)
    return _Look(
        since,
        until=time.monotonic(),
        own=sum(process.own for process in family.values()),
        ended=sum(process.ended for process in family.values()),
        resident=sum(process.resident for process in family.values()),
        queued={thread.number: thread.queued for thread in every} if counted else None,
        stolen=_stolen(),
        busy=any(thread.busy for thread in every),
        whole=pid is not None and pid in family and family[pid].state not in _ENDED and all(threads.values()),
    )


def _stolen() -> tuple[float, ...]:
    """Of each processor the seconds that the host gave to others; nothing where Linux does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = (_PROC / "stat").read_text().splitlines()
        return tuple(int(line.split()[8]) * _TICK for line in lines if line.startswith("cpu") and line[3].isdigit())
    return ()


def _family(pid: int) -> Iterator[tuple[int, _Process]]:
    """A process and all below its keeper, which inherits what the others leave behind (:mod:`.forkserver`)."""
    everybody = {}
    for entry in os.scandir(_PROC):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it ended meanwhile
                everybody[int(entry.name)] = _parsed(_fields(_PROC / entry.name / "stat"))
    if pid not in everybody:
        return
    below: dict[int, list[int]] = {}
    for number, process in everybody.items():
        below.setdefault(process.parent, []).append(number)
    keeper = everybody[pid].parent
    waiting = [keeper] if keeper in everybody else [pid]
    while waiting:
        number = waiting.pop()
        yield number, everybody[number]
        waiting += below.get(number, [])


def _fields(stat: Path) -> list[bytes]:
    """Those after the name, which stands in parentheses and may hold anything."""
    return stat.read_bytes().rpartition(b")")[2].split()


def _parsed(fields: list[bytes]) -> _Process:
    """A process by the fields of its line, from its state on."""
    state, parent = fields[0].decode(), int(fields[1])
    user, system, ended_user, ended_system = (int(number) * _TICK for number in fields[11:15])
    return _Process(parent, state, user + system, ended_user + ended_system, int(fields[21]) * _PAGE)


@dataclass(frozen=True)
class _Thread:
    """`busy` if it computes, or waits for a processor or a disk; the seconds that it `ran`, and was `queued` to run.

    Both are 0 where Linux counts none. It adds the time in the queue when a thread leaves it. So the state is read
    first: of one that slept then all is counted, and one that was in the queue then may have left it since.
    """

    number: int
    busy: bool
    ran: float
    queued: float


def _threads(pid: int) -> Iterator[_Thread]:
    """The threads of a process; none where it has ended."""
    with contextlib.suppress(OSError), os.scandir(_PROC / str(pid) / "task") as entries:
        for entry in entries:
            with contextlib.suppress(OSError, ValueError, IndexError):  # the thread ended meanwhile
                counts = Path(entry.path, "schedstat")
                counted = counts.exists()
                state = _fields(Path(entry.path, "stat"))[0]
                ran, queued = map(int, counts.read_text().split()[:2]) if counted else (0, 0)
                yield _Thread(int(entry.name), state in (b"R", b"D"), ran / 1e9, queued / 1e9)
