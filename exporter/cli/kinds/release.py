"""`exporter release`: the whole way, from a spec to a sealed bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exporter.cli.options import Cache, Debug, Device, Jobs, Json, NoCache, Out, Quiet, Settings, Timeout, Why
from exporter.cli.run import Ending, Verb

_Spec = Annotated[Path, typer.Argument(help="A spec, such as specs/digits.yaml.", metavar="SPEC")]


_Force = Annotated[
    bool, typer.Option("--force", help="Replace a release of this version, though what it serves is another content.")
]


def release(  # noqa: PLR0913 - an option is a parameter
    spec: _Spec,
    out: Out = None,
    settings: Settings = None,
    device: Device = None,
    timeout: Timeout = None,
    jobs: Jobs = 0,
    force: _Force = False,
    cache: Cache = None,
    no_cache: NoCache = False,
    why: Why = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Train if needed, check, convert, verify and seal SPEC into artifacts/NAME/VERSION (or below --out)."""
    from exporter.cli.outcome import conclude
    from exporter.cli.progress import known_releases, setting
    from exporter.gate import release as reusing
    from exporter.gate.reuse.records import Kept
    from exporter.pipeline import Taken
    from exporter.spec.read import read_spec
    from exporter.spec.reserved import CANDIDATE

    overrides = (*(settings or ()), *([f"device={device}"] if device else ()))
    wanted = read_spec(spec, overrides)
    known = known_releases(cache, no_cache=no_cache, why=why)
    with setting(quiet=quiet, timeout=timeout, jobs=jobs) as how:
        root = out or Path("artifacts")
        found = known.find(wanted.model_dump(mode="json"), root, how.say) if known else None
        if isinstance(found, Kept) and found.bundle.name != CANDIDATE:
            product = reusing.kept(found)
        else:
            taken = Taken.REPLACE if force else Taken.REFUSE
            product = reusing.release(wanted, root, how, known, taken=taken)
    return conclude(product, as_json=as_json)


plugin: Verb = release
