"""The child's side of :mod:`exporter.workers`: run the function that is asked for, and leave its answer."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from exporter.answers import ANSWER, DATA_LIMIT, EVENTS, NO_ROOM_LEFT, read_answer
from exporter.errors import BY_NAME, ExitCode, ExporterError
from exporter.files import NO_ROOM
from exporter.paddle.child import prepare_paddle
from exporter.watch import SEEN, WATCHED, watch
from exporter.workers import Json, doing


def _run_child(function: str, place: Path) -> str:
    """Run the function on the request; return its answer as JSON."""
    module, _, name = function.partition(":")
    request = json.loads((place / "request.json").read_text())
    return _told(lambda: getattr(importlib.import_module(module), name)(request))


def aside(run: Callable[[], Json]) -> Json:
    """In a child: run something in a fork of it, on all that it has built, and leave that as it was.

    Where the fork dies or leaves without an answer, so does this process: whoever asked hears of one child.

    Raises:
        ExporterError, ChildFailed: what `run` raised.
    """
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place, ANSWER)
        if (pid := os.fork()) == 0:
            try:
                answer.write_text(_told(run))
            finally:
                _exit_now(0)
        _, status = os.waitpid(pid, 0)
        if (code := os.waitstatus_to_exitcode(status)) < 0:
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        if not answer.is_file():
            os._exit(code)
        return read_answer(answer)


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

        from exporter.references import blamed_line

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


def run_job(function: str, place: Path, events: int) -> NoReturn:
    """In the child: run the function on the request of the folder `place`, leave its answer there, and end.

    `events` is the file descriptor to which :func:`doing` writes.
    """
    os.environ[EVENTS] = str(events)
    _limit_data()
    prepare_paddle()
    seen = watch() if os.environ.get(WATCHED) else None
    answer = _run_child(function, place)
    if seen is not None:
        with contextlib.suppress(OSError):  # then nothing is known of what it read
            (place / SEEN).write_text(json.dumps(seen().to_json()), encoding="utf-8")
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
