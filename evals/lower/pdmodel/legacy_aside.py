"""In a Paddle that has nothing sunk: the table steps aside, and a layer is exported as stock exports it.

python evals/lower/pdmodel/legacy_aside.py; prints the version, the number of sunk APIs, and "equal" where the file's
answer is eager's bit for bit and its operators are stock's.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from legacy_judge import load, run

from exporter.export.lower.pdmodel.audit import mistakes
from exporter.export.lower.pdmodel.files import finish
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.paddle.sunk import sunk_apis


class Net(paddle.nn.Layer):
    """A few of the APIs that are sunk later."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = paddle.nn.Linear(4, 3)

    def forward(self, x):
        y = paddle.nn.functional.gelu(self.fc(x))
        return paddle.tanh(paddle.matmul(y, y, transpose_y=True)).sum(axis=-1, keepdim=True) * paddle.exp(y)


def write(layer: Any, folder: Path, ours: bool) -> list[str]:
    from paddle.base import core
    from paddle.pir_utils import DygraphOldIrGuard

    stock = nullcontext() if paddle.__version__.startswith("2.") else DygraphOldIrGuard()
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    with legacy_export() if ours else stock:
        paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec), str(folder / "m"))
    if ours:
        finish(folder / "m.pdmodel", folder / "m.pdiparams")
    program = core.ProgramDesc((folder / "m.pdmodel").read_bytes())  # a block does not keep it alive
    block = program.block(0)
    return [block.op(index).type() for index in range(block.op_size())]


def main() -> int:
    layer = Net()
    layer.eval()
    x = np.random.default_rng(0).standard_normal([5, 4]).astype("float32")
    expected = layer(paddle.to_tensor(x)).numpy()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        same = write(layer, Path(one), ours=True) == write(layer, Path(other), ours=False)
        (found,) = run(load(Path(one)), [x])
    word = "equal" if same and np.array_equal(found, expected) else "different"
    print(paddle.__version__, len(sunk_apis()), len(mistakes()), word)
    return 0 if word == "equal" else 1


if __name__ == "__main__":
    sys.exit(main())
