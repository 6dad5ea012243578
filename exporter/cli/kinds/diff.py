"""`exporter diff`: what is different between two bundles, and may the new one take the place of the old one?"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.base.errors import ExitCode, Refusal, UsageError, printable
from exporter.cli.options import Debug, Json, Quiet, Timeout
from exporter.cli.run import Ending, Verb

if TYPE_CHECKING:
    from exporter.bundle.diff import Difference
    from exporter.deploy.bench.compare import Compared

_Old = Annotated[Path, typer.Argument(help="The folder of the bundle that is in use.", metavar="OLD")]
_New = Annotated[Path | None, typer.Argument(help="The folder of the one that shall replace it.", metavar="[NEW]")]
_Bench = Annotated[bool, typer.Option("--bench", help="Also run both by turns, and say how their latency differs.")]
_Runtime = Annotated[
    str | None,
    typer.Option(
        "--runtime",
        help="Instead of NEW: OLD in versions of its engines, as paddle==3.1.1,3.3.1,onnxruntime==1.17.3,1.32.0.",
        metavar="LIST",
    ),
]


def diff(  # noqa: PLR0913 - an option is a parameter
    old: _Old,
    new: _New = None,
    runtime: _Runtime = None,
    timed: _Bench = False,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Compare two bundles; exits 1 where NEW did not pass, or a consumer of OLD could not use it unchanged.

    With the same parameters the numbers have to be the same, within OLD's budget. Of another training it says how many
    answers flip on the same inputs, and what became of the metric, of the sizes and of the spec. Nothing is run for
    that; --bench times both.

    With --runtime it is one bundle in several versions of its engines, each in an environment of its own: 'the same
    bits', 'within the rule' or 'changed' against the first version named of a package, and in which operator first.
    A version that cannot be installed here is named (exit code 3), and the others are compared all the same.
    """
    del debug  # the funnel looks for it
    if runtime is not None:
        if new is not None or timed:
            what, hint = "compares one bundle with itself", "leave out NEW and --bench"
            raise UsageError(what, where="--runtime", hint=hint)
        return _in_versions(old, runtime, timeout, as_json=as_json, quiet=quiet)
    if new is None:
        hint = "name two bundles; or one, and --runtime with versions of its engines"
        raise UsageError("nothing says what OLD is held against", where="exporter diff", hint=hint)
    from exporter.bundle.diff import as_text
    from exporter.bundle.diff import diff as compare

    found = compare(old, new)
    latency = _timed(old, new, timeout, quiet=quiet) if timed and not found.same else None
    if as_json:
        sys.stdout.write(json.dumps({**found.to_json(), **_told(latency)}, allow_nan=False) + "\n")
    else:
        sys.stdout.write(as_text(found, _lines(latency)))
    if found.breaks:
        return Refusal(ExitCode.REFUSED, _hint(found, new))
    return Refusal(latency.exit) if latency and latency.exit else ExitCode.PASSED


def _in_versions(bundle: Path, runtimes: str, timeout: float | None, *, as_json: bool, quiet: bool) -> Ending:
    from exporter.base.files import user_cache
    from exporter.cli.progress import setting
    from exporter.deploy.runtimes.environment import read_runtimes
    from exporter.deploy.upgrade.compare import upgrade

    with setting(quiet=quiet, timeout=timeout) as how:
        moved = upgrade(bundle, read_runtimes(runtimes), user_cache("runtimes"), how)
    if as_json:
        sys.stdout.write(json.dumps(moved.to_json(), allow_nan=False) + "\n")
    else:
        sys.stdout.write("".join(f"{printable(line)}\n" for line in [*moved.markdown().splitlines(), moved.word]))
    if moved.exit is ExitCode.PASSED:
        return ExitCode.PASSED
    stay = f"exporter verify {shlex.quote(str(bundle))} --runtime VERSION, which says what does not hold in it"
    other = "another version in --runtime, of which there is a wheel for a Python on this machine"
    return Refusal(moved.exit, stay if moved.exit is ExitCode.REFUSED else other)


def _timed(old: Path, new: Path, timeout: float | None, *, quiet: bool) -> Compared:
    from exporter.cli.progress import setting
    from exporter.deploy.bench.compare import compare
    from exporter.deploy.bench.run import Wish

    with setting(quiet=quiet, timeout=timeout) as how:
        return compare(old, new, Wish(), how)


def _told(latency: Compared | None) -> dict[str, object]:
    if latency is None:
        return {}
    return {"latency": [asdict(one) for one in latency.latencies], "not_timed": list(latency.failed)}


def _lines(latency: Compared | None) -> list[str]:
    if latency is None:
        return ["latency   not measured: a bundle records none, and --bench times both"]
    lines = [f"latency   {one}" for one in latency.latencies]
    return lines + [f"latency   not measured: {why}" for why in latency.failed]


def _hint(found: Difference, new: Path) -> str:
    if found.unfit:
        return f"exporter verify {shlex.quote(str(new))}, which says why it did not pass"
    if not any(change.breaks for change in found.interface):
        return (
            "find what changed in the code or its arguments (see `spec` and `origin`), or release it under another name"
        )
    return "keep the interface of the model, or release it under another name, beside the old one"


plugin: Verb = diff
