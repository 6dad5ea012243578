"""Real engines' answers to fifteen small networks: are sound ones refused, and is a wrong one shown to be wrong?

Each network is released and its kit answered by each engine of the Python that is named (`evals/targets/engines.py`).
Beside the verdict stands how far the answers are from float64, in units of the truth's size, and by how much of it our
own ONNX Runtime is: that proves which side errs. *Sound* is an answer within 2e-5 of the truth everywhere, `wrong` one
that is off by more than 1e-2 somewhere; what lies between is float32 by faster kernels. Exits with 1 where a sound
answer is refused, or a wrong one passes.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.drill import networks as drill_networks
from evals.drill.score import NETWORKS as DRILL
from evals.elsewhere.bundles import NETWORKS, Asked, asked, exporter, released
from evals.elsewhere.device import computed
from evals.targets import engines as engines_module
from exporter.base.tensors import load, load_npy

ENGINES = tuple(engines_module.ENGINES)
SOUND, WRONG = 2e-5, 1e-2


@dataclass(frozen=True)
class Row:
    """One network in one engine: the verdict, the cause that was named, and how far it and our own engine are off."""

    network: str
    engine: str
    verdict: str
    cause: str
    off: float
    ours: float

    @property
    def judged_right(self) -> bool:
        """Whether a sound answer passed, and a wrong one did not."""
        if self.verdict == "not answered":
            return True
        return self.verdict != "failed" if self.off <= SOUND else self.verdict == "failed" or self.off <= WRONG

    def __str__(self) -> str:
        word = "sound" if self.off <= SOUND else "wrong" if self.off > WRONG else "less exact"
        word = "-" if self.verdict == "not answered" else word
        mark = "" if self.judged_right else " **NOT RIGHT**"
        return (
            f"| {self.engine} | {self.network} | {self.verdict}{mark} | {self.cause or '-'} | {word} | "
            f"{self.off:.1e} | {self.ours:.1e} |"
        )


def kits(place: Path) -> Iterator[tuple[str, Asked]]:
    """Each network with its bundle and kit."""
    for name in DRILL:
        described = {"name": name, "version": "1.0.0", "model": f"networks:{name}", "weights": "factory"}
        spec = {**described, **{key: value for key, value in DRILL[name].items() if key != "formats"}}
        yield name, released(spec, Path(str(drill_networks.__file__)), place / "drill")
    for name in NETWORKS:
        yield f"{name} (answers)", asked(name, place / "elsewhere")


def run(place: Path, python: str) -> int:
    """Ask every engine about every network; print the table, and return the exit code."""
    print("| engine | network | verdict | cause | it is | off from float64 | ONNX Runtime here |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    for name, kit in kits(place):
        ours = _off(kit, {f"{case}.{output}": value for (case, output), value in computed(kit).items()})
        for engine in ENGINES:
            rows.append(_row(name, kit, engine, python, ours))
            print(rows[-1], flush=True)
    answered = [row for row in rows if row.verdict != "not answered"]
    sound = [row for row in answered if row.off <= SOUND]
    refused = [row for row in sound if row.verdict == "failed"]
    wrong = [row for row in answered if row.off > WRONG]
    caught = [row for row in wrong if row.verdict == "failed"]
    between = [row for row in answered if SOUND < row.off <= WRONG]
    print(f"\n{len(answered)} of {len(rows)} answered; sound answers refused: {len(refused)} of {len(sound)}")
    print(
        f"wrong ones caught: {len(caught)} of {len(wrong)}, each right in ONNX Runtime here; less exact: {len(between)}"
    )
    return int(not all(row.judged_right for row in rows))


def _row(name: str, kit: Asked, engine: str, python: str, ours: float) -> Row:
    out = kit.kit.parent / "answers"
    shutil.rmtree(out, ignore_errors=True)
    script = str(Path(str(engines_module.__file__)))
    done = subprocess.run([python, script, str(kit.kit), engine, str(out)], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"ended with {done.returncode}"]
        return Row(name, engine, "not answered", lines[-1][:100].replace("|", "/"), 0.0, ours)
    _, report, said = exporter("verify", kit.bundle, "--answers", out, "--engine", engine, "-q", cwd=kit.kit.parent)
    verdict = report["verdict"] if report and "verdict" in report else f"error: {said[-80:]}"
    named = [
        blame["reason"].partition("likely cause: ")[2].partition(":")[0] for blame in (report or {}).get("blame", [])
    ]
    values = {path.stem: load_npy(path) for path in out.glob("*.npy")}
    return Row(name, engine, verdict, next(filter(None, named), ""), _off(kit, values), ours)


def _off(kit: Asked, values: dict[str, np.ndarray]) -> float:
    """The largest error of any answer, by the size of its truth in float64; of labels the share that differs."""
    truth = load(kit.bundle / "golden.safetensors")
    worst = 0.0
    for case in kit.content["cases"]:
        own = any(key.startswith(f"{case['name']}/") for key in truth)
        recorded = case["name"] if own else case["name"].partition(":")[0]
        for place, output in enumerate(kit.content["outputs"]):
            got, due = values[f"{case['number']}.{place}"], truth.get(f"{recorded}/truth/{output['name']}")
            if due is None:  # whole numbers have no other truth than eager's
                due = truth[f"{recorded}/eager/{output['name']}"]
            if got.shape != due.shape:
                return float("inf")
            if due.dtype.kind != "f":
                worst = max(worst, float(np.mean(got != due)))
                continue
            with np.errstate(all="ignore"):
                size = max(float(np.abs(due).max()), 1e-30)
                off = float(np.abs(got.astype("float64") - due).max()) / size
            worst = max(worst, off if np.isfinite(off) or not np.isfinite(due).all() else float("inf"))
    return worst
