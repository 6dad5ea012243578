"""Planted faults in answers from elsewhere: is each caught, and its cause named? `python -m evals.elsewhere`.

Small networks are released and their kits written; a device that ONNX Runtime plays answers them rightly, which has to
pass, and wrongly in some fifty ways of twelve kinds, which must not. Exits with 1 where a sound answer is refused, a
fault is not caught, or fewer than 85 % of the causes are named. `--keep DIR` keeps the bundles for another run.

`--engines PYTHON` asks real engines instead, those of that Python, for answers to fifteen networks: see
`evals/elsewhere/real.py`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from evals.elsewhere import real
from evals.elsewhere.bundles import NETWORKS, Asked, asked, exporter
from evals.elsewhere.device import computed, write
from evals.elsewhere.faults import FAULTS, Fault

#: The share of faults whose cause has to be named.
ENOUGH = 0.85
_NAMED = re.compile(r"likely cause: ([^:]+):")


def judged(one: Asked, answers: Path) -> tuple[int, str, str]:
    """Judge answers: the exit code, the verdict, and the name of the cause."""
    code, report, said = exporter(
        "verify", one.bundle, "--answers", answers, "--engine", "planted 1 on a device", "-q", cwd=one.kit.parent
    )
    if report is None or "verdict" not in report:
        return code, "error", (report or {}).get("error", {}).get("what", said)
    named = [match[1] for blame in report["blame"] if (match := _NAMED.match(blame["reason"]))]
    return code, report["verdict"], named[0] if named else ""


def row(fault: Fault, one: Asked, place: Path) -> tuple[bool, bool, str]:
    """Plant one fault: whether it was caught, whether its cause was named, and the row of the table."""
    folder = place / "answers"
    shutil.rmtree(folder, ignore_errors=True)
    code, verdict, cause = judged(one, fault.make(one, folder))
    caught = code in (1, 2) and verdict != "passed"
    named = cause in fault.causes
    marks = ("yes" if caught else "NO", "yes" if named else "NO")
    return (
        caught,
        named,
        f"| {fault.kind} | {fault.network} | {fault.what} | {marks[0]} | {cause or '-'} | {marks[1]} |",
    )


def run(place: Path, only: str) -> int:
    """Plant every fault; print the table, and return the exit code."""
    every = [fault for fault in FAULTS if only in f"{fault.kind} {fault.network} {fault.what}"]
    kits = {name: asked(name, place) for name in NETWORKS if any(fault.network == name for fault in every)}
    refused = []
    for name, one in kits.items():
        shutil.rmtree(place / "sound", ignore_errors=True)
        code, verdict, cause = judged(one, write(one, place / "sound", computed(one)))
        refused += [f"{name}: {verdict}, exit {code}: {cause}"] if code else []
    print("| kind | network | fault | caught | cause | named |\n| --- | --- | --- | --- | --- | --- |")
    caught = named = 0
    for fault in every:
        was_caught, was_named, line = row(fault, kits[fault.network], place)
        print(line, flush=True)
        caught, named = caught + was_caught, named + was_named
    kinds = len(Counter(fault.kind for fault in every))
    print(f"\nsound answers refused: {len(refused)} of {len(kits)}", *refused, sep="\n  ")
    print(f"faults of {kinds} kinds caught: {caught} of {len(every)}; their cause named: {named} of {len(every)}")
    return int(bool(refused) or caught < len(every) or named < ENOUGH * len(every))


def main() -> int:
    """Read the options and run."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", type=Path, help="where the bundles are kept")
    options.add_argument("--only", default="", help="faults with these letters in kind, network or name")
    options.add_argument("--engines", default="", help="a Python that has onnxruntime, opencv, MNN and openvino")
    chosen = options.parse_args()
    if chosen.engines:
        with tempfile.TemporaryDirectory() as folder:
            return real.run((chosen.keep or Path(folder)).resolve(), chosen.engines)
    if chosen.keep is not None:
        return run(chosen.keep.resolve(), chosen.only)
    with tempfile.TemporaryDirectory() as place:
        return run(Path(place), chosen.only)


if __name__ == "__main__":
    sys.exit(main())
