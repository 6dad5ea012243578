"""One case from layer to verdict: eager, exported, loaded by the strict predictor, compared."""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from legacy_cases import PRELUDE, Case, Input
from packaging.version import Version

#: How a program is made: by us, by Paddle alone, in Paddle's own new format; as ONNX by either writer.
WAYS = ("ours", "stock", "pir", "onnx", "onnx-paddle2onnx")


@dataclass(frozen=True)
class How:
    """One of WAYS, and the oldest Paddle that has to load the files."""

    way: str = "ours"
    target: Version | None = None


@dataclass(frozen=True)
class Outcome:
    """`stage` is where it ended: eager (the call is wrong in Paddle itself), export, load, run, compare,
    done; constant: eager's answer is one constant or not finite in every draw, and so is the file's, bit for bit."""

    name: str
    stage: str
    equal: bool = False
    detail: str = ""

    @property
    def passed(self) -> bool:
        return self.stage in ("done", "constant")


def run_cases(cases: list[Case], how: How, keep: Path | None = None) -> list[Outcome]:
    """Judge all, in a process of their own: forks of one whose engines have computed wait for threads they lack."""
    asked = {"cases": [asdict(case) for case in cases], "way": how.way, "target": how.target and str(how.target)}
    done = subprocess.run(
        [sys.executable, __file__, *([str(keep)] if keep else [])],
        input=json.dumps(asked),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [Outcome(**one) for one in json.loads(done.stdout.splitlines()[-1])]


def _serve() -> None:
    asked = json.load(sys.stdin)
    how = How(asked["way"], Version(asked["target"]) if asked["target"] else None)
    keep = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    outcomes = _run_cases([_case(one) for one in asked["cases"]], how, keep)
    print("\n" + json.dumps([asdict(one) for one in outcomes]))


def _case(told: dict[str, Any]) -> Case:
    """By hand: old environments, which load kept files through this module, have no pydantic."""
    inputs = (Input(**{**one, "shape": tuple(one["shape"])}) for one in told["inputs"])
    return Case(**{**told, "inputs": tuple(inputs)})


def _run_cases(cases: list[Case], how: How, keep: Path | None, batch: int = 40) -> list[Outcome]:
    """Judge all, a forked child for each batch. A child that dies costs one case; the rest of its batch goes on."""
    import paddle  # noqa: F401 - before the forks, so that each has it

    if how.way.startswith("onnx"):
        os.environ["POLYGRAPHY_AUTOINSTALL_DEPS"] = "0"  # else paddle2onnx installs packages while it converts
        import onnxruntime  # noqa: F401
        import paddle2onnx  # noqa: F401

    outcomes: list[Outcome] = []
    left = list(enumerate(cases))
    while left:
        done = _fork(left[:batch], how, keep)
        if len(done) < len(left[:batch]):
            done.append(Outcome(left[len(done)][1].name, "crashed", detail="the process died, or had to be killed"))
        outcomes += done
        left = left[len(done) :]
        if sys.stderr.isatty() or len(outcomes) % 400 < batch:
            print(f"{len(outcomes)}/{len(cases)}", file=sys.stderr, flush=True)
    return outcomes


def _fork(batch: list[tuple[int, Case]], how: How, keep: Path | None) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder, "answers")
        answers.touch()
        with warnings.catch_warnings():  # that a process with threads forks: nothing runs in them
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            warnings.simplefilter("ignore")
            try:
                _child(batch, how, keep, Path(folder), answers)
            finally:
                os._exit(0)
        _wait(child, answers)
        return [Outcome(**json.loads(line)) for line in answers.read_text().splitlines()]


def _wait(child: int, answers: Path, patience: float = 60.0) -> None:
    """Until the child ends; one that gives no answer for `patience` seconds is killed."""
    size, since = -1, time.monotonic()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if answers.stat().st_size != size:
            size, since = answers.stat().st_size, time.monotonic()
        if time.monotonic() - since > patience:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.05)


def _child(batch: list[tuple[int, Case]], how: How, keep: Path | None, folder: Path, answers: Path) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    module = load_module([case for _, case in batch], folder)
    with answers.open("a") as out:
        for index, (number, case) in enumerate(batch):
            outcome = judge(case, getattr(module, f"Case{index}"), how, folder / str(index))
            if keep is not None and outcome.passed:
                shutil.move(folder / str(index), keep / f"{number:04}")
            else:
                shutil.rmtree(folder / str(index), ignore_errors=True)
            print(json.dumps(asdict(outcome)), file=out, flush=True)


def load_module(cases: list[Case], folder: Path) -> Any:
    """The layers as a module with a source file, because dy2static reads the source."""
    path = folder / "cases_of_a_user.py"
    path.write_text("\n\n\n".join([PRELUDE, *(case.source(f"Case{index}") for index, case in enumerate(cases))]))
    spec = importlib.util.spec_from_file_location("cases_of_a_user", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["cases_of_a_user"] = module
    spec.loader.exec_module(module)
    return module


def judge(case: Case, make: Any, how: How, folder: Path) -> Outcome:
    """The verdict on one case, and its files in `folder`: the model, inputs.npz and outputs.npz."""
    import paddle
    from legacy_gate import narrow_budget, verdict

    folder.mkdir()
    stage = "eager"
    try:
        paddle.seed(0)
        layer = make()
        layer.eval()
        draws = [dict(zip("xyzw", one, strict=False)) for one in _draws(case)]
        values = list(draws[0].values())
        expected = [one.numpy() for one in _flat(layer(*map(paddle.to_tensor, values)))]
        stage = "export"
        names = export(copy.deepcopy(layer), case, how, folder)
        np.savez(folder / "inputs.npz", **draws[0])
        np.savez(folder / "outputs.npz", *expected)
        stage = "load"
        if how.way.startswith("onnx"):
            from legacy_onnx import open_onnx

            session = open_onnx(str(folder / "onnx" / "model.onnx"))
            taken = [one.name for one in session.get_inputs()]

            def run_one(drawn: dict[str, Any]) -> list[Any]:
                return session.run(names, {name: drawn[name] for name in taken})
        else:
            predictor = load(folder)

            def run_one(drawn: dict[str, Any]) -> list[Any]:
                return run(predictor, list(drawn.values()))

        stage = "run"
        outputs = tuple(f"output_{at}" for at in range(len(expected)))
        stage, equal, detail = verdict(layer, outputs, draws, run_one, narrow_budget(case.source("Case")))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stage raises is its outcome
        return Outcome(case.name, stage, detail=_reason(error))
    return Outcome(case.name, stage, equal, detail or ("" if equal else "close"))


def export(layer: Any, case: Case, how: How, folder: Path) -> list[str] | None:
    """Write `m.pdmodel` or `m.json` and `m.pdiparams`; or our `onnx/model.onnx`, and return its outputs' names."""
    import paddle
    from paddle.pir_utils import DygraphOldIrGuard

    from exporter.export.lower.pdmodel.files import finish
    from exporter.export.lower.pdmodel.session import legacy_export

    shapes = [[None, *one.shape[1:]] if one.dynamic else list(one.shape) for one in case.inputs]
    specs = [
        paddle.static.InputSpec(shape, one.carrier, name)
        for shape, one, name in zip(shapes, case.inputs, "xyzw", strict=False)
    ]
    if how.way.startswith("onnx"):
        from legacy_onnx import export_onnx

        return export_onnx(layer, specs, folder, "program" if how.way == "onnx" else "paddle2onnx")

    context = {
        "ours": lambda: legacy_export(how.target),
        "stock": DygraphOldIrGuard,
        "pir": nullcontext,
    }[how.way]()
    with context:
        traced = paddle.jit.to_static(layer, input_spec=specs, full_graph=True, backend=None)
        paddle.jit.save(traced, str(folder / "m"))
    (folder / "m.pdiparams.info").unlink(missing_ok=True)
    if how.way == "ours":
        finish(folder / "m.pdmodel", folder / "m.pdiparams", how.target)
    return None


def load(folder: Path) -> Any:
    from paddle.inference import Config, create_predictor

    model = next(path for path in (folder / "m.pdmodel", folder / "m.json") if path.exists())
    parameters = folder / "m.pdiparams"
    config = Config(str(model), str(parameters) if parameters.exists() else "")
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(1)
    return create_predictor(config)


def run(predictor: Any, values: list[Any]) -> list[Any]:
    for name, value in zip("xyzw", values, strict=False):
        handle = predictor.get_input_handle(name)
        handle.reshape(value.shape)
        handle.copy_from_cpu(value)
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def compare(expected: list[Any], found: list[Any]) -> bool:
    """Whether all are equal bit for bit. Raises AssertionError where they are not even close."""
    assert len(expected) == len(found), f"{len(found)} outputs, not {len(expected)}"
    equal = True
    for want, got in zip(expected, found, strict=True):
        assert want.dtype == got.dtype, f"dtype {got.dtype}, not {want.dtype}"
        assert want.shape == got.shape, f"shape {got.shape}, not {want.shape}"
        same = np.array_equal(want, got, equal_nan=want.dtype.kind == "f")
        equal = equal and same
        if not same:
            assert want.dtype.kind == "f", f"values differ: {got.ravel()[:4]}, not {want.ravel()[:4]}"
            assert np.array_equal(np.isfinite(want), np.isfinite(got)), "finite elsewhere"
            error = np.abs(want[np.isfinite(want)] - got[np.isfinite(got)]).max() / np.abs(want).max()
            assert error <= 16 * np.finfo(want.dtype).eps, f"relative error {error:.1e}"
    return equal


def _draws(case: Case) -> list[list[Any]]:
    """As the case says, twice; zeros, ones; then wider, and with what is not finite."""
    plain = [[_draw(one, case, index, seed) for index, one in enumerate(case.inputs)] for seed in ("", "#2")]
    floats = any(value.dtype.kind == "f" for value in plain[0])
    wide = [np.asarray(value * 5 - 2) if value.dtype.kind == "f" else value for value in plain[0]]
    odd = [[_with_odd(value, first) for value in plain[1]] for first in (np.nan, np.inf)]
    if "while" in case.body:  # on zeros and infinities some of the loops never end, in eager mode neither
        return plain
    same = [[np.full_like(value, number) for value in plain[0]] for number in (0, 1)]
    return [*plain, *same, wide, *odd] if floats else [*plain, *same]


def _with_odd(value: Any, first: float) -> Any:
    """Every fourth element, by turns, the first of them `first`."""
    strange = value.copy()
    if value.dtype.kind == "f" and value.size:
        flat = strange.reshape(-1)
        for place, number in zip(
            range(0, flat.size, 4), itertools.cycle((first, np.nan, 0.0, -np.inf, np.inf)), strict=False
        ):
            flat[place] = number
    return strange


def _draw(one: Input, case: Case, index: int, more: str = "") -> Any:
    """The same values in every run and process."""
    seed = int.from_bytes(hashlib.sha256(f"{case.body}{index}{more}".encode()).digest()[:4], "big")
    random = np.random.default_rng(seed)
    kind, low, high = re.fullmatch(r"([nui])(?:\((-?[\d.]+),(-?[\d.]+)\))?", one.values).groups()
    if kind == "i":
        return np.asarray(random.integers(int(low), int(high), one.shape)).astype(one.carrier)
    drawn = random.standard_normal(one.shape) if kind == "n" else random.uniform(float(low), float(high), one.shape)
    return np.asarray(drawn).astype(one.carrier)


def _flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, (list, tuple)) else [value]


def _reason(error: BaseException) -> str:
    hint = getattr(error, "hint", "")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}{' | ' + hint if hint else ''}"[:300]


if __name__ == "__main__":
    _serve()
