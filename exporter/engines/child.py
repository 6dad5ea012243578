"""The child's side of running: one engine and one artifact, all its cases, results written case by case."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.base.registry import Registry
from exporter.base.tensors import recorded_inputs, save_scratch
from exporter.engines.base import Engine, EngineRefused, Runnable, Session, Settings, SettingsUnmet
from exporter.engines.cost import Costing, import_all
from exporter.engines.job import artifact_of
from exporter.engines.session import started
from exporter.process.workers import doing

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")


def probe(request: dict[str, Any]) -> dict[str, Any]:
    """Answer for each engine whether it can run on the device: version, or why not and how to get it."""
    answers = {}
    for name in request["engines"]:
        found = _ENGINES[name].probe(request["device"])
        answers[name] = asdict(found)
    return answers


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run every case, `[name, name in the goldens, threads]`, and write `<case number>.safetensors` for each.

    The artifact is loaded anew for each number of threads. The answer holds the version, by number of threads what
    computed and the settings asked for and in effect, what it cost, and what went wrong: a case that the engine refuses
    is recorded, and the rest go on; a load that it refuses ends it.
    """
    name, device = request["engine"], request["device"]
    engine = _ENGINES[name]
    doing(f"{name}: starting")
    found = engine.probe(device)
    if not found.available:
        raise EnvironmentLacks(found.why_not, where=f"engine {name}", hint=found.cure)
    import_all(engine.imports)
    artifact, costing = artifact_of(request), Costing()
    answer: dict[str, Any] = {"version": found.version, "sessions": {}, "refused": {}, "load": ""}
    for threads in dict.fromkeys(case[2] for case in request["cases"]):
        doing(f"{name}: loading {artifact.format}", stage="load")
        try:
            with started(engine, replace(artifact, threads=threads), device) as session:
                _run_cases(session, artifact, threads, request, answer["refused"])
                answer["sessions"][str(threads)] = _session(found.version, session.provider, session.settings)
        except SettingsUnmet as error:
            answer["load"] = str(error)
            answer["sessions"][str(threads)] = _session(found.version, "", error.settings)
            break
        except (EngineRefused, BundleError, UsageError) as error:
            if artifact.source is not None and isinstance(error, UsageError):  # the user's model is wrong, no engine
                raise
            answer["load"] = str(error)
            break
    return answer | {"cost": asdict(costing.cost())}


def _run_cases(
    session: Session, artifact: Runnable, threads: int, request: dict[str, Any], refused: dict[str, str]
) -> None:
    for index, (case, recorded, in_threads) in enumerate(request["cases"]):
        if in_threads != threads:
            continue
        doing(f"{request['engine']}: running case {case}", stage="run", case=case)
        try:
            outputs = session.run(recorded_inputs(Path(request["golden"]), recorded, artifact.inputs))
        except SettingsUnmet:  # then no result of this session is evidence
            raise
        except EngineRefused as error:
            refused[case] = str(error)
            continue
        save_scratch(Path(request["into"]) / f"{index}.safetensors", outputs)


def _session(version: str, provider: str, settings: Settings) -> dict[str, Any]:
    effective = {"version": version, **settings.effective}
    return {"provider": provider, "asked": dict(settings.asked), "effective": effective}
