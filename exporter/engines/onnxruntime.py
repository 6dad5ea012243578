"""ONNX Runtime; the only file that knows its exceptions, its providers and their options."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import exporter.engines._cuda as cuda
from exporter import machine
from exporter.engines._placement import computes, nodes_of, told
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
from exporter.tensors import Array, TensorMap

CUDA = "CUDAExecutionProvider"
#: What is asked of the CUDA provider besides its device, and read again from the session. TF32, which is on by default,
#: cuts the mantissa of float32 to 10 bits on Ampere and later. cuDNN's algorithm is chosen by its heuristics: the
#: default measures, and may choose another one in the next session. CUDA graphs, off by default, need fixed shapes.
_CUDA = {"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC", "enable_cuda_graph": "0"}
#: `y = x + x` on two float32 numbers, an ONNX file of one node (IR version 7, opset 13).
DOUBLE = bytes.fromhex(
    "08073a350a0e0a01780a017812017922034164641201675a0f0a0178120a0a"
    "08080112040a020802620f0a0179120a0a08080112040a02080242040a00100d"
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
            with _border():
                profile = Path(self._session.end_profiling())
            self._place(profile)
        return dict(zip(names, values, strict=True))

    def _place(self, profile: Path) -> None:
        """Record where the nodes of the first run computed.

        Raises:
            SettingsUnmet: the provider that was asked for computes no value.
        """
        nodes, asked = nodes_of(profile), str(self.settings.asked["provider"])
        effective = {**self.settings.effective, **told(nodes, asked), "provider": computes(nodes, asked)}
        self.settings = Settings(self.settings.asked, effective)
        if self.settings.unmet():
            raise SettingsUnmet(self.settings)


class OnnxRuntime(Engine):
    """ONNX Runtime with its default optimisations; on a GPU without TF32."""

    formats = ("onnx",)
    precisions = ("fp32", "fp16", "int8")
    #: What computes on each kind of device.
    providers: ClassVar[Mapping[str, str]] = {"cpu": "CPUExecutionProvider", "gpu": CUDA}

    def probe(self, device: str) -> Availability:
        if lacks := missing("onnxruntime", "pip install onnxruntime"):
            return lacks
        import onnxruntime

        provider, version = self.providers[device.partition(":")[0]], str(onnxruntime.__version__)
        if device == "cpu":
            return Availability(version=version)
        install = _how_to_install(onnxruntime)
        if provider not in onnxruntime.get_available_providers():
            return Availability(why_not=f"this onnxruntime {version} has no {provider}", cure=install)
        if why_not := self._why_not(device):
            return Availability(why_not=f"{provider} cannot run here: {why_not}", cure=cuda.cure(why_not, install))
        return Availability(version=version, driver=machine.driver(), libraries=cuda.libraries())

    def _why_not(self, device: str) -> str:
        """Why a session of one node does not run on the device; empty where it does.

        A provider that is 'available' was compiled in. Whether its libraries load, and whether there is a driver and a
        GPU, shows when a session is made; what is missing then is written to standard error, and the CPU takes over.
        """
        import numpy as np

        options = self._options(1)
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        two = np.array([1, 2], "float32")
        with cuda.hearing() as heard:
            try:
                with _border():
                    session = self._session(DOUBLE, options, device)
                    [doubled] = session.run(None, {"x": two})
            except EngineRefused as error:
                refused = str(error)
            else:
                right = np.array_equal(doubled, two + two)
                refused = "" if right else f"it computes [1, 2] + [1, 2] = {doubled.tolist()}"
        return refused and (cuda.cause(f"{heard.text}\n{refused}") or refused)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        kind, _, number = device.partition(":")
        asked: dict[str, str | int | bool] = {
            "provider": self.providers[kind],
            "threads": artifact.threads,
            "optimisation": "ORT_ENABLE_ALL",
        }
        if self.providers[kind] == CUDA:
            asked |= {"device_id": number or "0", **_CUDA}
        options = self._options(artifact.threads)
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            options.enable_profiling = True
            options.profile_file_prefix = str(Path(folder, "profile"))
            with _border():
                session = self._session(str(artifact.path), options, device)
            yield _Session(session, Settings(asked, self._effective(session, device)))

    def _options(self, threads: int) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return options

    def _session(self, model: str | bytes, options: Any, device: str) -> Any:
        """A session on the device. What its provider raises comes out: no second try on the CPU in silence."""
        import onnxruntime

        kind, _, number = device.partition(":")
        provider: Any = self.providers[kind]
        if provider == CUDA:
            provider = (provider, {"device_id": number or "0", **_CUDA})
            if hasattr(onnxruntime, "preload_dlls"):  # finds CUDA and cuDNN where pip put them (since 1.21)
                onnxruntime.preload_dlls()
        return onnxruntime.InferenceSession(model, sess_options=options, providers=[provider], enable_fallback=0)

    def _effective(self, session: Any, device: str) -> dict[str, str | int | bool]:
        options, first = session.get_session_options(), session.get_providers()[0]
        effective: dict[str, str | int | bool] = {
            "provider": first,
            "threads": options.intra_op_num_threads,
            "optimisation": options.graph_optimization_level.name,
        }
        if device == "cpu":
            return effective
        of_cuda = session.get_provider_options().get(CUDA, {})
        effective |= {name: of_cuda[name] for name in ("device_id", *_CUDA) if name in of_cuda}
        return {**effective, **cuda.libraries(), "driver": machine.driver()}


def _how_to_install(onnxruntime: Any) -> str:
    """How to get the provider and its libraries, for the CUDA that this onnxruntime was built with, if for any."""
    needs = getattr(onnxruntime, "cuda_version", None)
    beside = f", which brings CUDA {needs} and cuDNN" if needs else ""
    return f"pip uninstall onnxruntime, then pip install 'onnxruntime-gpu[cuda,cudnn]'{beside}"


@contextlib.contextmanager
def _border() -> Iterator[None]:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    kinds: tuple[type[Exception], ...] = tuple(
        kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)
    )
    try:
        yield
    except (*kinds, RuntimeError, ValueError, TypeError) as error:  # type: ignore[misc]  # mypy reads no starred tuple
        lines = str(error).strip().splitlines() or ["no message"]
        raise EngineRefused(f"{type(error).__name__}: {lines[-1][:500]}") from error


plugin: Engine = OnnxRuntime()
