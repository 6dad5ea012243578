"""The one funnel: whatever escapes a verb becomes a message and an exit code here, and nowhere else."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from errno import EACCES, ELOOP, ENAMETOOLONG, EPERM, EROFS
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import typer

from exporter.base.errors import ADVICE, ExitCode, ExporterError, Refusal, printable

if TYPE_CHECKING:
    from exporter.base.diagnostics import Diagnostic

#: That a verb passed, or what it came to instead.
Ending: TypeAlias = ExitCode | Refusal
#: A verb takes its options as parameters.
Verb: TypeAlias = Callable[..., Ending]

#: What typer raises for a wrong command line; it brings its own copy of click in newer versions.
_COMMAND_LINE_ERROR: type[Any] = typer.BadParameter.__mro__[1]
#: New objects before garbage is looked for: what a verb imports makes a hundred thousand, and all of them stay.
_COLLECTED = 20_000
#: What messages call the stream in place of a path.
_OUTPUT = "standard output"
_ABORT = (KeyboardInterrupt, typer.Abort)
#: What a verb works in until its command has ended, such as a temporary folder.
_HELD = contextlib.ExitStack()
T = TypeVar("T")


@dataclass(frozen=True)
class _Failure:
    """Why a command ended: what is wrong, where, what to do about it, the exit code, and what was found of the code."""

    what: str
    where: str
    hint: str
    exit: ExitCode
    findings: tuple[Diagnostic, ...] = ()

    @property
    def advice(self) -> str:
        """Return what to do: the hint, or the general advice for the exit code."""
        return self.hint or ADVICE[self.exit]

    def to_json(self) -> dict[str, object]:
        """Return the object under `error` that a command prints with --json."""
        told = {"what": self.what, "where": self.where, "hint": self.advice, "exit": self.exit}
        findings = [finding.to_json() for finding in self.findings]
        return {**told, "findings": findings} if findings else told


def until_the_end(context: contextlib.AbstractContextManager[T]) -> T:
    """Enter a context that is left when the command ends, however that is."""
    return _HELD.enter_context(context)


def run(app: typer.Typer, arguments: Sequence[str]) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    command = typer.main.get_command(app)
    gc.freeze()
    gc.enable()
    gc.set_threshold(_COLLECTED)
    as_json, debug = "--json" in arguments, "--debug" in arguments
    _make_sure_of_streams()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `docker stop` and CI: as patient as Ctrl-C
    hint = ""
    try:
        with _HELD:
            status = command.main(list(arguments), prog_name="exporter", standalone_mode=False)
        if status == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt  # typer swallows it and returns this status (0.15 and later)
        ended = _ended(status)
        code, hint = int(ended.exit), "" if as_json or not ended.exit else _advice(ended.hint, ended.exit)
    except _ABORT:
        code = _say(_Failure("interrupted", "", "", ExitCode.INTERRUPTED), as_json)
    except _COMMAND_LINE_ERROR as error:
        where = error.ctx.command_path if error.ctx else "exporter"
        code = _say(_Failure(error.format_message(), where, _meant(error, where), ExitCode.USAGE), as_json)
    except ExporterError as error:
        if debug:
            _traceback()
            sys.stderr.write(getattr(error, "details", ""))
        findings = tuple(getattr(error, "findings", ()))
        code = _say(_Failure(error.what, error.where, error.hint, ExitCode(error.exit_code), findings), as_json)
    except SystemExit:
        code = ExitCode.INTERRUPTED
    except Exception as error:
        if debug:
            _traceback()
        failure = _of_the_system(error) or _of_ours(error)
        code = _say(failure, as_json and failure.where != _OUTPUT)
    code = _flush(code)  # what to try comes behind all that was told
    with contextlib.suppress(OSError):
        sys.stderr.write(hint)
    sys.exit(code)


def _meant(error: Any, where: str) -> str:
    """Return the hint about a wrong command line: the option or verb that is near, and where all of them are listed."""
    near = sorted(getattr(error, "possibilities", None) or ())
    if word := getattr(error, "option_name", "") if near else "":
        near.sort(key=lambda option: (not word.startswith(option) and not option.startswith(word), option))
    elif suggested := re.search("Did you mean '([^']+)'", error.format_message()):
        near = [f"{where} {suggested[1]}"]
    return f"write {near[0]}; {where} --help lists what there is" if near else f"{where} --help"


def _ended(status: object) -> Refusal:
    """Return the outcome of a command; typer itself returns an exit code, as for `--help`."""
    if isinstance(status, Refusal):
        return status
    return Refusal(ExitCode(status) if isinstance(status, int) else ExitCode.PASSED)


def _advice(hint: str, code: int) -> str:
    return f"  try: {printable(hint or ADVICE[ExitCode(code)])}\n"


def _traceback() -> None:
    import traceback

    traceback.print_exc()


def _flush(code: int) -> int:
    """Write what is left of the output, and return the exit code: an output that is lost is no success."""
    try:
        sys.stdout.flush()
    except OSError as error:
        what, hint = f"the output could not be written: {error.strerror}", "free space, or write it elsewhere"
        _say(_Failure(what, _OUTPUT, hint, ExitCode.ENVIRONMENT), as_json=False)
        return code or ExitCode.ENVIRONMENT
    return code


class _Stream(FileIO):
    """A standard stream. Where its reader leaves, as `head` does, the rest goes nowhere: the verb ends as it would.

    Any other fault is raised once, with the stream's name, and what is still in the buffer is dropped.
    """

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except BlockingIOError:
            raise
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if not isinstance(error, BrokenPipeError):
                error.filename = _OUTPUT
                raise
            return memoryview(content).nbytes


def _make_sure_of_streams() -> None:
    """Whoever closed a standard stream wants to see nothing of it.

    Its number must not go to the next file that is opened: a child would write its output into that. And a locale
    without UTF-8 must not turn a letter in a name or a reason into a crash.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, TextIOWrapper):
            continue
        stream.reconfigure(errors="backslashreplace")
        if isinstance(getattr(stream.buffer, "raw", stream.buffer), FileIO):  # not what a test has put there
            stream.flush()
            raw = _Stream(stream.fileno(), "w", closefd=False)
            buffer = raw if isinstance(stream.buffer, FileIO) else BufferedWriter(raw)  # raw: PYTHONUNBUFFERED
            by_line, at_once = stream.line_buffering, stream.write_through
            setattr(sys, name, TextIOWrapper(buffer, stream.encoding, stream.errors, None, by_line, at_once))


def _say(failure: _Failure, as_json: bool) -> int:
    if as_json:
        import json

        try:
            sys.stdout.write(json.dumps({"error": failure.to_json()}) + "\n")
            sys.stdout.flush()
        except OSError:  # then somebody has to learn it in another way
            as_json = False
    if not as_json:
        once = not failure.where or failure.what.startswith(failure.where)
        where = "" if once else f"{printable(failure.where)}: "
        lines = map(printable, failure.what.splitlines() or [""])
        sys.stderr.write(f"error: {where}" + "\n  | ".join(lines) + "\n")
        for finding in failure.findings:
            at = finding.location
            place = ":".join(str(part) for part in (at.path, at.line, at.column) if part)
            said = f"{place}: {finding.severity.value} {finding.code}: {finding.message}"
            sys.stderr.write(f"  found: {printable(said)}\n")
        sys.stderr.write(_advice(failure.advice, failure.exit))
    return int(failure.exit)


def _of_the_system(error: BaseException) -> _Failure | None:
    """What no program can help: no permission, no room, a path that cannot be. None for anything else."""
    from exporter.base.files import NO_ROOM

    if not isinstance(error, OSError) or error.errno not in (*NO_ROOM, EACCES, EPERM, EROFS, ENAMETOOLONG, ELOOP):
        return None
    hint = "check the path, who may read and write there, and the space that is left"
    kind = ExitCode.ENVIRONMENT if error.errno in NO_ROOM else ExitCode.USAGE
    return _Failure(str(error.strerror), str(error.filename or ""), hint, kind)


def _of_ours(error: BaseException) -> _Failure:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    what = f"a bug of ours: {type(error).__name__}: {error}"
    return _Failure(what, where, "", ExitCode.BUG)
