"""The child's side of :mod:`exporter.process.workers`: run the function that is asked for, and leave its answer."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from exporter.base.errors import BY_NAME, ExitCode, ExporterError
from exporter.base.files import NO_ROOM
from exporter.base.watch import SEEN, WATCHED, Watch
from exporter.paddle.child import prepare_paddle
from exporter.process.answers import ANSWER, DATA_LIMIT, EVENTS, NO_ROOM_LEFT, read_answer, read_what_was_seen
from exporter.process.job import answer_from_json, answer_to_json, from_json, job_at
from exporter.process.workers import Json, doing

A = TypeVar("A")


def _run_child(function: str, place: Path) -> str:
    """Run the job on the request; return its answer as JSON."""
    return _told(lambda: _answer(function, json.loads((place / "request.json").read_text())))


def _answer(function: str, request: Json) -> Json:
    job = job_at(function)
    asked, answered = job.types
    return answer_to_json(answered, job(from_json(asked, request)))


def forkable() -> bool:
    """In a child: whether it may be forked. A fork has none of its other threads, but all of the locks they hold."""
    return len(list(Path("/proc/self/task").iterdir())) == 1


def run_in_fork(run: Callable[[], A], kind: type[A]) -> A:
    """In a child: run something in a fork of it, on all that it has built, and leave that as it was.

    It returns a value of the type `kind`. Where the fork dies or leaves without an answer, so does this process: who
    asked hears of one child.

    Raises:
        ExporterError, ChildFailed: what `run` raised.
    """
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place, ANSWER)
        pid = os.fork()
        if pid == 0:
            try:
                told = _told(lambda: answer_to_json(kind, run()))
                _leave_what_was_seen(Path(place))
                answer.write_text(told)
            finally:
                _exit_now(0)
        _, status = os.waitpid(pid, 0)
        if (code := os.waitstatus_to_exitcode(status)) < 0:
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        if not answer.is_file():
            os._exit(code)
        for watch in _WATCHING:
            watch.tell().add(read_what_was_seen(Path(place, SEEN)))
        return answer_from_json(kind, read_answer(answer))


def _told(run: Callable[[], Json]) -> str:
    """What a function gives, as the JSON of an answer.

    Whatever it raises becomes an answer, since the parent must hear of it; also a result that is no JSON.
    """
    try:
        return _json({"result": run()})
    except KeyboardInterrupt:
        return _json({"interrupted": True})
    except ExporterError as error:
        details = getattr(error, "details", "")
        kind = next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in BY_NAME), "")
        return _failure(kind, error.what, error.where, error.hint, details)
    except (Exception, SystemExit) as error:  # user code may raise anything, and may call sys.exit
        import traceback

        from exporter.base.references import blamed_line

        name = "MemoryError" if isinstance(error, MemoryError) else type(error).__name__  # numpy has one of its own
        what, where = f"{name}: {error}", blamed_line(error)
        return _failure("", what, where, "", traceback.format_exc())


def _json(answer: dict[str, Any]) -> str:
    return json.dumps(answer, allow_nan=False)


def _failure(kind: str, what: str, where: str, hint: str, details: str) -> str:
    return _json({"error": {"kind": kind, "what": what, "where": where, "hint": hint, "details": details}})


def _exit_now(status: int) -> NoReturn:
    """Leave without Python's teardown: Paddle's and ONNX Runtime's destructors may crash after the work is done."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _limit_data() -> None:
    limit = os.environ.get(DATA_LIMIT)
    if limit and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))


#: What tells what this process has seen, where somebody wants to know.
_WATCHING: list[Watch] = []


def _leave_what_was_seen(place: Path) -> None:
    for watch in _WATCHING:
        with contextlib.suppress(OSError):  # then nothing is known of what it read
            (place / SEEN).write_text(json.dumps(watch.tell().content()), encoding="utf-8")


def run_job(function: str, place: Path, events: int) -> NoReturn:
    """In the child: run the function on the request of the folder `place`, leave its answer there, and end.

    `events` is the file descriptor to which :func:`doing` writes.
    """
    os.environ[EVENTS] = str(events)
    _limit_data()
    prepare_paddle()
    if os.environ.get(WATCHED):
        _WATCHING.append(Watch())
    answer = _run_child(function, place)
    _leave_what_was_seen(place)
    draft = place / "answer.draft"  # a full disk must leave no half an answer
    try:
        draft.write_text(answer, encoding="utf-8")
        draft.rename(place / ANSWER)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        doing("writing the answer", **{NO_ROOM_LEFT: True})
        _exit_now(ExitCode.ENVIRONMENT)
    _exit_now(ExitCode.PASSED)
