"""Twenty networks of the zoo in each runtime of devices that runs here: `python -m evals.devices --json FILE`.

Each is released as ONNX, and handed over to each runtime: `exporter handoff --to TARGET` converts it, runs every
recorded case and judges. A row says passed, partial (one size alone), failed (it computes something else), or refused,
and by what. A row is written when it is there, and another run with the same file goes on. `--using PATH` names the
Python that has the runtimes, `--using litert=PATH` that of one of them, and `--using onnxruntime_web=node_modules` a
folder. `--keep` keeps the bundles; `--print` only prints the tables of the rows.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from evals.devices.bundles import bundle_of, chosen
from evals.devices.rows import read, reasons, row_of, table
from evals.elsewhere.bundles import exporter

#: Each runtime, and the further precisions that it makes of a float32 variant.
TARGETS = {
    "onnxruntime_mobile": (),
    "onnxruntime_web": (),
    "opencv_dnn": (),
    "mnn": ("fp16", "int8"),
    "ncnn": ("fp16",),
    "litert": ("fp16", "int8"),
}
#: Seconds of processor time that each child may take.
_PATIENCE = "600"


def main() -> int:
    """Go over all networks and runtimes; print the tables."""
    parser = argparse.ArgumentParser(prog="python -m evals.devices", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--using", action="append", default=[], metavar="[TARGET=]PATH")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--precisions", default="fp32,fp16,int8")
    parser.add_argument("--only", default="", help="names of networks, separated by commas")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--print", action="store_true", dest="printed")
    options = parser.parse_args()
    if not options.printed:
        with tempfile.TemporaryDirectory() as place:
            _measure(options, (options.keep or Path(place)).resolve())
    rows = list(read(options.json).values())
    targets = [target for target in options.targets.split(",") if any(row["target"] == target for row in rows)]
    print(table(rows, targets))
    for precision in ("fp16", "int8"):
        able = [
            target
            for target in targets
            if any(row["precision"] == precision for row in rows if row["target"] == target)
        ]
        if able:
            print(f"\n{precision}:\n\n{table(rows, able, precision)}")
    print(f"\n{reasons(rows)}")
    return 0


def _measure(options: argparse.Namespace, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    rows = read(options.json)
    wanted = options.only.split(",") if options.only else None
    for network in chosen():
        if wanted is not None and network.name not in wanted:
            continue
        asked = [
            (target, precision)
            for target in options.targets.split(",")
            for precision in ("fp32", *TARGETS[target])
            if precision in options.precisions.split(",") and (network.name, target, precision) not in rows
        ]
        if not asked:
            continue
        bundle, why = bundle_of(network, place)
        if bundle is None:
            print(f"{network.name}: not released: {why}", flush=True)
            continue
        for target, precision in asked:
            row = _handed(network.name, bundle, target, precision, options)
            with options.json.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(f"{network.name} {target} {precision}: {row['word']} {row['by']} {row['why'][:160]}", flush=True)


def _using(texts: list[str]) -> dict[str, str]:
    """Where each runtime is: named for it, else in the Python that is named for none, else in this one."""
    named = dict(text.split("=", 1) for text in texts if "=" in text)
    rest = next((text for text in texts if "=" not in text), sys.executable)
    return {target: named.get(target, rest) for target in TARGETS} | {
        "onnxruntime_web": named.get("onnxruntime_web", "node_modules")
    }


def _handed(name: str, bundle: Path, target: str, precision: str, options: argparse.Namespace) -> dict[str, object]:
    out = bundle.parent / "handed"
    shutil.rmtree(out, ignore_errors=True)
    using = Path(_using(options.using)[target]).absolute()
    words = ["--to", target, "--using", using, "--out", out, "--timeout", _PATIENCE, "-q"]
    began = time.monotonic()
    lower = [] if precision == "fp32" else ["--precision", precision]
    code, content, said = exporter("handoff", bundle, *words, *lower, cwd=bundle.parent)
    shutil.rmtree(out, ignore_errors=True)
    return row_of(name, target, precision, code, content, said) | {"seconds": round(time.monotonic() - began, 1)}


if __name__ == "__main__":
    sys.exit(main())
