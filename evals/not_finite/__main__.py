"""What engines do with NaN, infinities and negative ids, operator by operator: `python -m evals.not_finite`.

Each operator is a layer of its own, exported as `exporter convert` does it, and run eagerly, in Paddle Inference
(strict, and as it comes) and in ONNX Runtime. `python -m evals.not_finite docs/not-finite.md` puts the
table into the page.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from evals.not_finite.operators import OPERATORS, Operator
from exporter.base.tensors import Array, TensorSpec

if TYPE_CHECKING:
    import paddle

ENGINES = ("eager", "Paddle Inference, strict", "Paddle Inference, default", "ONNX Runtime")
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
#: What an engine gives, or in a few words why it gives nothing.
Answer: TypeAlias = "Array | str"


def measure(operator: Operator, inputs: Mapping[str, Array]) -> dict[str, Answer]:
    """What each engine gives for the operator; text where it refuses."""
    import paddle

    from exporter.export.lower.base import Wish
    from exporter.export.lower.kinds.onnx import plugin as onnx
    from exporter.export.lower.kinds.pir import plugin as pir
    from exporter.export.trace.traced import trace

    layer = _layer(operator, list(inputs))
    specs = tuple(TensorSpec(name, value.dtype.name, tuple(value.shape)) for name, value in inputs.items())
    with tempfile.TemporaryDirectory() as place:
        folders = {kind: Path(place, kind) for kind in ("pir", "onnx")}
        for folder in folders.values():
            folder.mkdir()
        with pir.session(None):
            pir.write(trace(layer, specs, None, {}), None, folders["pir"], Wish())
        onnx.write(None, folders["pir"], folders["onnx"], Wish())
        runs: list[Callable[[], Any]] = [
            lambda: layer(*[paddle.to_tensor(value) for value in inputs.values()]).numpy(),
            lambda: _predicted(folders["pir"], inputs, strict=True),
            lambda: _predicted(folders["pir"], inputs, strict=False),
            lambda: _in_onnxruntime(folders["onnx"] / "model.onnx", inputs),
        ]
        return {name: _answer(run) for name, run in zip(ENGINES, runs, strict=True)}


def _layer(operator: Operator, names: list[str]) -> paddle.nn.Layer:
    """A layer whose forward is the operator: its source is a file, which the trace reads."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(
            "import paddle\nimport paddle.nn.functional as F\n\n\nclass Net(paddle.nn.Layer):\n"
            f"    def forward(self, {', '.join(names)}):\n        return {operator.code}\n"
        )
    scope: dict[str, Any] = {}
    exec(compile(Path(file.name).read_text(encoding="utf-8"), file.name, "exec"), scope)
    layer: paddle.nn.Layer = scope["Net"]()
    layer.eval()
    return layer


def _answer(run: Callable[[], Any]) -> Answer:
    try:
        given: Array = np.asarray(run())
    except (RuntimeError, ValueError, IndexError, OSError) as error:
        return f"refuses ({type(error).__name__})"
    return given


def _predicted(folder: Path, inputs: Mapping[str, Array], *, strict: bool) -> Array:
    from paddle import inference

    from exporter.paddle.predictor import Predictor

    if strict:
        return Predictor(folder / "model").run(inputs)[0]
    config = inference.Config(str(folder / "model.json"), str(folder / "model.pdiparams"))
    config.disable_gpu()
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    for name, value in inputs.items():
        handle = predictor.get_input_handle(name)
        handle.reshape(list(value.shape))
        handle.copy_from_cpu(np.ascontiguousarray(value))
    predictor.run()
    given: Array = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    return given


def _in_onnxruntime(model: Path, inputs: Mapping[str, Array]) -> Array:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    given: Array = session.run(None, dict(inputs))[0]
    return given


def alike(wanted: Answer, given: Answer) -> bool:
    """Whether an engine gives what eager gives: NaN in the same places, the same infinities, other numbers nearly."""
    if isinstance(wanted, str) or isinstance(given, str):
        return isinstance(wanted, str) and isinstance(given, str)
    if wanted.dtype != given.dtype or wanted.shape != given.shape:
        return False
    return bool(np.allclose(wanted, given, rtol=1e-5, atol=1e-6, equal_nan=True))


def shown(answer: Answer) -> str:
    """Numbers as a reader of the page wants them."""
    if isinstance(answer, str):
        return answer
    if answer.dtype.kind == "f":
        texts = [f"{number:.4g}" for number in answer.ravel().tolist()]
    else:
        texts = [str(number) for number in answer.ravel().tolist()]
    return (
        " ".join(texts)
        .replace("-9223372036854775808", "−2⁶³")
        .replace("9223372036854775807", "2⁶³−1")
        .replace("-2147483648", "−2³¹")
    )


def table() -> list[str]:
    """The part of the page that is measured."""
    import onnxruntime
    import paddle

    rows, asked, apart = [], 0, set()
    for operator in OPERATORS:
        for inputs in operator.draws:
            with _quiet():
                found = measure(operator, inputs)
            eager, *others = found.values()
            given = "; ".join(f"{name} = {shown(value)}" for name, value in inputs.items())
            asked += 1
            if not all(alike(eager, other) for other in others):
                apart.add(operator.code)
                cells = ["as eager" if alike(eager, other) else shown(other) for other in others]
                rows.append(f"| `{operator.code}` | {given} | {shown(eager)} | {' | '.join(cells)} |")
    versions = f"Paddle {paddle.__version__} and ONNX Runtime {onnxruntime.__version__} on a CPU"
    head = f"| operator | input | {' | '.join(ENGINES)} |"
    same = dict.fromkeys(operator.code for operator in OPERATORS if operator.code not in apart)
    return [
        f"Otherwise in {len(rows)} of {asked} questions ({versions}):",
        "",
        head,
        "| --- " * (2 + len(ENGINES)) + "|",
        *rows,
        "",
        f"Alike in all engines on what they were asked: {', '.join(f'`{code}`' for code in same)}.",
    ]


class _quiet:  # noqa: N801 - reads as a statement
    """Paddle and ONNX Runtime print what they refuse: of that the page tells."""

    def __enter__(self) -> None:
        sys.stderr.flush()
        self._kept, self._none = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(self._none, 2)

    def __exit__(self, *_: object) -> None:
        os.dup2(self._kept, 2)
        os.close(self._kept)
        os.close(self._none)


def main() -> int:
    """Print the table, or put it into a page between its marks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="?", type=Path, help="the page that holds the table")
    page = parser.parse_args().page
    lines = "\n".join(table())
    if page is None:
        print(lines)
        return 0
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{lines}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
