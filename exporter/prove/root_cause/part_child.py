"""The child's side of a reproduction: export one sublayer alone, with the inputs that it had in the failing case."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.registry import Registry
from exporter.base.tensors import TensorSpec, load, save_scratch
from exporter.engines.base import SourceModel
from exporter.export.lower.base import Format, Wish
from exporter.export.trace.layer import load_layer
from exporter.export.trace.structure import leaves
from exporter.export.trace.traced import trace
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.goldens.oracle import make_oracle
from exporter.prove.root_cause.align import Argument, Arguments, TensorArgument


@dataclass(frozen=True)
class PartRequest:
    """The sublayer at `path` of a source, with the file of the `inputs` that it had and how they were passed.

    `into` is the folder for what is written; `format`, `opset` and `writer` say how, and `case` names the case.
    """

    source: SourceModel
    path: str
    inputs: Path
    arguments: Arguments
    scramble: bool
    format: str
    into: Path
    opset: int | None
    writer: str
    case: str


@dataclass(frozen=True)
class PartAnswer:
    """The names of the inputs and of the outputs, those in the file's order, and e_ref of each output."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    e_ref: Mapping[str, tuple[float, float]]


@job
def export(request: PartRequest) -> PartAnswer:
    """Write the sublayer's artifact and `case.safetensors` into a folder; answer with names and e_ref of its outputs.

    With `scramble` the weights are shuffled within each tensor first: the numbers stay, what was learnt goes.

    Raises:
        ModelError: the sublayer cannot be exported alone.
    """
    doing("importing paddle")
    import paddle

    source, into = request.source, request.into
    doing("building the layer")
    layer = load_layer(source.model, source.checkpoint, source.seed)
    sublayer = layer if request.path == "." else dict(layer.named_sublayers())[request.path]
    if request.scramble:
        _scramble(sublayer, source.seed)
    inputs = load(request.inputs)
    part = _wrapped(sublayer, request.arguments)
    part.eval()
    doing("running the oracle")
    with paddle.no_grad():
        count = sum(1 for _ in leaves(part(*[paddle.to_tensor(inputs[name]) for name in inputs])))
    names = tuple(f"output_{number}" for number in range(count))
    eager, truths, _ = make_oracle(part, tuple(inputs), names, source.seed).ask(inputs)
    case = request.case
    tensors = {f"{case}/input/{name}": value for name, value in inputs.items()}
    tensors |= {f"{case}/eager/{name}": value for name, value in eager.items()}
    tensors |= {f"{case}/truth/{name}": truths[name].value for name in names}
    save_scratch(into / "case.safetensors", tensors)
    doing("exporting the sublayer")
    specs = [TensorSpec(name, value.dtype.name, value.shape) for name, value in inputs.items()]
    native = _write(
        part,
        specs,
        names,
        (request.format, into / request.format, Wish(request.opset, writer=request.writer)),
    )
    e_ref = {name: (truth.e_ref_max, truth.e_ref_l2) for name, truth in truths.items()}
    return PartAnswer(tuple(inputs), tuple(native), e_ref)


def _write(part: Any, specs: list[TensorSpec], names: tuple[str, ...], how: tuple[str, Path, Wish]) -> tuple[str, ...]:
    """Trace and lower; `how` is the format, its folder and what is asked. Returns the outputs in the file's order."""
    format, into, wish = how
    formats: Registry[Format] = Registry("exporter.export.lower", "format")
    plugin = formats[format].chosen(wish)
    into.mkdir()
    with plugin.session(None), tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        traced = trace(part, specs, names, {})
        before = plugin.after
        if before is not None:
            formats[before].write(traced, None, Path(folder), Wish())
        plugin.write(traced, Path(folder) if before else None, into, wish)
    return traced.native_outputs


def _scramble(layer: Any, seed: int) -> None:
    generator = np.random.default_rng(seed)
    for tensor in layer.state_dict().values():
        value = tensor.numpy()
        tensor.set_value(generator.permutation(value.ravel()).reshape(value.shape))


def _wrapped(sublayer: Any, arguments: Arguments) -> Any:
    """A layer whose inputs are the tensors of the recorded call, in order; other arguments are repeated as they were.

    `forward` names its parameters, since `to_static` binds no `*args` (3.3.1).
    """
    import paddle

    class Part(paddle.nn.Layer):  # type: ignore[misc]  # Paddle has no types
        def __init__(self) -> None:
            super().__init__()
            self.part = sublayer

        def forward(self, input_0, input_1=None, input_2=None, input_3=None, input_4=None):  # type: ignore[no-untyped-def]
            tensors = (input_0, input_1, input_2, input_3, input_4)
            positional = [_filled(argument, tensors) for argument in arguments.positional]
            named = {name: _filled(argument, tensors) for name, argument in arguments.named.items()}
            return self.part(*positional, **named)

    return Part()


def _filled(argument: Argument, tensors: tuple[Any, ...]) -> Any:
    return tensors[argument.tensor] if isinstance(argument, TensorArgument) else argument
