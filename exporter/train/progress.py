"""What a person sees of a run while it goes on: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from exporter.base.errors import printable
from exporter.process.answers import Event
from exporter.process.workers import OnEvent

if TYPE_CHECKING:
    from rich.progress import Progress

#: How an event begins that is a line for the user.
NOTE = "note: "
_LINE_EVERY = 30.0  # seconds between two lines within an epoch, where there is no bar


class Meter:
    """Rate and time left, from the events of a child; the clock starts at the first batch that it hears of."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.first: tuple[float, int] | None = None
        self.steps = self.done = self.total = 0

    def update(self, event: Event) -> None:
        """Take note of a `training` or `finished epoch` event."""
        if event["doing"] == "training":
            self.steps = event["steps"]  # 0: not known
            self.done = (event["epoch"] - 1) * self.steps + event["step"]
        else:
            self.steps = event["row"]["steps"]
            self.done = event["row"]["epoch"] * self.steps
        self.total = event["epochs"] * self.steps
        self.first = self.first or (self.clock(), self.done)

    def __str__(self) -> str:
        start, before = self.first or (self.clock(), self.done)
        seconds = self.clock() - start
        if not self.steps or self.done <= before or seconds <= 0:
            return "– batches/s  –:– left"
        rate = (self.done - before) / seconds
        return f"{rate:.1f} batches/s  {_clock_text((self.total - self.done) / rate)} left"


def describe(event: Event) -> str:
    """One line about an event, without rate; "" where there is nothing to say."""
    what = event["doing"]
    if what == "training":
        step = f"{event['step']}/{event['steps']}" if event["steps"] else event["step"]
        return f"epoch {event['epoch']}/{event['epochs']}  step {step}  loss {event['loss']:.4f}"
    if what == "finished epoch":
        row, metric = event["row"], event["metric"]
        keys = (("loss", "loss"), ("held out", "held_out_loss"), (metric, metric))
        said = "  ".join(f"{name} {row[key]:.4f}" for name, key in keys if key in row)
        return f"epoch {row['epoch']}/{event['epochs']}  {said}{'  best' if row['best'] else ''}"
    return what if what.startswith(("loading", "drawing", NOTE)) else ""


class Epochs:
    """Say a line for each epoch, and within a long one every half minute; `of` stands before it, where there are more.

    Among the steps of a release: who hears of them (`say`) has said already what is trained.
    """

    def __init__(self, say: Callable[[str], None], of: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.say = say
        self.of = of
        self.meter = Meter(clock)
        self.said = clock()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if event["doing"].startswith(NOTE):
            self.say(f"{self.of}{event['doing']}")
        if event["doing"] not in ("training", "finished epoch"):
            return
        self.meter.update(event)
        if event["doing"] == "finished epoch" or self.meter.clock() - self.said >= _LINE_EVERY:
            self.said = self.meter.clock()
            self.say(f"{self.of}{describe(event)}  {self.meter}")


class Lines(Epochs):
    """The same on a stream, where nobody else says what is being done."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self._write, clock=clock)
        self.stream = stream

    def __call__(self, event: Event) -> None:
        """Show one event."""
        super().__call__(event)
        if event["doing"].startswith(("loading", "drawing")) and (text := describe(event)):
            self.said = self.meter.clock()
            self._write(text)

    def _write(self, text: str) -> None:
        self.stream.write(printable(text) + "\n")
        self.stream.flush()


class Bar:
    """Move a bar; each finished epoch leaves a line above it."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.task = progress.add_task("starting", total=None, rate="")
        self.meter = Meter()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        text = describe(event)
        if event["doing"] in ("training", "finished epoch"):
            self.meter.update(event)
            self.progress.update(self.task, completed=self.meter.done, total=self.meter.total, rate=str(self.meter))
        if event["doing"] == "finished epoch" or event["doing"].startswith(NOTE):
            self.progress.console.print(text, highlight=False, markup=False)
        elif text:
            self.progress.update(self.task, description=text)


@contextmanager
def shown(stream: TextIO, *, quiet: bool = False) -> Iterator[OnEvent | None]:
    """Yield what to call with each event of a run, to show it on `stream`; None if it shall be quiet."""
    if quiet:
        yield None
        return
    if not stream.isatty():
        yield Lines(stream)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    description = TextColumn("{task.description}", markup=False)
    progress = Progress(
        description, BarColumn(), TextColumn("{task.fields[rate]}"), console=Console(file=stream), transient=True
    )
    with progress:
        yield Bar(progress)


def _clock_text(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
