"""The operator tables and networks as files: each converter's ONNX in ONNX Runtime against the file in Paddle."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from evals.lower.onnx_table import _NARROW as NARROW
from evals.lower.onnx_table import difference
from evals.sources.beside.converters import Inputs, Program, Row, answers, in_own_process, paddle_answers, program_at
from exporter.base.tensors import Array, load, save_scratch

Converters = Mapping[str, Callable[[Program, Path], None]]
#: Says in what two arrays differ; empty where they do not.
Difference = Callable[[Array, Array], str]


@dataclass(frozen=True)
class Compared:
    """What a file is held against: inputs, what Paddle computes of each, and how two arrays are compared."""

    draws: Sequence[Inputs]
    wanted: Sequence[Sequence[Array]]
    differs: Difference


def judged_case(folder: Path, converters: Converters) -> Row:
    """Return a word for each converter on a recorded case; none where Paddle does not compute the file itself."""
    about = json.loads((folder / "case.json").read_text())
    if about["stage"] != "recorded":
        return {}
    data = load(folder / "data.safetensors")
    numbers = sorted({key.split(".")[0] for key in data}, key=int)
    draws = [
        {key.partition(".in.")[2]: value for key, value in data.items() if key.startswith(f"{number}.in.")}
        for number in numbers
    ]
    finite = [draw for draw in draws if all(np.isfinite(x).all() for x in draw.values() if x.dtype.kind == "f")]
    allowed = next((bound for name, bound in NARROW if name in about["source"]), None)
    return judged(folder / "model.json", finite, converters, lambda want, got: difference(want, got, allowed))


def judged(path: Path, draws: Sequence[Inputs], converters: Converters, differs: Difference) -> Row:
    """Return a word for each converter on a program, by these draws of its inputs."""
    program = program_at(path)
    if not draws:
        return {}
    with tempfile.TemporaryDirectory(prefix="beside-") as place:
        wanted = _wanted(program, draws, Path(place))
        if not wanted:
            return {}
        row = {}
        for name, convert in converters.items():
            into = Path(place, name)
            into.mkdir()
            word = in_own_process(
                partial(_converted_and_compared, convert, program, Compared(draws, wanted, differs), into),
                into / "answer",
            )
            if (into / "converted").is_file():  # what follows is not the converter's word
                word = word.replace("refused:", "wrong:").replace("aborted:", "wrong: ONNX Runtime died:")
            row[name] = word
        return row


def _wanted(program: Program, draws: Sequence[Inputs], place: Path) -> list[list[Array]]:
    """Return what Paddle's strict predictor computes of each draw; empty where it does not."""
    kept = place / "wanted.safetensors"

    def compute() -> str:
        found = paddle_answers(program, draws)
        save_scratch(kept, {f"{at}.{n}": value for at, row in enumerate(found) for n, value in enumerate(row)})
        return "computed"

    if in_own_process(compute, place / "computed") != "computed":
        return []
    stored = load(kept)
    return [[stored[f"{at}.{n}"] for n in range(len(program.outputs))] for at in range(len(draws))]


def _converted_and_compared(
    convert: Callable[[Program, Path], None], program: Program, against: Compared, into: Path
) -> str:
    model = into / "model.onnx"
    convert(program, model)
    (into / "converted").touch()
    given = answers(model, program.outputs, against.draws)
    for at, (want, got) in enumerate(zip(against.wanted, given, strict=True)):
        for expected, value in zip(want, got, strict=True):
            if what := against.differs(expected, np.asarray(value)):
                return f"wrong: draw {at}: {what}"
    return "right"
