"""OpenVINO on the CPU: its IR, ONNX, and `.pdmodel` by its Paddle front end; the only file that knows its exceptions.

An IR is only judged where another tool wrote it: no format of ours is one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from exporter.base import machine
from exporter.base.distribution import how_to_install
from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session, Settings, missing


class _Session:
    def __init__(self, compiled: Any, outputs: tuple[str, ...], settings: Settings) -> None:
        self._request = compiled.create_infer_request()
        self._outputs = {name: _port(compiled, name) for name in outputs}
        self.provider = str(settings.effective["provider"])
        self.settings = settings

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        with _border():
            found = self._request.infer(dict(inputs))
            return {name: found[port] for name, port in self._outputs.items()}


#: What we call a setting, and how OpenVINO calls it.
_PROPERTIES = {
    "precision": "INFERENCE_PRECISION_HINT",
    "threads": "INFERENCE_NUM_THREADS",
    "streams": "NUM_STREAMS",
}


class OpenVino(Engine):
    """OpenVINO in float32.

    On a CPU with bfloat16 it computes in bfloat16 unless told otherwise (2026.4), so float32 is asked for, and the
    compiled model is asked what it does.
    """

    formats = ("onnx", "pdmodel", "openvino")
    precisions = ("fp32", "fp16", "int8")
    #: What is asked for beyond the threads.
    hints: ClassVar[Mapping[str, str]] = {"precision": "f32"}

    def runs(self, format: str, precision: str) -> bool:
        """Of `.pdmodel` only float32: its front end reads no quantised one (2026.4)."""
        return super().runs(format, precision) and (format == "onnx" or precision == "fp32")

    def probe(self, device: str) -> Availability:
        if found := missing("openvino", how_to_install("openvino")):
            return found
        if device != "cpu":
            return Availability(
                why_not="OpenVINO runs on no NVIDIA GPU", cure="leave openvino out there, or verify with --device cpu"
            )
        import openvino

        return Availability(version=openvino.__version__.partition("-")[0])

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        import openvino

        threads = min(artifact.threads, machine.cores())  # it makes no more threads than there are cores
        asked: dict[str, str | int | bool] = {"threads": threads, "streams": 1, **self.hints}
        wanted = {_PROPERTIES[name]: value for name, value in asked.items()}
        with _border():
            core = openvino.Core()
            compiled = core.compile_model(core.read_model(artifact.path), device.upper(), wanted)
            effective = {
                "precision": compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name(),
                "threads": compiled.get_property("INFERENCE_NUM_THREADS"),
                "streams": compiled.get_property("NUM_STREAMS"),
                "provider": ",".join(compiled.get_property("EXECUTION_DEVICES")),
            }
            session = _Session(compiled, artifact.outputs, Settings({**asked, "provider": device.upper()}, effective))
        yield session


def _port(compiled: Any, name: str) -> Any:
    """The output that the file calls so; OpenVINO keeps several names for one, some of them of the node before."""
    found = [port for port in compiled.outputs if name in port.get_names()]
    if len(found) != 1:
        known = [sorted(port.get_names()) for port in compiled.outputs]
        raise EngineRefused(f"the file has no output '{name}', or not one; it has {known}")
    return found[0]


@contextlib.contextmanager
def _border() -> Iterator[None]:
    """OpenVINO raises RuntimeError; its bindings TypeError, ValueError and KeyError (2026.4)."""
    try:
        yield
    except (RuntimeError, TypeError, ValueError, KeyError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
        telling = [line for line in lines if not line.startswith(("Exception from", "Check '"))] or lines
        raise EngineRefused(f"{type(error).__name__}: {' '.join(telling[:4])[:500]}") from error


plugin: Engine = OpenVino()
