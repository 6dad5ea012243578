"""Five small detectors are trained for a moment and released in int8 by a search: `python -m evals.int8 [--out DIR]`.

A row tells of each: the verdict, each output's noise, the size, and how many layers have which grade. It ends with 1 if
one neither keeps its budgets (40 dB of every output, half the bytes) nor is failed with a place that costs it. It is 40
dB and not the default 25 since boxes of all pictures are alike: an answer that ignores the picture has up to 38 dB.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from evals.int8.networks import NETWORKS, OUTPUTS, SIZE
from evals.int8.training import STEPS, rows, trained
from exporter.base.tensors import save_scratch

#: What a failed promise of noise or size names.
_PLACES = ("noise arises in ", "most of what is not in 8 bits: ")
#: The ratio that every output has to have, in dB.
_WANTED = 40
#: Pictures to calibrate with, and those that the cases are drawn from.
_CALIBRATED, _JUDGED = 32, 32


@dataclass(frozen=True)
class Row:
    """What came of one: `passed`, `failed` or `refused`, why, each output's dB, the share of bytes, grades, seconds."""

    name: str
    word: str
    reasons: tuple[str, ...]
    noise: dict[str, float]
    size: float
    grades: dict[str, int]
    seconds: float

    @property
    def held(self) -> bool:
        """Whether it passed, or failed by nothing but noise and size, each with a place."""
        return self.word == "passed" or (
            bool(self.reasons) and all(any(place in reason for place in _PLACES) for reason in self.reasons)
        )

    def __str__(self) -> str:
        noise = ", ".join(f"{name} {value:.1f} dB" for name, value in self.noise.items())
        grades = ", ".join(f"{count} {grade}" for grade, count in self.grades.items())
        line = f"| {self.name} | {self.word} | {noise} | {self.size:.3f} | {grades} | {self.seconds:.0f} |"
        return "\n".join([line, *(f"    {reason}" for reason in self.reasons)])


def main() -> int:
    """Train and release each, and print its row."""
    parser = argparse.ArgumentParser(prog="python -m evals.int8", description=__doc__)
    parser.add_argument("--out", type=Path, help="where everything is written; a temporary folder without it")
    parser.add_argument("--only", default=",".join(NETWORKS), help="some of these")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of each training")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="int8-") as place:
        into = (options.out or Path(place)).absolute()
        into.mkdir(parents=True, exist_ok=True)
        results = []
        print(
            "| detector | verdict | noise by output | size | grades | seconds |\n| --- | --- | --- | --- | --- | --- |"
        )
        for name in options.only.split(","):
            results.append(released(name, into, options.steps))
            print(results[-1], flush=True)
    return 0 if all(row.held for row in results) else 1


def released(name: str, into: Path, steps: int = STEPS) -> Row:
    """Train a detector for some steps, and release it to ONNX and int8 with a search and the default budgets."""
    network, losses = trained(name, steps)
    print(f"{name}: loss {losses[0]:.3f} to {losses[-1]:.3f}", file=sys.stderr, flush=True)
    save_scratch(into / f"{name}.safetensors", {key: value.numpy() for key, value in network.state_dict().items()})
    save_scratch(into / "calibrate.safetensors", {"image": rows(_CALIBRATED, 1)})
    np.save(into / "judge.npy", rows(_JUDGED, 2))
    shutil.copy(Path(__file__).with_name("networks.py"), into / "networks.py")
    spec = {
        "name": name.replace("_", "-"),
        "version": "1",
        "model": f"networks:{name}",
        "checkpoint": f"{name}.safetensors",
        "inputs": {"image": {"dtype": "float32", "shape": ["batch", 3, SIZE, SIZE], "values": "judge.npy"}},
        "dims": {"batch": {"min": 1, "typical": 4, "max": 8}},
        "outputs": list(OUTPUTS[name]),
        "formats": ["onnx"],
        "engines": ["onnxruntime"],
        "precisions": {
            "fp32": {},
            "int8": {
                "data": "calibrate.safetensors",
                "samples": _CALIBRATED,
                "search": True,
                "budget": {"min_snr_db": _WANTED, "max_size": 0.5},
            },
        },
    }
    (into / f"{name}.yaml").write_text(yaml.safe_dump(spec))
    begun = time.monotonic()
    command = [sys.executable, "-m", "exporter", "release", f"{name}.yaml", "--force", "--json", "--quiet"]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)
    return _row(name, json.loads(done.stdout), into, time.monotonic() - begun)


def _row(name: str, answer: dict[str, object], into: Path, seconds: float) -> Row:
    if "error" in answer:
        return Row(name, "refused", (str(answer["error"]),), {}, 0.0, {}, seconds)
    bundle = into / str(answer["bundle"])
    parity = json.loads((bundle / "parity.json").read_text())
    variants = json.loads((bundle / "manifest.json").read_text())["variants"]
    wrong = [check for check in parity["checks"] if check["outcome"] not in ("match", "waived")]
    noise = {
        check["output"]: float(check["reason"].split(" dB")[0])
        for check in parity["checks"]
        if check["kind"] == "snr_db" and " dB" in check["reason"]
    }
    sizes = [(bundle / variant / "model.onnx").stat().st_size for variant in ("onnx-int8", "onnx")]
    details = variants["onnx-int8"]["details"]
    grades = {key: len(details.get(key, ())) for key in ("weights_int8", "weights_fp16", "kept")}
    counts = {"int8": len(details["layers"]) - grades["weights_int8"] - grades["weights_fp16"], **grades}
    reasons = tuple(dict.fromkeys(f"{check['kind']}: {check['reason']}" for check in wrong))
    return Row(name, str(parity["verdict"]), reasons, noise, sizes[0] / sizes[1], counts, seconds)


if __name__ == "__main__":
    sys.exit(main())
