"""ONNX Runtime's own format, `.ort`, which its builds for phones read; run by the ONNX Runtime that is here."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # wheels for Linux send some from 1.29 on


def version() -> str:
    """ONNX Runtime's version."""
    import onnxruntime

    return str(onnxruntime.__version__)


def convert(onnx: Path, into: Path, how: Any) -> str:
    """Write `model.ort` as ONNX Runtime's `convert_onnx_models_to_ort` does in its style `Fixed`, for any processor."""
    import onnxruntime

    options = _options(onnxruntime)
    options.optimized_model_filepath = str(into / "model.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    # Higher levels fuse into kernels of this machine's processor, such as the layout NCHWc.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(str(onnx), options, providers=["CPUExecutionProvider"])
    return "model.ort"


def load(model: Path, part: Any, how: Any) -> Callable[[Any], Any]:
    """What runs one case."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), _options(onnxruntime), providers=["CPUExecutionProvider"])
    natives = [output["native"] for output in part["outputs"]]

    def run(fed: Any) -> Any:
        return dict(zip(natives, session.run(natives, fed)))  # noqa: B905 - Python 3.8

    return run


def _options(onnxruntime: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
