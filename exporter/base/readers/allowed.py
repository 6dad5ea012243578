"""What a program of a bundle may hold: operators that compute from their inputs alone, and nothing outside its file.

A program is code. `save_combine` writes to any path that it names, `py_func` and `run_program` call what they are
given, `load` and external data of ONNX read other files, `print` writes lines into somebody's log. So every file is
read before an engine opens it, and what `operators/<format>.txt` does not list is refused: an operator that is unknown
is one that nobody has looked at. Gradients are as harmless as what they are the gradients of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from exporter.base.errors import BundleError
from exporter.base.readers.base import ModelFacts
from exporter.base.readers.external import data_of

_FOLDER = Path(__file__).with_name("operators")
#: What Paddle appends to the name of an operator: in place, of sparse tensors, of selected rows, a gradient.
_VARIETY = re.compile(r"_(?:(?:double_|triple_)?grad|sr|sp)?$")

#: Operators of optimizers: a file that holds one is a program of training.
_TRAINS = frozenset(
    "adadelta adagrad adam adamax adamw asgd decayed_adagrad dpsgd ftrl fused_adam lamb lars_momentum merged_adam "
    "merged_momentum momentum nadam radam rmsprop rprop sgd".split()
)


def refuse_others(facts: ModelFacts, where: str) -> None:
    """Refuse a program that holds an operator which is not listed, or a tensor in a file that is not its own.

    Raises:
        BundleError: it does; the first is named.
    """
    for what in _others(facts, where):
        hint = "do not run this file; if you made it, export the layer without it"
        if any(_plain(name) in _TRAINS for name in facts.operators):
            hint = "save the model for inference, by paddle.jit.save or paddle.static.save_inference_model"
        raise BundleError(what, where=where, hint=hint)


def _others(facts: ModelFacts, where: str) -> Iterator[str]:
    listed = allowed(facts.format)
    for name in facts.operators:
        if _plain(name) not in listed and name not in listed:
            yield f"it holds the operator {name!r}, which is not known to compute from its inputs alone"
    for weight in facts.weights:
        if weight.file and weight.file != data_of(Path(where)).name:
            yield f"its tensor {weight.name!r} lies in another file, {weight.file!r}"


@cache
def allowed(format: str) -> frozenset[str]:
    """The operators that a file of a format may hold; every one of a format that stores no program."""
    path = _FOLDER / f"{format}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _plain(name: str) -> str:
    while (shorter := _VARIETY.sub("", name)) != name:
        name = shorter
    return name
