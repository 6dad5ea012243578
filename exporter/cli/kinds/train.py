"""`exporter train`: from a recipe to a checkpoint."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exporter.base.errors import ExitCode, Refusal
from exporter.cli.options import Debug, Device, Json, Out, Quiet, Timeout
from exporter.cli.run import Ending, Verb

if TYPE_CHECKING:
    from exporter.train.run import TrainResult

_Recipe = Annotated[str, typer.Argument(help="digits, recipes/digits.py or recipes.digits:recipe", metavar="RECIPE")]
_Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.", min=0, max=2**32 - 1)]
_Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run that was interrupted, bit for bit.")]
_Qat = Annotated[
    Path | None,
    typer.Option("--qat", help="Fine-tune this float32 checkpoint with 8-bit rounding (QAT).", metavar="CHECKPOINT"),
]
_Epochs = Annotated[int | None, typer.Option("--epochs", help="Instead of as many as the recipe says.", min=1)]
_Ranks = Annotated[
    int, typer.Option("--ranks", help="Processes that share the rows of each batch; a GPU each.", min=1, max=64)
]
_Doctor = Annotated[bool, typer.Option("--doctor", help="Train nothing; say what gets no gradient, and why.")]
_Log = Annotated[
    list[str] | None,
    typer.Option("--log", help="Curves for tensorboard or visualdl, in the run's folder.", metavar="NAME"),
]
_Arguments = Annotated[
    list[str] | None,
    typer.Option("--arg", help="An argument of the recipe's build; `args` in a spec.", metavar="NAME=VALUE"),
]


def train(  # noqa: PLR0913 - an option is a parameter
    recipe: _Recipe,
    out: Out = None,
    seed: _Seed = 0,
    resume: _Resume = False,
    epochs: _Epochs = None,
    qat: _Qat = None,
    arguments: _Arguments = None,
    ranks: _Ranks = 1,
    doctor: _Doctor = False,
    log: _Log = None,
    device: Device = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Train RECIPE into a folder of its own in runs/NAME: checkpoint, metrics, a plot, and all to resume it.

    runs/NAME/best names the run with the best metric, which release and gate take; --out DIR stands for itself.
    """
    from exporter.spec.read import apply_override
    from exporter.spec.recipe.source import default_folder, recipe_reference
    from exporter.train import run
    from exporter.train.document import BEST_RUN
    from exporter.train.progress import shown
    from exporter.train.runs import Runs

    reference = recipe_reference(recipe)
    home = default_folder(reference)
    into = out or (home.with_name(f"{home.name}.qat") if qat else home)
    given: dict[str, Any] = {}
    for text in arguments or ():
        apply_override(given, text, "--arg")
    request = run.TrainRequest(
        *(reference, into, seed, epochs, device or "auto", qat),
        qat=qat is not None,
        args=given,
        ranks=ranks,
        log=tuple(log or ()),
    )
    if doctor:
        from exporter.cli.gradients import show

        return show(run.examine(request, timeout=timeout), as_json=as_json)
    runs = Runs(request) if out is None and qat is None else None
    request = runs.placed() if runs else request
    try:
        run.check(request, resume=resume)
        if not (resume and run.finished(request)):
            note = run.rehearse(request, timeout=timeout)
            if note and not quiet:
                sys.stderr.write(f"note: {note}\n")
        with shown(sys.stderr, quiet=quiet) as on_event:
            result = run.train(request, resume=resume, timeout=timeout, on_event=on_event)
    except KeyboardInterrupt:
        if not quiet and run.resumable(request):
            sys.stderr.write("saved; the same command with --resume goes on from there\n")
        raise
    best = runs.point(result) if runs else None
    if as_json:
        told = {**asdict(result), "checkpoint": str(result.checkpoint), "best": str(best) if best else None}
        del told["reused"]  # what a release has to know
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        kept = f"{home / BEST_RUN}: {best.name if best else 'none with as many epochs as the recipe says'}"
        sys.stdout.writelines(f"{line}\n" for line in _lines(result, kept if runs else "", request.log))
    return Refusal(ExitCode.REFUSED, run.TRAIN_BETTER) if result.shortfall else ExitCode.PASSED


def _lines(result: TrainResult, kept: str, logs: Sequence[str]) -> Iterator[str]:
    """What is said of a finished run; `kept` tells of `runs/NAME/best`."""
    from exporter.train.log import viewer

    yield f"{result.checkpoint}: {result.metric} {result.value:.4f} (epoch {result.epoch} of {result.epochs})"
    if kept:
        yield kept
    for name in logs:
        yield viewer(name, result.checkpoint.parent)
    if result.shortfall:
        yield result.shortfall


plugin: Verb = train
