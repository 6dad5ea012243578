"""`exporter merge`: the shards of a gate as one verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exporter.cli.gated import Annotations, Junit, Markdown, Quality, Shown, ending
from exporter.cli.options import Debug, Folder, Json
from exporter.cli.run import Ending, Verb

_Results = Annotated[
    list[Path], typer.Argument(help="What `gate --shard i/n --result FILE` wrote, of each shard.", metavar="RESULT...")
]


def merge(  # noqa: PLR0913 - an option is a parameter
    results: _Results,
    folder: Folder = None,
    junit: Junit = None,
    markdown: Markdown = None,
    quality: Quality = None,
    annotations: Annotations = None,
    as_json: Json = False,
    debug: Debug = False,
) -> Ending:
    """Join the results of all shards of a gate: its reports and its exit code are those of one gate."""
    from exporter.gate.shards import merge as joined

    shown = Shown(as_json, annotations, junit, markdown, quality)
    shown.check()
    found = joined(results)
    for gated in found:
        shown.tell(gated)
    shown.conclude(found)
    return ending(found)


plugin: Verb = merge
