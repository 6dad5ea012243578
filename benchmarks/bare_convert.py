"""What a script without us does: to_static and jit.save for PIR, the same for `.pdmodel`, paddle2onnx; a process each.

python benchmarks/bare_convert.py MODULE:FACTORY WEIGHTS|- INPUT SHAPE INTO [DTYPE [ARGUMENTS [FORMAT...]]]

DTYPE is float32 unless it is given, ARGUMENTS are those of the factory in JSON; FORMAT is pir, pdmodel or onnx.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SAVE = """
import sys
sys.path.insert(0, {root!r})
import paddle
from safetensors.numpy import load_file
from {module} import {factory}
layer = {factory}(**{arguments!r})
weights = {weights!r}
if weights:
    layer.set_state_dict({{name: paddle.to_tensor(value) for name, value in load_file(weights).items()}})
layer.eval()
spec = [paddle.static.InputSpec({shape!r}, {dtype!r}, {name!r})]
static = paddle.jit.to_static(layer, input_spec=spec, backend=None, full_graph=True)
paddle.jit.save(static, {prefix!r})
"""

ONNX = """
import paddle2onnx
content = paddle2onnx.export({prefix!r} + ".json", {prefix!r} + ".pdiparams", opset_version=17, optimize_tool="None")
open({into!r}, "wb").write(content)
"""


def main() -> None:
    """Run a process for each format, one after the other."""
    model, weights, name, shape, into, *more = sys.argv[1:]
    dtype, arguments, *formats = [*more, *("float32", "{}")[len(more) :]]
    formats = formats or ["pir", "pdmodel", "onnx"]
    module, _, factory = model.partition(":")
    dims = [None if dim == "None" else int(dim) for dim in shape.split(",")]
    place = Path(into)
    for flag, folder in (("1", "pir"), ("0", "pdmodel")):
        if folder not in formats:
            continue
        code = SAVE.format(
            root=str(Path.cwd()),
            module=module,
            factory=factory,
            weights="" if weights == "-" else weights,
            shape=dims,
            name=name,
            dtype=dtype,
            arguments=json.loads(arguments),
            prefix=str(place / folder / "model"),
        )
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "FLAGS_enable_pir_api": flag})
    if "onnx" in formats:
        code = ONNX.format(prefix=str(place / "pir" / "model"), into=str(place / "model.onnx"))
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
