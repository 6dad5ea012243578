"""The child's side of running: one engine and one artifact, all its cases, results written case by case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exporter.engines._session import started
from exporter.engines.base import Engine, EngineRefused, Runnable
from exporter.errors import EnvironmentLacks
from exporter.registry import Registry
from exporter.tensors import Array, save
from exporter.workers import doing

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")


def probe(request: dict[str, Any]) -> dict[str, Any]:
    """Answer for each engine whether it can run on the device: version, or why not and how to get it."""
    answers = {}
    for name in request["engines"]:
        found = _ENGINES[name].probe(request["device"])
        answers[name] = {"version": found.version, "why_not": found.why_not, "cure": found.cure}
    return answers


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run every case and write `<case number>.safetensors` for each.

    The answer holds the provider, the settings asked for and in effect, and what went wrong: a case
    that the engine refuses is recorded, and the rest go on; a load that it refuses ends it.
    """
    name, device = request["engine"], request["device"]
    engine = _ENGINES[name]
    doing(f"{name}: starting")
    found = engine.probe(device)
    if not found.available:
        raise EnvironmentLacks(found.why_not, where=f"engine {name}", hint=found.cure)
    artifact = Runnable(
        format=request["format"],
        folder=Path(request["folder"]) if request["folder"] else None,
        model=request["model"],
        inputs=tuple(request["inputs"]),
        outputs=tuple(request["outputs"]),
        source=request["source"],
        threads=request.get("threads", 1),
    )
    into = Path(request["into"])
    refused: dict[str, str] = {}
    doing(f"{name}: loading {artifact.format}", stage="load")
    try:
        with started(engine, artifact, device) as session:
            for index, (case, recorded) in enumerate(request["cases"]):
                doing(f"{name}: running case {case}", stage="run", case=case)
                try:
                    outputs = session.run(_inputs(request["golden"], recorded, artifact.inputs))
                except EngineRefused as error:
                    refused[case] = str(error)
                    continue
                save(into / f"{index}.safetensors", outputs)
            settings = {"asked": dict(session.settings.asked), "effective": dict(session.settings.effective)}
            load, provider = "", session.provider
    except EngineRefused as error:
        settings, load, provider = {"asked": {}, "effective": {}}, str(error), ""
    return {
        "provider": provider,
        "settings": settings,
        "version": found.version,
        "refused": refused,
        "load": load,
    }


def _inputs(golden: str, case: str, names: tuple[str, ...]) -> dict[str, Array]:
    """The inputs of one case; only they are read from the goldens, never what the outputs should be."""
    from safetensors import safe_open

    with safe_open(golden, framework="numpy") as reader:
        return {name: reader.get_tensor(f"{case}/input/{name}") for name in names}
