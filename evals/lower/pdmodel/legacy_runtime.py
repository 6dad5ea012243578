"""Load kept files in the Paddle of this interpreter: python evals/lower/pdmodel/legacy_runtime.py FOLDER [--json FILE].

FOLDER is what `--keep` of legacy_table.py or of `python -m evals.zoo` wrote. Needs numpy, packaging and any Paddle from
2.6.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from legacy_judge import _reason, _wait, compare, load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    import paddle

    left = sorted(path for path in options.folder.iterdir() if path.is_dir())
    outcomes: dict[str, str] = {}
    while left:
        done = _fork(left[:60])
        if len(done) < len(left[:60]):
            done.append("CRASHED")
        outcomes |= {path.name: outcome for path, outcome in zip(left, done, strict=False)}
        left = left[len(done) :]
    for name, outcome in outcomes.items():
        if outcome not in ("equal", "close"):
            print(f"MISS {name}: {outcome}")
    passed = sum(outcome in ("equal", "close") for outcome in outcomes.values())
    print(f"Paddle {paddle.__version__}: {passed}/{len(outcomes)}")
    if options.json:
        options.json.write_text(json.dumps(outcomes, indent=1))
    return 0


def _fork(batch: list[Path]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder, "answers")
        answers.touch()
        child = os.fork()
        if child == 0:
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 1)
                os.dup2(quiet, 2)
                with answers.open("a") as out:
                    for path in batch:
                        print(json.dumps(_try(path)), file=out, flush=True)
            finally:
                os._exit(0)
        _wait(child, answers)
        return [json.loads(line) for line in answers.read_text().splitlines()]


def _try(folder: Path) -> str:
    try:
        predictor = load(folder)
        # Our own files, plain arrays: allow_pickle is off. The old environments have no safetensors.
        inputs, outputs = np.load(folder / "inputs.npz"), np.load(folder / "outputs.npz")  # noqa: TID251
        for name, value in inputs.items():
            handle = predictor.get_input_handle(name)
            handle.reshape(value.shape)
            handle.copy_from_cpu(value)
        predictor.run()
        found = [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]
        return "equal" if compare(list(outputs.values()), found) else "close"
    except Exception as error:  # noqa: BLE001 - whatever a runtime raises is the outcome
        return _reason(error)


if __name__ == "__main__":
    sys.exit(main())
