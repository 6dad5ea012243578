"""The contract of an engine: three members. Checking, copying, timing and isolation are outside, once."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from exporter.base.tensors import Array, TensorMap, TensorSpec
from exporter.spec.inputs import Dim


@dataclass(frozen=True)
class Availability:
    """Whether an engine can run here: its `version`, or `why_not` and how to get it.

    On a GPU also the version of NVIDIA's `driver`, and of the `libraries` that it loaded: CUDA's runtime and cuDNN.
    """

    version: str = ""
    why_not: str = ""
    cure: str = ""
    driver: str = ""
    libraries: Mapping[str, str] = field(default_factory=dict)

    @property
    def available(self) -> bool:
        """True where it can run."""
        return not self.why_not


@dataclass(frozen=True)
class SourceModel:
    """The model in the user's code: its factory, the checkpoint that it loads, and how it is traced.

    `inputs` and `outputs` are those of the spec, in its order; `fixed` holds the sizes of named dims that never vary,
    and `dims` those that the spec declares.
    """

    model: str
    checkpoint: Path | None
    seed: int
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[str, ...]
    fixed: Mapping[str, int]
    dims: Mapping[str, Dim] = field(default_factory=dict)


@dataclass(frozen=True)
class Runnable:
    """What an engine opens: the folder of a variant, its main file, and how its inputs and outputs are called.

    For the format `source` there are no files: `source` is the model then.
    `threads` is how many an engine may compute in, on the CPU.
    """

    format: str
    folder: Path | None
    model: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    source: SourceModel | None = None
    threads: int = 1

    @property
    def path(self) -> Path:
        """The main file."""
        assert self.folder is not None  # noqa: S101  # only the format `source` has no files
        return self.folder / self.model


@dataclass(frozen=True)
class Settings:
    """How an engine was asked to run, and how it says that it does.

    What is asked for must be in effect; `effective` may tell more than was asked. A setting that an engine cannot be
    asked about after loading is named in neither.
    """

    asked: Mapping[str, str | int | bool]
    effective: Mapping[str, str | int | bool]

    def unmet(self) -> list[str]:
        """One phrase for each setting that is not what was asked for."""
        return [
            f"{name} {wanted!r} was asked for and {self.effective.get(name)!r} is in effect"
            for name, wanted in self.asked.items()
            if self.effective.get(name) != wanted
        ]


class Session(Protocol):
    """A loaded artifact. Outputs come by the artifact's own names."""

    @property
    def provider(self) -> str:
        """What really computes, asked of the engine after loading: the effective setting, not the wish."""

    @property
    def settings(self) -> Settings:
        """Threads, device, precision and optimisations: what was asked for, and what is in effect after loading.

        After a run it may tell more: which device computed.
        """

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        """Compute once. Inputs and outputs are named numpy arrays."""


class SessionAround:
    """A session that computes by another one, which says where and by what settings."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def provider(self) -> str:
        """Return that of the session within."""
        return self._session.provider

    @property
    def settings(self) -> Settings:
        """Return those of the session within."""
        return self._session.settings


class Engine(ABC):
    """An engine names the formats it runs, says whether it can run here, and opens artifacts.

    `precisions` are those that it computes in, of each format. `paddle_kernels` says that it runs the same kernels as
    eager, so that its results must be equal bit for bit. `imports` are modules that take long to import and compute
    nothing meanwhile; its children are forked from a process that has them. All read their inputs with NumPy.
    """

    formats: ClassVar[tuple[str, ...]]
    precisions: ClassVar[tuple[str, ...]] = ("fp32",)
    imports: ClassVar[tuple[str, ...]] = ("numpy",)
    paddle_kernels: ClassVar[bool] = False

    def runs(self, format: str, precision: str) -> bool:
        """Whether it serves this kind of variant."""
        return format in self.formats and precision in self.precisions

    def environment(self, device: str) -> Mapping[str, str | None]:
        """Variables to set before a child that runs on `device` starts, or to take away: None."""
        del device
        return {}

    @abstractmethod
    def probe(self, device: str) -> Availability:
        """Look, in a child, whether it can run on `device` (`cpu` or `gpu:N`), on a GPU by computing; never raises."""

    @abstractmethod
    def open(self, artifact: Runnable, device: str) -> AbstractContextManager[Session]:
        """Load an artifact; called by `exporter.engines.session`, which checks files, settings and inputs.

        Raises:
            EngineRefused: the engine does not load or run it.
        """


class EngineRefused(Exception):
    """The engine said no to this artifact or these inputs; the message is the engine's own."""


class SettingsUnmet(EngineRefused):
    """The engine loaded the artifact, and not as it was asked to: what it computes so is no evidence."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("; ".join(settings.unmet()))
        self.settings = settings


def missing(package: str, cure: str) -> Availability | None:
    """Why a package cannot be imported, or None where it can: a broken install may raise nearly anything."""
    try:
        importlib.import_module(package)
    except (ImportError, OSError, RuntimeError, AttributeError, ValueError, TypeError, NameError, SyntaxError) as error:
        first = (str(error).strip().splitlines() or ["no message"])[0]
        return Availability(why_not=f"{package} cannot be imported: {type(error).__name__}: {first}", cure=cure)
    return None
