"""Decoders of nine kinds, 64 steps each, and faults that are planted in them: `python -m evals.decoding`.

Each decoder is released as a user would do it: three formats, each step with the cache that the engine's own step
before gave. Then a place that is one off is planted in each, for the places 20 to 27 alone, and each file of it is
judged by the spec of the right one: the claim of all steps has to notice. In the two that have no places a state decays
too slowly instead. `--json FILE` keeps the rows, and goes on where it was cut off; `docs/decoding.md` names the page
whose table is written anew.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from evals.decoding.specs import DRIFTING, KINDS, spec

Row: TypeAlias = "dict[str, Any]"
ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
#: The main file of each format.
FILES = {"pir": "model.json", "pdmodel": "model.pdmodel", "onnx": "model.onnx"}
#: The places at which the planted fault is: none of them is the past of a case of these specs.
FAULT = {"shift": 1, "since": 20, "until": 28}
_FORMATS = "`.json`, `.pdmodel`, ONNX"
HEAD = f"""| decoder | right in all formats | largest error ratio: {_FORMATS} | eager's own error: first step, last \
| fault noticed in step: {_FORMATS} | by the steps alone |
| --- | --- | --- | --- | --- | --- |"""


def exporter(*words: str | Path) -> tuple[int, Any]:
    """Run a command of ours; its exit code, and the object that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter", *map(str, words), "--json"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or "null") or {"error": done.stderr[-2000:]}


def drawn_again(kind: str, steps: int, seeds: int, place: Path) -> Row:
    """Release one decoder with other draws, in the formats that a stock engine runs: is a sound file failed?"""
    made = []
    for seed in range(1, seeds + 1):
        path = place / f"{kind}-{seed}.yaml"
        path.write_text(yaml.safe_dump({**spec(kind, steps), "seed": seed}, sort_keys=False), encoding="utf-8")
        _, answer = exporter("release", path, "--out", place / f"drawn-{seed}")
        if "bundle" not in answer:
            return {"kind": kind, "error": answer}
        made.append(of_report(json.loads(Path(answer["bundle"], "parity.json").read_text(encoding="utf-8"))))
    claims, wrong = sum(one["claims"] for one in made), [check for one in made for check in one["wrong"]]
    largest = max(max(one["ratio"].values()) for one in made)
    return {"kind": kind, "seeds": seeds, "claims": claims, "wrong": wrong, "largest": largest}


def measure(kind: str, steps: int, place: Path) -> Row:
    """Release one decoder, plant the fault in it, and say what became of both."""
    right, wrong = place / f"{kind}.yaml", place / f"{kind}-wrong.yaml"
    right.write_text(yaml.safe_dump(spec(kind, steps), sort_keys=False), encoding="utf-8")
    wrong.write_text(yaml.safe_dump(spec(kind, steps, **FAULT), sort_keys=False), encoding="utf-8")
    code, answer = exporter("release", right, "--out", place / "right")
    row: Row = {"kind": kind, "steps": steps, "exit": code, "verdict": answer.get("verdict")}
    if "bundle" not in answer:
        return {**row, "error": answer}
    row |= of_report(json.loads(Path(answer["bundle"], "parity.json").read_text(encoding="utf-8")))
    code, answer = exporter("convert", wrong, "--out", place / f"{kind}-wrong")
    if code:
        return {**row, "error": answer}
    row["fault"] = {form: planted(right, place / f"{kind}-wrong" / form / file, form) for form, file in FILES.items()}
    return row


def of_report(report: Mapping[str, Any]) -> Row:
    """What a report says of the steps: largest error ratio by format, eager's own error, and what does not hold."""
    own = [check for check in report["checks"] if check["kind"] == "decoding"]
    note = next((note for note in report["notes"] if note.startswith("decoding:")), "")
    grown = re.search(r"in (\S+) from (\S+) to ([^\s;]+)", note)
    return {
        "claims": len(own),
        "wrong": [check for check in report["checks"] if check["outcome"] != "match"],
        "ratio": {form: max(check["error_ratio"] or 0.0 for check in own if check["format"] == form) for form in FILES},
        "eager": list(grown.groups()) if grown else [],
    }


def planted(reference: Path, file: Path, form: str) -> Row:
    """Hold a file with the fault against the right spec: in which step it is noticed, and by which kinds of claims."""
    code, answer = exporter("verify", "--reference", reference, "--artifact", file)
    wrong = [check for check in answer.get("checks", ()) if check["format"] == form and check["outcome"] != "match"]
    steps = [re.match(r"in step (\d+) of", check["reason"]) for check in wrong if check["kind"] == "decoding"]
    kinds = sorted({check["kind"] for check in wrong})
    return {"exit": code, "step": min((int(step[1]) for step in steps if step), default=None), "kinds": kinds}


def line(row: Row) -> str:
    """A row of the table."""
    if "fault" not in row:
        return f"| {row['kind']} | no: {row.get('error', row['verdict'])} | | | | |"
    right = row["exit"] == 0 and not row["wrong"]
    ratios = ", ".join(f"{row['ratio'][form]:.2f}" for form in FILES)
    noticed = ", ".join(str(row["fault"][form]["step"] or "no") for form in FILES)
    alone = sum(row["fault"][form]["kinds"] == ["decoding"] for form in FILES)
    drift = " (drift)" if row["kind"] in DRIFTING else ""
    eager = f"{row['eager'][1]}, {row['eager'][2]}" if row["eager"] else ""
    passed = f"{row['steps']} steps, {row['claims']} claims" if right else f"no: {row['verdict']}"
    return f"| {row['kind']} | {passed} | {ratios} | {eager} | {noticed}{drift} | {alone} of {len(FILES)} |"


def sound(row: Row) -> bool:
    """Whether the right decoder passes, and the fault is noticed by the steps in every format."""
    noticed = [one["exit"] == 1 and one["step"] for one in row.get("fault", {}).values()]
    return row["exit"] == 0 and not row.get("wrong") and len(noticed) == len(FILES) and all(noticed)


def draws(kinds: Sequence[str], steps: int, seeds: int) -> int:
    """Print a line for each decoder; 1 where a sound file is failed."""
    alarms = 0
    with tempfile.TemporaryDirectory() as place:
        for kind in kinds:
            row = drawn_again(kind, steps, seeds, Path(place))
            alarms += len(row.get("wrong", ())) or ("error" in row)
            print(json.dumps(row), flush=True)
    print(f"{alarms} alarms")
    return int(alarms > 0)


def main(arguments: Sequence[str]) -> int:
    """Measure all decoders, and print a line for each; 1 where one is wrong, or a fault is not noticed."""
    parser = argparse.ArgumentParser(prog="python -m evals.decoding", description=__doc__)
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--draws", type=int, help="instead: release each so many times, with other draws")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.draws:
        return draws(options.kinds.split(","), options.steps, options.draws)
    there = json.loads(options.json.read_text(encoding="utf-8")) if options.json and options.json.is_file() else []
    rows: dict[str, Row] = {row["kind"]: row for row in there}
    wanted = options.kinds.split(",")
    with tempfile.TemporaryDirectory() as place:
        for kind in wanted:
            rows[kind] = rows.get(kind) or measure(kind, options.steps, Path(place))
            print(line(rows[kind]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(list(rows.values()), indent=1), encoding="utf-8")
    whole = [rows[kind] for kind in wanted]
    good = sum(map(sound, whole))
    said = f"{good} of {len(whole)} right in three formats, with the fault noticed in each"
    print(said)
    if options.page:
        before, _, rest = options.page.read_text(encoding="utf-8").partition(BEGIN)
        table = "\n".join([HEAD, *map(line, whole), "", f"{said}."])
        options.page.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return int(good < len(whole))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
