"""The table of small layers: `layers/<family>.txt`, each layer a line of its inputs and the Python that a user writes.

    name | x=float32[b,4] ids=int64[b]:integers(0,9) | b=1..5
        self.fc = nn.Linear(4, 3)
        --
        return self.fc(x) + ids.unsqueeze(-1)

What stands before `--` is the constructor's, the rest `forward`'s, whose parameters are the inputs. Code that has its
own `class Net` is the whole module. In `unsound.txt` a line that ends in `#!` is one that an export cannot keep. A
fourth field names the formats, where ONNX Runtime has no kernel for what the layer does (a convolution in float64).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "layers"
UNSOUND = "unsound"
HEAD = "from collections import namedtuple\n\nimport numpy as np\nimport paddle\nimport paddle.nn as nn\n"
HEAD += "import paddle.nn.functional as F\n\n\n"
BUILD = "\n\ndef build():\n    return Net()\n"
_INPUT = re.compile(r"(\w+)=(\w+)\[([\w,]*)\](?::(\S+))?")
_DIM = re.compile(r"(\w+)=(\d+)\.\.(\d+)")
FORMATS = ("pir", "pdmodel", "onnx")
_VALUES = {"bool": "integers(0,2)", "uint8": "integers(0,200)"}


@dataclass(frozen=True)
class Input:
    """An input of a layer; in `shape` a name stands for a size that varies."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    values: str


@dataclass(frozen=True)
class SmallLayer:
    """A layer with its inputs, and the sizes between which each of its named dims varies."""

    family: str
    name: str
    inputs: tuple[Input, ...]
    dims: dict[str, tuple[int, int]]
    formats: tuple[str, ...]
    source: str

    @property
    def marked(self) -> tuple[int, ...]:
        """The lines of its module that an export cannot keep, of which a refusal names one."""
        return tuple(number for number, line in enumerate(self.source.splitlines(), 1) if line.endswith("#!"))

    def write(self, folder: Path) -> Path:
        """Write its module and its spec into `folder`; the spec's path."""
        (folder / f"{self.name}.py").write_text(self.source)
        spec = {
            "name": self.name.replace("_", "-"),
            "model": f"{self.name}:build",
            "weights": "factory",
            "inputs": {
                tensor.name: {"dtype": tensor.dtype, "shape": list(tensor.shape), "values": tensor.values}
                for tensor in self.inputs
            },
            "dims": {
                name: {"min": low, "typical": (low + high) // 2, "max": high} for name, (low, high) in self.dims.items()
            },
            "formats": list(self.formats),
        }
        path = folder / f"{self.name}.yaml"
        path.write_text(json.dumps(spec, indent=1))  # JSON is YAML
        return path


def read(stored: Mapping[str, Any]) -> SmallLayer:
    """Read a layer of what `dataclasses.asdict` made of it, by way of JSON."""
    inputs = tuple(Input(**{**tensor, "shape": tuple(tensor["shape"])}) for tensor in stored["inputs"])
    dims = {name: (low, high) for name, (low, high) in stored["dims"].items()}
    return SmallLayer(**{**stored, "inputs": inputs, "dims": dims, "formats": tuple(stored["formats"])})


def families() -> tuple[str, ...]:
    """Return the names of the table's files; the last is of layers that no export can keep."""
    names = sorted(path.stem for path in HERE.glob("*.txt"))
    return (*(name for name in names if name != UNSOUND), UNSOUND)


def layers(family: str) -> tuple[SmallLayer, ...]:
    """Read a family's layers, in the order of its file."""
    blocks = re.split(r"\n(?=\w+ \|)", (HERE / f"{family}.txt").read_text())
    return tuple(_layer(family, block) for block in blocks)


def sample(names: Sequence[str], count: int, seed: int) -> list[SmallLayer]:
    """Draw so many layers of every family."""
    generator = random.Random(seed)
    return [layer for name in names for layer in generator.sample(layers(name), min(count, len(layers(name))))]


def _layer(family: str, block: str) -> SmallLayer:
    head, _, code = block.partition("\n")
    name, inputs, dims, *more = (part.strip() for part in head.split("|"))
    described = tuple(_input(*match.groups()) for match in _INPUT.finditer(inputs))
    if len(described) != len(inputs.split()):
        raise ValueError(f"{family}.txt: {name}: cannot read the inputs '{inputs}'")
    ranges = {dim: (int(low), int(high)) for dim, low, high in _DIM.findall(dims)}
    lines = [line.removeprefix("    ") for line in code.rstrip().splitlines()]
    formats = tuple(more[0].split()) if more else FORMATS
    return SmallLayer(family, name, described, ranges, formats, module(lines, described))


def _input(name: str, dtype: str, shape: str, values: str | None) -> Input:
    sizes = tuple(int(size) if size.isdigit() else size for size in shape.split(",") if size)
    usual = "normal" if dtype.startswith("float") else _VALUES.get(dtype, "integers(-20,20)")
    return Input(name, dtype, sizes, values or usual)


def module(lines: list[str], inputs: Sequence[Input]) -> str:
    """Write the module of a layer: lines of its constructor before `--`, else of `forward`."""
    if any(line.startswith("class Net") for line in lines):
        return HEAD + "\n".join(lines) + "\n" + BUILD
    made = lines[: lines.index("--")] if "--" in lines else []
    body = lines[lines.index("--") + 1 :] if "--" in lines else lines
    text = ["class Net(nn.Layer):"]
    if made:
        text += ["    def __init__(self):", "        super().__init__()", *(" " * 8 + line for line in made), ""]
    parameters = ", ".join(tensor.name for tensor in inputs)
    text += [f"    def forward(self, {parameters}):", *(" " * 8 + line for line in body)]
    return HEAD + "\n".join(text) + "\n" + BUILD
