"""The three models released from their files by the command line, and what other files of them are judged to be."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from evals.sources.ppocr.chain import MODELS
from evals.sources.ppocr.lines import DIRECTION_SIZE, LINE_SIZE, PAGE_SIZE, Floats, line_rows, page_rows
from exporter.base.tensors import save_scratch

#: Each dim as a spec says it.
Dims = Mapping[str, Mapping[str, int]]
_SPAN = ("min", "typical", "max")
#: What the files take: the direction model one size, the others many.
DIMS: Mapping[str, Dims] = {
    "det": {},
    "cls": {
        "height": dict.fromkeys(_SPAN, DIRECTION_SIZE[0]),
        "width": dict.fromkeys(_SPAN, DIRECTION_SIZE[1]),
    },
    "rec": {},
}
_SIZES = {"det": PAGE_SIZE, "cls": DIRECTION_SIZE, "rec": LINE_SIZE}
#: Rows that int8 is calibrated with, and rows that the cases are drawn from.
_CALIBRATED = {"det": 16, "cls": 64, "rec": 64}
_JUDGED = 16


@dataclass(frozen=True)
class Verdict:
    """What a command said in the end: `passed` or `failed`, its claims, the worst error ratio, what failed and why."""

    word: str
    claims: int
    failed: int
    worst: float
    reasons: tuple[str, ...]
    bundle: str

    def __str__(self) -> str:
        of = f"{self.claims - self.failed} of {self.claims} claims hold"
        said = f"{self.word}: {of}" + (f", worst ratio {self.worst:.3g}" if self.worst else "")
        return "\n".join([said, *(f"    {reason}" for reason in self.reasons)])


def release(name: str, models: Path, into: Path) -> Verdict:
    """Release a model to `.json`, `.pdmodel` and ONNX, at the sizes that it takes."""
    spec = {
        "source": str(models / MODELS[name]),
        "name": f"ppocrv4-{name}",
        "version": "1",
        "formats": ["pir", "pdmodel", "onnx"],
        "dims": DIMS[name],
    }
    return _released(spec, into)


def release_int8(name: str, models: Path, into: Path, *, search: bool = False) -> Verdict:
    """Release a model to int8, calibrated on drawn text and judged on other drawn text, at one size.

    Nothing of its budgets is changed; with `search` the noisiest layers are kept in float32.
    """
    height, width = _SIZES[name]
    rows, others = rows_of(name, _CALIBRATED[name], seed=1), rows_of(name, _JUDGED, seed=2)
    save_scratch(into / f"{name}.safetensors", {"x": rows})
    np.save(into / f"{name}.npy", others)
    fixed = {dim: dict.fromkeys(_SPAN, size) for dim, size in (("height", height), ("width", width))}
    shape = ["batch", 3, height if name == "rec" else "height", "width"]
    spec = {
        "source": str(models / MODELS[name]),
        "name": f"ppocrv4-{name}-int8" + ("-search" if search else ""),
        "version": "1",
        "formats": ["onnx"],
        "engines": ["onnxruntime"],
        # The reader's outputs are kept whole: of a line the largest error lies in a few of 265,000 places, where two
        # letters are nearly as likely, and a sample without these has no explanation of e_ref.
        "golden_mb": 512,
        "inputs": {"x": {"dtype": "float32", "shape": shape, "values": str(into / f"{name}.npy")}},
        "dims": {
            "batch": {"min": 1, "typical": 2, "max": 4},
            **{dim: sizes for dim, sizes in fixed.items() if dim in shape},
        },
        "precisions": {
            "fp32": {},
            "int8": {"data": str(into / f"{name}.safetensors"), "samples": len(rows), "search": search},
        },
    }
    return _released(spec, into)


def rows_of(name: str, count: int, seed: int) -> Floats:
    """Return drawn text as rows of a model's input."""
    if name == "det":
        return page_rows(count, seed)
    return line_rows(count, seed, _SIZES[name], turn=name == "cls")


def judge(name: str, models: Path, artifact: Path, into: Path) -> Verdict:
    """Judge an ONNX file that another tool wrote of a model, by `exporter verify --reference --artifact`."""
    dims = [f"--dim={dim}={sizes['min']}..{sizes['max']}" for dim, sizes in DIMS[name].items()]
    return _said(["verify", "--reference", models / MODELS[name], "--artifact", artifact, *dims], into)


def without_sigmoid(model: Path, into: Path) -> Path:
    """Write an ONNX file anew with its last `Sigmoid` as 1 / (1 + exp(-x)), and nothing else changed."""
    import onnx
    from onnx import helper, numpy_helper

    changed = onnx.load(model)
    last = changed.graph.node[-1]
    if last.op_type != "Sigmoid":
        raise ValueError(f"{model}: its last node is {last.op_type}, not Sigmoid")
    changed.graph.node.remove(last)
    changed.graph.initializer.append(numpy_helper.from_array(np.float32(1).reshape(()), "one"))
    changed.graph.node.extend(
        [
            helper.make_node("Neg", [last.input[0]], ["negative"]),
            helper.make_node("Exp", ["negative"], ["power"]),
            helper.make_node("Add", ["power", "one"], ["sum"]),
            helper.make_node("Reciprocal", ["sum"], [last.output[0]]),
        ]
    )
    onnx.save(changed, into)
    return into


def _released(spec: Mapping[str, object], into: Path) -> Verdict:
    file = into / f"{spec['name']}.yaml"
    file.write_text(yaml.safe_dump(dict(spec)))
    return _said(["release", file, "--force"], into)


def _said(arguments: Sequence[str | Path], into: Path) -> Verdict:
    """Run a command and return its verdict: of a judged file as it prints it, of a release as the bundle holds it."""
    command = [sys.executable, "-m", "exporter", *map(str, arguments), "--json", "--quiet"]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    if "error" in answer:
        return Verdict("refused", 0, 0, 0.0, (str(answer["error"]["what"]),), "")
    if "checks" in answer:
        return _verdict(answer, "")
    bundle = into / answer["bundle"]
    return _verdict(json.loads((bundle / "parity.json").read_text()), str(bundle))


def _verdict(answer: dict[str, object], bundle: str) -> Verdict:
    checks = [check for check in _listed(answer["checks"]) if isinstance(check, dict)]
    failed = [check for check in checks if check["outcome"] not in ("match", "waived")]
    reasons = [f"{check['kind']} of {check['format']}-{check['precision']}: {check['reason']}" for check in failed]
    ratios = [float(check["error_ratio"]) for check in checks if check["error_ratio"] is not None]
    told = tuple(dict.fromkeys(reasons))[:4]
    return Verdict(str(answer["verdict"]), len(checks), len(failed), max(ratios, default=0.0), told, bundle)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
