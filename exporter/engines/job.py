"""What a child that runs an engine is asked, and what it answers: the same for every room that runs an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from exporter.base.errors import ChildFailed
from exporter.base.registry import Registry
from exporter.engines.base import Engine, Runnable, Settings
from exporter.engines.cost import Cost
from exporter.export.lower.base import Artifact
from exporter.process.job import A, Job
from exporter.process.workers import SINGLE_THREAD, Setting, call

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
    """One run: its name, the golden that holds its inputs, and the number of threads.

    `feeds` are inputs that the run before it has put out, each with the output; no golden holds them. `keeps` are the
    outputs that are written; None is all of them.
    """

    name: str
    recorded: str
    threads: int = 1
    feeds: Mapping[str, str] = field(default_factory=dict)
    keeps: tuple[str, ...] | None = None


@dataclass(frozen=True)
class EngineRequest:
    """What every child that runs an engine is asked; `golden` is a file with inputs."""

    engine: str
    device: str
    artifact: Runnable
    golden: Path


R = TypeVar("R", bound=EngineRequest)


@dataclass(frozen=True)
class RunRequest(EngineRequest):
    """Run each case, and write the outputs of case N to `into/<N>.safetensors`."""

    cases: tuple[EngineCase, ...]
    into: Path


@dataclass(frozen=True)
class TimingRequest(EngineRequest):
    """Time each case for so many seconds: of the clock, or with `cpu_time` those that the process computed."""

    cases: tuple[str, ...]
    seconds: float
    cpu_time: bool


@dataclass(frozen=True)
class SessionFacts:
    """What computed, and under which settings."""

    provider: str
    settings: Settings


@dataclass(frozen=True)
class EngineAnswer:
    """How a run went.

    The sessions by their number of threads, the cases that were refused, why it did not load, and what it all cost.
    """

    sessions: Mapping[int, SessionFacts] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    load: str = ""
    cost: Cost = field(default_factory=lambda: Cost(0.0, 0.0))

    @property
    def refusal(self) -> str:
        """Why not every case was run; empty where each was."""
        return self.load or next(iter(self.refused.values()), "")


@dataclass(frozen=True)
class TimedCase:
    """The seconds of each call of a case, and the shapes of its outputs."""

    times: tuple[float, ...]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing:
    """How fast it was: seconds to load, peak memory in bytes, and each case."""

    provider: str
    version: str
    load: float
    peak: int
    cases: Mapping[str, TimedCase]


@dataclass(frozen=True)
class TimingAnswer:
    """The timing; or None, and why the engine refused."""

    timing: Timing | None
    refused: str = ""


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
        from exporter.engines.child import run

        request = RunRequest(self.engine, self.device, self.artifact, self.golden, self.cases, into)
        return call_engine(run, request, setting)


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
        from exporter.engines.bench import measure

        common = self.engine, self.device, self.artifact, self.golden
        request = TimingRequest(*common, self.cases, self.seconds, self.cpu_time)
        answer = call_engine(measure, request, setting)
        if answer.timing is None:
            raise ChildFailed(f"the engine refused it: {answer.refused}", hint=REFUSED)
        return answer.timing


def call_engine(job: Job[R, A], request: R, setting: Setting) -> A:
    """Run a job in a child that is as the request's engine wants it.

    Raises:
        ExporterError: as :func:`exporter.process.workers.call`.
    """
    engine = _ENGINES[request.engine]
    return call(
        job,
        request,
        setting.limits if request.artifact.source else replace(setting.limits, code=None),
        environment={
            **SINGLE_THREAD,
            **dict.fromkeys(_THREADS, str(request.artifact.threads)),
            **engine.environment(request.device),
        },
        imports=engine.imports,
        on_event=setting.on_event,
    )
