"""What a layer computes, by stock Paddle alone: eager, `jit.save` with its predictor, and the files of a bundle.

`python -m evals.small.truth` answers one line of JSON for each that it is sent, from a fork that has imported Paddle
and nothing of the exporter: what judges here shares no code with what is judged.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evals.quiet_fork import quiet_fork
from evals.small.catalogue import Input, SmallLayer, read

if TYPE_CHECKING:
    import paddle

Array = npt.NDArray[Any]
Rows = Sequence[Sequence[Array]]
#: Of an output's largest magnitude; a step of float32 for float64, as the gate allows.
TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-6, "complex64": 1e-4, "complex128": 1e-6}
_SECONDS = 60


def cases(layer: SmallLayer, seed: int) -> list[dict[str, Array]]:
    """Draw inputs at the least, the largest and a middle size of the dims, and the first of them once more."""
    generator = np.random.default_rng(seed)
    picks = (min, max, lambda low, high: (low + high + 1) // 2)
    sizes = [{name: pick(low, high) for name, (low, high) in layer.dims.items()} for pick in picks]
    values = [{tensor.name: drawn(tensor, dims, generator) for tensor in layer.inputs} for dims in sizes]
    return [*values, values[0]]


def drawn(tensor: Input, dims: Mapping[str, int], generator: np.random.Generator) -> Array:
    """Draw an input at these sizes."""
    shape = [dims[size] if isinstance(size, str) else size for size in tensor.shape]
    kind, _, bounds = tensor.values.rstrip(")").partition("(")
    low, high = bounds.split(",") if bounds else ("0", "0")
    if kind == "integers":
        return np.asarray(generator.integers(_size(low, dims), _size(high, dims), shape)).astype(tensor.dtype)
    values = generator.uniform(float(low), float(high), shape) if bounds else generator.standard_normal(shape)
    return np.asarray(values).astype(tensor.dtype)


def _size(text: str, dims: Mapping[str, int]) -> int:
    """A number, or a dim with a number added: `t+1`."""
    name, _, more = text.partition("+")
    return dims[name] + int(more or 0) if name in dims else int(text)


def eager(layer: SmallLayer, seed: int) -> Rows:
    """Run the layer itself, one call after another, as a user would.

    Raises:
        ValueError: it returns what is no tensor.
    """
    import paddle

    net, rows = _built(layer), []
    for case in cases(layer, seed):
        with paddle.no_grad():
            returned = [*_leaves(_called(net, case))]
        if any(not isinstance(leaf, paddle.Tensor) for leaf in returned):
            raise ValueError("returns what is no tensor")
        rows.append([np.asarray(leaf.numpy()) for leaf in returned])
    return rows


def _built(layer: SmallLayer) -> paddle.nn.Layer:
    import paddle

    paddle.seed(0)
    np.random.seed(0)
    net: paddle.nn.Layer = importlib.import_module(layer.name).build()
    net.eval()
    return net


def _called(net: paddle.nn.Layer, case: Mapping[str, Array]) -> object:
    import paddle

    tensors = {name: paddle.to_tensor(value.copy()) for name, value in case.items()}
    kinds = {parameter.kind for parameter in inspect.signature(net.forward).parameters.values()}
    return net(*tensors.values()) if inspect.Parameter.VAR_POSITIONAL in kinds else net(**tensors)


def _leaves(value: object) -> Iterator[Any]:
    """The tensors of what `forward` returned, in its order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        yield value
        return
    for entry in value:
        yield from _leaves(entry)


def stock(layer: SmallLayer, seed: int, way: str) -> Rows:
    """Run `jit.save` as Paddle's guide says, and its file in the predictor, as `jit.load` gives it, or as ONNX.

    `legacy` is the `.pdmodel` in the predictor, as with FLAGS_enable_pir_api=0.

    Keys of a dict that `forward` returns are sorted there; the outputs are put back by eager's order.
    """
    import paddle
    from paddle.pir_utils import DygraphOldIrGuard

    specs = [
        paddle.static.InputSpec(
            [None if isinstance(size, str) else size for size in tensor.shape], tensor.dtype, tensor.name
        )
        for tensor in layer.inputs
    ]
    net = _built(layer)
    with tempfile.TemporaryDirectory(prefix="small-") as place:
        prefix = Path(place, "model")
        with DygraphOldIrGuard() if way == "legacy" else contextlib.nullcontext():
            saved = paddle.jit.to_static(net, input_spec=specs, backend=None, full_graph=True)
            paddle.jit.save(saved, str(prefix))
        if way == "legacy":
            return [*_predicted(prefix.with_suffix(".pdmodel"), cases(layer, seed))]
        if way == "onnx":
            return [*_converted(prefix, cases(layer, seed))]
        if way == "loaded":
            loaded = paddle.jit.load(str(prefix))
            tensors = ([paddle.to_tensor(value) for value in case.values()] for case in cases(layer, seed))
            return [[leaf.numpy() for leaf in _leaves(loaded(*values))] for values in tensors]
        return [*_predicted(prefix.with_suffix(".json"), cases(layer, seed))]


def _predicted(main: Path, inputs: Sequence[Mapping[str, Array]]) -> Iterator[list[Array]]:
    import paddle
    from paddle import inference

    weights = main.with_suffix(".pdiparams")
    config = inference.Config(str(main), str(weights) if weights.exists() else "")
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    for case in inputs:
        # `ascontiguousarray` would give a scalar an axis.
        values = {name: np.array(case[name], order="C") for name in predictor.get_input_names()}
        if any(value.dtype == "int16" for value in values.values()):  # a handle takes it for int32 (3.3.1)
            yield [output.numpy() for output in predictor.run([paddle.to_tensor(value) for value in values.values()])]
            continue
        for name, value in values.items():
            predictor.get_input_handle(name).copy_from_cpu(value)
        predictor.run()
        yield [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def _converted(prefix: Path, inputs: Sequence[Mapping[str, Array]]) -> Iterator[list[Array]]:
    """By stock paddle2onnx, which logs why it writes nothing."""
    import paddle2onnx

    main, weights = prefix.with_suffix(".json"), prefix.with_suffix(".pdiparams")
    file = prefix.with_suffix(".onnx")
    content = paddle2onnx.export(
        str(main), str(weights) if weights.exists() else "", opset_version=17, optimize_tool="None"
    )
    if not content:
        raise ValueError("paddle2onnx writes nothing")
    file.write_bytes(content)
    yield from _onnx(file, inputs, [])


def _onnx(main: Path, inputs: Sequence[Mapping[str, Array]], outputs: Sequence[str]) -> Iterator[list[Array]]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(main), providers=["CPUExecutionProvider"])
    taken = [tensor.name for tensor in session.get_inputs()]
    for case in inputs:
        yield [np.asarray(value) for value in session.run([*outputs] or None, {name: case[name] for name in taken})]


def difference(expected: Rows, got: Rows) -> str:
    """Say where values first differ; empty where they agree in number, dtype, shape and values."""
    for number, (wanted, values) in enumerate(zip(expected, got, strict=True)):
        if len(wanted) != len(values):
            return f"{len(values)} outputs in the place of {len(wanted)}"
        for place, (right, value) in enumerate(zip(wanted, values, strict=True)):
            if reason := _apart(right, value):
                return f"case {number}, output {place}: {reason}"
    return ""


def _apart(right: Array, value: Array) -> str:
    if right.dtype != value.dtype or right.shape != value.shape:
        return f"{value.dtype}{list(value.shape)} in the place of {right.dtype}{list(right.shape)}"
    if right.dtype.name not in TOLERANCES:
        return "" if np.array_equal(right, value) else "other values"
    finite = np.isfinite(right)
    if not np.array_equal(finite, np.isfinite(value)):
        return "finite in other places"
    scale = max(np.abs(right[finite]).max(initial=0.0), 1e-6)
    error = np.abs(right[finite].astype("complex128") - value[finite].astype("complex128")).max(initial=0.0)
    return "" if error <= TOLERANCES[right.dtype.name] * scale else f"off by {error:.3g} of {scale:.3g}"


def sorted_keys(layer: SmallLayer, seed: int) -> list[int]:
    """The places, in eager's order, of the outputs in the order of stock's file: by the keys of dicts, sorted."""
    import paddle

    with paddle.no_grad():
        returned = _called(_built(layer), cases(layer, seed)[0])
    numbered = iter(range(sum(1 for _ in _leaves(returned))))

    def number(value: object) -> object:
        if isinstance(value, Mapping):
            return {key: number(entry) for key, entry in value.items()}
        return [number(entry) for entry in value] if isinstance(value, (list, tuple)) else next(numbered)

    def by_key(value: object) -> Iterator[int]:
        if isinstance(value, int):
            yield value
        elif isinstance(value, dict):
            yield from by_key([value[key] for key in sorted(value)])
        elif isinstance(value, list):
            for entry in value:
                yield from by_key(entry)

    return [*by_key(number(returned))]


def judge_stock(layer: SmallLayer, seed: int, way: str = "") -> str:
    """`sound`, or what stock Paddle's file gives in the place of eager's answer."""
    expected, got = eager(layer, seed), stock(layer, seed, way)
    order = sorted_keys(layer, seed)
    if all(len(values) == len(order) for values in got):
        got = [[values[order.index(place)] for place in range(len(order))] for values in got]
    return difference(expected, got) or "sound"


def judge_bundle(layer: SmallLayer, seed: int, bundle: Path, name: str) -> str:
    """`right`, or where a variant of a bundle differs from eager on inputs that the exporter never saw."""
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    variant = manifest["variants"][name]
    native, outputs = variant["native_outputs"], variant["outputs"]
    main = next(bundle / file for file in variant["files"] if Path(file).suffix in {".json", ".pdmodel", ".onnx"})
    inputs = cases(layer, seed)
    rows = _onnx(main, inputs, native) if main.suffix == ".onnx" else _predicted(main, inputs)
    got = [[row[native.index(output)] for output in outputs] for row in rows]
    return difference(eager(layer, seed), got) or "right"


def judge_eager(layer: SmallLayer, seed: int) -> str:
    """`runs`: what no layer of the table may miss."""
    eager(layer, seed)
    return "runs"


def _answer(request: Mapping[str, Any], write: Callable[[str], object]) -> None:
    sys.path.insert(0, request["folder"])
    signal.alarm(_SECONDS)
    judges: dict[str, Callable[[SmallLayer, int], str]] = {
        "eager": judge_eager,
        "stock": judge_stock,
        "loaded": partial(judge_stock, way="loaded"),
        "onnx": partial(judge_stock, way="onnx"),
        "legacy": partial(judge_stock, way="legacy"),
    }
    judge = judges.get(request["what"]) or partial(
        judge_bundle, bundle=Path(request["bundle"]), name=request["variant"]
    )
    try:
        write(judge(read(request["layer"]), request["seed"]))
    except Exception as error:  # noqa: BLE001  # whatever a layer of the table or stock Paddle raises is the answer
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        write(f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300])


def main() -> None:
    """Serve requests on stdin until it ends."""
    import paddle

    paddle.set_device("cpu")
    for line in sys.stdin:
        with tempfile.TemporaryDirectory(prefix="small-") as place:
            answer = Path(place) / "answer"
            status = quiet_fork(partial(_answer, json.loads(line), answer.write_text))
            text = answer.read_text() if answer.exists() else f"ended by signal {os.WTERMSIG(status)}"
        print(json.dumps(text), flush=True)


if __name__ == "__main__":
    main()
