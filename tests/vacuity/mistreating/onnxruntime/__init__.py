"""ONNX Runtime that does wrong what EXPORTER_TEST_MISTREAT says, and all else right: the real one lies behind it.

It stands before the real one on PYTHONPATH, so that an engine's child meets it as it would meet a broken build.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

_HERE = str(Path(__file__).resolve().parents[1])
_WAY = os.environ["EXPORTER_TEST_MISTREAT"]

sys.path = [place for place in sys.path if str(Path(place or ".").resolve()) != _HERE]
del sys.modules[__name__]
_real = importlib.import_module("onnxruntime")


def _one_percent(value: Any) -> Any:
    """Beside zeros in the truth, where a relative error is 0/0 in careless hands."""
    value = value.copy()
    value.flat[np.abs(value).argmax()] *= 1.01
    return value


_VALUES = {
    "zeros": np.zeros_like,
    "mean": lambda value: np.full_like(value, value.mean()),
    "empty": lambda value: value[:0],
    "int64": lambda value: value.astype("int64"),
    "float64": lambda value: value.astype("float64"),
    "nan": lambda value: np.where(np.arange(value.size).reshape(value.shape) == 0, np.float32("nan"), value),
    "infinite": lambda value: np.where(np.arange(value.size).reshape(value.shape) == 0, np.float32("inf"), value),
    "transposed": lambda value: np.ascontiguousarray(value.T),
    "reversed": lambda value: np.ascontiguousarray(value[::-1]),
    "one per cent": _one_percent,
    "a thousandth more": lambda value: (value.astype("float64") * 1.001).astype(value.dtype),
    "one step up": lambda value: np.nextafter(value, np.array(np.inf, value.dtype)),
    "another sign": lambda value: -value,
    "half": lambda value: value.astype("float16").astype("float32"),
}


class _Mistreated(_real.InferenceSession):  # type: ignore[misc, name-defined]
    _runs = 0
    _first: Any = None

    def get_outputs(self) -> list[Any]:
        names = [one.name for one in super().get_outputs()]
        if _WAY == "missing":
            names = names[:-1]
        elif _WAY == "renamed":
            names = [f"{name}_" for name in names]
        elif _WAY == "one more":
            names = [*names, "more"]
        return [SimpleNamespace(name=name) for name in names]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._threads = self.get_session_options().intra_op_num_threads
        self._low = any(f"-{precision}/" in str(given[0]) for precision in ("int8", "fp16"))
        if _WAY == "shows nothing inside" and len(super().get_outputs()) > 1:
            raise RuntimeError("this build shows no intermediate values")

    def get_session_options(self) -> Any:
        options = super().get_session_options()
        return (
            SimpleNamespace(intra_op_num_threads=7, graph_optimization_level=options.graph_optimization_level)
            if (_WAY == "other threads" and hasattr(self, "_threads"))
            else options
        )

    def __del__(self) -> None:
        # The last session of the two: all results are written, and the child has still to say how it ended.
        if _WAY == "dies at its end" and self._threads == 2:
            os.kill(os.getpid(), signal.SIGSEGV)
        if _WAY == "leaves at its end" and self._threads == 2:
            os._exit(0)

    def run(self, names: list[str], inputs: Any) -> list[Any]:
        self._runs += 1
        if _WAY == "dies":
            os.kill(os.getpid(), signal.SIGSEGV)
        if _WAY == "leaves after one case" and self._runs == 2:
            os._exit(0)
        values = super().run(None, inputs)
        self._first = values if self._first is None else self._first
        if _WAY == "first answer for ever":
            return self._first
        if _WAY == "noise from the second time on" and self._runs > 1:
            return [value + np.float32(1e-3) * np.abs(value).max() for value in values]
        if _WAY == "zeros in low precision" and self._low:
            return [np.zeros_like(value) for value in values]
        if _WAY == "commonest in low precision" and self._low:
            return [np.ones_like(value) for value in values]
        values = [_VALUES[_WAY](value) if _WAY in _VALUES else value for value in values]
        return values if names is None else [*values, values[0]][: len(names)]


_real.InferenceSession = _Mistreated
