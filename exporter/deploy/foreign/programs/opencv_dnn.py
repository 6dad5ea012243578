"""OpenCV's DNN module by its own engine; the model is the ONNX as it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import cv2
    import numpy as np

    Arrays = Mapping[str, np.ndarray]
    #: Of each input its name, its shape and its dtype.
    Shapes = list[tuple[str, list[int], str]]


def version() -> str:
    """OpenCV's version."""
    import cv2

    return str(cv2.__version__)


def convert(onnx: Path, into: Path, precision: str, shapes: Shapes) -> str:
    """Copy the ONNX, which OpenCV reads itself, and have it read there."""
    shutil.copyfile(onnx, into / "model.onnx")
    _net(into / "model.onnx")
    return "model.onnx"


def _net(model: Path) -> cv2.dnn.Net:
    import cv2

    # Else OpenCV 5 falls back to its older engine, or to ONNX Runtime, and it would be these that were tried.
    engine = [cv2.dnn.ENGINE_NEW] if hasattr(cv2.dnn, "ENGINE_NEW") else []
    net = cv2.dnn.readNetFromONNX(str(model), *engine)
    if net.empty():
        raise ValueError("OpenCV read an empty network")
    return net


def load(model: Path, names: list[str], natives: list[str], precision: str) -> Callable[[Arrays], Arrays]:
    """Return what runs one case."""
    import cv2

    cv2.setNumThreads(1)
    net = _net(model)
    if hasattr(net, "enableWinograd"):
        net.enableWinograd(False)

    def run(fed: Arrays) -> Arrays:
        for name, value in fed.items():
            net.setInput(value, name)
        return dict(zip(natives, net.forward(natives)))  # noqa: B905 - Python 3.8

    return run
