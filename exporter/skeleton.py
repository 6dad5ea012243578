"""A first spec, and a first recipe, for a model that is there: what its code says is filled in, the rest is marked.

The code is read, never run.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.check.module import ClassInfo, ParsedModule, Project
from exporter.diagnostics import Diagnostic
from exporter.errors import UsageError, did_you_mean
from exporter.files import write_bytes
from exporter.references import find_source, split

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Signature:
    """The parameters of a model's `forward`, without `self`. `known` is false where the code does not show them."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    known: bool = True


def start(name: str, model: str, folder: Path, *, with_recipe: bool) -> tuple[list[Path], Signature]:
    """Write `specs/NAME.yaml` below the folder, and `recipes/NAME.py` if it is wanted; return them and what was read.

    Raises:
        UsageError: the name or the reference has another form, there is no such model, or a file is there already.
    """
    if not _NAME.fullmatch(name):
        hint = "use letters, digits, '.', '_' and '-', a letter or digit first"
        raise UsageError(f"'{name}' is no name of a spec", where="NAME", hint=hint)
    found, module = signature(model), re.sub(r"\W", "_", name)
    spec, recipe = folder / "specs" / f"{name}.yaml", folder / "recipes" / f"{module}.py"
    texts = {spec: spec_text(name, model, found, f"recipes.{module}:recipe" if with_recipe else None)}
    if with_recipe:
        texts[recipe] = recipe_text(name, model, found)
    for path in texts:
        if path.exists():
            raise UsageError("is there already", where=str(path), hint="choose another name, or remove it first")
    for path, text in texts.items():
        write_bytes(path, text.encode())
    return list(texts), found


def signature(reference: str) -> Signature:
    """Read the parameters of `forward` from the source of the layer, or of the factory that returns one.

    Raises:
        UsageError: the module has no source here, is not valid Python, or has no such name.
    """
    module_name, attribute = split(reference)
    source = find_source(module_name)
    if source is None:
        top = module_name.partition(".")[0]
        hint = f"run from the folder that holds {top}, or correct the name"
        raise UsageError(f"no module '{module_name}' with Python source", where=reference, hint=hint)
    module = Project().read(source)
    if isinstance(module, Diagnostic):
        raise UsageError(module.message, where=str(module.location), hint=module.cure)
    if attribute.partition(".")[0] not in module.bound:
        hint = did_you_mean(attribute, module.bound, f"define {attribute} in {module.shown}")
        raise UsageError(f"{module.shown} has no '{attribute}'", where=reference, hint=hint)
    found = _layer(module, attribute)
    forward = found.method("forward") if found else None
    return _parameters(forward[1].args) if forward else Signature(("x",), known=False)


def _layer(module: ParsedModule, name: str, depth: int = 0) -> ClassInfo | None:
    """The class that a name stands for, or that the function of this name returns an instance of."""
    found = module.lookup(name)
    if isinstance(found, ClassInfo):
        return found
    if isinstance(found, str):  # imported: a function of another module of the user's
        above, _, inner = found.rpartition(".")
        other = module.project.find(above, module)
        return _layer(other, inner, depth + 1) if other and depth < 8 else None
    functions = [node for node in module.names.get(name, ()) if isinstance(node, ast.FunctionDef)]
    return _returned(module, functions[-1]) if functions else None


def _returned(module: ParsedModule, factory: ast.FunctionDef) -> ClassInfo | None:
    """The class of what a factory returns: `return Net(…)`, or `net = Net(…)` and `return net`."""
    made: dict[str, ast.expr] = {}
    for node in ast.walk(factory):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            made[node.targets[0].id] = node.value
    for node in ast.walk(factory):
        if isinstance(node, ast.Return) and node.value is not None:
            value = made.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
            found = module.resolve(value.func) if isinstance(value, ast.Call) else None
            if isinstance(found, ClassInfo):
                return found
    return None


def _parameters(arguments: ast.arguments) -> Signature:
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)][1:]
    count = len(names) - len(arguments.defaults)
    keyword = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    required = (*names[:count], *(one.arg for one, default in keyword if default is None))
    optional = (*names[count:], *(one.arg for one, default in keyword if default is not None))
    return Signature(required or ("x",), optional, known=bool(required))


def spec_text(name: str, model: str, found: Signature, recipe: str | None) -> str:
    """A valid spec whose shapes are guesses, and say so."""
    values = "dataset" if recipe else "normal"
    inputs = [_input(one, values) for one in found.required]
    inputs += [f"# {_input(one, values)}   # optional in forward" for one in found.optional]
    source = "forward's parameters" if found.known else "GUESSED: the code does not show forward's parameters"
    trained = f"recipe: {recipe}" if recipe else "# recipe: recipes.digits:recipe   # how to train it; or:"
    return "\n".join(
        [
            f"# What is exported, and what is promised of it. `exporter release specs/{name}.yaml` does the whole way.",
            f"name: {_yaml(name)}",
            "# version: 1.0.0              # else it comes from the content",
            "",
            f"model: {model}   # module:factory, gives the paddle.nn.Layer",
            trained,
            "# checkpoint: weights.safetensors   # trained weights, in the place of a recipe",
            *([] if recipe else ["weights: factory             # UNTRAINED, as the factory gives them: drop it then"]),
            "",
            f"inputs:   # {source}; GUESSED: every dtype and shape below, correct them",
            *(f"  {line}" for line in inputs),
            "  # a word in a shape is a named dim; values: dataset, normal, uniform(a,b), integers(a,b) or FILE.npy",
            "dims:",
            "  batch: {min: 1, typical: 4, max: 16}   # what the artifact must serve",
            "# outputs: [logits]           # names for what forward returns, in order",
            "",
            "formats: [pir, pdmodel, onnx]",
            "engines: [jit_load, paddle_inference, onnxruntime]",
            "budget: 4                     # how many times eager's own rounding error an engine may err",
            "# targets: [paddle_inference>=2.6]   # the oldest consumer that must load the files",
            "",
        ]
    )


def _input(name: str, values: str) -> str:
    return f"{_yaml(name)}: {{dtype: float32, shape: [batch, 3, 224, 224], values: {values}}}"


def recipe_text(name: str, model: str, found: Signature) -> str:
    """A recipe that lacks nothing but its data."""
    module, attribute = split(model)
    arrays = ", ".join((*found.required, "label"))
    return f'''"""How {name} is trained. exporter.recipe.base.Recipe tells of every field."""

from __future__ import annotations

import numpy as np
import paddle
from {module} import {attribute.partition(".")[0]}
from paddle import nn

from exporter.recipe.base import Recipe, Samples


def data() -> Samples:
    """Load the samples, the same ones at every call, and hold some out that training never sees."""
    raise NotImplementedError("return Samples(train={{...}}, held_out={{...}}), each with the arrays {arrays}")


def accuracy(logits: np.ndarray, label: np.ndarray) -> float:
    """The share of samples whose highest score is the right one's."""
    return float((logits.argmax(axis=1) == label).mean())


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """AdamW at a fixed rate."""
    return paddle.optimizer.AdamW(1e-3, parameters=layer.parameters())


recipe = Recipe(
    build={attribute},
    data=data,
    inputs={_tuple(found.required)},
    labels=("label",),
    loss=nn.functional.cross_entropy,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=10,
    batch_size=32,
)
'''


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(json.dumps(name) for name in names)}{',' if len(names) == 1 else ''})"


def _yaml(name: str) -> str:
    """A name as YAML writes it: `on` and `1.0` in quotes, or they would be read as something else."""
    import yaml

    return str(yaml.safe_dump(name, width=1000)).splitlines()[0]
