"""Networks of the zoo as the files that stock Paddle saves, with inputs of two sizes, to convert, compare and time."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from evals.sources.beside.converters import OPSET, Inputs
from evals.zoo.network import Network
from exporter.base.readers import read_program
from exporter.base.tensors import Array, load, save_scratch
from exporter.spec.source import keys_of, read_source

#: Each size's inputs lie beside the file under this name.
_DRAWS = ("typical", "max")


def save(families: Sequence[str], into: Path) -> None:
    """Save each network that `into` lacks, in a process of its own, as `FAMILY-NAME/inference.json`."""
    from evals.zoo.models import networks

    for family in families:
        for network in networks(family).values():
            folder = into / f"{family}-{network.key}"
            if (folder / "saved").is_file():
                continue
            folder.mkdir(parents=True, exist_ok=True)
            child = os.fork()
            if child == 0:
                try:
                    _save(network, folder)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)


def _save(network: Network, folder: Path) -> None:
    import numpy as np
    import paddle

    from evals.zoo.calibrated import drawn

    paddle.seed(0)
    layer = network.build()
    layer.eval()
    specs = [
        paddle.static.InputSpec([None if isinstance(size, str) else size for size in tensor.shape], tensor.dtype,
                                tensor.name or f"x{at}")
        for at, tensor in enumerate(network.inputs)
    ]  # fmt: skip
    draw = np.random.default_rng(7)
    values = {}
    for which in _DRAWS:
        sizes = {name: dim[which] for name, dim in network.dims.items()}
        for at, spec in enumerate(specs):
            values[f"{which}.{spec.name}"] = drawn(network, at, draw, sizes)
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs, full_graph=True, backend=None), f"{folder}/inference")
    save_scratch(folder / "draws.safetensors", values)
    save_dims = {name: dict(dim) for name, dim in network.dims.items()}
    (folder / "saved").write_text(yaml.safe_dump(save_dims))


def draws_of(folder: Path) -> list[Inputs]:
    """Return the inputs of each size, by the names that the file has."""
    values = load(folder / "draws.safetensors")
    names = [spec.name for spec in read_program(folder / "inference.json").inputs]
    return [{name: values[f"{which}.{name}"] for name in names} for which in _DRAWS]


def nearly(want: Array, got: Array) -> str:
    """Say in what a network's output differs by more than a hundredth; deep ones differ by rounding alone."""
    from evals.zoo.quick import NEAR, difference

    if (want.dtype, want.shape) != (got.dtype, got.shape):
        return f"{got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
    off = difference(want, got)
    return "" if off <= NEAR else f"differs by {off:.3g}"


def seconds(folder: Path, p2o: str) -> dict[str, float]:
    """Return the processor seconds of each command that only converts a network, of the whole tree of processes."""
    program, parameters = folder / "inference.json", folder / "inference.pdiparams"
    with tempfile.TemporaryDirectory(prefix="beside-") as place:
        spec = Path(place, "spec.yaml")
        source = read_source(folder)
        lengths = {
            f"{name}_1": {"min": 3, "typical": 6, "max": 9} for name in (one.name for one in source.facts.inputs)
        }
        named = {size for row in _shapes(folder) for size in row}
        dims = {name: sizes for name, sizes in lengths.items() if name in named}
        keys_of(source, dims)  # refuses here what the command would
        spec.write_text(yaml.safe_dump({"source": str(folder), "formats": ["onnx"], "opset": OPSET, "dims": dims}))
        commands = {
            "exporter": [sys.executable, "-m", "exporter", "convert", spec, "--out", Path(place, "bundle"), "--quiet"],
            "paddle2onnx": [
                Path(sys.executable).with_name("paddle2onnx"), "--model_dir", folder, "--model_filename", program.name,
                "--params_filename", parameters.name, "--opset_version", str(OPSET),
                "--save_file", Path(place, "stock.onnx"),
            ],
            "p2o": [p2o, program, parameters, Path(place, "p2o.onnx"), "--opset", str(OPSET)],
        }  # fmt: skip
        return {name: spent for name, command in commands.items() if (spent := _spent(list(map(str, command))))}


def _shapes(folder: Path) -> list[list[str]]:
    inputs = read_program(folder / "inference.json").inputs
    return [[f"{spec.name}_{at}" for at, size in enumerate(spec.shape) if size == -1] for spec in inputs]


def _spent(command: list[str]) -> float:
    """Return the processor seconds of a command that succeeds, of user and system; 0 of one that does not."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(spent, 2) if done.returncode == 0 else 0.0
