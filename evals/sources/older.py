"""Files that an older Paddle wrote: `python -m evals.sources.older PYTHON DIR [--json FILE]`.

PYTHON is that of an environment with the older Paddle (`pip install paddlepaddle==2.6.2 'numpy<2' setuptools`). It
saves 40 networks as `.pdmodel` into DIR. Each is then released to `pir` and ONNX, by the verdict. It ends with 1 where
fewer than 95 % pass. With `--json` each row is kept as it comes, and the next call goes on from there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from exporter import pipeline
from exporter.base.errors import ExporterError
from exporter.process.workers import Limits, Setting
from exporter.prove.verdict.claim import Outcome
from exporter.spec.read import validate
from exporter.spec.source import keys_of, read_source

PROMISED = 0.95
#: The same few sizes for all: what is open, where it is no picture, is a length.
DIMS = {"batch": {"min": 1, "typical": 2, "max": 3}, "width": {"min": 32, "typical": 64, "max": 96, "multiple_of": 8}}
LENGTH = {"min": 4, "typical": 6, "max": 9}


def main() -> int:
    """Save with the older Paddle what is not there, judge what is not judged, and print what did not pass."""
    parser = argparse.ArgumentParser(prog="python -m evals.sources.older", description=__doc__)
    parser.add_argument("python", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.folder.is_dir():
        script = Path(__file__).with_name("saved_by_older.py")
        subprocess.run([options.python.absolute(), script, options.folder], check=True)
    rows: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.is_file() else {}
    for folder in sorted(path.parent for path in options.folder.glob("*/inference.pdmodel")):
        if folder.name in rows:
            continue
        rows[folder.name] = _judged(folder)
        print(folder.name, rows[folder.name], flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    passed = sum(row == "passed" for row in rows.values())
    print(f"{passed} of {len(rows)} passed")
    return 0 if rows and passed >= PROMISED * len(rows) else 1


def _judged(folder: Path) -> str:
    try:
        source = read_source(folder)
        shapes = [spec.shape for spec in source.facts.inputs]
        named = [f"{source.facts.inputs[0].name}_{axis}" for axis in range(1, len(shapes[0])) if shapes[0][axis] == -1]
        used = {"batch": DIMS["batch"]}
        used |= {"width": DIMS["width"]} if len(shapes[0]) == 4 and named else {}
        used |= dict.fromkeys(named, LENGTH) if len(shapes[0]) != 4 else {}
        keys = keys_of(source, used) | {"formats": ["pir", "onnx"], "name": folder.name}
        with tempfile.TemporaryDirectory(prefix="older-") as place:
            product = pipeline.release(validate(keys, str(folder)), Path(place), Setting(Limits(seconds=600)))
    except ExporterError as error:
        return f"refused: {error}"[:300]
    if product.report is None:
        return f"refused: {product.findings[:1]}"
    failed = [
        f"{claim}: {evidence.reason}"
        for claim, evidence in product.report.rows()
        if evidence.outcome is not Outcome.MATCH
    ]
    return "passed" if product.report.verdict.passed else f"failed: {failed[:1]}"[:300]


if __name__ == "__main__":
    sys.exit(main())
