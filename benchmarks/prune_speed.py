"""How much faster a pruned model is in ONNX Runtime: whole and pruned in turns, one thread, batch 1 and 8.

    python benchmarks/prune_speed.py [ROUNDS] [digits|resnet18|mobilenet_v2|…]

Times are CPU time of the process, so that what else runs on the machine counts little; weights are the factories' own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

SHARES = ("0.7", "0.5")
MODELS = {
    "digits": ("recipes.digits:build", "image", (1, 8, 8)),
    "resnet18": ("paddle.vision.models:resnet18", "x", (3, 224, 224)),
    "mobilenet_v2": ("paddle.vision.models:mobilenet_v2", "x", (3, 224, 224)),
}


def main() -> int:
    """Measure; exit 1 where a pruned model is not faster."""
    import onnxruntime

    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    print(f"onnxruntime {onnxruntime.__version__}, one thread, {rounds} rounds in turns; ×: time of whole / pruned")
    return 0 if all([_measure(name, rounds) for name in sys.argv[2:] or MODELS]) else 1


def _measure(name: str, rounds: int) -> bool:
    model, inputs, shape = MODELS[name]
    described = ["--input", f"{inputs}=float32[batch,{','.join(map(str, shape))}]", "--dim", "batch=1..8"]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _exporter("convert", model, *described, "--formats", "onnx", "--out", folder / "whole")
        for share in SHARES:
            _exporter("prune", model, *described, "--flops", share, "--epochs", "0", "--out", folder / f"p{share}")
            weights = folder / f"p{share}/pruned.safetensors"
            out = folder / f"b{share}"
            _exporter("convert", model, *described, "--weights", weights, "--formats", "onnx", "--out", out)
        sessions = [_session(folder / one / "onnx/model.onnx") for one in ("whole", *(f"b{one}" for one in SHARES))]
        return all([_in_turns(name, inputs, (batch, *shape), sessions, rounds) for batch in (1, 8)])


def _exporter(*arguments: str | Path) -> None:
    command = [str(Path(sys.executable).with_name("exporter")), *map(str, arguments), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _in_turns(name: str, inputs: str, shape: tuple[int, ...], sessions: list[Any], rounds: int) -> bool:
    feed = {inputs: np.random.default_rng(0).standard_normal(shape, dtype="float32")}
    runs: list[Callable[[], object]] = [lambda one=one: one.run(None, feed) for one in sessions]
    times: list[list[float]] = [[] for _ in runs]
    repeats = max(1, int(0.1 / _seconds(runs[0], 3)))  # a tenth of a second for each turn
    for _ in range(rounds):
        for run, found in zip(runs, times, strict=True):
            found.append(_seconds(run, repeats))
    faster = True
    for share, found in zip(SHARES, times[1:], strict=True):
        ratios = [whole / small for whole, small in zip(times[0], found, strict=True)]
        low, _, high = quantiles(ratios, n=4)
        faster &= median(ratios) > 1
        print(
            f"{name:<14} batch {shape[0]}  flops {share}  {1e3 * median(times[0]):9.3f} -> "
            f"{1e3 * median(found):9.3f} ms   ×{median(ratios):.2f} ({low:.2f} to {high:.2f})"
        )
    return faster


def _seconds(run: Callable[[], object], repeats: int) -> float:
    begin = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - begin) / repeats


if __name__ == "__main__":
    sys.exit(main())
