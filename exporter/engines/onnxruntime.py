"""ONNX Runtime; the only file that knows its exceptions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session, Settings, missing
from exporter.tensors import Array, TensorMap

_PROVIDERS = {"cpu": "CPUExecutionProvider", "gpu": "CUDAExecutionProvider"}


class _Session:
    def __init__(self, session: Any, settings: Settings) -> None:
        self._session = session
        self.provider = str(settings.effective["provider"])
        self.settings = settings

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        names = [one.name for one in self._session.get_outputs()]
        with _border():
            values = self._session.run(names, dict(inputs))
        return dict(zip(names, values, strict=True))


class OnnxRuntime(Engine):
    """ONNX Runtime with its default optimisations; on a GPU without TF32."""

    formats = ("onnx",)
    precisions = ("fp32", "fp16", "int8")

    def probe(self, device: str) -> Availability:
        if found := missing("onnxruntime", "pip install onnxruntime"):
            return found
        import onnxruntime

        wanted = _PROVIDERS[device.partition(":")[0]]
        if wanted not in onnxruntime.get_available_providers():
            return Availability(why_not=f"this onnxruntime has no {wanted}", cure="install onnxruntime-gpu")
        return Availability(version=onnxruntime.__version__)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        import onnxruntime

        kind, _, number = device.partition(":")
        wanted = _PROVIDERS[kind]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = artifact.threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        asked: dict[str, str | int | bool] = {
            "provider": wanted,  # a session falls back to the CPU in silence
            "threads": artifact.threads,
            "optimisation": "ORT_ENABLE_ALL",
        }
        provider: Any = wanted
        if kind == "gpu":
            # TF32 would halve the mantissa on Ampere and later; it is on by default.
            asked |= {"device_id": number or "0", "use_tf32": "0"}
            provider = (wanted, {"device_id": number or "0", "use_tf32": "0"})
            if hasattr(onnxruntime, "preload_dlls"):  # finds CUDA and cuDNN where pip put them (since 1.21)
                onnxruntime.preload_dlls()
        with _border():
            session = onnxruntime.InferenceSession(str(artifact.path), sess_options=options, providers=[provider])
        yield _Session(session, Settings(asked, _effective(session)))


def _effective(session: Any) -> dict[str, str | int | bool]:
    options, first = session.get_session_options(), session.get_providers()[0]
    return {
        "provider": first,
        "threads": options.intra_op_num_threads,
        "optimisation": options.graph_optimization_level.name,
        **{key: value for key, value in session.get_provider_options()[first].items() if key in _OF_CUDA},
    }


_OF_CUDA = ("device_id", "use_tf32")


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
