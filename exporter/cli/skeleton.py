"""A first spec, and a first recipe, for a model that is there: what it says is filled in, the rest is marked.

Its code is read; and unless that is not wanted, a child builds the model and runs it
(:mod:`exporter.export.trace.look`).
"""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.diagnostics import Diagnostic
from exporter.base.errors import ExporterError, UsageError, did_you_mean
from exporter.base.files import write_bytes
from exporter.base.references import find_source, likely_reference, split
from exporter.base.tensors import dims_in
from exporter.check.source.project import ClassInfo, ParsedModule, Project
from exporter.cli.decoding_skeleton import Proposal, step_of, taken_of
from exporter.cli.looked import NOT_LOOKED, Given, Looked, Signature, Taken
from exporter.cli.yaml_names import yaml_text
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, call

#: What commands leave behind, and is made anew from what is committed. Released bundles are not ignored.
_IGNORED = """# Made by exporter, and made anew from what is committed; released bundles are not ignored.
/runs/
/artifacts/*/candidate/
/artifacts/*/failed/
/artifacts/*/unverified/
/artifacts/handoff/
.tmp-*
__pycache__/
"""
_DIMS = {"batch": "{min: 1, typical: 4, max: 16}", "seq": "{min: 2, typical: 16, max: 64}"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Started:
    """The files that were written, what was read of the code, what running the model showed."""

    written: tuple[Path, ...]
    signature: Signature
    looked: Looked
    step: Proposal | None = None


def start(name: str, model: str, folder: Path, limits: Limits | None, *, with_recipe: bool) -> Started:
    """Write `specs/NAME.yaml` below the folder, `recipes/NAME.py` if it is wanted, and `.gitignore` if there is none.

    The model is built and run in a child with these limits; without them its code is only read.

    Raises:
        UsageError: the name or the reference has another form, there is no such model, or a file is there already.
    """
    found, module = signature(model), re.sub(r"\W", "_", name)
    spec, recipe = folder / "specs" / f"{name}.yaml", folder / "recipes" / f"{module}.py"
    refuse_places(name, (spec, recipe) if with_recipe else (spec,))
    looked = look(model, found, limits) if limits else Looked(why="its code was only read")
    texts = {spec: spec_text(name, model, found, f"recipes.{module}:recipe" if with_recipe else None, looked)}
    if with_recipe:
        texts[recipe] = recipe_text(name, model, found, looked)
    step = None if with_recipe else step_of(found, looked)
    return Started(write(texts, folder), found, looked, step)


def refuse_places(name: str, places: Sequence[Path]) -> None:
    """Make sure that a spec may have this name, and that nothing lies where files are to be written.

    Raises:
        UsageError: it may not, or something does.
    """
    if not _NAME.fullmatch(name):
        hint = "use letters, digits, '.', '_' and '-', a letter or digit first"
        raise UsageError(f"'{name}' is no name of a spec", where="NAME", hint=hint)
    if there := [path for path in places if path.exists()]:
        raise UsageError("is there already", where=str(there[0]), hint="choose another name, or remove it first")


def write(texts: Mapping[Path, str], folder: Path) -> tuple[Path, ...]:
    """Write the texts, and the folder's .gitignore if there is none; return what was written."""
    ignored = folder / ".gitignore"
    whole = texts if ignored.exists() else {**texts, ignored: _IGNORED}
    for path, text in whole.items():
        write_bytes(path, text.encode())
    return tuple(whole)


def look(model: str, found: Signature, limits: Limits) -> Looked:
    """Build and run the model in a child; what fails there is told, and no error: the spec has guesses then."""
    if not found.known:
        return Looked(why="the code does not show what forward takes")
    from exporter.export.trace.look import LookRequest
    from exporter.export.trace.look import look as look_at  # imports numpy, and a spec may be written without a look

    try:
        request = LookRequest(model, found.required)
        answer = call(look_at, request, limits, environment=SINGLE_THREAD, imports=PADDLE)
    except ExporterError as error:
        return Looked(why=error.what)
    inputs = {
        name: Taken(wanted.dtype, wanted.shape, wanted.stop, wanted.values, wanted.empty_rows)
        for name, wanted in answer.inputs.items()
    }
    return Looked(inputs, tuple(Given(spec.name, spec.dtype, spec.shape) for spec in answer.outputs))


def signature(reference: str) -> Signature:
    """Read the parameters of `forward` from the source of the layer, or of the factory that returns one.

    Raises:
        UsageError: the module has no source here, is not valid Python, or has no such name.
    """
    module_name, attribute = split(reference)
    source = find_source(module_name)
    if source is None:
        what = f"no module '{module_name}' with Python source"
        raise UsageError(what, where=reference, hint=likely_reference(reference))
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


def spec_text(name: str, model: str, found: Signature, recipe: str | None, looked: Looked = NOT_LOOKED) -> str:
    """A valid spec; shapes that are guesses say so."""
    step = None if recipe else step_of(found, looked)
    taken = taken_of(found, looked, step)
    inputs = [_input(one, taken.get(one), bool(recipe)) for one in found.required]
    inputs += [f"# {_input(one, None, bool(recipe))}   # optional in forward" for one in found.optional]
    source = "forward's parameters" if found.known else "GUESSED: the code does not show forward's parameters"
    guess = "forward ran with these" if looked.inputs else "GUESSED: every dtype and shape below, correct them"
    trained = f"recipe: {recipe}" if recipe else "# recipe: recipes.NAME:recipe   # how to train it; or:"
    used = dims_in(shaped.shape for shaped in taken.values()) or ["batch"]
    ranges = {**_DIMS, "past": step.past} if step else _DIMS
    dims = [f"  {dim}: {ranges[dim]}" for dim in ranges if dim in used]
    dims[0] += "   # what the artifact must serve"
    return "\n".join(
        [
            f"# What is exported, and what is promised of it. `exporter release specs/{name}.yaml` does the whole way.",
            f"name: {yaml_text(name)}",
            "# version: 1.0.0              # else it comes from the content",
            "",
            f"model: {model}   # module:factory, gives the paddle.nn.Layer",
            trained,
            "# checkpoint: FILE.safetensors   # trained weights, in the place of a recipe",
            *([] if recipe else ["weights: factory             # UNTRAINED, as the factory gives them: drop it then"]),
            "",
            f"inputs:   # {source}; {guess}",
            *(f"  {line}" for line in inputs),
            "  # a word in a shape is a named dim; values: dataset, normal, uniform(a,b), integers(a,b) or FILE.npy",
            "dims:",
            *dims,
            *_output_lines(looked, step),
            "",
            "formats: [pir, pdmodel, onnx]",
            "engines: [jit_load, paddle_inference, onnxruntime]",
            "budget: 4                     # how many times eager's own rounding error an engine may err",
            "# targets: [paddle_inference>=2.6]   # the oldest consumer that must load the files",
            "",
        ]
    )


def _output_lines(looked: Looked, step: Proposal | None) -> list[str]:
    """The names of the outputs, and of a step what is fed back."""
    gives = "; ".join(map(str, looked.outputs)) or "names for what forward returns, in order"
    if step is None:
        outputs = ", ".join(yaml_text(given.name) for given in looked.outputs) or "logits"
        return [f"# outputs: [{outputs}]   # {gives}"]
    mark = "" if looked.outputs else "GUESSED: "
    first, *rest = step.lines()
    return [f"outputs: [{', '.join(map(yaml_text, step.outputs))}]   # {mark}{gives}", first, *rest]


def _input(name: str, taken: Taken | None, from_data: bool) -> str:
    taken = taken or Taken("float32", ("batch", 3, 224, 224))
    values = "dataset" if from_data else taken.values
    values = json.dumps(values) if "," in values else values  # a comma ends an entry
    range_ = f"   # {taken.values}" if from_data and taken.stop else ""
    shape = ", ".join(map(str, taken.shape))
    rows = "" if taken.empty_rows else ", empty_rows: false"
    return f"{yaml_text(name)}: {{dtype: {taken.dtype}, shape: [{shape}], values: {values}{rows}}}{range_}"


@dataclass(frozen=True)
class _Task:
    """How a recipe rates the outputs: the code of its loss and of its metric, the metric's name, and what is better."""

    loss: str
    metric: str
    name: str
    says: str
    goal: str


_CLASSES = _Task(
    "nn.functional.cross_entropy({0}, label)",
    "float(({0}.argmax(axis=-1) == label).mean())",
    "accuracy",
    "the share of labels that the highest score names.",
    "max",
)
_NUMBERS = _Task(
    "nn.functional.mse_loss({0}, label)",
    "float(np.abs({0} - label).mean())",
    "mean_error",
    "how far the numbers are from the labels on average.",
    "min",
)


def _task(outputs: Sequence[Given]) -> tuple[_Task, str]:
    """What suits the first output of real numbers, and its name: classes where it has several scores for a row."""
    floats = [given for given in outputs if given.dtype.startswith("float")]
    if not floats:
        return _CLASSES, outputs[0].name if outputs else "logits"
    last = floats[0].shape[-1] if floats[0].shape else 1
    scores = len(floats[0].shape) > 1 and isinstance(last, int) and last > 1
    return _CLASSES if scores else _NUMBERS, floats[0].name


def recipe_text(name: str, model: str, found: Signature, looked: Looked = NOT_LOOKED) -> str:
    """A recipe that lacks nothing but its data; loss and metric are suggestions by the outputs' number and shapes."""
    module, attribute = split(model)
    arrays = ", ".join((*found.required, "label"))
    task, chosen = _task(looked.outputs)
    outputs = [given.name for given in looked.outputs] or ["logits"]
    if len({*outputs, "label"}) <= len(outputs) or any(keyword.iskeyword(output) for output in outputs):
        outputs = [f"output_{number}" for number in range(len(outputs))]
        chosen = outputs[0]
    tensors = ", ".join(f"{output}: paddle.Tensor" for output in (*outputs, "label"))
    numbers = ", ".join(f"{output}: np.ndarray" for output in (*outputs, "label"))
    seen = "".join(f"\n    - {given}" for given in looked.outputs)
    seen = f"\n\n    What forward gives:\n{seen}\n    " if seen else ""
    return f'''"""How {name} is trained. exporter.recipe.base.Recipe tells of every field."""

from __future__ import annotations

import numpy as np
import paddle
from {module} import {attribute.partition(".")[0]}
from paddle import nn

from exporter.recipe.base import Recipe, Samples


def data() -> Samples:
    """Load the samples, the same ones at every call, and hold some out that training never sees.

    What does not fit into memory comes in batches: data(part) gives a paddle.io.Dataset or DataLoader of each part.
    """
    raise NotImplementedError("return Samples(train={{...}}, held_out={{...}}), each with the arrays {arrays}")


def loss({tensors}) -> paddle.Tensor:
    """SUGGESTED: one number for a batch.{seen}"""
    return {task.loss.format(chosen)}


def {task.name}({numbers}) -> float:
    """SUGGESTED: {task.says}"""
    return {task.metric.format(chosen)}


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """AdamW at a fixed rate."""
    return paddle.optimizer.AdamW(1e-3, parameters=layer.parameters())


recipe = Recipe(
    build={attribute},
    data=data,
    inputs={_tuple(found.required)},
    labels=("label",),
    loss=loss,
    metric={task.name},
    metric_name="{task.name}",
    optimizer=optimizer,
    epochs=10,
    batch_size=32,
    goal="{task.goal}",
)
'''


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(json.dumps(name) for name in names)}{',' if len(names) == 1 else ''})"
