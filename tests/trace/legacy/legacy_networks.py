"""The networks of docs/legacy.md: python tests/trace/legacy/legacy_networks.py [--families vision,clas,seg,…].

Each network is exported as .pdmodel by us and by Paddle alone, as .json, and as ONNX; loaded, run and compared with
eager.
The environment with all families is described in docs/legacy.md.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from legacy_judge import load
from legacy_onnx import export_onnx, open_onnx
from legacy_zoo import FAMILIES, Network

WAYS = ("ours", "stock", "pir", "onnx", "onnx-stock")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--json", type=Path, help="write after each network; those that it holds already are not run again"
    )
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    import paddle  # noqa: F401 - before the forks

    networks = [net for family in options.families.split(",") for net in FAMILIES[family]()]
    if options.only:
        networks = [net for net in networks if net.name in options.only.split(",")]
    rows = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    done = {(row["family"], row["name"]) for row in rows}
    for net in networks:
        if (net.family, net.name) in done:
            continue
        row = {"family": net.family, "name": net.name, **_fork(net, options.ways.split(","), options.keep)}
        rows.append(row)
        print("  ".join([f"{net.family}/{net.name}", *(f"{way}: {row.get(way, '-')}" for way in WAYS)]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    for way in options.ways.split(","):
        passed = sum(str(row.get(way)).startswith(("equal", "close", "near")) for row in rows)
        print(f"{way}: {passed}/{len(rows)}, bit for bit {sum(row.get(way) == 'equal' for row in rows)}")
    return 0


def _fork(net: Network, ways: list[str], keep: Path | None, patience: float = 400.0) -> dict[str, str]:
    """Each way in its own process: paddle2onnx aborts, and stock's failures poison what comes after."""
    answers: dict[str, str] = {}
    for way in ways:
        with tempfile.TemporaryDirectory() as folder:
            child = os.fork()
            if child == 0:
                try:
                    quiet = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(quiet, 1)
                    os.dup2(quiet, 2)
                    Path(folder, "answer").write_text(_judge(net, way, Path(folder), keep))
                finally:
                    os._exit(0)
            since = time.monotonic()
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                if time.monotonic() - since > patience:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    break
                time.sleep(0.1)
            answer = Path(folder, "answer")
            answers[way] = answer.read_text() if answer.exists() else "FAILED: the process died or had to be killed"
    return answers


def _judge(net: Network, way: str, folder: Path, keep: Path | None) -> str:
    import paddle

    stage = "build"
    try:
        paddle.seed(7)
        layer = net.build()
        layer.eval()
        values = [_draw(*one, seed=index) for index, one in enumerate(net.inputs)]
        stage = "eager"
        expected = [one.numpy() for one in _flat(layer(*map(paddle.to_tensor, values)))]
        stage = "export"
        specs = _specs(net, layer)
        if way.startswith("onnx"):
            found = (_onnx if way == "onnx" else _stock_onnx)(layer, specs, folder, values)
        else:
            _export(layer, specs, way, folder)
            stage = "load"
            predictor = load(folder)
            stage = "run"
            found = _run(predictor, [one.name for one in specs], values)
            if keep is not None and way == "ours":
                into = keep / f"{net.family}-{net.name}".replace(" ", "_").replace(",", "")
                into.mkdir(parents=True, exist_ok=True)
                for path in folder.glob("m.*"):
                    path.rename(into / path.name)
                np.savez(into / "inputs.npz", **{one.name: value for one, value in zip(specs, values, strict=True)})
                np.savez(into / "outputs.npz", *expected)
        stage = "compare"
        return _compare(net, values, expected, found)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stage raises is the answer
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"FAILED {stage}: {type(error).__name__}: {(lines or [''])[-1]}"[:220]


def _draw(dtype: str, shape: tuple[int, ...], bound: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    if dtype.startswith("int"):
        return random.integers(1, bound, shape).astype(dtype)
    if bound:
        return np.full(shape, bound, dtype)
    return random.standard_normal(shape).astype(dtype)


def _specs(net: Network, layer: Any) -> list[Any]:
    import inspect

    import paddle

    names = list(inspect.signature(layer.forward).parameters)
    return [
        paddle.static.InputSpec([None, *shape[1:]] if net.dynamic else list(shape), dtype, name)
        for (dtype, shape, _), name in zip(net.inputs, names, strict=False)
    ]


def _export(layer: Any, specs: list[Any], way: str, folder: Path) -> None:
    import paddle
    from paddle.pir_utils import DygraphOldIrGuard

    from exporter.trace.legacy import finish, legacy_export

    context = {"ours": legacy_export, "stock": DygraphOldIrGuard, "pir": nullcontext}[way]()
    with context:
        traced = paddle.jit.to_static(layer, input_spec=specs, full_graph=True, backend=None)
        paddle.jit.save(traced, str(folder / "m"))
    (folder / "m.pdiparams.info").unlink(missing_ok=True)
    if way == "ours":
        finish(folder / "m.pdmodel", folder / "m.pdiparams")


def _run(predictor: Any, names: list[str], values: list[Any]) -> list[Any]:
    for name, value in zip(names, values, strict=True):
        predictor.get_input_handle(name).copy_from_cpu(value)
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def _onnx(layer: Any, specs: list[Any], folder: Path, values: list[Any]) -> list[Any]:
    """Through the product: traced with what paddle2onnx cannot convert rewritten."""
    os.environ["POLYGRAPHY_AUTOINSTALL_DEPS"] = "0"
    names = export_onnx(layer, specs, folder)
    session = open_onnx(str(folder / "onnx" / "model.onnx"))
    return session.run(names, dict(zip([one.name for one in specs], values, strict=True)))


def _stock_onnx(layer: Any, specs: list[Any], folder: Path, values: list[Any]) -> list[Any]:
    """What paddle2onnx alone makes of Paddle's own file."""
    os.environ["POLYGRAPHY_AUTOINSTALL_DEPS"] = "0"
    import paddle2onnx

    _export(layer, specs, "pir", folder)
    parameters = folder / "m.pdiparams"
    content = paddle2onnx.export(
        str(folder / "m.json"), str(parameters) if parameters.exists() else "", opset_version=17,
        auto_upgrade_opset=True, enable_onnx_checker=True, optimize_tool="None",
    )  # fmt: skip
    return open_onnx(content).run(None, dict(zip([one.name for one in specs], values, strict=True)))


def _compare(net: Network, values: list[Any], expected: list[Any], found: list[Any]) -> str:
    """equal: bit for bit; close: errs at most four times what eager float32 errs against float64.

    near: the network has no float64 run (its author wrote float32 into it), and the largest difference from eager is at
    most 64 ulp of the output's scale.
    """
    if len(expected) != len(found):
        return f"FAILED compare: {len(found)} outputs, not {len(expected)}"
    for want, got in zip(expected, found, strict=True):
        if want.shape != got.shape or want.dtype != got.dtype:
            return f"FAILED compare: {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
    if all(
        np.array_equal(want, got, equal_nan=want.dtype.kind == "f") for want, got in zip(expected, found, strict=True)
    ):
        return "equal"
    if any(not np.array_equal(want, got) for want, got in zip(expected, found, strict=True) if want.dtype.kind != "f"):
        return "FAILED compare: integers differ"
    try:
        truth = _truth(net, values, expected)
    except (Exception, SystemExit):  # noqa: BLE001 - whatever keeps it from being one
        pairs = [pair for pair in zip(expected, found, strict=True) if pair[0].dtype.kind == "f"]
        far = max(float(np.abs(got - want).max() / np.abs(want).max()) for want, got in pairs)
        return f"near {far:.1e}" if far <= 64 * 2.0**-24 else f"FAILED compare: relative error {far:.1e}"
    worst = 0.0
    for want, got, true in zip(expected, found, truth, strict=True):
        if want.dtype.kind != "f":
            continue
        reference = max(np.abs(want - true).max(), 4 * 2.0**-24 * np.abs(true).max())
        worst = max(worst, float(np.abs(got - true).max() / reference))
    return f"close {worst:.2f}" if worst <= 4 else f"FAILED compare: error ratio {worst:.1f}"


def _truth(net: Network, values: list[Any], expected: list[Any]) -> list[Any]:
    """The same network in float64, built anew: to_static has changed the first one."""
    import paddle

    paddle.seed(7)
    double = net.build()
    double.to(dtype="float64")
    double.eval()
    paddle.set_default_dtype("float64")
    inputs = [paddle.to_tensor(value.astype("float64") if value.dtype.kind == "f" else value) for value in values]
    found = [one.numpy() for one in _flat(double(*inputs))]
    pairs = zip(found, expected, strict=True)
    assert all(one.dtype == "float64" for one, want in pairs if want.dtype.kind == "f"), "the float64 run is not one"
    return found


def _flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, (list, tuple)) else [value]


if __name__ == "__main__":
    sys.exit(main())
