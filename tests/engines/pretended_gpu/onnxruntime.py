"""ONNX Runtime as on a machine with a GPU, for tests where there is none: put this folder first on PYTHONPATH.

Sessions that ask for CUDA compute on the CPU, by the real package, and say what a GPU's would: the options that they
took, and a profile in which every node ran on it. With TF32 the results have its 10 bits. PRETENDED_GPU changes that:
`idle` registers the provider and gives it no node, `late` does so in sessions on files alone; `tf32` takes TF32
whatever was asked; `half` leaves pooling and casts on the CPU.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

HERE = str(Path(__file__).parent)
CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
HOW = os.environ.get("PRETENDED_GPU", "")
LEFT = ("MaxPool", "Cast")

spec = PathFinder.find_spec("onnxruntime", [entry for entry in sys.path if entry != HERE])
assert spec and spec.loader
real: Any = module_from_spec(spec)
sys.modules["onnxruntime"] = real
spec.loader.exec_module(real)


class InferenceSession(real.InferenceSession):
    def __init__(self, model: Any, sess_options: Any = None, providers: Any = (), **rest: Any) -> None:
        first = providers[0] if providers else CPU
        self._pretended, options = first if isinstance(first, tuple) else (first, {})
        self._options = {name: str(value) for name, value in options.items()}
        self._idle = HOW == "idle" or (HOW == "late" and not isinstance(model, bytes))
        if HOW == "tf32":
            self._options["use_tf32"] = "1"
        if self._pretended == CUDA and sess_options is not None and not self._idle:
            sess_options.add_session_config_entry("session.disable_cpu_ep_fallback", "0")
        super().__init__(model, sess_options, providers=[CPU], **rest)

    def run(self, output_names: Any, input_feed: Any, run_options: Any = None) -> list[Any]:
        values: list[Any] = super().run(output_names, input_feed, run_options)
        return [_ten_bits(value) for value in values] if self._options.get("use_tf32") == "1" else values

    def get_providers(self) -> list[str]:
        return [CUDA, CPU] if self._pretended == CUDA else [CPU]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {name: self._options if name == CUDA else {} for name in self.get_providers()}

    def end_profiling(self) -> str:
        path = Path(super().end_profiling())
        events = json.loads(path.read_text())
        for event in events if self._pretended == CUDA and not self._idle else ():
            if event["cat"] == "Node" and not (HOW == "half" and event["args"]["op_name"] in LEFT):
                event["args"]["provider"] = CUDA
        path.write_text(json.dumps(events))
        return str(path)


def _ten_bits(value: Any) -> Any:
    """Float32 numbers without the last 13 bits of their mantissa."""
    return (value.view("int32") & ~0x1FFF).view("float32") if value.dtype.name == "float32" else value


real.InferenceSession = InferenceSession
real.get_available_providers = lambda: [CUDA, CPU]
