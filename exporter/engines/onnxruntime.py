"""ONNX Runtime; the only file that knows its exceptions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session
from exporter.tensors import Array, TensorMap

_PROVIDERS = {"cpu": "CPUExecutionProvider", "gpu": "CUDAExecutionProvider"}


class _Session:
    def __init__(self, session: Any, provider: str) -> None:
        self._session = session
        self.provider = provider

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        names = [one.name for one in self._session.get_outputs()]
        with _border():
            values = self._session.run(names, dict(inputs))
        return dict(zip(names, values, strict=True))


class OnnxRuntime(Engine):
    """ONNX Runtime with its default optimisations, on one thread; on a GPU without TF32."""

    formats = ("onnx",)

    def probe(self, device: str) -> Availability:
        try:
            import onnxruntime
        except ImportError as error:
            return Availability(why_not=f"onnxruntime cannot be imported: {error}", cure="pip install onnxruntime")
        wanted = _PROVIDERS[device.partition(":")[0]]
        if wanted not in onnxruntime.get_available_providers():
            return Availability(why_not=f"this onnxruntime has no {wanted}", cure="install onnxruntime-gpu")
        return Availability(version=onnxruntime.__version__)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        import onnxruntime

        assert artifact.folder is not None  # noqa: S101  # the format has files
        kind, _, number = device.partition(":")
        wanted = _PROVIDERS[kind]
        # TF32 would halve the mantissa on Ampere and later; it is on by default.
        provider = (wanted, {"device_id": number or "0", "use_tf32": "0"}) if kind == "gpu" else wanted
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        with _border():
            session = onnxruntime.InferenceSession(
                str(artifact.folder / artifact.model), sess_options=options, providers=[provider]
            )
        # A session falls back to the CPU in silence.
        if session.get_providers()[0] != wanted:
            raise EngineRefused(f"{wanted} was asked for and {session.get_providers()[0]} runs")
        yield _Session(session, wanted)


@contextlib.contextmanager
def _border() -> Iterator[None]:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    kinds: tuple[type[Exception], ...] = tuple(
        kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)
    )
    try:
        yield
    except (*kinds, ValueError, TypeError) as error:  # type: ignore[misc]  # mypy reads no starred tuple here
        lines = str(error).strip().splitlines() or ["no message"]
        raise EngineRefused(f"{type(error).__name__}: {lines[-1][:500]}") from error


plugin: Engine = OnnxRuntime()
