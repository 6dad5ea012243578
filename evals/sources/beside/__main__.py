"""The same files to three converters: `python -m evals.sources.beside --p2o COMMAND --recorded DIR --json FILE`.

They are exporter, paddle2onnx (of this environment) and p2o, a converter in Rust (of an environment of its own; `pip
install p2o==0.1.2`). DIR holds recorded operator tables (`python -m evals.lower.onnx_table --cases kind --recorded
DIR`), each case a PIR file, and takes the networks of `--families` as stock Paddle saves them.

*Right* is a file whose ONNX computes in ONNX Runtime what the file computes in Paddle's strict predictor: of the tables
by the measure of `evals.lower.onnx_table`, of networks within a hundredth, at two sizes. *Wrong* is also what ONNX
Runtime does not load or run; *refused*, what the converter says it cannot convert; *aborted*, where its process died.
What the predictor does not compute is left out. Processor time is that of the commands, each converting alone, in
turns. Each row is kept in the file of `--json` as it comes, and the next call goes on from there.
"""

from __future__ import annotations

import argparse
import compileall
import gc
import json
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import exporter
from evals.sources.beside.converters import WORDS, Program, Row, by_exporter, by_p2o, by_paddle2onnx
from evals.sources.beside.networks import draws_of, nearly, save, seconds
from evals.sources.beside.tables import judged, judged_case

sys.path.insert(0, str(Path(__file__).parents[2] / "lower/pdmodel"))  # legacy_onnx, which older Pythons run, too


def main() -> int:
    """Judge and time what is not judged yet, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m evals.sources.beside", description=__doc__)
    parser.add_argument("--p2o", required=True, help="the command p2o")
    parser.add_argument("--recorded", type=Path, required=True)
    parser.add_argument("--tables", default="kind,further,sunk")
    parser.add_argument("--every", default="1,1,1", help="of each table only every so-many-th case")
    parser.add_argument("--families", default="vision,sequence")
    parser.add_argument("--only-times", action="store_true", help="judge nothing, and time the networks alone")
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args()
    compileall.compile_dir(Path(exporter.__file__).parent, quiet=1)  # as an installation is
    import paddle  # noqa: F401 - before the forks, so that each has it
    import paddle2onnx  # noqa: F401

    converters: dict[str, Callable[[Program, Path], None]] = {
        "exporter": by_exporter,
        "paddle2onnx": by_paddle2onnx,
        "p2o": by_p2o(options.p2o),
    }
    rows = _Rows(options.json)
    families = list(filter(None, options.families.split(",")))
    networks = options.recorded / "networks"
    save(families, networks)
    saved = [at for at in sorted(networks.glob("*/saved")) if at.parent.name.partition("-")[0] in families]
    for folder in (path.parent for path in saved if not options.only_times):
        program = folder / "inference.json"
        rows.add(f"networks/{folder.name}", lambda f=folder, p=program: judged(p, draws_of(f), converters, nearly))  # type: ignore[misc]
    for folder in (path.parent for path in saved):
        rows.add(f"seconds/{folder.name}", partial(seconds, folder, options.p2o))
    if options.only_times:
        _print_times(rows.kept, list(converters))
        return 0
    gc.freeze()  # a collection in a fork would copy all that was imported
    for table, every in zip(options.tables.split(","), map(int, options.every.split(",")), strict=False):
        for case in sorted(path.parent for path in (options.recorded / table).glob("*/case.json"))[::every]:
            rows.add(f"{table}/{case.name}", partial(judged_case, case, converters))
    _print_counts(rows.kept, list(converters))
    _print_times(rows.kept, list(converters))
    return 0


class _Rows:
    """The rows that are there, by name, kept in a file as they come."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.kept: dict[str, Mapping[str, str | float]] = json.loads(file.read_text()) if file.is_file() else {}

    def add(self, key: str, make: Callable[[], Mapping[str, str | float]]) -> None:
        """Make the row of that key, unless it is there."""
        if key in self.kept:
            return
        self.kept[key] = make()
        print(key, json.dumps(self.kept[key]), flush=True)
        self.file.write_text(json.dumps(self.kept, indent=1))


def _print_counts(rows: Mapping[str, Mapping[str, str | float]], names: list[str]) -> None:
    tables = dict.fromkeys(key.partition("/")[0] for key in rows if not key.startswith("seconds/"))
    for table in tables:
        judged_rows: list[Row] = [
            {name: str(word) for name, word in row.items()}
            for key, row in rows.items()
            if key.startswith(f"{table}/") and row
        ]
        print(f"{table}: {len(judged_rows)} files")
        for name in names:
            counted = Counter(row[name].partition(":")[0] for row in judged_rows)
            share = counted["right"] / len(judged_rows) if judged_rows else 0.0
            print(f"  {name}: {share:.1%} right; {', '.join(f'{counted[word]} {word}' for word in WORDS)}")


def _print_times(rows: Mapping[str, Mapping[str, str | float]], names: list[str]) -> None:
    timed = [row for key, row in rows.items() if key.startswith("seconds/")]
    for name in names:
        spent = [float(row[name]) for row in timed if name in row]
        if spent:
            print(f"{name}: {statistics.median(spent):.2f} s of processor time, the median of {len(spent)} networks")
    both = [
        float(row["exporter"]) / float(row["paddle2onnx"]) for row in timed if {"exporter", "paddle2onnx"} <= set(row)
    ]
    if both:
        print(f"exporter / paddle2onnx: {statistics.median(both):.2f}, the median of {len(both)} networks")


if __name__ == "__main__":
    sys.exit(main())
