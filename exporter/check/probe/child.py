"""The probe's children: one runs the model eagerly, one exports it and runs the program on the same inputs.

They are two processes, so that neither sees the state that the other leaves in globals and attributes. Runs in children
only; :mod:`exporter.check.probe.run` asks.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import random
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np

from exporter.base.tensors import Array, TensorSpec, load, save_scratch
from exporter.paddle.names import forget_parameter_names
from exporter.paddle.predictor import Predictor
from exporter.process.job import job
from exporter.process.workers import doing

#: Sizes of the first dimension, one case each; other dimensions that vary take the next ones.
_SIZES = (2, 1, 3, 5)
_SHIFTS = (2.0, -2.0, 0.5, -0.5)
_RTOL, _ATOL = 1e-4, 1e-5


@dataclass(frozen=True)
class ProbedInput:
    """One input of `forward`; a size is None where the dimension varies."""

    name: str
    dtype: str
    sizes: tuple[int | None, ...]


@dataclass(frozen=True)
class Subject:
    """The model to probe: its file, the name to call in it, and its inputs.

    A `tame` one gets integers that are ones alone, since it takes them as lengths or places.
    """

    path: Path
    builder: str
    inputs: tuple[ProbedInput, ...]
    tame: bool = False


@dataclass(frozen=True)
class EagerRequest:
    """Run the model eagerly; its outputs go to `file`."""

    subject: Subject
    file: Path


@dataclass(frozen=True)
class EagerAnswer:
    """The structure of the outputs of each case: "tensor", or how Python writes what is none."""

    leaves: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ExportRequest:
    """Export the model, and compare its program with the eager outputs: those in `file`, of the structure `leaves`."""

    subject: Subject
    file: Path
    leaves: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ExportAnswer:
    """The first thing in which the program differs from eager, in words; none where it `agrees`."""

    outcome: Literal["agrees", "unusable", "structure", "values"]
    what: str = ""


@job(reuse="probing {subject[path]}: the eager layer")
def eager(request: EagerRequest) -> EagerAnswer:
    """Run the model on each case, in order."""
    layer = build(request.subject)
    doing("running the model eagerly")
    shapes, tensors = [], dict[str, Array]()
    for number, case in enumerate(cases(request.subject)):
        leaves = _leaves(called(layer, case))
        shapes.append(tuple("tensor" if isinstance(leaf, np.ndarray) else repr(leaf) for leaf in leaves))
        tensors |= {f"{number}/{at}": leaf for at, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray)}
    save_scratch(request.file, tensors)
    return EagerAnswer(tuple(shapes))


@job(reuse="probing {subject[path]}: its program")
def exported(request: ExportRequest) -> ExportAnswer:
    """Export the model and run the program on each case; say the first thing that differs from eager.

    What the export raises is the parent's to read: it may be anything at all.
    """
    import paddle

    layer = build(request.subject)
    doing("exporting the model")
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "model"
        paddle.jit.save(static(layer, request.subject), str(prefix))
        doing("loading the program")
        try:
            outputs = predict(prefix, request.subject)
        except (RuntimeError, ValueError, OSError) as error:  # all that a predictor raises
            return ExportAnswer("unusable", str(error))
    return _compare(outputs, request)


@job(reuse="probing {subject[path]}: the program that the exporter writes")
def written(request: ExportRequest) -> ExportAnswer:
    """Compare as :func:`exported`, by the exporter's own trace, which does some things that stock Paddle does not."""
    from exporter.export.lower.base import Wish
    from exporter.export.lower.kinds.pir import plugin as pir
    from exporter.export.trace.traced import trace

    layer, inputs = build(request.subject), tuple(map(_input_spec, request.subject.inputs))
    doing("exporting the model")
    with tempfile.TemporaryDirectory() as folder:
        with pir.session(None):
            traced = trace(layer, inputs, None, {})
            pir.write(traced, None, Path(folder), Wish())
        order = [traced.native_outputs.index(output.name) for output in traced.outputs]
        outputs = predict(Path(folder) / "model", request.subject)
    return _compare([[case[at] for at in order] for case in outputs], request)


def _input_spec(value: ProbedInput) -> TensorSpec:
    shape = tuple(f"{value.name}_{axis}" if size is None else size for axis, size in enumerate(value.sizes))
    return TensorSpec(value.name, value.dtype, shape)


def static(layer: Any, subject: Subject) -> Any:
    """The layer, to be traced with the input specs of the subject."""
    import paddle

    specs = [paddle.static.InputSpec(list(value.sizes), value.dtype, value.name) for value in subject.inputs]
    return paddle.jit.to_static(layer, input_spec=specs, backend=None, full_graph=True)


def called(layer: Any, case: list[Array]) -> Any:
    """What the layer gives for copies of the inputs."""
    import paddle

    return layer(*[paddle.to_tensor(each.copy()) for each in case])


def build(subject: Subject) -> Any:
    """The model, by its factory, in evaluation mode; the random generators are at a known state before and after."""
    import paddle

    doing("importing the model")
    seed()
    builder = attrgetter(subject.builder)(_module(subject.path))
    seed()  # a module that lies in a package is imported once: the next layer must draw the same numbers
    forget_parameter_names()
    layer = builder()
    if not isinstance(layer, paddle.nn.Layer):
        raise TypeError(f"{subject.builder} gives {type(layer).__name__}, not a layer")
    layer.eval()
    seed()
    return layer


def _module(path: Path) -> Any:
    """The module of a file, under its own dotted name if it lies in packages."""
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    if len(names) > 1:
        return importlib.import_module(".".join(names))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def seed() -> None:
    """Put every random generator into one state."""
    import paddle

    random.seed(0)
    np.random.seed(0)
    paddle.seed(0)


def cases(subject: Subject) -> list[list[Array]]:
    """The inputs of each case, in the order of `forward`."""
    generator = np.random.default_rng(0)
    most = 2 if subject.tame else 3
    return [[_values(generator, value, number, most) for value in subject.inputs] for number in range(len(_SIZES))]


def _values(generator: np.random.Generator, value: ProbedInput, number: int, most: int) -> Array:
    sizes = [_SIZES[(number + at) % 4] if size is None else size for at, size in enumerate(value.sizes)]
    if value.dtype == "bool":
        return generator.integers(0, 2, sizes).astype(bool)
    if value.dtype.startswith(("int", "uint")):
        return generator.integers(1, most, sizes).astype(value.dtype)
    return (generator.standard_normal(sizes) + _SHIFTS[number]).astype(value.dtype)


def _leaves(value: Any) -> list[Any]:
    """The outputs in the order of the code; None and numbers count."""
    import paddle

    if isinstance(value, paddle.Tensor):
        return [np.array(value.numpy())]
    if isinstance(value, Mapping):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [leaf for each in dataclasses.fields(value) for leaf in _leaves(getattr(value, each.name))]
    return [value]


def predict(prefix: Path, subject: Subject) -> list[list[Array]]:
    """What the saved program gives for each case; whatever a predictor raises is the caller's."""
    program, names = Predictor(prefix), [value.name for value in subject.inputs]
    if missing := [name for name in names if name not in program.inputs]:
        raise ValueError(f"the program has no input '{missing[0]}'")
    outputs = []
    for number, case in enumerate(cases(subject)):
        doing(f"running the program on case {number}")
        outputs.append(program.run(dict(zip(names, case, strict=True))))
    return outputs


def _compare(got: list[list[Array]], request: ExportRequest) -> ExportAnswer:
    wanted = load(request.file)
    for number, (leaves, outputs) in enumerate(zip(request.leaves, got, strict=True)):
        if len(leaves) != len(outputs):
            return ExportAnswer("structure", f"eager gives {len(leaves)} outputs, the program {len(outputs)}")
        for at, (leaf, output) in enumerate(zip(leaves, outputs, strict=True)):
            what = "is no tensor" if leaf != "tensor" else difference(wanted[f"{number}/{at}"], output)
            if what:
                kind: Literal["values", "structure"] = "values" if "values" in what else "structure"
                return ExportAnswer(kind, f"case {number}, output {at}: {what}")
    return ExportAnswer("agrees")


def difference(wanted: Array, got: Array) -> str:
    """How an output of the program differs from the eager one; empty if it does not."""
    if wanted.shape != got.shape:
        return f"shape {list(wanted.shape)} became {list(got.shape)}"
    if wanted.dtype.kind != got.dtype.kind:
        return f"dtype {wanted.dtype} became {got.dtype}"
    exact, other = wanted.astype("float64"), got.astype("float64")
    finite = np.isfinite(exact)
    scale = float(np.abs(exact[finite]).max()) if finite.any() else 0.0
    if np.allclose(other, exact, rtol=_RTOL, atol=_ATOL * scale, equal_nan=True):
        return ""
    return f"the values differ by up to {float(np.nanmax(np.abs(other - exact))):.3g} (scale {scale:.3g})"
