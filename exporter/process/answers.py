"""What a child says and leaves, read as a stranger's: it may have been taken over by what it ran.

Its progress are lines of JSON on a pipe, its answer is one JSON file. Both are bounded, and hold what was agreed on;
else the line is dropped, and the child counts as crashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypedDict, cast

from exporter.base.bounded_json import parse_json
from exporter.base.errors import BY_NAME, ChildCrashed, ChildFailed, ExporterError, UsageError
from exporter.base.files import read_regular
from exporter.base.watch import Seen

#: What a child is told by its environment: where its progress goes, and how much memory it may take.
EVENTS, DATA_LIMIT = "EXPORTER_EVENTS_FD", "EXPORTER_DATA_LIMIT"
#: The file of the answer, and the key of a line of progress that says that there was no room for it.
ANSWER, NO_ROOM_LEFT = "answer.json", "no_room"
#: Characters of what a child says that it does, and bytes of a line of progress.
MOST_SAID, MOST_LINE = 2000, 1 << 16
#: Bytes of an answer, and values in it: the largest are the digests of all tensors, and the layers of a large network.
MOST_ANSWER, MOST_VALUES = 256 << 20, 3_000_000
#: What to try where a child's end tells nothing.
LAST_WORDS = "run it again with --debug, to see what the child said last"
_ERROR = ("kind", "what", "where", "hint", "details")


class _Doing(TypedDict):
    doing: str


class Event(_Doing, total=False):
    """A line of progress: what the child does now, and what else a follower may want to know.

    Only the texts up to `format` are checked when a line is read, and other keys pass: the rest is what training tells
    of its own run (`epoch` to `row`), and the gate of an engine's (`ran`, `seconds`).
    """

    stage: str
    case: str
    format: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    metric: str
    row: Mapping[str, Any]
    ran: str
    seconds: float


def read_events(stream: IO[bytes]) -> Iterator[Event]:
    """Yield each line of progress as it comes, until the pipe is closed; what is none is dropped."""
    whole = True  # whether what was read begins a line
    while line := stream.readline(MOST_LINE):
        complete = line.endswith(b"\n")
        event = _event(line) if whole and complete else None
        whole = complete
        if event is not None:
            yield event


def _event(line: bytes) -> Event | None:
    try:
        event = parse_json(line, escape=True)
    except ValueError:
        return None
    known = isinstance(event, dict) and isinstance(event.get("doing"), str)
    texts = known and all(isinstance(event.get(key, ""), str) for key in ("stage", "case", "format"))
    return cast(Event, event) if texts else None


def read_answer(path: Path) -> dict[str, Any]:
    """The result that a child has left.

    Raises:
        ExporterError: what it raised, if that was one of ours.
        ChildFailed: it raised anything else.
        ChildCrashed: what it left is no answer.
        KeyboardInterrupt: it was interrupted.
    """
    try:
        content = parse_json(read_regular(path, MOST_ANSWER), MOST_VALUES, escape=True)
    except (UsageError, ValueError) as error:
        raise ChildCrashed(f"the child left an answer that cannot be read: {error}", hint=LAST_WORDS) from error
    kind, value = next(iter(content.items()), ("", None)) if isinstance(content, dict) else ("", None)
    if kind == "interrupted":
        raise KeyboardInterrupt
    if kind == "error" and isinstance(value, dict) and all(isinstance(value.get(key), str) for key in _ERROR):
        raise _revive(value)
    if kind != "result" or not isinstance(value, dict):
        raise ChildCrashed("the child left an answer that is neither a result nor an error", hint=LAST_WORDS)
    return value


def _revive(error: dict[str, str]) -> ExporterError:
    kind = BY_NAME.get(error["kind"])
    if kind is not None:
        return kind(error["what"], where=error["where"], hint=error["hint"])
    return ChildFailed(error["what"], where=error["where"], hint=error["hint"], details=error["details"])


def read_what_was_seen(path: Path) -> Seen:
    """Return what a child has told of what it read."""
    try:
        return Seen.of(parse_json(read_regular(path, MOST_ANSWER), MOST_VALUES, escape=True))
    except (LookupError, TypeError, ValueError, UsageError):
        return Seen(hidden={"a child that did not tell"})
