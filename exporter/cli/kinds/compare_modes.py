"""`exporter compare-modes`: eager against static, measured: training, forward, memory, export, and served."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.base.errors import ExitCode, ModelError, UsageError
from exporter.cli.options import Debug, Device, Json, Quiet, Timeout
from exporter.cli.run import Ending, Verb

if TYPE_CHECKING:
    from exporter.bundle.open import Bundle
    from exporter.process.workers import Setting
    from exporter.spec.model import Spec

_Recipe = Annotated[str, typer.Argument(help="digits, recipes/digits.py or recipes.digits:recipe", metavar="RECIPE")]
_Modes = Annotated[str | None, typer.Option("--modes", help="Only these, separated by commas; all by default.")]
_Epochs = Annotated[int | None, typer.Option("--epochs", help="Of each training; as many as the recipe says.", min=1)]
_Steps = Annotated[int | None, typer.Option("--steps", help="End each training after so many steps.", min=1)]
_Batches = Annotated[str, typer.Option("--batches", help="Batch sizes at which forward is timed.")]
_Rounds = Annotated[int, typer.Option("--rounds", help="Processes of each mode; 5 and more give verdicts.", min=1)]
_Serve = Annotated[float, typer.Option("--serve", help="Seconds for each service in each round; 0: none.", min=0)]
_Clients = Annotated[int, typer.Option("--clients", help="That ask a service at once.", min=1, max=256)]
_Threads = Annotated[int, typer.Option("--threads", min=1, help="That a mode may compute in.")]
_Seed = Annotated[int, typer.Option("--seed", help="Of weights, batches and the order of turns.", min=0, max=2**32 - 1)]
_Page = Annotated[
    Path | None,
    typer.Option("--page", help="Write a page: .html, one file; .md, with its charts beside it.", metavar="FILE"),
]


def compare_modes(  # noqa: PLR0913 - an option is a parameter
    recipe: _Recipe,
    modes: _Modes = None,
    epochs: _Epochs = None,
    steps: _Steps = None,
    batches: _Batches = "1,8,32",
    rounds: _Rounds = 5,
    serve: _Serve = 2.0,
    clients: _Clients = 8,
    threads: _Threads = 1,
    seed: _Seed = 0,
    page: _Page = None,
    device: Device = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Train RECIPE by eager, by to_static (AST, SOT, CINN) and as a static Program, and compare what it takes.

    Each mode has a process of its own in each round, with the same data and seeds; ratios to eager have intervals.
    Then eager and its exported artifacts are asked behind the same HTTP service. A mode that is not possible here is
    named; one that --modes asks for is refused.
    """
    del debug  # the funnel looks for it
    from exporter.cli.progress import setting
    from exporter.deploy.modes.page import require_page, write_page
    from exporter.deploy.modes.result import Wish
    from exporter.deploy.modes.run import compare
    from exporter.deploy.modes.text import as_markdown

    if page is not None:
        require_page(page)
    wish = Wish(
        recipe,
        tuple(modes.split(",")) if modes else (),
        epochs,
        steps,
        _sizes(batches),
        rounds,
        serve=serve,
        clients=clients,
        threads=threads,
        seed=seed,
        device=device or "cpu",
    )
    with setting(quiet=quiet, timeout=timeout) as how:
        found = compare(wish, how, converted)
    if page is not None:
        write_page(page, found)
    if as_json:
        sys.stdout.write(json.dumps(found.to_json()) + "\n")
    else:
        sys.stdout.write(as_markdown(found))
    return ExitCode.PASSED


def converted(spec: Spec, into: Path, setting: Setting) -> Bundle:
    """Convert for :mod:`exporter.deploy.modes.served`; raises ModelError where findings forbid it."""
    from exporter.pipeline import convert

    product = convert(spec, into, setting)
    if product.bundle is None:
        what = f"check forbids an export: {product.findings[0].message}"
        raise ModelError(what, hint="see exporter check, which says what to change")
    return product.bundle


def _sizes(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isdecimal() and int(word) for word in words):
        raise UsageError(f"'{text}' is no list of batch sizes", where="--batches", hint="give whole numbers, as 1,8,32")
    return tuple(map(int, words))


plugin: Verb = compare_modes
