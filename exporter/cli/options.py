"""Options that several verbs share, each described once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def _go(folder: Path | None) -> Path | None:
    """Work in that folder from here on, as if the command had been started there."""
    if folder is not None:
        os.chdir(folder)
    return folder


#: Taken before all other options and arguments, since their paths are seen from there.
Folder = Annotated[
    Path | None,
    typer.Option(
        "-C",
        help="Work in this folder, as if started there.",
        metavar="DIR",
        is_eager=True,
        callback=_go,
        exists=True,
        file_okay=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder to write to.", metavar="DIR")]
PlainHttp = Annotated[bool, typer.Option("--plain-http", help="The registry speaks HTTP, without TLS.")]
Store = Annotated[
    str,
    typer.Option("--store", help="Store of the registry of models; by default $MLFLOW_TRACKING_URI.", metavar="URI"),
]
Settings = Annotated[list[str] | None, typer.Option("--set", help="Override a key of the spec.", metavar="KEY=VALUE")]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="Where releases and steps are kept, that none is repeated unchanged; by default the user's cache.",
        metavar="DIR",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Make every step anew, and keep none.", envvar="EXPORTER_NO_CACHE")
]
Why = Annotated[bool, typer.Option("--why", help="Say on stderr what was reused and what was made, and why.")]
Device = Annotated[
    str | None, typer.Option("--device", help="auto, cpu, gpu or gpu:N. What is asked for is what runs.")
]
Source = Annotated[
    Path | None,
    typer.Option("--source", help="The folder of the model's code, which is imported then.", metavar="DIR"),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        help="Children that run at once; 0: as processors and free memory allow. The report is the same.",
        min=0,
        metavar="N",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        help="Limit of each child: seconds of processor time, or of doing nothing. A busy machine uses up none.",
        min=1,
    ),
]
Trust = Annotated[
    list[Path] | None,
    typer.Option(
        "--trust", help="A public key or certificates as PEM, or a trust file; may be repeated.", metavar="KEYS"
    ),
]
Signature = Annotated[
    Path | None, typer.Option("--signature", help="The signature; BUNDLE/model.sig by default.", metavar="FILE")
]
Waivers = Annotated[
    bool, typer.Option("--accept-waivers", help="Let the bundle's own waivers count: what they cover may fail.")
]
Digest = Annotated[str | None, typer.Option("--digest", help="Only the bundle of this digest.", metavar="sha256:HEX")]
Cases = Annotated[
    int, typer.Option("--cases", help="Only so many of the recorded cases, those that prove most.", min=0, metavar="N")
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--dim", help="Only recorded cases of this size; may be repeated.", metavar="NAME=SIZE"),
]
