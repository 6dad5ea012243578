"""What the texts of a spec name, told by the types of its keys: none is left out, and neither is a key of tomorrow."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from exporter.spec.inputs import Frozen
from exporter.spec.model import Spec
from exporter.spec.named import Names, kinds_of, named
from exporter.spec.read import validate
from tests.described import small

#: Keys of text that name nothing on the disk. One that does takes a mark of `Names` in its type instead.
NO_NAMES = {
    "Spec": "name version args inputs dims outputs precisions targets device engines ignores",
    "Input": "shape",
    "PrecisionSettings": "keep",
    "Prune": "importance",
    "Speedup": "engine over",
    "Waiver": "claim reason",
    "Candidate": "name",
    "Decoding": "cache tokens counts held",
    "Pipeline": "input",
}


def _models(kind: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The models of a spec, by name."""
    found = {kind.__name__: kind}
    for field in kind.model_fields.values():
        for inner in _within(field.annotation):
            if isinstance(inner, type) and issubclass(inner, Frozen) and inner.__name__ not in found:
                found |= _models(inner)
    return found


def _within(annotation: Any) -> list[Any]:
    inner = () if get_origin(annotation) is Literal else get_args(annotation)
    return [annotation, *(part for each in inner for part in _within(each))]


def test_each_key_that_takes_a_text_says_whether_it_names_a_file() -> None:
    silent = {
        f"{model.__name__}.{name}"
        for model in _models(Spec).values()
        for name, field in model.model_fields.items()
        if str in _within(field.annotation) and not kinds_of((*field.metadata, field.annotation))
    }
    assert silent == {f"{model}.{name}" for model, names in NO_NAMES.items() for name in names.split()}


def test_every_kind_is_found_wherever_it_stands() -> None:
    content = small("nets.one:build", name="net", weights=None, recipe="ways.one:recipe", checkpoint="a.safetensors")
    content |= {"depends": ["data/**/*.jpg"], "precisions": {"fp32": None, "int8": {"data": "rows.safetensors"}}}
    chains = {"training": [{"labels": {"names": "words.txt"}}], "deployment": "nets.steps:answer"}
    before = {
        "training": "paddleclas:config.yaml",
        "deployment": ["nets.steps:first", {"nets.steps:then": {"of": "b"}}],
    }
    content["pipeline"] = {"samples": ["raw/*.png"], "preprocess": before, "postprocess": chains}
    content = {key: value for key, value in content.items() if value is not None}
    found = set(named(validate(content, "spec")))
    assert found >= {
        (Names.CODE, "nets.one:build"),
        (Names.CODE, "ways.one:recipe"),
        (Names.FILE, "a.safetensors"),
        (Names.FILE, "rows.safetensors"),
        (Names.PATTERN, "data/**/*.jpg"),
        (Names.PATTERN, "raw/*.png"),
        (Names.STEPS, "paddleclas:config.yaml"),
        (Names.STEPS, "nets.steps:answer"),
        (Names.STEPS, "nets.steps:first"),
        (Names.STEPS, "nets.steps:then"),
        (Names.STEPS, "words.txt"),
    }
