"""How a find is shown: exported and verified by the command line."""

from __future__ import annotations

from pathlib import Path

from evals.finds.gate.catalogue import Find
from tests.command import ROOT, Done, environment, exporter


def bundle_of(find: Find, into: Path) -> Path:
    """Export the network; nothing of it is verified yet."""
    inputs = [word for one in find.inputs for word in ("--input", one)]
    inputs += [word for one in find.dims for word in ("--dim", one)]
    inputs += [word for one in find.values for word in ("--values", one)]
    model = f"evals.finds.gate.networks:{find.model}"
    writer = ("--set", "writer=paddle2onnx") if find.stock else ()
    made = _run(into, "convert", model, *inputs, "--formats", find.formats, *writer, "--out", into)
    assert made.code == 0, made.err
    return into


def verified(bundle: Path, find: Find, as_json: bool) -> Done:
    """Verify it on the engine that is wrong."""
    more = ["--json"] if as_json else []
    return _run(bundle, "verify", bundle, "--engines", find.engine, "--source", ROOT, *more)


def _run(bundle: Path, *arguments: str | Path) -> Done:
    return exporter(*arguments, cwd=bundle.parent, env=environment(PYTHONPATH=str(ROOT)))
