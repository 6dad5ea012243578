"""MNN: its converter, called in this process, and its interpreter in one thread."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    Arrays = Mapping[str, np.ndarray]
    #: Of each input its name, its shape and its dtype.
    Shapes = list[tuple[str, list[int], str]]

_DRAWN = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: How the converter is told a precision: of weights. The interpreter computes fp16 with `precision: low`.
_OPTIONS = {"fp32": (), "fp16": ("--fp16",), "int8": ("--weightQuantBits", "8")}


def version() -> str:
    """MNN's version."""
    import MNN

    return str(MNN.version())


def convert(onnx: Path, into: Path, precision: str, shapes: Shapes) -> str:
    """Write `model.mnn`.

    The command `mnnconvert` of 3.6.1 installs a package for logging at its first run; the function behind it does not.
    """
    import _tools
    import MNN  # noqa: F401 - loads the library that the converter needs

    model = into / "model.mnn"
    words = ["mnnconvert", "-f", "ONNX", "--modelFile", str(onnx), "--MNNModel", str(model), "--bizCode", "exporter"]
    _tools.mnnconvert([*words, *_OPTIONS[precision]])
    if not model.is_file():
        raise ValueError("the converter wrote no file")
    # Else the same model gave other bytes each time: MNN draws a name for it (3.6.1).
    content = _DRAWN.sub(b"00000000-0000-0000-0000-000000000000", model.read_bytes(), count=1)
    model.write_bytes(content)
    return model.name


def load(model: Path, names: list[str], natives: list[str], precision: str) -> Callable[[Arrays], Arrays]:
    """Return what runs one case."""
    import MNN
    import numpy as np

    kinds = {"i": MNN.expr.int, "f": MNN.expr.float}
    level = "low" if precision == "fp16" else "high"
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": level, "numThread": 1},))
    # Winograd's transforms of convolutions err as much as float16 does: off, unless speed was asked for by fp16.
    if level == "high":
        manager.set_hint(3, 0)
    module = MNN.nn.load_module_from_file(str(model), names, natives, runtime_manager=manager)

    def run(fed: Arrays) -> Arrays:
        values = []
        for name in names:
            value = fed[name]
            value = value.astype("int32") if value.dtype.kind in "iub" else value.astype("float32")
            values.append(MNN.expr.const(value, list(value.shape), MNN.expr.NCHW, kinds[value.dtype.kind]))
        outputs = module.onForward(values)
        got = [
            MNN.expr.convert(output, MNN.expr.NCHW) if output.data_format == MNN.expr.NC4HW4 else output
            for output in outputs
        ]
        return {native: np.array(output.read()) for native, output in zip(natives, got)}  # noqa: B905 - Python 3.8

    return run
