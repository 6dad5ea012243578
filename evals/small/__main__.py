"""Small layers through `exporter release`, judged by stock Paddle: `python -m evals.small --json FILE`.

Each layer of the table (`layers/*.txt`) is written as a user's module and spec, and released as .json, .pdmodel and
ONNX. Beside it, stock Paddle alone says whether it can be exported at all (`jit.save`, the predictor, eager), and
runs each file that passed on inputs that the exporter never saw. The command ends with 1 where a sound layer is refused
or failed, or a wrong file passed. With `--json` each row is written as it comes, and the next call goes on from there.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evals.small.catalogue import SmallLayer, families, layers, sample
from evals.small.cells import Row, report
from exporter.base.files import write_json
from tests.command import exporter

#: By format: how it is refused for an operator that it does not have.
_REFUSED = {
    "pdmodel": re.compile(
        r"pdmodel: (?:trace: TypeError: The data type of|trace: TypeError: \S+ must be|paddle\.\w+: ).*"
    ),
    "onnx": re.compile(r"onnx: operator \w+ \(number \d+\): (?:has no conversion|ONNX Runtime does not compute)"),
}
#: What stock Paddle is asked for then (evals/small/truth.py).
_STOCK = {"pdmodel": "legacy", "onnx": "onnx"}


class Truth:
    """The process that computes by stock Paddle; see :mod:`evals.small.truth`."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed
        command = [sys.executable, "-m", "evals.small.truth"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def of(self, layer: SmallLayer, what: str = "", bundle: str = "", variant: str = "") -> str:
        """The answer for a layer: `what` is `eager` or `stock`, or a variant of a bundle is judged."""
        assert self._process.stdin
        assert self._process.stdout
        request = {"folder": str(self._folder), "layer": asdict(layer), "seed": self._seed, "what": what}
        self._process.stdin.write(json.dumps({**request, "bundle": bundle, "variant": variant}) + "\n")
        self._process.stdin.flush()
        return str(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def measured(layer: SmallLayer, folder: Path, truth: Truth, stock: str = "", whole: bool = False) -> Row:
    """Release a layer, and hold what came of it against eager and stock Paddle.

    Where a format is refused, and stock Paddle gives no right file of it either, the rest is released, but for `whole`.
    `stock` is what :func:`stock_of` said of the layer, where that was asked before.
    """
    layer.write(folder)
    row = Row(layer.family, layer.name, "runs", stock or stock_of(layer, truth))
    if row.stock != "sound":
        row.eager = truth.of(layer, "eager")
    answer = _released(layer, folder, row)
    rest = layer
    for format, refused in () if whole else _REFUSED.items():
        refusal = next((text for message in row.messages for text in refused.findall(message)), "")
        if row.sound and refusal and (theirs := truth.of(layer, _STOCK[format])) != "sound":
            row.without = "; ".join(filter(None, (row.without, f"{refusal}; stock: {theirs}")))
            rest = replace(rest, formats=tuple(name for name in rest.formats if name != format))
            rest.write(folder)
            answer = _released(rest, folder, row)
    row.marked = [*layer.marked]
    if row.exit == 0:
        bundle = str(folder / answer["bundle"])
        row.files = {variant: truth.of(layer, "", bundle, variant) for variant in answer["variants"]}
    return row


def stock_of(layer: SmallLayer, truth: Truth) -> str:
    """Say `sound` where stock's file is right in the predictor or as `jit.load` gives it; else what is wrong."""
    answer = truth.of(layer, "stock")
    if answer == "sound" or answer.startswith("ended by signal"):
        return answer
    return "sound" if truth.of(layer, "loaded") == "sound" else answer


def _released(layer: SmallLayer, folder: Path, row: Row) -> dict[str, Any]:
    """The answer of a release; what came of it stands in the row."""
    started = time.monotonic()
    spec = f"{layer.name}.yaml"
    done = exporter("release", spec, "--out", "out", "--no-cache", "--quiet", "--json", cwd=folder)
    row.seconds = round(time.monotonic() - started, 1)
    row.exit = done.code
    answer: dict[str, Any] = json.loads(done.out) if done.out else {}
    row.messages, errors, others = _messages(answer)
    row.blamed = sorted(_failed_outputs(answer, folder) if answer.get("bundle") else errors)
    row.at_line = bool({f"{layer.name}.py:{line}" for line in layer.marked} & (errors | others))
    return answer


def _messages(answer: dict[str, Any]) -> tuple[list[str], set[str], set[str]]:
    """The messages of an error or of findings, and the places `file.py:line` that errors name, and that others name."""
    error = answer.get("error")
    messages = [("error", f"{error['where']}: {error['what']}")] if error else []
    for finding in [*answer.get("findings", []), *(error or {}).get("findings", [])]:
        text = f"{finding['path']}:{finding['line']}: {finding['severity']} {finding['message']}"
        messages.append((finding["severity"], text))
    if answer.get("verdict", "passed") != "passed":
        blame = json.dumps(answer.get("blame", ""))[:400]
        messages.append(("error", f"verdict {answer['verdict']} {blame}"))
    errors = {place for severity, text in messages if severity == "error" for place in _places(text)}
    others = {place for severity, text in messages if severity != "error" for place in _places(text)}
    return [text[:600] for _, text in messages], errors, others


def _places(message: str) -> set[str]:
    words = message.replace(",", " ").replace("(", " ").split()
    return {":".join(Path(word.rstrip(":.);")).name.split(":")[:2]) for word in words if ".py:" in word}


def _failed_outputs(answer: dict[str, Any], folder: Path) -> set[str]:
    """The outputs whose claims did not hold; empty where a claim that is of no output did not hold either."""
    checks = json.loads((folder / answer["bundle"] / "parity.json").read_text())["checks"]
    outputs = {str(check["output"]) for check in checks if check["outcome"] != "match"}
    return set() if "" in outputs else outputs


def main() -> int:
    """Measure what is wanted, print each row, and say what cells they fall into."""
    parser = argparse.ArgumentParser(prog="python -m evals.small", description=__doc__)
    parser.add_argument("--families", default=",".join(families()), help="names of files in layers/, with commas")
    parser.add_argument("--only", default="", help="names of layers, with commas")
    parser.add_argument("--sample", type=int, default=0, help="so many of every family")
    parser.add_argument("--seed", type=int, default=0, help="of the sample, and of the inputs of the truth")
    parser.add_argument("--json", type=Path, help="write the rows here, and leave out what it holds already")
    parser.add_argument("--folder", type=Path, help="keep the modules, specs and bundles here")
    wish = parser.parse_args()
    asked, only = wish.families.split(","), set(filter(None, wish.only.split(",")))
    if unknown := set(asked) - {*families()}:
        parser.error(f"no family {', '.join(sorted(unknown))}; there are {', '.join(families())}")
    every = (
        sample(asked, wish.sample, wish.seed) if wish.sample else [layer for name in asked for layer in layers(name)]
    )
    chosen = [layer for layer in every if not only or layer.name in only]
    stored = json.loads(wish.json.read_text()) if wish.json and wish.json.is_file() else []
    rows = {row["name"]: Row(**row) for row in stored}
    with tempfile.TemporaryDirectory(prefix="small-") as place:
        folder = wish.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        truth = Truth(folder.absolute(), wish.seed)
        for layer in chosen:
            if layer.name not in rows:
                rows[layer.name] = measured(layer, folder, truth)
                print(rows[layer.name].line(), file=sys.stderr, flush=True)
                if wish.json:
                    write_json(wish.json, [asdict(row) for row in rows.values()])
        truth.close()
    result = report([rows[layer.name] for layer in chosen])
    print("\n".join(result.lines))
    return 0 if result.holds else 1


if __name__ == "__main__":
    sys.exit(main())
