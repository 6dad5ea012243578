"""The parent's eye on a child: what it says and uses, until it ends, passes a limit, or the parent is interrupted."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from exporter.process.answers import NO_ROOM_LEFT, read_events
from exporter.process.forks import Forked
from exporter.process.pool import share
from exporter.process.usage import Meter, resident_bytes

if TYPE_CHECKING:
    from exporter.process.workers import Beyond, Limits, OnEvent

#: Seconds between two looks at what a child uses, and the share of a processor that looking may take: each look reads
#: what all processes of the machine say of their parents.
_LOOK, _LOOKING = 0.2, 0.05
#: Seconds, charged as a limit's are, in which an interrupted child may save what it has.
_SAVING = 30.0
_TIMES = "many times"
TOO_MUCH = "look for what grows without end, or make the dims smaller"


@dataclass
class Watch:
    """What the parent has seen of a child: what it does, and why it is to be killed."""

    doing: str = "starting"
    killed: str = ""
    hint: str = ""
    no_room: bool = False
    loads: bool = False
    before: tuple[float, int] | None = None  # seconds and bytes that it had used when it began to load


@dataclass(frozen=True)
class Child:
    """A child that runs, and the pipe of its progress."""

    process: Forked
    events: IO[bytes]


def supervise(child: Child, limits: Limits, on_event: OnEvent | None) -> tuple[Watch, int]:
    """Wait until a child ends, or end it at its limits; return what was seen of it, and its exit code.

    Raises:
        KeyboardInterrupt: this process was interrupted; the child had time to save.
    """
    watch, meter = Watch(), Meter()
    reader = threading.Thread(target=_follow, args=(child.events, watch, on_event), daemon=True)
    reader.start()
    most, stop = limits.bytes(), share().stop
    look = 0.0
    try:
        while (status := _ended(child.process)) is None:
            if (now := time.monotonic()) > look:
                resident = meter.look(child.process.pid)
                look = now + max(_LOOK, (time.monotonic() - now) / _LOOKING)
                _judge_usage(watch, meter, resident, limits, most)
            if limits.beyond and watch.loads and child.process.pid:
                _judge_load(watch, meter, child.process.pid, limits.beyond)
            if watch.killed:
                _kill(child.process)
            if stop.is_set():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        _interrupt(child.process)
        raise
    except BaseException:
        _kill(child.process)
        raise
    finally:
        # Its end, and that of all that it started, closes the pipe: what it said last is read before it is quoted.
        reader.join(_SAVING)
    return watch, status


def _judge_usage(watch: Watch, meter: Meter, resident: int, limits: Limits, most: int) -> None:
    """Say why the child is to be killed, where it is."""
    if resident > most:
        watch.killed = f"the child passed its limit of {most >> 20} MB of memory"
        watch.hint = TOO_MUCH
    elif meter.charged > limits.seconds and meter.worked >= meter.slept:
        watch.killed = f"the child used up its limit of {limits.seconds:g} s of processor time"
        watch.hint = "look for a loop without end, or give more time with --timeout"
    elif meter.charged > limits.seconds:
        watch.killed = f"the child waited for nothing through its limit of {limits.seconds:g} s: it did not compute"
        watch.hint = "look for a lock or a message that never comes, or give more time with --timeout"


def _judge_load(watch: Watch, meter: Meter, pid: int, most: Beyond) -> None:
    """Say why a child is to be killed that loads or runs what somebody else has written; memory grows fast."""
    resident = resident_bytes(pid)
    if watch.before is None:
        meter.look(pid)
        watch.before = meter.worked, resident
        return
    seconds, size = watch.before
    if resident - size > most.megabytes << 20:
        watch.killed = f"the child took {most.megabytes} MB more memory: {_TIMES} what its release recorded"
    elif meter.worked - seconds > most.seconds:
        watch.killed = f"the child took {most.seconds:g} s of processor time: {_TIMES} what its release recorded"
    watch.hint = watch.hint or "do not use this bundle; if you trust it, set the limit yourself with --timeout"


def _ended(process: Forked) -> int | None:
    """Wait a moment for the process to end; its status, or None."""
    try:
        return process.wait(0.05)
    except subprocess.TimeoutExpired:
        return None


def _follow(events: IO[bytes], watch: Watch, on_event: OnEvent | None) -> None:
    with events:
        for event in read_events(events):
            watch.doing, watch.no_room = event["doing"], watch.no_room or NO_ROOM_LEFT in event
            watch.loads = watch.loads or event.get("stage") == "load"
            if on_event:
                on_event(event)


def _kill(process: Forked) -> None:
    process.kill()
    process.wait()


def _interrupt(process: Forked) -> None:
    """Give the child time to save; Ctrl-C in a terminal reached it too, `kill -INT` of the parent alone did not."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    meter = Meter()
    try:
        while _ended(process) is None:
            meter.look(process.pid)
            if meter.charged > _SAVING:
                _kill(process)
    except KeyboardInterrupt:
        _kill(process)
