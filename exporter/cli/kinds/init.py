"""`exporter init`: a first spec for a model, with what its code says filled in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.base.errors import ExitCode, UsageError
from exporter.cli.options import Debug, Json, Timeout
from exporter.cli.run import Verb

if TYPE_CHECKING:
    from exporter.cli.skeleton import Started

_SECONDS = 60.0  # of the child that builds and runs the model
_Name = Annotated[str | None, typer.Argument(help="What the spec is called.", metavar="NAME")]
_Model = Annotated[
    str | None,
    typer.Option("--model", help="module:factory, module:Layer, or a Paddle program: .json, .pdmodel, or its folder."),
]
_From = Annotated[
    str | None,
    typer.Option(
        "--from", help="Instead: a configuration of a family, which is read alone.", metavar="FAMILY:CONFIG.yml"
    ),
]
_Repo = Annotated[Path | None, typer.Option("--repo", help="With --from: a checkout of the family.", metavar="DIR")]
_Recipe = Annotated[bool, typer.Option("--recipe", help="Write recipes/NAME.py as well.")]
_Out = Annotated[Path, typer.Option("--out", help="The folder that holds specs/ and recipes/.", metavar="DIR")]
_Build = Annotated[bool, typer.Option("--build/--no-build", help="Build and run the model too, or only read its code.")]
_Schema = Annotated[bool, typer.Option("--schema", help="Only print the JSON Schema of a spec, for editors.")]


def init(  # noqa: PLR0913 - an option is a parameter
    name: _Name = None,
    model: _Model = None,
    source: _From = None,
    repo: _Repo = None,
    recipe: _Recipe = False,
    out: _Out = Path(),
    build: _Build = True,
    timeout: Timeout = None,
    schema: _Schema = False,
    as_json: Json = False,
    debug: Debug = False,
) -> ExitCode:
    """Write specs/NAME.yaml, with inputs named as forward's parameters; never over a file that is there.

    Where Paddle is installed, the model is built and run: then dtypes, shapes and ranges of the inputs are known, and
    loss and metric of the recipe suit the outputs. A .gitignore for what commands leave behind is written if there is
    none.

    Of a Paddle program nothing runs: it says its inputs itself, and the inference.yml, infer_cfg.yml or deploy.yaml
    beside it says how large they are. What neither says is marked GUESSED.

    With --from, the steps that a configuration of PaddleClas, PaddleDetection, PaddleOCR or PaddleSeg lists say it.
    """
    del debug  # the funnel looks for it
    if schema:
        from exporter.spec.schema import schema as make

        sys.stdout.write(json.dumps(make(), indent=None if as_json else 2) + "\n")
        return ExitCode.PASSED
    _fitting(source, model, repo, recipe=recipe)
    if name is not None and source is not None:
        return _of_family(name, source, repo, out, as_json=as_json)
    if name is None or model is None:
        lacking = "NAME" if name is None else "--model"
        hint = "e.g. exporter init digits --model recipes.digits:build"
        raise UsageError(f"{lacking} is missing", where="exporter init", hint=hint)
    from exporter.spec.source import is_source

    if is_source(model):
        if recipe:
            hint = "leave --recipe out; to train, give --model the module:factory of the layer"
            raise UsageError("a program that is a file cannot be trained", where="--recipe", hint=hint)
        return _of_file(name, model, out, as_json=as_json)
    from importlib.util import find_spec

    from exporter.cli.skeleton import start
    from exporter.process.workers import Limits

    limits = Limits(seconds=timeout or _SECONDS) if build and find_spec("paddle") else None
    _tell(name, start(name, model, out, limits, with_recipe=recipe), recipe=recipe, as_json=as_json)
    return ExitCode.PASSED


def _tell(name: str, done: Started, *, recipe: bool, as_json: bool) -> None:
    """Say what was written, what is known of the model, and what comes next."""
    signature, looked = done.signature, done.looked
    if as_json:
        trial = {"looked": not looked.why, "why": looked.why, "outputs": [str(given) for given in looked.outputs]}
        content = {
            "written": list(map(str, done.written)),
            "inputs": list(signature.required),
            "known": signature.known,
            "decoding": done.step.content() if done.step else None,
        }
        sys.stdout.write(json.dumps(content | trial) + "\n")
        return
    for path in done.written:
        sys.stdout.write(f"{path}\n")
    sys.stdout.write(
        f"inputs {', '.join(signature.required)}\n" if signature.known else "the code does not show the inputs\n"
    )
    if not looked.why:
        sys.stdout.write(f"forward ran, and gives {'; '.join(map(str, looked.outputs))}\n")
    if done.step:
        fed = ", ".join(f"{output} becomes {own}" for own, output in done.step.cache.items())
        known = "by its names one step of a decoder" if looked.why else "it is one step of a decoder"
        sys.stdout.write(f"{known}: {fed}\n")
    if looked.why:
        sys.stdout.write(f"the model was not run: {looked.why}\ncorrect what is marked GUESSED, then run:\n")
    else:
        sys.stdout.write("next:\n")
    spec = done.written[0]
    train = f"  exporter train {name}   # once data() in {done.written[1]} returns your samples\n" if recipe else ""
    sys.stdout.write(f"  exporter check {spec}\n{train}  exporter release {spec}\n")


def _fitting(source: str | None, model: str | None, repo: Path | None, *, recipe: bool) -> None:
    """Make sure that the options name one model; raises UsageError."""
    if source is not None and (model or recipe):
        hint = "leave --model and --recipe out; to train, give --model the module:factory of the layer"
        raise UsageError("--from names a model already", where="exporter init", hint=hint)
    if source is None and repo is not None:
        raise UsageError("--repo goes with --from", where="exporter init", hint="add --from FAMILY:CONFIG.yml")


def _of_file(name: str, model: str, out: Path, *, as_json: bool) -> ExitCode:
    """Write the spec of a program that is a file, and say what it leaves open."""
    from exporter.cli.source_skeleton import start_from_file

    started = start_from_file(name, Path(model), out)
    if as_json:
        content = {"written": list(map(str, started.written)), "inputs": list(started.inputs), "known": True}
        trial = {"looked": True, "why": "", "outputs": list(started.outputs), "guessed": list(started.guessed)}
        sys.stdout.write(json.dumps(content | trial) + "\n")
        return ExitCode.PASSED
    for path in started.written:
        sys.stdout.write(f"{path}\n")
    guessed = f"nothing says {', '.join(started.guessed)}: correct what is marked GUESSED, then run:"
    sys.stdout.write(f"inputs {', '.join(started.inputs)}\n{guessed if started.guessed else 'next:'}\n")
    sys.stdout.write(f"  exporter check {started.written[0]}\n  exporter release {started.written[0]}\n")
    return ExitCode.PASSED


def _of_family(name: str, source: str, repo: Path | None, out: Path, *, as_json: bool) -> ExitCode:
    """Write the spec of a family's configuration, and say what it leaves open."""
    from exporter.cli.family_skeleton import start_from_family

    started = start_from_family(name, source, repo, out)
    if as_json:
        content = {"written": list(map(str, started.written)), "inputs": list(started.inputs), "known": False}
        trial = {"looked": False, "why": "the configuration alone was read", "outputs": list[str]()}
        open_ends = {"guessed": list(started.guessed), "unread": list(started.unread)}
        sys.stdout.write(json.dumps(content | trial | open_ends) + "\n")
        return ExitCode.PASSED
    for path in started.written:
        sys.stdout.write(f"{path}\n")
    for why in started.unread:
        sys.stdout.write(f"not read, {why}\n")
    guessed = f"nothing says {', '.join(started.guessed)}: correct what is marked GUESSED, then run:"
    sys.stdout.write(f"inputs {', '.join(started.inputs)}\n{guessed if started.guessed else 'next:'}\n")
    sys.stdout.write(f"  exporter check {started.written[0]}\n  exporter release {started.written[0]}\n")
    return ExitCode.PASSED


plugin: Verb = init
