"""The three tables of operators through the writer from the program: `python -m evals.lower.onnx_table --cases kind`.

Two stages, both resumable. The first traces every case with Paddle, as `exporter convert` does, and keeps in a folder
the PIR files, the inputs of each draw and eager's outputs. The second needs no Paddle: it writes ONNX from the PIR
files, runs it in ONNX Runtime and compares. A case is *right* when all outputs have eager's count, dtype and shape,
integers are equal, and floats err by at most 16 epsilon of the largest number (4 of the narrowest dtype in the case);
draws with NaN or infinity among the inputs are counted apart. It is *refused* when the writer says what it cannot
write. What is wrong is compared once more with `jit.load` of the PIR files: `as jit.load` means that Paddle's own file
is not eager either. With `--operators` each operator of the files that are right is judged at its own inputs besides,
of the first draw and of others around it (`exporter/prove/root_cause/operators/`): none should be wrong.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec, load, save_scratch
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx
from exporter.prove.root_cause.operators.judge import JudgedOperator, JudgeRequest

sys.path.insert(0, str(Path(__file__).parent / "pdmodel"))

#: Cases that one child records: a child that crashes costs one case, the others of its batch go on in a new one.
_BATCH = 40
BUDGET = 4.0
#: Seconds by the clock after which `jit.load` of one case hangs, on a machine that does much else.
_HUNG = 1800
TABLES = ("sunk", "further", "kind")
#: Units in the last place of dtypes that a case may compute in; the narrowest counts.
_NARROW = (("bfloat16", 4 * 2.0**-8), ("float16", 4 * 2.0**-11))


def cases_of(table: str) -> list[Any]:
    """The cases of a table."""
    return list(importlib.import_module(f"legacy_{table}_cases").cases())


def record(cases: list[Any], into: Path) -> None:
    """Fill `into/<number>/` for each case that it lacks: PIR files, `data.safetensors`, `case.json`."""
    import paddle  # noqa: F401 - before the forks, so that each has it

    into.mkdir(parents=True, exist_ok=True)
    left = [number for number in range(len(cases)) if not _recorded(into, number)]
    while left:
        batch = left[:_BATCH]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            try:
                _record_batch([(number, cases[number]) for number in batch], into)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        missing = [number for number in batch if not _recorded(into, number)]
        if missing:
            folder = into / f"{missing[0]:04}"
            folder.mkdir(exist_ok=True)
            _note(folder, cases[missing[0]], "crashed", "Paddle ended the process")
        left = [number for number in left if not _recorded(into, number)]
        print(f"recorded {len(cases) - len(left)}/{len(cases)}", file=sys.stderr, flush=True)


def _recorded(into: Path, number: int) -> bool:
    return (into / f"{number:04}" / "case.json").exists()


def _note(folder: Path, case: Any, stage: str, detail: str = "", **more: Any) -> None:
    about = {"name": case.name, "api": case.api, "source": case.source("Case"), "stage": stage, "detail": detail}
    (folder / "case.json").write_text(json.dumps({**about, **more}))


def _record_batch(batch: list[tuple[int, Any]], into: Path) -> None:
    from legacy_judge import load_module

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    with tempfile.TemporaryDirectory() as place:
        module = load_module([case for _, case in batch], Path(place))
        for index, (number, case) in enumerate(batch):
            signal.alarm(60)
            record_case(case, getattr(module, f"Case{index}"), into / f"{number:04}")
            signal.alarm(0)


def record_case(case: Any, make: Any, folder: Path) -> None:
    """Trace a case and keep what eager computes of each draw, as far as eager takes it."""
    import paddle
    from legacy_judge import _draws, _flat

    folder.mkdir(exist_ok=True)
    stage = "eager"
    try:
        paddle.seed(0)
        layer = make()
        layer.eval()
        arrays = {}
        for at, draw in enumerate(_draws(case)):
            try:
                found = [one.numpy() for one in _flat(layer(*map(paddle.to_tensor, draw)))]
            except (RuntimeError, ValueError):
                if not at:
                    raise
                continue
            arrays |= {f"{at}.in.{name}": value for name, value in zip("xyzw", draw, strict=False)}
            arrays |= {f"{at}.out.{place}": value for place, value in enumerate(found)}
        stage = "trace"
        names = _write_pir(layer, case, folder)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stage raises is its outcome
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        _note(folder, case, stage, f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300])
        return
    save_scratch(folder / "data.safetensors", arrays)
    _note(folder, case, "recorded", outputs=names)


def _write_pir(layer: Any, case: Any, folder: Path) -> list[str]:
    from exporter.export.lower.kinds.pir import plugin as pir
    from exporter.export.trace.traced import trace

    inputs = tuple(
        TensorSpec(name, one.carrier, (f"{name}0", *one.shape[1:]) if one.dynamic else tuple(one.shape))
        for name, one in zip("xyzw", case.inputs, strict=False)
    )
    with pir.session(None):
        traced = trace(layer, inputs, None, {})
        pir.write(traced, None, folder, Wish())
    return [one.name for one in traced.outputs]


def judge(folder: Path, opset: int | None = None) -> tuple[str, str]:
    """What became of a recorded case: right, not finite, refused, wrong, or where Paddle ended; and why."""
    about = json.loads((folder / "case.json").read_text())
    if about["stage"] != "recorded":
        return about["stage"], about["detail"]
    data = load(folder / "data.safetensors")
    with tempfile.TemporaryDirectory() as place:
        wish = Wish(opset)
        try:
            onnx.write(None, folder, Path(place), wish)
        except ModelError as error:
            return "refused", error.what
        found = _answers(Path(place) / "model.onnx", data, about["outputs"])
    allowed = next((bound for name, bound in _NARROW if name in about["source"]), None)
    said = {draw: _differs(data, draw, answer, allowed) for draw, answer in found.items()}
    odd = {draw for draw in said if not _finite(data, draw)}
    if wrong := [f"draw {draw}: {what}" for draw, what in said.items() if what and draw not in odd]:
        return "wrong", wrong[0]
    strange = [f"draw {draw}: {what}" for draw, what in said.items() if what]
    return ("not finite", strange[0]) if strange else ("right", "")


def _answers(model: Path, data: Any, names: list[str]) -> dict[str, Any]:
    from legacy_onnx import open_onnx

    session = open_onnx(str(model))
    taken = [one.name for one in session.get_inputs()]
    draws = sorted({key.split(".")[0] for key in data}, key=int)
    return {draw: _ran(session, names, {name: data[f"{draw}.in.{name}"] for name in taken}) for draw in draws}


def _ran(session: Any, names: list[str], feed: dict[str, Any]) -> Any:
    try:
        return session.run(names, feed)
    except RuntimeError as error:  # what ONNX Runtime raises derives from it
        return str(error).splitlines()[0][-200:]


def _finite(data: Any, draw: str) -> bool:
    given = [data[key] for key in data if key.startswith(f"{draw}.in.")]
    return all(np.isfinite(value).all() for value in given if value.dtype.kind == "f")


def _differs(data: Any, draw: str, answer: Any, allowed: float | None) -> str:
    if isinstance(answer, str):
        return answer
    for place, got in enumerate(answer):
        want = data[f"{draw}.out.{place}"]
        if what := difference(want, got, allowed):
            return what
    return ""


def difference(want: Any, got: Any, allowed: float | None = None) -> str:
    """In what two arrays differ; empty where they do not."""
    if (want.dtype, want.shape) != (got.dtype, got.shape):
        return f"{got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(want, got) else f"values {got.ravel()[:4]}, not {want.ravel()[:4]}"
    finite = np.isfinite(want)
    if not np.array_equal(want[~finite], got[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return f"finite elsewhere: {got.ravel()[:4]}, not {want.ravel()[:4]}"
    if not finite.any():
        return ""
    error = np.abs(want[finite].astype("float64") - got[finite]).max() / (np.abs(want[finite]).max() or 1)
    return f"relative error {error:.1e}" if error > (allowed or 16 * np.finfo(want.dtype).eps) else ""


def operators(folder: Path, opset: int | None = None) -> list[JudgedOperator]:
    """Every operator of a recorded case, at the values of the first draw and at others around them."""
    from exporter.prove.root_cause.operators.child import judge

    data = load(folder / "data.safetensors")
    with tempfile.TemporaryDirectory() as place:
        wish = Wish(opset)
        onnx.write(None, folder, Path(place), wish)
        golden = Path(place) / "golden.safetensors"
        drawn = {key.removeprefix("0.in."): value for key, value in data.items() if key.startswith("0.in.")}
        save_scratch(golden, {f"case/input/{name}": value for name, value in drawn.items()})
        return list(judge(JudgeRequest(folder, Path(place) / "model.onnx", golden, "case", BUDGET)).operators)


def as_loaded(folder: Path) -> bool:
    """Whether Paddle's own file answers otherwise than eager, in the same way: run in a process of its own."""
    command = [sys.executable, "-c", _LOADED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_HUNG)
    return done.returncode == 0 and done.stdout.splitlines()[-1:] == ["as jit.load"]


_LOADED = """
import json, sys, tempfile
from pathlib import Path
import numpy as np
import paddle
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx
from exporter.base.tensors import load
from evals.lower.onnx_table import _answers, difference
folder = Path(sys.argv[1])
about, data = json.loads((folder / "case.json").read_text()), load(folder / "data.safetensors")
layer = paddle.jit.load(str(folder / "model"))
with tempfile.TemporaryDirectory() as place:
    wish = Wish()
    onnx.write(None, folder, Path(place), wish)
    answers = _answers(Path(place) / "model.onnx", data, about["outputs"])
same = True
for draw, answer in answers.items():
    given = [data[f"{draw}.in.{name}"] for name in "xyzw" if f"{draw}.in.{name}" in data]
    if not all(np.isfinite(value).all() for value in given if value.dtype.kind == "f"):
        continue
    found = layer(*map(paddle.to_tensor, given))
    found = found if isinstance(found, (list, tuple)) else [found]
    same = same and not any(difference(want.numpy(), got) for want, got in zip(found, answer))
print("as jit.load" if same else "other")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", choices=TABLES, default="kind")
    parser.add_argument(
        "--recorded", type=Path, required=True, help="the folder of recorded cases, filled where it lacks"
    )
    parser.add_argument("--opset", type=int, help="without it 17, or what an operator needs")
    parser.add_argument("--only", default="", help="a part of the case's name")
    parser.add_argument("--operators", action="store_true", help="judge each operator at its own inputs, too")
    options = parser.parse_args()
    place = options.recorded / options.cases
    record(cases_of(options.cases), place)
    counted: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for folder in sorted(place.iterdir()):
        name = json.loads((folder / "case.json").read_text())["name"]
        if options.only not in name:
            continue
        outcome, why = judge(folder, options.opset)
        if outcome == "wrong" and as_loaded(folder):
            outcome = "as jit.load"
        counted[outcome] += 1
        if options.operators and outcome in ("right", "not finite"):
            for one in operators(folder, options.opset):
                inside["not judged" if not one.judged else "wrong" if one.wrong(BUDGET) else "right"] += 1
                if not one.judged or one.wrong(BUDGET):
                    print(f"OPERATOR {folder.name} {name}: {one}{': ' if one.why_not else ''}{one.why_not}", flush=True)
        if outcome in ("refused", "wrong", "as jit.load"):
            print(f"{outcome.upper()} {folder.name} {name}: {why}")
    print(json.dumps(dict(counted)))
    if options.operators:
        print(f"operators: {json.dumps(dict(inside))}")
    total = sum(count for outcome, count in counted.items() if outcome != "eager")
    odd = counted["not finite"]
    print(f"{counted['right'] + odd}/{total} right, {odd} of them but for NaN and infinity")
    return 1 if counted["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
