"""`exporter convert` against a bare script that writes the same formats: processor time and clock, and peak memory.

    python benchmarks/convert.py [RUNS] [digits|resnet50]

The digits need a finished run (`exporter train digits`); ResNet-50 takes its factory's own weights.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from _compare import compare, report, report_times

TIME, MEMORY = 1.15, 1.2
MODELS = {
    "digits": ("recipes.digits:build", "runs/digits", "image", "1,8,8"),
    "resnet50": ("paddle.vision.models:resnet50", "-", "x", "3,224,224"),
}


def main() -> int:
    """Measure; exit 1 if a limit is exceeded."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    names = sys.argv[2:] or list(MODELS)
    return 0 if all([_measure(name, runs) for name in names]) else 1


def _best(folder: Path) -> str:
    """The checkpoint of the run that `best` names."""
    return str(folder / (folder / "best").read_text().strip() / "best.safetensors")


def _measure(name: str, runs: int) -> bool:
    model, runs_folder, inputs, shape = MODELS[name]
    weights = "-" if runs_folder == "-" else _best(Path(runs_folder))
    exporter = str(Path(sys.executable).with_name("exporter"))
    with tempfile.TemporaryDirectory() as place:
        ours = [exporter, "convert", model, "--input", f"{inputs}=float32[batch,{shape}]", "--dim", "batch=1..64"]
        ours += ["--out", f"{place}/ours", "--quiet", *([] if weights == "-" else ["--weights", weights])]
        theirs = [
            sys.executable,
            "benchmarks/bare_convert.py",
            model,
            weights,
            inputs,
            f"None,{shape}",
            f"{place}/bare",
        ]
        mine, bare = compare(ours, [theirs], runs, memory=True)
    time = report_times(f"convert {name}", mine, bare, TIME)
    memory = report(f"convert {name}, peak memory", mine, bare, MEMORY, "megabytes")
    return time and memory


if __name__ == "__main__":
    sys.exit(main())
