"""`exporter check`: what in the code of a model will not survive export."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.base.distribution import how_to_install
from exporter.base.errors import EnvironmentLacks, ExitCode, Refusal
from exporter.cli import options
from exporter.cli.run import Ending, Verb

if TYPE_CHECKING:
    from exporter.check.run import Examination
    from exporter.check.settings import Settings

_SECONDS = 60.0  # of each child of a probe


def check(  # noqa: PLR0913 - an option is a parameter
    targets: Annotated[list[str], typer.Argument(help="Files, folders, module:Class, specs.", metavar="TARGET...")],
    select: Annotated[list[str] | None, typer.Option("--select", help="Only these codes (EX101, or EX1).")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="Not these codes.")] = None,
    base: Annotated[str | None, typer.Option("--diff", help="Only lines changed since this commit.")] = None,
    probe: Annotated[
        bool | None, typer.Option("--probe/--no-probe", help="Export and run the models too, or only read them.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Rewrite what can be rewritten with certainty.")] = False,
    timeout: options.Timeout = None,
    form: Annotated[str, typer.Option("--format", help="text, json, github, sarif or junit.")] = "text",
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> Ending:
    """Find what cannot be exported, or would be exported wrong.

    The code is read; and where Paddle is installed and the inputs of a named model are known, the model is probed: that
    of a spec is run and exported as `release` would. 2: there was nothing to read. 4: the model of a spec cannot run.
    """
    del debug  # the funnel looks for it
    gc.disable()
    from exporter.base.registry import Registry
    from exporter.check.forms.base import Form
    from exporter.check.run import examine
    from exporter.check.settings import of_project
    from exporter.cli.findings import ending

    gc.freeze()
    gc.enable()
    forms: Registry[Form] = Registry("exporter.check.forms", "format")
    render = forms["json" if as_json else form]
    settings = of_project(Path.cwd()).over(_codes(select), _codes(ignore))
    examination = _examined(targets, settings, (timeout or _SECONDS) if _probes(probe) else 0)
    if fix:
        from exporter.check.fixes import fix as rewrite

        done = rewrite(examination.findings)
        sys.stderr.write(f"{done.mended} of {len(examination.findings)} findings were mended\n")
        for finding, why in done.left:
            sys.stderr.write(f"not mended: {finding.location}: {finding.code}: {why}\n")
        examination = examine(targets, settings) if done.mended else examination
    if base is not None:
        from exporter.base.git import Base
        from exporter.check.changed import only_changed

        examination = replace(examination, findings=only_changed(examination.findings, Base(base, "--diff")))
    sys.stdout.write(render(examination, sys.stdout.isatty()))
    gc.freeze()  # all of it ends with the process, and need not be looked through first
    if not examination.files and not examination.probed:
        return Refusal(ExitCode.USAGE, "name a file, a folder or a class with a paddle.nn.Layer, or a spec")
    return ending(examination.findings)


def _examined(targets: list[str], settings: Settings, seconds: float) -> Examination:
    """Files and classes are read, and probed within `seconds`; the model of a spec is exported as `release` would."""
    from exporter.check.run import Examination, examine, together

    specs = [target for target in targets if seconds and target.endswith((".yaml", ".yml"))]
    others = [target for target in targets if target not in specs]
    parts = [examine(others, settings, seconds)] if others or not specs else []
    if specs:
        from exporter.cli.progress import setting
        from exporter.pipeline import foresee
        from exporter.spec.read import read_spec
        from exporter.spec.source import FACTORY

        with setting(quiet=True, timeout=seconds) as how:
            for spec in specs:
                wish = read_spec(Path(spec))
                # A model that is a file has no code to read.
                read = Examination((), 0, 0) if wish.model == FACTORY else examine([spec], settings)
                told = foresee(wish, read.findings, how)
                wanted = tuple(finding for finding in told if settings.wants(finding.code))
                parts.append(replace(read, findings=wanted, probed=1))
    return together(parts)


def _probes(asked: bool | None) -> bool:
    from importlib.util import find_spec

    if asked and find_spec("paddle") is None:
        raise EnvironmentLacks("Paddle is not installed", hint=f"{how_to_install('cpu')}; or leave out --probe")
    return find_spec("paddle") is not None if asked is None else asked


def _codes(given: list[str] | None) -> list[str]:
    return [code.strip() for each in given or () for code in each.split(",") if code.strip()]


plugin: Verb = check
