"""Measure what Paddle's static export really does with each case: `python -m evals.traps.measure FOLDER [--only PART]`.

FOLDER holds the cases by family (`evals/traps/corpus.py`). Each case runs in a fork of one process that has imported
Paddle, under a time limit: a fresh eager layer, called with the inputs in order, is compared with the exported program
in the predictor (new IR, passes and oneDNN off), fed the same. None and Python numbers count as outputs; rtol 1e-4,
atol 1e-5 of the output's scale. It prints what disagrees with the labels and exits 1 if anything does; `--write`
replaces the truths.

With `--ours` the exporter's export is measured in the place of stock's, of the traps at whose line `check` says no more
than a note; with `--write` the names of those that come out right are put into `kept.txt`: a note is all they need.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.traps import corpus

SECONDS = 60.0
#: In a folder of cases: the traps that the exporter exports rightly, a name a line.
KEPT = "kept.txt"


def load(path: Path, alias: str) -> Any:
    """The module of a case under a name of its own, so that its globals are its own."""
    spec = importlib.util.spec_from_file_location(alias, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    spec.loader.exec_module(module)
    return module


def reseed() -> None:
    import random

    import numpy as np
    import paddle

    random.seed(0)
    np.random.seed(0)
    paddle.seed(0)


def measure(path: Path, say: Callable[..., None], ours: bool = False) -> None:
    """Run one case and say its truth; what kills this process is told by the last phase that was said."""
    import numpy as np
    import paddle

    from exporter.check.probe.child import _leaves, difference

    say(phase="eager")
    module = load(path, "case_eager")
    feeds = [tuple(np.asarray(each) for each in row) for row in module.inputs()]
    assert len(feeds) >= 4
    reseed()
    layer = module.make()
    layer.eval()
    wanted = [_leaves(layer(*[paddle.to_tensor(each.copy()) for each in row])) for row in feeds]
    say(phase="export")
    module = load(path, "case_export")
    reseed()
    layer = module.make()
    layer.eval()
    reseed()
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "model")
        try:
            (write_ours if ours else write_stock)(layer, module.SPECS, prefix)
        except Exception as error:  # noqa: BLE001 - whatever an export raises is its truth
            return say(truth="export_fails", why=_short(error))
        say(phase="predictor")
        try:
            got = predicted(prefix, module.SPECS, feeds)
        except Exception as error:  # noqa: BLE001
            return say(truth="predictor_fails", why=_short(error))
    for row, outputs in zip(wanted, got, strict=True):
        if len(row) != len(outputs):
            return say(truth="silently_wrong", why=f"eager gives {len(row)} outputs, the predictor {len(outputs)}")
        for one, other in zip(row, outputs, strict=True):
            array = np.asarray(one) if isinstance(one, (np.ndarray, int, float)) else None
            if array is not None and not isinstance(one, np.ndarray) and array.size == other.size:
                array = array.reshape(other.shape).astype(other.dtype)
            if what := "no tensor" if array is None else difference(array, other):
                return say(truth="silently_wrong", why=what)
    return say(truth="clean", why="all outputs agree")


def write_stock(layer: Any, declared: list[dict[str, Any]], prefix: str) -> None:
    """Export as Paddle's guide says."""
    import paddle

    specs = [paddle.static.InputSpec(one["shape"], one["dtype"], one["name"]) for one in declared]
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs, backend=None, full_graph=True), prefix)


def write_ours(layer: Any, declared: list[dict[str, Any]], prefix: str) -> None:
    """Export as `exporter convert` does; each size that varies is a dim of its own."""
    from exporter.base.tensors import TensorSpec
    from exporter.export.lower.base import Wish
    from exporter.export.lower.kinds.pir import plugin
    from exporter.export.trace.fixes import fixes_in_force
    from exporter.export.trace.traced import trace

    specs = [
        TensorSpec(
            one["name"],
            one["dtype"],
            tuple(f"{one['name']}{axis}" if size in (None, -1) else size for axis, size in enumerate(one["shape"])),
        )
        for one in declared
    ]
    with fixes_in_force("pir"), plugin.session(None):
        plugin.write(trace(layer, specs, None, {}), None, Path(prefix).parent, Wish())


def predicted(prefix: str, specs: list[dict[str, Any]], feeds: list[tuple[Any, ...]]) -> list[list[Any]]:
    import numpy as np
    from paddle import inference

    stored = prefix + ".pdiparams"
    config = inference.Config(prefix + ".json", stored if Path(stored).exists() else "")
    config.disable_gpu()
    config.disable_mkldnn()
    config.disable_glog_info()
    config.switch_ir_optim(False)
    predictor = inference.create_predictor(config)
    names, found = predictor.get_input_names(), []
    missing = [one["name"] for one in specs if one["name"] not in names]
    if missing:
        raise ValueError(f"the predictor has no input named {missing[0]}")
    for row in feeds:
        for one, value in zip(specs, row, strict=True):
            handle = predictor.get_input_handle(one["name"])
            handle.reshape(list(value.shape))
            handle.copy_from_cpu(np.ascontiguousarray(value))
        predictor.run()
        found.append(
            [np.array(predictor.get_output_handle(name).copy_to_cpu()) for name in predictor.get_output_names()]
        )
    return found


def _short(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {(lines or ['no message'])[-1]}"[:200]


def in_fork(path: Path, seconds: float, ours: bool = False) -> dict[str, str]:
    """The truth of one case, measured in a fork of this process."""
    handle, name = tempfile.mkstemp()
    os.close(handle)
    report = Path(name)
    process = os.fork()
    if process == 0:
        said: dict[str, str] = {}

        def say(**more: str) -> None:
            said.update(more)
            report.write_text(json.dumps(said))

        os.setsid()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        with contextlib.suppress(BaseException):
            measure(path, say, ours)
        os._exit(0)
    end, status = time.monotonic() + seconds, None
    while status is None and time.monotonic() < end:
        ended, raw = os.waitpid(process, os.WNOHANG)
        status = raw if ended else None
        time.sleep(0.02)
    if status is None:
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
    said = json.loads(report.read_text() or "{}")
    report.unlink()
    if "truth" in said:
        return {"truth": said["truth"], "why": said["why"]}
    phase = said.get("phase", "start")
    if status is None:
        return {"truth": "hangs", "why": f"no end after {seconds:.0f} s in phase {phase}"}
    if os.WIFSIGNALED(status):
        return {"truth": "crashes", "why": f"{signal.Signals(os.WTERMSIG(status)).name} in phase {phase}"}
    return {"truth": "invalid", "why": f"ended in phase {phase}"}


def measure_ours(folder: Path, write: bool) -> int:
    """Print what becomes of each trap that `check` lets through; 0 where the exporter's export of all is right."""
    from evals.traps.score import cases, labels

    held = labels(folder)
    traps = frozenset(name for name, case in held.items() if case.truth != "clean")
    passed = sorted(case.name for case in cases(folder, names=traps) if not case.found)
    truths = {name: in_fork(corpus.laid_out(folder, held[name]), SECONDS, ours=True) for name in passed}
    for name, truth in truths.items():
        print(f"{name:32} {truth['truth']:16} {truth['why']}", flush=True)
    kept = [name for name, truth in truths.items() if truth["truth"] == "clean"]
    if write:
        (folder / KEPT).write_text("".join(f"{name}\n" for name in kept))
    return 0 if len(kept) == len(truths) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    parser.add_argument("--write", action="store_true", help="write the truths into the files")
    parser.add_argument("--ours", action="store_true", help="measure the exporter's own export of what check misses")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", GLOG_minloglevel="3", CUDA_VISIBLE_DEVICES="")
    import paddle.inference  # noqa: F401 - before the forks, once

    if options.ours:
        return measure_ours(options.folder, options.write)
    measured, wrong = dict(corpus.read(options.folder)), 0
    for name, case in corpus.read(options.folder).items():
        if options.only in name:
            found = in_fork(corpus.laid_out(options.folder, case), SECONDS)
            differs = found["truth"] != case.truth and not case.flaky
            wrong += differs
            print(f"{name:32} {found['truth']:16} {found['why']}" + (f"  <- {case.truth}" if differs else ""))
            measured[name] = replace(case, truth=found["truth"], measured=found["why"])
    if options.write:
        corpus.write(options.folder, measured.values())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
