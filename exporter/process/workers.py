"""Children: a step that needs Paddle or an engine runs in a process of its own, with limits.

The request and the answer are plain JSON, written to files; tensors travel as safetensors whose paths stand in the
request. A crash, a hang and an out-of-memory are results too, and say what the child was doing last::

    answer = call(export, ExportRequest(...), Limits(seconds=300))

The function must be a job (:mod:`exporter.process.job`); in it, :func:`doing` says what comes next.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TypeAlias

from exporter.base.errors import ChildCrashed, ChildFailed, ChildOutOfMemory, ChildTimedOut
from exporter.base.machine import available
from exporter.base.watch import SEEN, WATCHED, Seen
from exporter.process import forks
from exporter.process.answers import (
    ANSWER,
    DATA_LIMIT,
    EVENTS,
    LAST_WORDS,
    MOST_SAID,
    Event,
    read_answer,
    read_what_was_seen,
)
from exporter.process.forks import Launch, fork
from exporter.process.job import A, Job, NotOfType, Q, answer_from_json, to_json
from exporter.process.memo import Question, in_force
from exporter.process.pool import share
from exporter.process.scratch import no_room, scratch
from exporter.process.supervise import TOO_MUCH, Child, Watch, supervise

Json: TypeAlias = dict[str, Any]
OnEvent: TypeAlias = Callable[[Event], None]

#: What every child is told. ONNX Runtime's wheels for Linux send telemetry from 1.29 on, unless they are told before
#: they are imported: what a gate judges is nobody else's business.
#: Pydantic looks through all that is installed for plugins, which have no say in what crosses a border.
_EVERY_CHILD = {
    "ORT_DISABLE_TELEMETRY": "1",
    "PYDANTIC_DISABLE_PLUGINS": "1",
    "PYTHONFAULTHANDLER": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
}
#: Every child of the gate starts in one thread: then results are the same on machines with other core counts.
#: What else makes results reproducible, or keeps a package from installing others, stands here too: children with the
#: same environment are forked from one server.
SINGLE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NVIDIA_TF32_OVERRIDE": "0",  # on Ampere and later, cuBLAS and cuDNN would halve the mantissa of float32
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # cuBLAS: "Results reproducibility"
    "POLYGRAPHY_AUTOINSTALL_DEPS": "0",  # else paddle2onnx's polygraphy installs packages while it converts
}
#: The `imports` of a child that runs Paddle.
PADDLE = ("paddle",)

_TAIL = 4000


@dataclass(frozen=True)
class Beyond:
    """What a child may use after it has said that it loads an artifact (`stage="load"`), so without its imports.

    `seconds` of processor time alone, since a slow file system is no fault of a program; `megabytes` by which its own
    resident memory may grow.
    """

    seconds: float
    megabytes: int


#: Seconds that a child may take for each gigabyte of a bundle; to record the goldens of 7.5 GB took 146.
SECONDS_A_GIGABYTE = 100.0


@dataclass(frozen=True)
class Limits:
    """`seconds` of processor time or of sleep, and `megabytes` of resident memory, children of the child included.

    Waiting for a processor counts nothing, so that a busy machine ends no sound child (:mod:`exporter.process.usage`).
    `code` is the folder that a child runs in and may import from, besides what is installed; None: it imports from no
    such folder, since whatever lies there is a stranger's. `beyond` bounds further what a program may use that somebody
    else has written.
    """

    seconds: float = 600.0
    megabytes: int = 0
    code: Path | None = Path()

    beyond: Beyond | None = None

    def bytes(self) -> int:
        """The memory limit; by default nine tenths of what the machine has left, shared by those that run at once."""
        if self.megabytes:
            return self.megabytes << 20
        return int(available() * 0.9) // share().of


def _silent(_step: str) -> None: ...


@dataclass(frozen=True)
class Setting:
    """How a command runs its children, whatever it does: their limits, and who hears of steps and of progress.

    `jobs` is how many children may run at once; 0 leaves it to the machine's processors and free memory. The limits of
    what runs a bundle's artifacts follow what its release recorded (`follows_costs`), unless somebody has set them.
    """

    limits: Limits = field(default_factory=Limits)
    on_event: OnEvent | None = None
    say: Callable[[str], None] = _silent
    jobs: int = 0
    follows_costs: bool = True

    def importing(self, code: Path | None) -> Setting:
        """The same for children that may import from the folder `code`, or from none."""
        return replace(self, limits=replace(self.limits, code=code))

    def grown(self, size: int) -> Setting:
        """Return it for a bundle of that many bytes: a large one gives its children more time, unless it is set."""
        seconds = max(self.limits.seconds, size / 1e9 * SECONDS_A_GIGABYTE)
        return replace(self, limits=replace(self.limits, seconds=seconds)) if self.follows_costs else self

    def at_once(self, megabytes: int) -> int:
        """How many children that take so much memory each may run at once."""
        if self.jobs:
            return self.jobs
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(processors, (available() >> 20) // megabytes))


def call(
    job: Job[Q, A],
    request: Q,
    limits: Limits | None = None,
    *,
    environment: Mapping[str, str | None] | None = None,
    imports: Sequence[str] = (),
    on_event: OnEvent | None = None,
) -> A:
    """Run a job on a request in a child and return its answer.

    The child runs in the folder `limits.code`, which is also on its `sys.path`, so that `recipes.digits:build` works.
    It is forked from a process that has these `imports` (:mod:`exporter.process.forks`). Nothing that it starts
    outlives it. What it answers may be remembered instead (:mod:`exporter.process.memo`).

    Raises:
        ExporterError: what the child raised, if it was one of ours.
        ChildFailed: it raised anything else.
        ChildCrashed: its answer is not of the job's type.
        ChildCrashed, ChildTimedOut, ChildOutOfMemory: it ended in another way.
        KeyboardInterrupt: the child was interrupted and has saved what it could.
    """
    asked, answered = job.types
    limits = limits or Limits()
    question = Question(job.address, to_json(asked, request), environment or {}, limits.code, job.reuse)
    answer = _call(question, limits, imports, on_event)
    try:
        return answer_from_json(answered, answer)
    except NotOfType as error:
        what = f"the child left an answer that was not asked for: {error}"
        raise ChildCrashed(what, hint=LAST_WORDS) from error


def _call(question: Question, limits: Limits, imports: Sequence[str], on_event: OnEvent | None) -> Json:
    memo = in_force()

    def run() -> tuple[Json, Seen]:
        with _asked(question.request) as place:
            with (place / "log").open("w+b") as log:
                # Memory that is taken and never touched is not resident; twice the limit of it ends in a MemoryError.
                # What a child that was killed leaves in its temporary folder goes with the request.
                own = {DATA_LIMIT: str(2 * limits.bytes()), "TMPDIR": str(place)}
                own |= {WATCHED: "1"} if memo else {}
                child = _start(Launch(question.function, place, own, limits.code), log, question.environment, imports)
                watch, status = supervise(child, limits, on_event)
                tail = _tail(log)
            answer = _answer(place, watch, status, tail, limits)
            return answer, read_what_was_seen(place / SEEN) if memo else Seen()

    if memo is None:
        return run()[0]
    return memo.answer(question, run)


def prepare() -> None:
    """Begin to import what the children of a release run in, while this process goes on."""
    forks.prepare(environment={**_EVERY_CHILD, **SINGLE_THREAD}, imports=PADDLE)


@contextlib.contextmanager
def _asked(request: Mapping[str, Any]) -> Iterator[Path]:
    """A temporary folder that holds the request."""
    with scratch() as place:
        try:
            (place / "request.json").write_text(json.dumps(dict(request), allow_nan=False))
        except OSError as error:
            raise no_room(error) from error
        yield place


def doing(what: str, **details: Any) -> None:
    """In a child: say what comes next; the parent quotes it if the child dies, and may show it as progress."""
    handle = os.environ.get(EVENTS)
    if handle is None:
        return
    line = json.dumps({"doing": what[:MOST_SAID], **details}) + "\n"
    with contextlib.suppress(BrokenPipeError):
        os.write(int(handle), line.encode())


def _start(launch: Launch, log: IO[bytes], environment: Mapping[str, str | None], imports: Sequence[str]) -> Child:
    reader, writer = os.pipe()
    try:
        process = fork(launch, writer, log.fileno(), environment={**_EVERY_CHILD, **environment}, imports=imports)
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    return Child(process, os.fdopen(reader, "rb"))


def _tail(log: IO[bytes]) -> str:
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - _TAIL))
    return log.read().decode(errors="replace")


def _answer(place: Path, watch: Watch, status: int, tail: str, limits: Limits) -> Json:
    where = f"while {watch.doing}"
    if "memory" in watch.killed:
        raise ChildOutOfMemory(watch.killed, where=where, hint=watch.hint, details=tail)
    if watch.killed:
        raise ChildTimedOut(watch.killed, where=where, hint=watch.hint, details=tail)
    if watch.no_room:
        raise no_room(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    path = place / ANSWER
    if status < 0:
        raise ChildCrashed(f"the child died by {_signal_name(-status)}", where=where, hint=LAST_WORDS, details=tail)
    if not path.is_file():
        what = f"the child left with code {status} and no answer"
        raise ChildCrashed(what, where=where, hint=LAST_WORDS, details=tail)
    try:
        return read_answer(path)
    except ChildFailed as error:
        error.where, error.hint = error.where or where, error.hint or LAST_WORDS
        error.details = error.details or tail
        if error.what.startswith("MemoryError"):  # it was refused memory before anybody saw how much it has
            what = f"the child passed its limit of {limits.bytes() >> 20} MB of memory ({error.what.strip(': ')})"
            raise ChildOutOfMemory(what, where=error.where, hint=TOO_MUCH, details=error.details) from error
        raise


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextlib.contextmanager
def quiet_interrupts() -> Iterator[list[bool]]:
    """In a child that ends its step first: Ctrl-C and SIGTERM only set the flag yielded (a list of one bool)."""
    asked = [False]

    def remember(_signal: int, _frame: object) -> None:
        asked[0] = True

    before = [(one, signal.signal(one, remember)) for one in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield asked
    finally:
        for one, handler in before:
            signal.signal(one, handler)
