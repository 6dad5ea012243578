"""ONNX Runtime; the only engine that knows its exceptions, its providers and their options."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import exporter.engines.cuda as cuda
from exporter.base import machine
from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import (
    Availability,
    Engine,
    EngineRefused,
    Runnable,
    Session,
    Settings,
    SettingsUnmet,
    missing,
)
from exporter.engines.onnx_device import (
    CPU,
    CUDA,
    CUDA_OPTIONS,
    computing,
    errors_of,
    open_session,
    placed_nodes,
    placement,
    why_not,
)


class _Session:
    """A session that profiles its first run, to say where each node computed."""

    def __init__(self, session: Any, settings: Settings) -> None:
        self._session = session
        self._profiled = False
        self.settings = settings

    @property
    def provider(self) -> str:
        return str(self.settings.effective["provider"])

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        names = [output.name for output in self._session.get_outputs()]
        with _border():
            values = self._session.run(names, dict(inputs))
            if not self._profiled:
                self._profiled = True
                self._place(Path(self._session.end_profiling()))
        return dict(zip(names, values, strict=True))

    def _place(self, profile: Path) -> None:
        """Record where the nodes of the first run computed.

        Raises:
            SettingsUnmet: the provider that was asked for computes no value.
        """
        nodes, asked = placed_nodes(profile), str(self.settings.asked["provider"])
        effective = {**self.settings.effective, **placement(nodes, asked), "provider": computing(nodes, asked)}
        self.settings = Settings(self.settings.asked, effective)
        if self.settings.unmet():
            raise SettingsUnmet(self.settings)


class OnnxRuntime(Engine):
    """ONNX Runtime with its default optimisations; on a GPU without TF32."""

    formats = ("onnx",)
    precisions = ("fp32", "fp16", "int8")
    #: What computes on each kind of device.
    providers: ClassVar[Mapping[str, str]] = {"cpu": CPU, "gpu": CUDA}

    def probe(self, device: str) -> Availability:
        if lacks := missing("onnxruntime", "pip install onnxruntime"):
            return lacks
        import onnxruntime

        version = str(onnxruntime.__version__)
        if device == "cpu":
            return Availability(version=version)
        if why := why_not(self.providers["gpu"], device):
            return Availability(why_not=why, cure=cuda.cure(why, _how_to_install(onnxruntime)))
        return Availability(version=version, driver=machine.driver(), libraries=cuda.libraries())

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        import onnxruntime

        kind, _, number = device.partition(":")
        provider = self.providers[kind]
        asked: dict[str, str | int | bool] = {
            "provider": provider,
            "threads": artifact.threads,
            "optimisation": "ORT_ENABLE_ALL",
            **({"device_id": number or "0", **CUDA_OPTIONS} if provider == CUDA else {}),
        }
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = artifact.threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            options.enable_profiling = True
            options.profile_file_prefix = str(Path(folder, "profile"))
            with _border():
                session = open_session(str(artifact.path), options, provider, device)
            yield _Session(session, Settings(asked, _effective(session)))


def _effective(session: Any) -> dict[str, str | int | bool]:
    options, first = session.get_session_options(), session.get_providers()[0]
    effective: dict[str, str | int | bool] = {
        "provider": first,
        "threads": options.intra_op_num_threads,
        "optimisation": options.graph_optimization_level.name,
    }
    if first != CUDA:
        return effective
    told = session.get_provider_options()[CUDA]
    effective |= {name: told[name] for name in ("device_id", *CUDA_OPTIONS) if name in told}
    return {**effective, **cuda.libraries(), "driver": machine.driver()}


def _how_to_install(onnxruntime: Any) -> str:
    """How to get the provider and its libraries, for the CUDA that this onnxruntime was built with, if for any."""
    needs = getattr(onnxruntime, "cuda_version", None)
    beside = f", which brings CUDA {needs} and cuDNN" if needs else ""
    return f"pip uninstall onnxruntime, then pip install 'onnxruntime-gpu[cuda,cudnn]'{beside}"


@contextlib.contextmanager
def _border() -> Iterator[None]:
    import onnxruntime

    try:
        yield
    except EngineRefused:
        raise
    except errors_of(onnxruntime) as error:
        lines = str(error).strip().splitlines() or ["no message"]
        raise EngineRefused(f"{type(error).__name__}: {lines[-1][:500]}") from error


plugin: Engine = OnnxRuntime()
