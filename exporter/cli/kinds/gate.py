"""`exporter gate`: release every spec that a change touches; what a merge request runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exporter.cli.gated import Annotations, Junit, Markdown, Quality, Shown, ending
from exporter.cli.options import Cache, Debug, Device, Folder, Json, NoCache, Out, Quiet, Settings, Timeout, Why
from exporter.cli.run import Ending, Verb

_Specs = Annotated[
    list[Path] | None, typer.Argument(help="Specs; all of specs/ if none is named.", metavar="[SPEC...]")
]
_Base = Annotated[str | None, typer.Option("--base", help="Only what differs from this commit; else every spec.")]
_List = Annotated[bool, typer.Option("--list", help="Say what the change touches and why, and release nothing.")]
_NoTrain = Annotated[bool, typer.Option("--no-train", help="Refuse a spec whose checkpoint is not there yet.")]
_Jobs = Annotated[
    int, typer.Option("--jobs", help="Specs that are released at once; 0: as there is room.", min=0, metavar="N")
]
_Shard = Annotated[
    str | None, typer.Option("--shard", help="Only part i of n of the specs; each is in one.", metavar="I/N")
]
_Result = Annotated[
    Path | None, typer.Option("--result", help="Also write what `exporter merge` joins.", metavar="FILE")
]
_Executor = Annotated[
    str, typer.Option("--executor", help="local, or ray: on the nodes of a Ray cluster.", metavar="NAME")
]
_All = Annotated[bool, typer.Option("--all", help="Every spec, whatever changed.")]


def gate(  # noqa: PLR0913 - an option is a parameter
    specs: _Specs = None,
    folder: Folder = None,
    base: _Base = None,
    every: _All = False,
    listed: _List = False,
    no_train: _NoTrain = False,
    settings: Settings = None,
    junit: Junit = None,
    markdown: Markdown = None,
    quality: Quality = None,
    annotations: Annotations = None,
    shard: _Shard = None,
    result: _Result = None,
    out: Out = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    why: Why = False,
    device: Device = None,
    timeout: Timeout = None,
    jobs: _Jobs = 0,
    executor: _Executor = "local",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Release every spec that a change touches; the worst of their exit codes is its own."""
    from exporter.base.git import Base
    from exporter.cli.progress import known_releases, setting
    from exporter.gate.run import EXECUTORS, refuse_doubles, release_all
    from exporter.gate.shards import Selection, Shard, write_result
    from exporter.gate.task import Task
    from exporter.gate.touched import find_specs, touched

    results = []
    overrides = (*(settings or ()), *([f"device={device}"] if device else ()))
    since = Base(base, "--base") if base is not None and not every else None
    part = Shard.parse(shard) if shard is not None else Shard()
    shown = Shown(as_json, annotations, junit, markdown, quality)
    shown.check(result)
    released_by = EXECUTORS[executor]
    if result is not None:
        result.unlink(missing_ok=True)  # an earlier one must not stand for a gate that does not come to its end
    written = tuple(path for path in (junit, markdown, quality, result) if path is not None)
    known = known_releases(cache, no_cache=no_cache, why=why and not listed, written=written)
    with setting(quiet=quiet, timeout=timeout, jobs=jobs, live=False) as how:
        read = bool(junit or markdown or result or as_json)
        task = Task(overrides, out or Path("artifacts"), not no_train, how, known, read)
        found = find_specs(specs or ())
        refuse_doubles(task, found)
        chosen = list(touched(found, since, overrides, part))
        own = [spec for spec in chosen if not spec.elsewhere]
        asked = Selection.of(chosen, since, overrides, listed=listed, trains=not no_train) if result else None
        for spec, gated in zip(
            own, map(task.listed, own) if listed else release_all(task, own, released_by), strict=True
        ):
            results.append(gated)
            shown.tell(gated, spec.excuses if listed and why else ())
    if result is not None and asked is not None:
        write_result(result, part, asked, results)
    shown.conclude(results)
    return ending(results)


plugin: Verb = gate
"""The gate of a project: which of its specs a change touches."""
