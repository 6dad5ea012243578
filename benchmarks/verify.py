"""`exporter verify` against bare scripts that import, load and run the same on the same engines, one process each.

    python benchmarks/verify.py [RUNS] [time|memory]
    python benchmarks/verify.py RUNS BUNDLE...

time: ResNet-18, 8 recorded cases (one of them again, and one in two threads), 4 engines; wall time, by turns, and the
processors' time beside it, which says more on a busy machine. memory: a model of 500 MB on one engine; the largest
resident memory of all processes together, against that of the bare script. Of bundles that were released before:
the processors' time of all engines that their specs name and of the source, run in the folder that has its code.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from _compare import compare, report, report_times, run

TIME, MEMORY = 1.3, 2.5
#: The processors' time of any verify, in that of its engines' bare runs.
SHARE = 3.0
ENGINES = ("jit_load", "paddle_inference", "onnxruntime", "openvino")
BARE = "benchmarks/bare_verify.py"
EXPORTER = str(Path(sys.executable).with_name("exporter"))


def main() -> int:
    """Measure; exit 1 if a limit is exceeded."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    if bundles := [Path(word) for word in sys.argv[2:] if word not in ("time", "memory")]:
        return 0 if all([_share(bundle, runs) for bundle in bundles]) else 1
    wanted = sys.argv[2:] or ["time", "memory"]
    with tempfile.TemporaryDirectory() as place:
        held = []
        if "time" in wanted:
            bundle = _released(Path(place), "paddle.vision.models:resnet18", ["batch", 3, 224, 224], ENGINES)
            held.append(_time(bundle, runs))
        if "memory" in wanted:
            for engine in ("paddle_inference", "onnxruntime"):
                bundle = _released(Path(place), "benchmarks.large:build", [8, 1024], (engine,))
                held.append(_memory(bundle, engine, runs))
    return 0 if all(held) else 1


def _released(place: Path, model: str, shape: list[int | str], engines: tuple[str, ...]) -> Path:
    """A bundle with its goldens, made once."""
    formats = [] if set(engines) == {"onnxruntime"} else ["pir"]
    formats += ["onnx"] if {"onnxruntime", "openvino"} & set(engines) else []
    name = f"{model.partition(':')[2]}-{'-'.join(formats)}"
    spec = {
        "name": name,
        "version": "1",
        "model": model,
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": shape}},
        "dims": {"batch": {"min": 3, "typical": 4, "max": 4}} if "batch" in shape else {},
        "formats": formats,
        "engines": list(engines),
        "device": "cpu",
    }
    (place / f"{name}.yaml").write_text(json.dumps(spec))  # JSON is YAML
    run([EXPORTER, "release", str(place / f"{name}.yaml"), "--out", str(place / "artifacts"), "--quiet"])
    return place / "artifacts" / name / "1"


def _time(bundle: Path, runs: int) -> bool:
    ours = [EXPORTER, "verify", str(bundle), "--engines", ",".join(ENGINES), "--quiet"]
    formats = {"onnxruntime": "onnx", "openvino": "onnx"}
    bare = [[sys.executable, BARE, f"{formats.get(engine, 'pir')}/{engine}", str(bundle)] for engine in ENGINES]
    mine, theirs = compare(ours, bare, runs)
    return report_times("verify resnet18", mine, theirs, TIME)


def _share(bundle: Path, runs: int) -> bool:
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    content, judged = manifest["spec"], [("source", "eager"), ("source", "static")]
    for engine in content["engines"]:
        able = ("pir", "pdmodel") if engine in ("jit_load", "paddle_inference") else ("onnx",)
        judged += [(format, engine) for format in content["formats"] if format in able]
    bare = [[sys.executable, BARE, f"{format}/{engine}", str(bundle)] for format, engine in judged]
    mine, theirs = compare([EXPORTER, "verify", str(bundle), "--quiet"], bare, runs)
    return report(f"verify {manifest['name']}, processors", mine, theirs, SHARE, "processor")


def _memory(bundle: Path, engine: str, runs: int) -> bool:
    ours = [EXPORTER, "verify", str(bundle), "--engines", engine, "--quiet"]
    format = "onnx" if engine == "onnxruntime" else "pir"
    mine, theirs = compare(ours, [[sys.executable, BARE, f"{format}/{engine}", str(bundle)]], runs, memory=True)
    return report(f"verify 500 MB, {engine}", mine, theirs, MEMORY, "megabytes")


if __name__ == "__main__":
    sys.exit(main())
