"""Progress of a command that takes many steps: always on stderr, a line a step; a moving line on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import UsageError, printable
from exporter.process.answers import Event
from exporter.process.workers import Limits, Setting
from exporter.train.progress import describe

if TYPE_CHECKING:
    from exporter.gate.reuse.release import Releases

#: Seconds of processor time, or of doing nothing, that one child may take, unless --timeout says otherwise.
DEFAULT_TIMEOUT = 300.0


@contextmanager
def setting(*, quiet: bool, timeout: float | None, jobs: int = 0, live: bool = True) -> Iterator[Setting]:
    """Yield how the pipeline shall run: its limits, and where it says what it does.

    The moving line (`live`) is drawn by a thread, which does not get on with forks of this process.
    """
    limits, follows = Limits(seconds=timeout or DEFAULT_TIMEOUT), timeout is None
    if quiet:
        yield Setting(limits, jobs=jobs, follows_costs=follows)
    elif not live or not sys.stderr.isatty():
        yield Setting(limits, say=_line, jobs=jobs, follows_costs=follows)
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console(stderr=True)
        with console.status("starting") as status:

            def say(step: str) -> None:
                console.print(f"[dim]·[/dim] {escape(printable(step))}", highlight=False)
                status.update(escape(printable(step)))

            def follow(event: Event) -> None:
                status.update(escape(printable(describe(event) or event["doing"])))

            yield Setting(limits, follow, say, jobs, follows)


def known_releases(cache: Path | None, *, no_cache: bool, why: bool, written: tuple[Path, ...] = ()) -> Releases | None:
    """The releases that are kept; with `why` stderr hears of each step what was reused or made.

    `written` are the reports that the command writes, which no release reads.

    Raises:
        UsageError: `why` is asked, and no cache is to be used.
    """
    from exporter.gate.reuse.release import releases

    if why and no_cache and cache is None:
        raise UsageError("there is no cache to tell of", where="--why", hint="leave --no-cache out, or name a --cache")
    tell: Callable[[object], None] = (lambda step: _line(str(step))) if why else (lambda _step: None)
    return releases(cache, tell, none=no_cache, written=written)


def _line(step: str) -> None:
    sys.stderr.write(f"· {printable(step)}\n")
    sys.stderr.flush()
