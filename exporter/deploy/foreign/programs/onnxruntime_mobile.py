"""ONNX Runtime's own format, `.ort`, which its builds for phones read; run by the ONNX Runtime that is here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import onnxruntime

    Arrays = Mapping[str, np.ndarray]
    #: Of each input its name, its shape and its dtype.
    Shapes = list[tuple[str, list[int], str]]

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # wheels for Linux send some from 1.29 on


def version() -> str:
    """ONNX Runtime's version."""
    import onnxruntime

    return str(onnxruntime.__version__)


def convert(onnx: Path, into: Path, precision: str, shapes: Shapes) -> str:
    """Write `model.ort` as ONNX Runtime's `convert_onnx_models_to_ort` does in its style `Fixed`, for any processor."""
    import onnxruntime

    options = _options()
    options.optimized_model_filepath = str(into / "model.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    # Higher levels fuse into kernels of this machine's processor, such as the layout NCHWc.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(str(onnx), options, providers=["CPUExecutionProvider"])
    return "model.ort"


def load(model: Path, names: list[str], natives: list[str], precision: str) -> Callable[[Arrays], Arrays]:
    """Return what runs one case."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), _options(), providers=["CPUExecutionProvider"])

    def run(fed: Arrays) -> Arrays:
        return dict(zip(natives, session.run(natives, fed)))  # noqa: B905 - Python 3.8

    return run


def _options() -> onnxruntime.SessionOptions:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
