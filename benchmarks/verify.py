"""`exporter verify` against bare scripts that import, load and run the same on the same engines, one process each.

    python benchmarks/verify.py [RUNS] [time|memory|share]
    python benchmarks/verify.py RUNS BUNDLE...

time: ResNet-18, 8 recorded cases (one of them again, and one in two threads), 4 engines; wall time, by turns, and the
processors' time beside it, which says more on a busy machine. memory: a model of 500 MB on one engine; the largest
resident memory of all processes together, against that of the bare script. share: ResNet-50 and a language model, as
they were released, and as they were only converted, so that the goldens are recorded first; the processors' time, in
that of all engines that the spec names and of the source. BUNDLE: the same of bundles that were released before, run in
the folder that has their code.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _compare import compare, report, report_times, run

TIME, MEMORY = 1.3, 2.5
#: The processors' time of any verify, in that of its engines' bare runs.
SHARE = 3.0
ENGINES = ("jit_load", "paddle_inference", "onnxruntime", "openvino")
BARE = "benchmarks/bare_verify.py"
SHARES = {
    "paddle.vision.models:resnet50": {"shape": ["batch", 3, 224, 224]},
    "benchmarks.language:build": {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(0,2000)"},
}
EXPORTER = str(Path(sys.executable).with_name("exporter"))


def main() -> int:
    """Measure; exit 1 if a limit is exceeded."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    if bundles := [Path(word) for word in sys.argv[2:] if word not in ("time", "memory", "share")]:
        return 0 if all([_share(bundle, bundle, runs) for bundle in bundles]) else 1
    wanted = sys.argv[2:] or ["time", "memory", "share"]
    with tempfile.TemporaryDirectory() as place:
        held = []
        if "time" in wanted:
            spec = _spec("paddle.vision.models:resnet18", {"shape": ["batch", 3, 224, 224]}, ENGINES)
            held.append(_time(_written(Path(place), spec, "release"), runs))
        if "memory" in wanted:
            for engine in ("paddle_inference", "onnxruntime"):
                spec = _spec("benchmarks.large:build", {"shape": [8, 1024]}, (engine,))
                held.append(_memory(_written(Path(place), spec, "release"), engine, runs))
        if "share" in wanted:
            for model, inputs in SHARES.items():
                spec = _spec(model, inputs, ENGINES[:3])
                released = _written(Path(place), spec, "release")
                held.append(_share(released, released, runs))
                held.append(_share(_written(Path(place), spec, "convert"), released, runs))
    return 0 if all(held) else 1


def _spec(model: str, inputs: dict[str, Any], engines: tuple[str, ...]) -> dict[str, Any]:
    formats = [] if set(engines) == {"onnxruntime"} else ["pir"]
    formats += ["onnx"] if {"onnxruntime", "openvino"} & set(engines) else []
    parameter = "ids" if "seq" in inputs["shape"] else "x"
    dims = {"batch": {"min": 3, "typical": 4, "max": 4}, "seq": {"min": 8, "typical": 32, "max": 64}}
    return {
        "name": "-".join((model.replace(":build", "").rpartition(".")[2].rpartition(":")[2], *formats)),
        "version": "1",
        "model": model,
        "weights": "factory",
        "inputs": {parameter: {"dtype": "float32", **inputs}},
        "dims": {name: sizes for name, sizes in dims.items() if name in inputs["shape"]},
        "formats": formats,
        "engines": list(engines),
        "device": "cpu",
    }


def _written(place: Path, spec: dict[str, Any], verb: str) -> Path:
    """A bundle of the spec, released or only converted."""
    path = place / f"{spec['name']}.yaml"
    path.write_text(json.dumps(spec))  # JSON is YAML
    out = place / ("artifacts" if verb == "release" else f"converted-{spec['name']}")
    run([EXPORTER, verb, str(path), "--out", str(out), "--quiet"])
    return out / spec["name"] / "1" if verb == "release" else out


def _time(bundle: Path, runs: int) -> bool:
    ours = [EXPORTER, "verify", str(bundle), "--engines", ",".join(ENGINES), "--source", ".", "--quiet"]
    formats = {"onnxruntime": "onnx", "openvino": "onnx"}
    bare = [[sys.executable, BARE, f"{formats.get(engine, 'pir')}/{engine}", str(bundle)] for engine in ENGINES]
    mine, theirs = compare(ours, bare, runs)
    return report_times("verify resnet18", mine, theirs, TIME)


def _share(bundle: Path, released: Path, runs: int) -> bool:
    """Verify a bundle; the bare scripts take the inputs from `released`."""
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    content, judged = manifest["spec"], [("source", "eager"), ("source", "static")]
    for engine in content["engines"]:
        able = ("pir", "pdmodel") if engine in ("jit_load", "paddle_inference") else ("onnx",)
        judged += [(format, engine) for format in content["formats"] if format in able]
    bare = [[sys.executable, BARE, f"{format}/{engine}", str(released)] for format, engine in judged]
    mine, theirs = compare([EXPORTER, "verify", str(bundle), "--source", ".", "--quiet"], bare, runs)
    recorded = "" if bundle == released else ", goldens too"
    return report(f"verify {manifest['name']}{recorded}, processor", mine, theirs, SHARE, "processor")


def _memory(bundle: Path, engine: str, runs: int) -> bool:
    ours = [EXPORTER, "verify", str(bundle), "--engines", engine, "--source", ".", "--quiet"]
    format = "onnx" if engine == "onnxruntime" else "pir"
    mine, theirs = compare(ours, [[sys.executable, BARE, f"{format}/{engine}", str(bundle)]], runs, memory=True)
    return report(f"verify 500 MB, {engine}", mine, theirs, MEMORY, "megabytes")


if __name__ == "__main__":
    sys.exit(main())
