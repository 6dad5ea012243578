"""The child's side of running: one engine and one artifact, all its cases, results written case by case."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass, replace

from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.base.registry import Registry
from exporter.base.tensors import Array, TensorMap, recorded_inputs, save_scratch
from exporter.engines.base import Availability, Engine, EngineRefused, Session, Settings, SettingsUnmet
from exporter.engines.cost import Costing, import_all
from exporter.engines.job import EngineAnswer, EngineCase, RunRequest, SessionFacts
from exporter.engines.session import started
from exporter.process.job import job
from exporter.process.workers import doing

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")


@dataclass(frozen=True)
class ProbeRequest:
    """The engines to look for, and the device that they are to run on."""

    engines: tuple[str, ...]
    device: str


@dataclass(frozen=True)
class ProbeAnswer:
    """Whether each engine can run, by its name."""

    engines: Mapping[str, Availability]


@job(reuse="looking for engines")
def probe(request: ProbeRequest) -> ProbeAnswer:
    """Answer for each engine whether it can run on the device: version, or why not and how to get it."""
    return ProbeAnswer({name: _ENGINES[name].probe(request.device) for name in request.engines})


@job(reuse="{artifact[format]} by {engine}")
def run(request: RunRequest) -> EngineAnswer:
    """Run every case, and write `<case number>.safetensors` for each.

    The artifact is loaded anew for each number of threads. The answer holds, by number of threads, what computed and
    the settings asked for and in effect; what it cost; and what went wrong: a case that the engine refuses is recorded,
    and the rest go on; a load that it refuses ends it.

    Raises:
        EnvironmentLacks: the engine cannot run here.
        UsageError: the user's model is wrong.
    """
    name, artifact = request.engine, request.artifact
    engine = _ENGINES[name]
    doing(f"{name}: starting")
    availability = engine.probe(request.device)
    if not availability.available:
        raise EnvironmentLacks(availability.why_not, where=f"engine {name}", hint=availability.cure)
    import_all(engine.imports)
    costing, load = Costing(), ""
    sessions: dict[int, SessionFacts] = {}
    refused: dict[str, str] = {}
    for threads in dict.fromkeys(case.threads for case in request.cases):
        doing(f"{name}: loading {artifact.format}", stage="load")
        try:
            in_threads = replace(request, artifact=replace(artifact, threads=threads))
            sessions[threads] = _run_loaded(engine, in_threads, availability.version, refused)
        except SettingsUnmet as error:
            load = str(error)
            sessions[threads] = _facts(availability.version, "", error.settings)
            break
        except (EngineRefused, BundleError, UsageError) as error:
            if artifact.source is not None and isinstance(error, UsageError):  # the user's model is wrong, no engine
                raise
            load = str(error)
            break
        finally:
            gc.collect()  # a layer holds itself in circles, and there may be no room for the next beside it
    return EngineAnswer(sessions, refused, load, costing.cost())


def _run_loaded(engine: Engine, request: RunRequest, version: str, refused: dict[str, str]) -> SessionFacts:
    """Load the artifact, and run the cases of its number of threads; nothing of it is left afterwards."""
    with started(engine, request.artifact, request.device) as session:
        _run_cases(session, request.artifact.threads, request, refused)
        return _facts(version, session.provider, session.settings)


def _run_cases(session: Session, threads: int, request: RunRequest, refused: dict[str, str]) -> None:
    outputs: TensorMap = {}
    for index, case in enumerate(request.cases):
        if case.threads != threads:
            continue
        doing(f"{request.engine}: running case {case.name}", stage="run", case=case.name)
        try:
            outputs = session.run(_inputs(request, case, outputs))
        except SettingsUnmet:  # then no result of this session is evidence
            raise
        except EngineRefused as error:
            refused[case.name], outputs = str(error), {}
            continue
        kept = outputs if case.keeps is None else {name: outputs[name] for name in case.keeps if name in outputs}
        save_scratch(request.into / f"{index}.safetensors", kept)


def _inputs(request: RunRequest, case: EngineCase, before: TensorMap) -> dict[str, Array]:
    """Put together what a case is run on: recorded inputs, and what the run before it has put out.

    Raises:
        EngineRefused: that run gave no such output.
    """
    own = [name for name in request.artifact.inputs if name not in case.feeds]
    inputs = recorded_inputs(request.golden, case.recorded, own)
    for name, output in case.feeds.items():
        if output not in before:
            raise EngineRefused(f"the step before gave no '{output}' to feed '{name}' with")
        inputs[name] = before[output]
    return inputs


def _facts(version: str, provider: str, settings: Settings) -> SessionFacts:
    return SessionFacts(provider, Settings(dict(settings.asked), {"version": version, **settings.effective}))
