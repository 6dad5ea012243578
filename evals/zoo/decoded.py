"""Steps of PaddleNLP's language models in a row: `python -m evals.zoo.decoded [--only GPT,T5] [--steps 32]`.

Each is released as a user would do it, in three formats: beside all cases of one step, every engine runs so many steps
on the keys and values that it gave itself. It prints a line for each, and ends with 1 where one does not pass.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from evals.decoding.__main__ import exporter, of_report
from evals.zoo.families.steps import DECODERS, Decoder, dims_of

#: Inputs that belong to what the encoder read, which stays as it is.
_HELD = ("memory", "read_0", "told_0", "read_1", "told_1")


def spec(decoder: Decoder, steps: int) -> dict[str, Any]:
    """The spec of a decoder, as a user writes it."""
    tensors = decoder.tensors()
    inputs = {
        tensor.name: {"dtype": tensor.dtype, "shape": list(tensor.shape), "values": tensor.values} for tensor in tensors
    }
    cache = {name: f"next_{name}" for name in inputs if name.startswith(("key_", "value_"))}
    held = [name for name in inputs if name in _HELD]
    return {
        "name": f"step-{decoder.name.lower().replace('_', '-')}",
        "model": "evals.zoo.families.steps:build",
        "args": {"name": decoder.name},
        "weights": "factory",
        "inputs": inputs,
        "dims": dims_of(tensors),
        "outputs": ["logits", *cache.values()],
        "decoding": {"cache": cache, "tokens": {"ids": "logits"}, "steps": steps, **({"held": held} if held else {})},
    }


def measure(decoder: Decoder, steps: int, place: Path) -> dict[str, Any]:
    """Release one, and say what became of its claims of all steps."""
    path = place / f"{decoder.name}.yaml"
    path.write_text(yaml.safe_dump(spec(decoder, steps), sort_keys=False), encoding="utf-8")
    code, answer = exporter("release", path, "--out", place / decoder.name)
    row = {"name": decoder.name, "steps": steps, "exit": code, "verdict": answer.get("verdict")}
    if "bundle" not in answer:
        return row | {"error": answer}
    return row | of_report(json.loads(Path(answer["bundle"], "parity.json").read_text(encoding="utf-8")))


def main(arguments: Sequence[str]) -> int:
    """Print a line for each decoder; 1 where one does not pass."""
    parser = argparse.ArgumentParser(prog="python -m evals.zoo.decoded", description=__doc__)
    parser.add_argument("--only", default="GPT,Llama,T5")
    parser.add_argument("--steps", type=int, default=32)
    options = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        for decoder in DECODERS:
            if decoder.name in options.only.split(","):
                row = measure(decoder, options.steps, Path(place))
                print(json.dumps(row), flush=True)
                failed += row["exit"] != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
