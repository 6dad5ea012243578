"""What a child that runs an engine is asked, and what it answers: one job for every room that runs an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exporter.base.errors import ChildFailed
from exporter.base.registry import Registry
from exporter.engines.base import Engine, Runnable, Settings
from exporter.engines.cost import Cost
from exporter.export.lower.base import Artifact
from exporter.process.answers import told
from exporter.process.workers import SINGLE_THREAD, Json, Setting, call

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")
#: What to try where an engine takes neither the artifact nor its inputs: the gate says how far it came.
REFUSED = "see exporter verify, which says how far it came"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def runnable(artifact: Artifact, folder: Path) -> Runnable:
    """The variant whose files lie below `folder`, as engines open it."""
    main = folder / artifact.main
    return Runnable(artifact.format, main.parent, main.name, artifact.inputs, artifact.native_outputs)


@dataclass(frozen=True)
class EngineCase:
    """One run: its name, the golden that holds its inputs, and the number of threads."""

    name: str
    recorded: str
    threads: int = 1


@dataclass(frozen=True)
class EngineJob:
    """Run one engine on one artifact, each case in turn; `golden` holds the inputs of all of them."""

    engine: str
    artifact: Runnable
    golden: Path
    cases: tuple[EngineCase, ...]
    device: str = "cpu"

    def run(self, into: Path, setting: Setting) -> EngineAnswer:
        """Run it in a child, which writes the outputs of case N to `into/<N>.safetensors`.

        Raises:
            ExporterError: as :func:`exporter.process.workers.call`.
        """
        request = {
            **request_of(self.engine, self.artifact, self.golden, self.device),
            "cases": [[case.name, case.recorded, case.threads] for case in self.cases],
            "into": str(into),
        }
        return EngineAnswer.from_json(call_engine("exporter.engines.child:run", request, setting))


@dataclass(frozen=True)
class SessionFacts:
    """What computed, and under which settings."""

    provider: str
    settings: Settings


@dataclass(frozen=True)
class _Session:
    """A session, as the child tells it."""

    provider: str
    asked: dict[str, str | int | bool]
    effective: dict[str, str | int | bool]


@dataclass(frozen=True)
class _Ran:
    """The child's answer."""

    version: str
    sessions: dict[int, _Session]
    refused: dict[str, str]
    load: str
    cost: Cost


@dataclass(frozen=True)
class EngineAnswer:
    """How a job went.

    The sessions by their number of threads, the cases that were refused, why it did not load, and what it all cost.
    """

    sessions: Mapping[int, SessionFacts] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    load: str = ""
    cost: Cost = field(default_factory=lambda: Cost(0.0, 0.0))

    @classmethod
    def from_json(cls, answer: Json) -> EngineAnswer:
        """The answer of :func:`exporter.engines.child.run`; raises ChildCrashed where it is none."""
        ran = told(_Ran, answer)
        sessions = {
            threads: SessionFacts(facts.provider, Settings(facts.asked, facts.effective))
            for threads, facts in ran.sessions.items()
        }
        return cls(sessions, ran.refused, ran.load, ran.cost)

    @property
    def refusal(self) -> str:
        """Why not every case was run; empty where each was."""
        return self.load or next(iter(self.refused.values()), "")


@dataclass(frozen=True)
class TimingJob:
    """Time one engine on one artifact, for `seconds` in each case, in as many threads as the artifact says.

    With `cpu_time` it counts the seconds that its process computed, which a busy machine disturbs less.
    """

    engine: str
    artifact: Runnable
    golden: Path
    cases: tuple[str, ...]
    seconds: float
    device: str = "cpu"
    cpu_time: bool = False

    def measure(self, setting: Setting) -> Timing:
        """Measure it in a child.

        Raises:
            ChildFailed: the engine refused it.
            ExporterError: as :func:`exporter.process.workers.call`.
        """
        request = {
            **request_of(self.engine, self.artifact, self.golden, self.device),
            "cases": list(self.cases),
            "threads": self.artifact.threads,
            "seconds": self.seconds,
            "cpu_time": self.cpu_time,
        }
        answer = call_engine("exporter.engines.bench:measure", request, setting, self.artifact.threads)
        if refused := answer.pop("refused", None):
            raise ChildFailed(f"the engine refused it: {refused}", hint=REFUSED)
        return told(Timing, answer)


@dataclass(frozen=True)
class Timing:
    """How fast it was: seconds to load, peak memory in bytes, and `times` and `shapes` of each case."""

    provider: str
    version: str
    load: float
    peak: int
    cases: Mapping[str, Mapping[str, Any]]


def request_of(engine: str, artifact: Runnable, golden: Path, device: str) -> Json:
    """What every child that runs an engine is told; `golden` is a file with inputs."""
    return {
        "engine": engine,
        "device": device,
        "golden": str(golden),
        "inputs": list(artifact.inputs),
        "outputs": list(artifact.outputs),
        "format": artifact.format,
        "folder": str(artifact.folder) if artifact.folder else None,
        "model": artifact.model,
        "source": dict(artifact.source) if artifact.source else None,
    }


def artifact_of(request: Mapping[str, Any]) -> Runnable:
    """The child's side of a request: what it is to open."""
    return Runnable(
        format=request["format"],
        folder=Path(request["folder"]) if request["folder"] else None,
        model=request["model"],
        inputs=tuple(request["inputs"]),
        outputs=tuple(request["outputs"]),
        source=request["source"],
        threads=request.get("threads", 1),
    )


def call_engine(function: str, request: Json, setting: Setting, threads: int = 1) -> Json:
    """Call a function in a child that is as the request's engine wants it; raises as :func:`call`."""
    engine = _ENGINES[request["engine"]]
    return call(
        function,
        request,
        setting.limits if request["source"] else replace(setting.limits, code=None),
        environment={
            **SINGLE_THREAD,
            **dict.fromkeys(_THREADS, str(threads)),
            **engine.environment(request["device"]),
        },
        imports=engine.imports,
        on_event=setting.on_event,
    )
