"""ONNX Runtime as on a machine with a GPU, for tests where there is none: put this folder first on PYTHONPATH.

Sessions that ask for CUDA compute on the CPU, by the real package, and say what a GPU's would: the options that they
took, and a profile in which every node ran on it. PRETENDED_GPU changes that: `idle` registers the provider and gives
it no node; `tf32` takes TF32 whatever was asked; `half` leaves the pooling on the CPU.
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
        if HOW == "tf32":
            self._options["use_tf32"] = "1"
        if self._pretended == CUDA and sess_options is not None and HOW != "idle":
            sess_options.add_session_config_entry("session.disable_cpu_ep_fallback", "0")
        super().__init__(model, sess_options, providers=[CPU], **rest)

    def get_providers(self) -> list[str]:
        return [CUDA, CPU] if self._pretended == CUDA else [CPU]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {name: self._options if name == CUDA else {} for name in self.get_providers()}

    def end_profiling(self) -> str:
        path = Path(super().end_profiling())
        events = json.loads(path.read_text())
        for event in events if self._pretended == CUDA and HOW != "idle" else ():
            if event["cat"] == "Node" and not (HOW == "half" and event["args"]["op_name"] == "MaxPool"):
                event["args"]["provider"] = CUDA
        path.write_text(json.dumps(events))
        return str(path)


real.InferenceSession = InferenceSession
real.get_available_providers = lambda: [CUDA, CPU]
