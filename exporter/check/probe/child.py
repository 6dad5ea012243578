"""The probe's children: one runs the model eagerly, one exports it and runs the program on the same inputs.

They are two processes, so that neither sees the state that the other leaves in globals and attributes. Runs in children
only; the requests and answers are :mod:`exporter.check.probe.run`'s.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import random
import sys
import tempfile
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.tensors import Array, load, save_scratch
from exporter.paddle.names import forget_parameter_names
from exporter.paddle.predictor import Predictor
from exporter.process.workers import Json, doing

#: Sizes of the first dimension, one case each; other dimensions that vary take the next ones.
_SIZES = (2, 1, 3, 5)
_SHIFTS = (2.0, -2.0, 0.5, -0.5)
_RTOL, _ATOL = 1e-4, 1e-5


def eager(request: Json) -> Json:
    """Run the model on each case, in order; the outputs go to `request["file"]`, their structure into the answer."""
    layer = build(request)
    doing("running the model eagerly")
    shapes, tensors = [], dict[str, Array]()
    for number, case in enumerate(cases(request)):
        leaves = _leaves(called(layer, case))
        shapes.append(["tensor" if isinstance(each, np.ndarray) else repr(each) for each in leaves])
        tensors |= {f"{number}/{at}": each for at, each in enumerate(leaves) if isinstance(each, np.ndarray)}
    save_scratch(Path(request["file"]), tensors)
    return {"leaves": shapes}


def exported(request: Json) -> Json:
    """Export the model and run the program on each case; say the first thing that differs from eager.

    What the export raises is the parent's to read: it may be anything at all.
    """
    import paddle

    layer = build(request)
    doing("exporting the model")
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "model"
        paddle.jit.save(static(layer, request), str(prefix))
        doing("loading the program")
        try:
            outputs = predict(prefix, request)
        except (RuntimeError, ValueError, OSError) as error:  # all that a predictor raises
            return {"outcome": "unusable", "what": str(error)}
    return _compare(outputs, request)


def static(layer: Any, request: Json) -> Any:
    """The layer, to be traced with the input specs of the request."""
    import paddle

    specs = [paddle.static.InputSpec(list(one["sizes"]), one["dtype"], one["name"]) for one in request["inputs"]]
    return paddle.jit.to_static(layer, input_spec=specs, backend=None, full_graph=True)


def called(layer: Any, case: list[Array]) -> Any:
    """What the layer gives for copies of the inputs."""
    import paddle

    return layer(*[paddle.to_tensor(each.copy()) for each in case])


def build(request: Json) -> Any:
    """The model, by its factory, in evaluation mode; the random generators are at a known state before and after."""
    import paddle

    doing("importing the model")
    path = Path(request["path"])
    seed()
    builder = attrgetter(request["builder"])(_module(path))
    seed()  # a module that lies in a package is imported once: the next layer must draw the same numbers
    forget_parameter_names()
    layer = builder()
    if not isinstance(layer, paddle.nn.Layer):
        raise TypeError(f"{request['builder']} gives {type(layer).__name__}, not a layer")
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


def cases(request: Json) -> list[list[Array]]:
    """The inputs of each case, in the order of `forward`."""
    generator = np.random.default_rng(0)
    most = 2 if request.get("tame") else 3
    return [[_values(generator, one, number, most) for one in request["inputs"]] for number in range(len(_SIZES))]


def _values(generator: np.random.Generator, one: Mapping[str, Any], number: int, most: int) -> Array:
    sizes = [_SIZES[(number + at) % 4] if size is None else size for at, size in enumerate(one["sizes"])]
    if one["dtype"] == "bool":
        return generator.integers(0, 2, sizes).astype(bool)
    if one["dtype"].startswith(("int", "uint")):
        return generator.integers(1, most, sizes).astype(one["dtype"])
    return (generator.standard_normal(sizes) + _SHIFTS[number]).astype(one["dtype"])


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


def predict(prefix: Path, request: Json) -> list[list[Array]]:
    """What the saved program gives for each case; whatever a predictor raises is the caller's."""
    program, names = Predictor(prefix), [one["name"] for one in request["inputs"]]
    if missing := [name for name in names if name not in program.inputs]:
        raise ValueError(f"the program has no input '{missing[0]}'")
    found = []
    for number, case in enumerate(cases(request)):
        doing(f"running the program on case {number}")
        found.append(program.run(dict(zip(names, case, strict=True))))
    return found


def _compare(got: list[list[Array]], request: Json) -> Json:
    wanted = load(Path(request["file"]))
    for number, (leaves, outputs) in enumerate(zip(request["leaves"], got, strict=True)):
        if len(leaves) != len(outputs):
            what = f"eager gives {len(leaves)} outputs, the program {len(outputs)}"
            return {"outcome": "structure", "what": what}
        for at, (leaf, output) in enumerate(zip(leaves, outputs, strict=True)):
            what = "is no tensor" if leaf != "tensor" else difference(wanted[f"{number}/{at}"], output)
            if what:
                kind = "values" if "values" in what else "structure"
                return {"outcome": kind, "what": f"case {number}, output {at}: {what}"}
    return {"outcome": "agrees", "what": ""}


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
