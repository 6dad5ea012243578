"""Programs and weights that compute something else, with every digest made right that can be made right."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from evals.hostile.aims import COMPUTED, Aim, Made, claims
from evals.hostile.bases import Base
from evals.hostile.bombs import Graph
from evals.hostile.seal import digests_again, seal
from exporter.base.tensors import Array
from exporter.bundle.drill.fault import Fault, candidates
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Unplantable
from exporter.bundle.open import open_bundle

_WEIGHTS = claims("weights")
_DECLARED = claims("interface", "outputs")
#: Operators of ONNX, and of both Paddle formats, in the place of others of the same inputs.
_ONNX_RELATIVES: Mapping[str, tuple[str, ...]] = {
    "Relu": ("Abs", "Softplus", "Tanh", "LeakyRelu", "Neg"),
    "Add": ("Sub", "Mul", "Max"),
    "Mul": ("Add", "Div", "Max"),
    "MaxPool": ("AveragePool",),
    "ReduceMean": ("ReduceMax", "ReduceSum"),
}
_PADDLE_RELATIVES: Mapping[str, tuple[str, ...]] = {
    "relu": ("abs", "tanh", "sigmoid", "softsign", "silu"),
    "add": ("subtract", "multiply", "maximum"),
    "elementwise_add": ("elementwise_sub", "elementwise_mul", "elementwise_max"),
}


# ---- faults of `drill`, in every format ----
@cache
def material(folder: Path, variant: str) -> Material:
    """An fp32 artifact of a sound bundle, to be changed; shared, so each use begins with `clear`."""
    bundle = open_bundle(folder)
    artifact, content = bundle.artifacts[variant], bundle.manifest
    first = next(iter(content.inputs)).shape[0]
    batch = content.dims[first]["typical"] if isinstance(first, str) else 0
    return Material(artifact, folder, dict(artifact.origins), batch=batch)


@cache
def faults(folder: Path, variant: str) -> tuple[Fault, ...]:
    """Every fault that an artifact has a place for."""
    return tuple(candidates(material(folder, variant), variant, 0))


def plain_variants(base: Base) -> list[str]:
    """The fp32 variants of a bundle."""
    return [name for name, one in base.manifest["variants"].items() if one["precision"] == "fp32"]


def write(changed: Material, folder: Path) -> None:
    """Put the changed files of an artifact into a bundle."""
    with tempfile.TemporaryDirectory() as place:
        changed.write(Path(place))
        for name in changed.artifact.files:
            if not (Path(place) / name).is_symlink():
                shutil.copyfile(Path(place) / name, folder / name)
    changed.clear()


def fault(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """A fault of `drill` in one variant; of the tensors the digests stay as they were, or are made right."""
    while True:
        variant = random.choice(plain_variants(base))
        every = faults(base.folder, variant)
        family = random.choice(sorted({one.family for one in every}))
        kind = random.choice(sorted({one.kind for one in every if one.family == family}))
        planted = random.choice([one for one in every if (one.family, one.kind) == (family, kind)])
        changed = material(base.folder, variant)
        try:
            planted.plant(changed)
        except Unplantable:
            continue
        write(changed, folder)
        content = base.manifest
        if family == "parameters" and random.random() < 0.4:
            seal(folder, content)
            return Made(f"{variant}: {planted}; digests as released", _WEIGHTS)
        untraced(content, folder, variant)
        seal(folder, content)
        aim = _DECLARED if family == "interface" else COMPUTED
        if family == "parameters" and variant != "onnx":  # Paddle's files hold the layer's tensors and no others
            aim = _WEIGHTS
        return Made(f"{variant}: {planted}; digests made right", aim, wrong=not planted.numeric)


def untraced(content: dict[str, Any], folder: Path, variant: str) -> None:
    """Record what a file stores now, and that nothing is known of the origin of what is not the layer's."""
    digests_again(folder, content, parameters=False)
    own = content["variants"][variant]
    own["origins"] = {
        name: layer
        for name, layer in own["origins"].items()
        if own["weights"].get(name) == content["parameters"].get(layer)
    }


def retrained(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The same tensor changed alike in every fp32 variant, as if it had been trained so; the goldens are the old."""
    content = base.manifest
    own = random.choice(sorted(set(content["variants"]["onnx"]["origins"].values())))
    name, change = random.choice(sorted(_CHANGES.items()))
    if not _in_all(base, folder, own, change, random.randrange(1 << 30)):
        return fault(base, folder, random, _outside)
    digests_again(folder, content)
    seal(folder, content)
    return Made(f"{own} in every variant: {name}", COMPUTED)


def _in_all(base: Base, folder: Path, own: str, change: Callable[[Array, int], Array], seed: int) -> bool:
    done = False
    for variant in plain_variants(base):
        changed = material(base.folder, variant)
        changed.clear()
        for stored, layer in changed.layer.items():
            if layer == own and stored in changed.parameters:
                try:
                    changed.replace(stored, change(changed.array(stored), seed))
                except Unplantable:
                    return False
                write(changed, folder)
                done = True
    return done


def _noise(value: Array, seed: int) -> Array:
    return value + np.random.default_rng(seed).normal(0, 0.01, value.shape).astype("float32")


def _one(value: Array, seed: int) -> Array:
    flat = value.copy().reshape(-1)
    flat[seed % flat.size] += np.float32(0.25)
    return flat


_CHANGES: Mapping[str, Callable[[Array, int], Array]] = {
    "negated": lambda value, _: -value,
    "zeros": lambda value, _: np.zeros_like(value),
    "noise": _noise,
    "one number": _one,
    "x1.01": lambda value, _: value * np.float32(1.01),
    "x1.0001": lambda value, _: value * np.float32(1.0001),
    "sorted": lambda value, _: np.sort(value, axis=None),
    "moved on": lambda value, _: np.roll(value.reshape(-1), 1),
    "in fp16": lambda value, _: value.astype("float16").astype("float32"),
}


# ---- operators exchanged ----
def operator(base: Base, folder: Path, random: Random, outside: Path) -> Made:
    """Another operator in the place of one."""
    variant = random.choice(plain_variants(base))
    done = _OPERATORS[variant.partition("-")[0]](folder, random)
    if not done:
        return fault(base, folder, random, outside)
    content = base.manifest
    untraced(content, folder, variant)
    seal(folder, content)
    return Made(f"{variant}: {done}", COMPUTED)


def _onnx(folder: Path, random: Random) -> str:
    path = folder / "onnx/model.onnx"
    model = onnx.load(path)
    able = [node for node in model.graph.node if node.op_type in _ONNX_RELATIVES or len(node.input) > 1]
    if not able:
        return ""
    node = random.choice(able)
    before = node.op_type
    if before in _ONNX_RELATIVES and (len(node.input) < 2 or random.random() < 0.8):
        node.op_type = random.choice(_ONNX_RELATIVES[before])
    else:
        node.input[0], node.input[1] = node.input[1], node.input[0]
    path.write_bytes(model.SerializeToString())
    return f"{before} of {node.name or node.output[0]} is {node.op_type}({', '.join(node.input)})"


def _pir(folder: Path, random: Random) -> str:
    path = folder / "pir/model.json"
    program = json.loads(path.read_bytes())
    operators = program["program"]["regions"][0]["blocks"][0]["ops"]
    able = [one for one in operators if one["#"].partition(".")[2] in _PADDLE_RELATIVES]
    if not able:
        return ""
    one = random.choice(able)
    before = one["#"]
    dialect, _, name = before.partition(".")
    one["#"] = f"{dialect}.{random.choice(_PADDLE_RELATIVES[name])}"
    path.write_bytes(json.dumps(program).encode())
    return f"{before} is {one['#']}"


def _pdmodel(folder: Path, random: Random) -> str:
    from paddle.base.proto import framework_pb2

    path = folder / "pdmodel/model.pdmodel"
    program = framework_pb2.ProgramDesc()
    program.ParseFromString(path.read_bytes())
    able = [one for block in program.blocks for one in block.ops if one.type in _PADDLE_RELATIVES]
    if not able:
        return ""
    one = random.choice(able)
    before = one.type
    one.type = random.choice(_PADDLE_RELATIVES[before])
    path.write_bytes(program.SerializeToString())
    return f"{before} is {one.type}"


_OPERATORS: Mapping[str, Callable[[Path, Random], str]] = {"onnx": _onnx, "pir": _pir, "pdmodel": _pdmodel}


# ---- ONNX graphs that are wrong where few look ----
def _output(graph: Graph) -> tuple[str, str]:
    """The first output's name, and the value that it had."""
    output = graph.model.graph.output[0].name
    node = next(node for node in graph.model.graph.node if output in node.output)
    node.output[list(node.output).index(output)] = before = "before the change"
    for reader in graph.model.graph.node:
        for at, name in enumerate(reader.input):
            if name == output:
                reader.input[at] = before
    return output, before


def _replaced(graph: Graph, change: Callable[[Graph, str], str]) -> None:
    output, before = _output(graph)
    graph.model.graph.node.append(helper.make_node("Identity", [change(graph, before)], [output]))


def _scaled(factor: float) -> Callable[[Graph, str], str]:
    return lambda graph, value: graph.add("Mul", value, graph.constant(factor, "float32"))


def _where_rows(graph: Graph, value: str) -> str:
    """Negated where there are as many rows as in the largest case."""
    rows = graph.add("Gather", graph.add("Shape", graph.input), graph.constant([0]))
    is_large = graph.add("Greater", rows, graph.constant([3]))
    return graph.add("Where", is_large, graph.add("Neg", value), value)


def _where_large(graph: Graph, value: str) -> str:
    """Scaled where some input is larger than what is usual."""
    wide = graph.add("Cast", graph.input, to=TensorProto.FLOAT)
    most = graph.add("ReduceMax", graph.add("Abs", wide), keepdims=0)
    is_large = graph.add("Greater", most, graph.constant(3.0, "float32"))
    return graph.add("Where", is_large, graph.add("Mul", value, graph.constant(1.5, "float32")), value)


def _where_negative(graph: Graph, value: str) -> str:
    below = graph.add("Less", value, graph.constant(0.0, "float32"))
    return graph.add("Where", below, graph.add("Mul", value, graph.constant(1.01, "float32")), value)


def _first_number(graph: Graph, value: str) -> str:
    """One more in the last number of each row."""
    shape = graph.add("Shape", value)
    rank = graph.add("Size", shape)
    last = graph.add("Gather", shape, graph.add("Sub", rank, graph.constant(1)))
    indices = graph.add("Range", graph.constant(0), last, graph.constant(1))
    is_last = graph.add("Equal", indices, graph.add("Sub", last, graph.constant(1)))
    return graph.add("Add", value, graph.add("Cast", is_last, to=TensorProto.FLOAT))


#: Name -> what the first output of the graph becomes.
WRONG: Mapping[str, Callable[[Graph, str], str]] = {
    "negated": lambda graph, value: graph.add("Neg", value),
    **{f"x{factor}": _scaled(factor) for factor in (1.5, 1.05, 1.01, 1.001, 1.0001)},
    "0.01 more": lambda graph, value: graph.add("Add", value, graph.constant(0.01, "float32")),
    "absolute": lambda graph, value: graph.add("Abs", value),
    "the last number 1 more": _first_number,
    "negated for 4 rows": _where_rows,
    "x1.5 where an input is large": _where_large,
    "x1.01 where negative": _where_negative,
    "zeros": _scaled(0.0),
    "in fp16": lambda graph, value: graph.add(
        "Cast", graph.add("Cast", value, to=TensorProto.FLOAT16), to=TensorProto.FLOAT
    ),
    "NaN": lambda graph, value: graph.add("Log", graph.add("Neg", graph.add("Exp", value))),
}


def make_wrong(folder: Path, content: dict[str, Any], name: str) -> None:
    """Change the first output of the ONNX program, and record the digests of what it stores now."""
    graph = Graph(folder / "onnx/model.onnx")
    _replaced(graph, WRONG[name])
    graph.path.write_bytes(graph.model.SerializeToString())
    untraced(content, folder, "onnx")


def wrong_graph(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """An ONNX program whose first output is something else, always or at times."""
    content, name = base.manifest, random.choice(sorted(WRONG))
    make_wrong(folder, content, name)
    seal(folder, content)
    return Made(f"onnx: the first output is {name}", COMPUTED)


def swapped_outputs(base: Base, folder: Path, random: Random, outside: Path) -> Made:
    """Outputs trade their names in a file or in the manifest, or an output is called otherwise."""
    content = base.manifest
    names = [one["name"] for one in content["outputs"]]
    if len(names) < 2:
        return renamed(base, folder, random, outside)
    first, second = random.sample(names, 2)
    place = random.choice(("the outputs", *(f"{side} of {name}" for name in plain_variants(base) for side in _SIDES)))
    if place == "the outputs":
        at, other = names.index(first), names.index(second)
        content["outputs"][at], content["outputs"][other] = content["outputs"][other], content["outputs"][at]
        content["spec"]["outputs"] = [one["name"] for one in content["outputs"]]
    else:
        side, _, variant = place.partition(" of ")
        told = content["variants"][variant][side]
        first, second = random.sample(told, 2)
        at, other = told.index(first), told.index(second)
        told[at], told[other] = told[other], told[at]
    seal(folder, content)
    return Made(f"{place}: {first} and {second} trade places", _DECLARED)


_SIDES = ("outputs", "native_outputs")


def renamed(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """An input or output has another name in the manifest, the spec and the goldens than in the files."""
    content = base.manifest
    side = random.choice(("inputs", "outputs"))
    old = random.choice([one["name"] for one in content[side]])
    text = json.dumps(content).replace(json.dumps(old), json.dumps(f"{old}_1"))
    content = json.loads(text)
    if side == "outputs" and content["spec"]["outputs"] is None:
        content["spec"]["outputs"] = [one["name"] for one in content["outputs"]]
    rename_in_goldens(folder, "input" if side == "inputs" else "", old, f"{old}_1")
    seal(folder, content)
    return Made(f"{side[:-1]} {old} is called {old}_1 by all but the files", _DECLARED, wrong=True)


def rename_in_goldens(folder: Path, kind: str, old: str, new: str) -> None:
    """Give the tensors of an input or an output another name."""
    from safetensors.numpy import load_file, save_file

    tensors = {}
    for key, value in load_file(folder / "golden.safetensors").items():
        case, what, name = key.split("/", 2)
        own = name == old and (what == "input") == (kind == "input")
        tensors[f"{case}/{what}/{new if own else name}"] = value
    save_file(tensors, folder / "golden.safetensors")


def stored_number(path: Path, random: Random) -> str:
    """One number of an ONNX file's tensors becomes another, whatever its dtype; the name of the tensor."""
    model = onnx.load(path)
    able = [one for one in model.graph.initializer if one.data_type != TensorProto.STRING and len(one.raw_data) > 0]
    tensor = random.choice(able)
    value = numpy_helper.to_array(tensor).copy()
    flat = value.reshape(-1)
    at = random.randrange(flat.size)
    flat[at] = flat[at] ^ 0x55 if value.dtype.kind in "iu" else flat[at] * 4 + 1
    tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))
    path.write_bytes(model.SerializeToString())
    return str(tensor.name)


def any_aim(*kinds: str) -> Aim:
    """Claims of these kinds and those of what is computed."""
    return Aim(kinds[0], frozenset(kinds) | COMPUTED.kinds)
