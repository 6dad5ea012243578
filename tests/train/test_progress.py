from __future__ import annotations

import io
from typing import Any

import pytest

from exporter.train.progress import Bar, Epochs, Lines, Meter, shown


def step(epoch: int, number: int, loss: float) -> dict[str, Any]:
    return {"doing": "training", "epoch": epoch, "epochs": 2, "step": number, "steps": 100, "loss": loss}


def finished(epoch: int, loss: float, f1: float, best: bool) -> dict[str, Any]:
    row = {"epoch": epoch, "steps": 100, "loss": loss, "held_out_loss": 0.25, "f1": f1, "learning_rate": 0.1}
    return {"doing": "finished epoch", "epochs": 2, "metric": "f1", "row": {**row, "best": best}}


#: (seconds since the event before, event): what a child says while it trains two epochs, the second one slowly.
EVENTS: list[tuple[float, dict[str, Any]]] = [
    (0, {"doing": "loading paddle"}),
    (2, {"doing": "loading the data"}),
    (1, {"doing": "building the model"}),
    (0, step(1, 1, 2.5)),
    (5, step(1, 51, 1.5)),
    (5, {"doing": "evaluating", "epoch": 1, "epochs": 2}),
    (0, {"doing": "saved", "epoch": 1, "step": 0}),
    (0, finished(1, 1.25, 0.5, True)),
    (10, step(2, 1, 1.0)),
    (31, step(2, 20, 0.9)),
    (5, step(2, 40, 0.8)),
    (5, finished(2, 0.75, 0.25, False)),
    (0, {"doing": "drawing the losses"}),
]

LINES = """\
loading paddle
loading the data
epoch 1/2  loss 1.2500  held out 0.2500  f1 0.5000  best  9.9 batches/s  0:10 left
epoch 2/2  step 20/100  loss 0.9000  2.3 batches/s  0:34 left
epoch 2/2  loss 0.7500  held out 0.2500  f1 0.2500  3.3 batches/s  0:00 left
drawing the losses
"""


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_lines_are_these() -> None:
    clock, stream = Clock(), io.StringIO()
    show = Lines(stream, clock)
    for seconds, event in EVENTS:
        clock.now += seconds
        show(event)
    assert stream.getvalue() == LINES


def test_among_other_steps_only_the_epochs_are_said_and_of_which_recipe() -> None:
    """As `release` and `gate` say them, where several train at once."""
    clock, said = Clock(), list[str]()
    tell = Epochs(said.append, "recipes.cats:recipe ", clock)
    for seconds, event in EVENTS:
        clock.now += seconds
        tell(event)
    assert said == [f"recipes.cats:recipe {line}" for line in LINES.splitlines() if line.startswith("epoch")]


def test_a_loop_of_unknown_length_is_shown_by_its_steps_and_what_it_does_not_log_is_left_out() -> None:
    clock, stream = Clock(), io.StringIO()
    show = Lines(stream, clock)
    show({**step(1, 1, 2.5), "steps": 0})
    clock.now += 31
    show({**step(1, 9, 1.5), "steps": 0})
    show(
        {
            "doing": "finished epoch",
            "epochs": 2,
            "metric": "f1",
            "row": {"epoch": 1, "steps": 0, "f1": 0.5, "best": True},
        }
    )
    show({"doing": "note: fit is told of"})
    assert stream.getvalue().splitlines() == [
        "epoch 1/2  step 9  loss 1.5000  – batches/s  –:– left",
        "epoch 1/2  f1 0.5000  best  – batches/s  –:– left",
        "note: fit is told of",
    ]


def test_no_name_of_a_metric_is_a_command_of_githubs_runner() -> None:
    stream = io.StringIO()
    Lines(stream)({"doing": "loading ##[error]data\n::error::x"})
    assert "##[" not in stream.getvalue() and stream.getvalue().count("\n") == 1


def test_a_resumed_run_does_not_count_what_was_done_before() -> None:
    clock = Clock()
    meter = Meter(clock)
    assert str(meter) == "– batches/s  –:– left"
    meter.update({"doing": "training", "epoch": 91, "epochs": 100, "step": 1, "steps": 1000, "loss": 0.0})
    clock.now += 10
    meter.update({"doing": "training", "epoch": 91, "epochs": 100, "step": 21, "steps": 1000, "loss": 0.0})
    assert str(meter) == "2.0 batches/s  1:23:10 left"


def test_a_bar_moves_on_a_terminal_and_leaves_a_line_for_each_epoch() -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120)
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}"), console=console
    ) as bar:
        show = Bar(bar)
        for _, event in EVENTS:
            show(event)
        task = bar.tasks[0]
        assert (task.completed, task.total, task.description) == (200, 200, "drawing the losses")
    said = stream.getvalue()
    assert "epoch 1/2  loss 1.2500  held out 0.2500  f1 0.5000  best" in said
    assert "━" in said


def test_lines_where_there_is_no_terminal_and_nothing_when_quiet() -> None:
    stream = io.StringIO()
    with shown(stream) as on_event:
        assert isinstance(on_event, Lines)
    with shown(stream, quiet=True) as on_event:
        assert on_event is None
    assert stream.getvalue() == ""


def test_a_terminal_gets_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    with shown(stream) as on_event:
        assert isinstance(on_event, Bar)
        for _, event in EVENTS:
            on_event(event)
    assert "epoch 2/2  loss 0.7500" in stream.getvalue()
