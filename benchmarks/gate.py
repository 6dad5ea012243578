"""The gate of every day: python benchmarks/gate.py [RUNS] [unchanged|jobs].

unchanged: 20 specs of which nothing has changed since they were released, against `exporter --help`. jobs: eight small
specs, two at once against one after the other, each made anew, the clock.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from _compare import Command, compare, report, run

#: Of `exporter --help`; seconds of the clock; of one spec after the other.
RATIO, SECONDS, AT_ONCE = 3.0, 2.0, 0.6
EXPORTER = str(Path(sys.executable).with_name("exporter"))
MODEL = """
import paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.last = paddle.nn.Linear(4, {width}), paddle.nn.Linear({width}, 3)

    def forward(self, x):
        return self.last(paddle.nn.functional.relu(self.first(x)))
"""


def main() -> int:
    """Measure; exit 1 if a limit is exceeded."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    wanted = sys.argv[2:] or ["unchanged", "jobs"]
    with tempfile.TemporaryDirectory() as place:
        held = [{"unchanged": _unchanged, "jobs": _jobs}[name](Path(place) / name, runs) for name in wanted]
    return 0 if all(held) else 1


def _unchanged(place: Path, runs: int) -> bool:
    gate = Command((EXPORTER, "gate", "--cache", str(place / "cache"), "--quiet"), _project(place / "work", 20))
    run(gate)
    ours, theirs = compare(gate, [[EXPORTER, "--help"]], runs)
    slowest = max(one.seconds for one in ours)
    print(f"the slowest of {runs} took {slowest:.2f} s, limit {SECONDS}")
    return report("gate of 20 unchanged specs", ours, theirs, RATIO, against="--help") and slowest < SECONDS


def _jobs(place: Path, runs: int) -> bool:
    folder = _project(place, 8)
    anew = (EXPORTER, "gate", "--all", "--no-cache", "--quiet", "--jobs")  # nothing is reused from the round before
    two, one = (Command((*anew, jobs), folder) for jobs in ("2", "1"))
    ours, theirs = compare(two, [one], runs)
    return report("gate --jobs 2 of 8 specs", ours, theirs, AT_ONCE, against="--jobs 1")


def _project(folder: Path, specs: int) -> Path:
    """A folder with so many specs, each of a model of its own."""
    (folder / "models").mkdir(parents=True)
    (folder / "specs").mkdir()
    (folder / "models/__init__.py").touch()
    for number in range(specs):
        (folder / f"models/net{number}.py").write_text(MODEL.format(width=8 + number))
        spec = {
            "name": f"net{number}",
            "version": "1",
            "model": f"models.net{number}:Net",
            "weights": "factory",
            "device": "cpu",
            "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
            "dims": {"batch": {"min": 1, "typical": 2, "max": 3}},
            "formats": ["pir"],
            "engines": ["jit_load"],
        }
        (folder / f"specs/net{number}.yaml").write_text(json.dumps(spec))
    return folder


if __name__ == "__main__":
    sys.exit(main())
