#!/usr/bin/env python3
"""Judge what a program put out on the recorded inputs, by the rule that released the bundle.

    python judge.py OUTPUTS

OUTPUTS is the folder that the program wrote: `C.N.npy` is output N of case C, counted as in cases.json. It needs Python
3.8 and numpy. Exit codes: 0 all is as recorded, 1 something is not, 2 an output is missing or cannot be read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

# The files of the goldens, and the rule: the exporter's own source.
from exporter.bundle.sealed_files import read_golden
from exporter.base.numbers.golden import read_cases
from exporter.base.numbers.pooled import Pooled, draws
from exporter.base.numbers.rule import judge_case

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Read, judge, say."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python judge.py OUTPUTS\n")
        return 2
    about = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
    try:
        found = [outputs_of(Path(sys.argv[1]), number, about["outputs"]) for number in range(len(about["cases"]))]
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    cases = read_cases(read_golden(HERE), about["cases"])
    others = {name: [case.outputs[name] for case in cases] for name in about["outputs"]}
    together, worst, wrong = Pooled(draws(cases)), 0.0, []
    for case, got in zip(cases, found):  # noqa: B905 - Python 3.8
        together.add(case.name, got)
        for name, judged in judge_case(case, got, others, float(about["budget"])).items():
            worst = max(worst, judged.metrics.get("error_ratio", 0.0))
            if judged.outcome != "match":
                wrong.append(f"case {case.name}, output {name}: {judged.outcome}: {judged.reason}")
    for name, judged in together.judge(float(about["budget"])).items():
        if judged.outcome != "match":
            wrong.append(f"all cases together, output {name}: {judged.outcome}: {judged.reason}")
    for line in wrong:
        sys.stdout.write(f"{line}\n")
    word = "FAILED" if wrong else "passed"
    sys.stdout.write(f"{word}: {len(cases)} cases, largest error ratio {worst:.2g} of {about['budget']:g}\n")
    return 1 if wrong else 0


def outputs_of(folder: Path, case: int, names: list[str]) -> dict[str, Any]:
    """What the program wrote for one case, by the bundle's names; OSError or ValueError where it is no array."""
    paths = {name: folder / f"{case}.{place}.npy" for place, name in enumerate(names)}
    return {name: np.load(path, allow_pickle=False) for name, path in paths.items()}  # noqa: TID251 - pickles are off


if __name__ == "__main__":
    sys.exit(main())
