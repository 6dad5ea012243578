"""What can go wrong, and how a process says so.

    ExporterError                       what / where / hint, and an exit code
    ├── UsageError              2       the command line, a spec, a recipe or an input file is wrong
    ├── EnvironmentLacks        3       this machine cannot do what was asked (no GPU, no engine, no package)
    ├── ModelError              4       the model cannot be exported
    │   ├── NotATensor          4       forward returns what is no tensor
    │   ├── ChildFailed         4       a child raised something that is not one of ours
    │   ├── CannotRun           4       the model of a spec cannot be built, or forward fails at a promised size
    │   ├── ChildCrashed        4       a child died by a signal
    │   ├── ChildTimedOut       4       a child used up its limit of seconds
    │   └── ChildOutOfMemory    4       a child grew past its memory limit
    └── BundleError             5       the bundle is damaged, tampered with or not trusted

Everything else that escapes is a bug of ours and exits 70. `KeyboardInterrupt` exits 130.
The gate's own "no" (exit 1) is a verdict, not an exception: a `Refusal`.

Whatever is no pass ends in `try:` and one command or edit: the `hint` of an error or a refusal, or what `ADVICE` says
of its exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import ValidationError

    from exporter.base.diagnostics import Diagnostic


#: As many names are listed beside the one that was likely meant.
_FEW = 12


class ExitCode(IntEnum):
    """The contract of every verb. Of several, the highest of 5, 4, 3, 1 wins."""

    PASSED = 0
    REFUSED = 1
    USAGE = 2
    ENVIRONMENT = 3
    MODEL = 4
    BUNDLE = 5
    BUG = 70
    INTERRUPTED = 130


#: What to try where nothing closer is known.
ADVICE = {
    ExitCode.REFUSED: "exporter verify BUNDLE, which says what does not hold, and where it came in",
    ExitCode.USAGE: "exporter VERB --help, which lists the arguments and options",
    ExitCode.ENVIRONMENT: "exporter doctor, which says what this machine lacks, and the cure",
    ExitCode.MODEL: "the same command with --debug, which shows where it failed",
    ExitCode.BUNDLE: "exporter release SPEC, which makes the bundle anew; or get a fresh copy of it",
    ExitCode.BUG: "the same command with --debug, and send us what it prints",
    ExitCode.INTERRUPTED: "the same command again; what trains goes on with --resume",
}


@dataclass(frozen=True)
class Refusal:
    """A result that is no pass, told in full already: its exit code, and what to try."""

    exit: ExitCode
    hint: str = ""


class ExporterError(Exception):
    """A mistake that a user can mend.

    `what` is wrong, `where` (a path, a line, a key) and what to do about it (`hint`).
    """

    exit_code = ExitCode.BUG

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        once = not self.where or self.what.startswith(self.where)
        return self.what if once else f"{self.where}: {self.what}"


class UsageError(ExporterError):
    """The command line, a spec, a recipe or an input file is wrong."""

    exit_code = ExitCode.USAGE


class EnvironmentLacks(ExporterError):
    """This machine cannot do what was asked."""

    exit_code = ExitCode.ENVIRONMENT


class ModelError(ExporterError):
    """The model cannot be exported; `findings` says so as `check` does, with what else was found of its code."""

    exit_code = ExitCode.MODEL
    findings: tuple[Diagnostic, ...] = ()


class NotATensor(ModelError):
    """`forward` returns what is no tensor, which no program holds."""


class RankLost(ModelError):
    """Another process of a data-parallel training ended, so that this one cannot go on."""


class ChildFailed(ModelError):
    """A child raised an exception that is not ours; `details` holds its traceback."""

    def __init__(self, what: str, *, where: str = "", hint: str = "", details: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.details = details


class CannotRun(ChildFailed):
    """The model of a spec cannot be built, or `forward` fails at a size that the spec promises."""

    @classmethod
    def of(cls, error: ModelError) -> CannotRun:
        """What a child that tried the model raised, as the model's fault."""
        details = error.details if isinstance(error, ChildFailed) else ""
        return cls(error.what, where=error.where, hint=error.hint, details=details)


class ChildCrashed(ChildFailed):
    """A child died by a signal; `details` holds the end of its standard error."""


class ChildTimedOut(ChildFailed):
    """A child computed or did nothing for longer than its limit and was killed; waiting for a processor is neither."""


class ChildOutOfMemory(ChildFailed):
    """A child grew past its memory limit and was killed."""


class BundleError(ExporterError):
    """The bundle is damaged, tampered with or not trusted."""

    exit_code = ExitCode.BUNDLE


#: The classes a child may name in its answer; the parent raises the same one again.
BY_NAME: dict[str, type[ExporterError]] = {
    kind.__name__: kind for kind in (UsageError, EnvironmentLacks, ModelError, NotATensor, RankLost, BundleError)
}


def closest(name: str, known: Iterable[str]) -> str:
    """The known name that an unknown one was likely meant to be, whatever its case; "" where none is near."""
    import difflib

    listed = tuple(known)
    plain = {other.lower(): other for other in reversed(listed)}
    if close := difflib.get_close_matches(name, listed, n=1):
        return close[0]
    return "".join(plain[other] for other in difflib.get_close_matches(name.lower(), plain, n=1))


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "one of: {}") -> str:
    """The hint of every error about an unknown name: the closest known one, and `otherwise` with all of them.

    Where one is close, more than a few others are left out, and so is an `otherwise` that lists none.
    """
    listed = tuple(known)
    close, all_of_them = closest(name, listed), otherwise.format(", ".join(listed) or "none")
    if not close:
        return all_of_them
    return f"did you mean '{close}'?" + (f" {all_of_them}" if "{}" in otherwise and len(listed) <= _FEW else "")


def did_you_mean_file(path: Path, otherwise: str, pattern: str = "*") -> str:
    """The hint about a file that is not there: the one beside it whose name is closest, else `otherwise`."""
    names = {other.name for other in path.parent.glob(pattern)} - {path.name}  # a link that leads nowhere is there
    close = closest(path.name, sorted(names))
    return f"did you mean '{path.parent / close}'?" if close else otherwise


def printable(text: str) -> str:
    """One line of a terminal: what cannot be printed is escaped, since a name may come from a stranger's file.

    A newline or an escape sequence in the name of a file could else forge a line that says PASSED, and a name like
    `::error::` an annotation.
    """
    return harmless("".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text))


def harmless(line: str) -> str:
    """The line, with a blank where GitHub's runner could take it for a command of a workflow.

    The runner reads every line that a step writes (actions/runner, `src/Runner.Common/ActionCommand.cs`): one that
    begins with `::`, blanks before it aside, and one that holds `##[name]` anywhere, is a command if it knows the name.
    """
    line = line.replace("##[", "## [")
    return line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Where the first fault of a validation by pydantic lies, as `cases.0.name` (empty: at the top), and what it is."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"]
