"""docs/spec.md, made of the JSON Schema of a spec: every key with its values, its default and its description.

`python -m tools.spec_pages docs` writes it anew, and docs/spec.zh.md with the sentences of `chinese.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from exporter.base.registry import Registry
from exporter.spec import model
from exporter.spec.model import Budget, Spec
from exporter.spec.schema import schema
from exporter.spec.values import FORMS
from tools import chinese, english

Node = Mapping[str, Any]
#: The reference to a value of any kind, which has no keys of its own.
_ANYTHING = "#/$defs/JsonValue"
#: What a pattern of the schema means, as a phrase of a language.
PATTERNS = {
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": "name",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "identifier",
    r"^[A-Za-z_][A-Za-z0-9_]*(\+[1-9][0-9]*)?$": "sum",
    r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$": "reference",
    r"^(auto|cpu|gpu(:\d+)?)$": "device",
    r"\.safetensors$": "safetensors",
}
#: A small whole example by the place of its section. The first is a spec, the others are parts of one.
EXAMPLES = {
    "": """name: reader
model: recipes.reader:build
checkpoint: reader.safetensors
inputs:
  ids: {dtype: int64, shape: [batch, seq], values: 'integers(0,30000)'}
  mask: {dtype: bool, shape: [batch, seq], values: 'integers(0,2)'}
  lengths: {dtype: int64, shape: [batch], values: 'integers(1,seq+1)'}
dims:
  batch: {min: 1, typical: 4, max: 32}
  seq: {min: 16, typical: 64, max: 512, multiple_of: 16}
outputs: [logits]
formats: [pdmodel, onnx]
engines: [paddle_inference, onnxruntime]
""",
    "prune": """prune: {flops: 0.5, importance: fpgm, epochs: 6}
""",
    "decoding": """inputs:
  ids: {dtype: int64, shape: [batch, 1], values: 'integers(0,30000)'}
  position: {dtype: int64, shape: [batch, 1], values: 'integers(past,past+1)'}
  key: {dtype: float32, shape: [batch, past, 64]}
dims:
  batch: {min: 1, typical: 2, max: 4}
  past: {min: 1, typical: 16, max: 64}
outputs: [logits, next_key]
decoding: {cache: {key: next_key}, tokens: {ids: logits}}
""",
    "inputs.NAME": """inputs:
  image: {dtype: float32, shape: [batch, 3, 224, 224], values: 'uniform(0,1)'}
  boxes: {dtype: float32, shape: [batch, 4], values: data/boxes.npy}
  scale: {dtype: float32, shape: []}
""",
    "dims.NAME": """dims:
  batch: {min: 1, typical: 8, max: 64}
""",
    "precisions.NAME": """precisions:
  fp32:
  fp16: {formats: [onnx]}
  int8:
    data: rows.safetensors
    method: entropy
    keep: [conv2d_0]
    budget: {min_snr_db: 30, max_size: 0.35}
""",
    "precisions.NAME.budget.min_speedup": """precisions:
  fp32:
  int8: {noise: true, budget: {min_speedup: {engine: onnxruntime, ratio: 1.5, batch: 1}}}
""",
    "candidates[]": """candidates:
  - theirs/model.onnx
  - {file: intel/model.xml, name: intel}
""",
    "waivers[]": """waivers:
  - claim: onnx/openvino/*
    reason: GRU with lengths, reported to OpenVINO
    until: 2027-01-31
""",
}


@dataclass(frozen=True)
class Language:
    """What a page is written with: the name of its file, its phrases, and a sentence for each key.

    `sentences` are by place; each has the first digits of the sha256 of the English one that it translates. None takes
    the English ones.
    """

    file: str
    phrases: Mapping[str, str]
    sentences: Mapping[str, tuple[str, str]] | None = None


@dataclass(frozen=True)
class Key:
    """One key: where it stands in a spec, the schema of its values, its default (None: required), a sentence."""

    place: str
    node: Node
    default: str | None
    sentence: str


@dataclass(frozen=True)
class Section:
    """The keys of one model, and what the model says of itself."""

    place: str
    about: str
    keys: tuple[Key, ...]


ENGLISH = Language("spec.md", english.PHRASES)
CHINESE = Language("spec.zh.md", chinese.PHRASES, chinese.SENTENCES)


def sections() -> Iterator[Section]:
    """The spec, and each mapping within it, in the order of the keys that lead there."""
    whole = schema()
    waiting: list[tuple[str, str]] = [("", Spec.__name__)]
    while waiting:
        place, name = waiting.pop(0)
        node = whole["$defs"].get(name, whole)
        fields = getattr(model, name).model_fields
        keys, inner = [], []
        for key, about in node["properties"].items():
            here = f"{place}.{key}".lstrip(".")
            keys.append(Key(here, about, _default(fields[key].default), about.get("description", "")))
            inner += list(_inner(here, about))
        yield Section(place, " ".join(node["description"].split()), tuple(keys))
        waiting = inner + waiting


def _inner(place: str, node: Node) -> Iterator[tuple[str, str]]:
    """The place and the name of each model that the values of a key lead to."""
    if "$ref" in node and node["$ref"] != _ANYTHING:
        yield place, node["$ref"].rpartition("/")[2]
    for part in node.get("anyOf", ()):
        yield from _inner(place, part)
    if isinstance(node.get("items"), dict):
        yield from _inner(f"{place}[]", node["items"])
    if node.get("type") == "object":
        yield from _inner(f"{place}.NAME", _held(node))


def _held(node: Node) -> Node:
    """The schema of the values of a mapping; its keys may have a pattern."""
    held: Node = (
        next(iter(node["patternProperties"].values())) if "patternProperties" in node else node["additionalProperties"]
    )
    return held


def _default(value: Any) -> str | None:
    return None if value is PydanticUndefined else _yaml(value)


def _yaml(value: Any) -> str:
    """Plain data in YAML's flow style; a model whose keys are all left out is `{}`."""
    if isinstance(value, BaseModel):
        value = {key: said for key, said in value if said != type(value).model_fields[key].default}
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(said)}" for key, said in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, str):
        return value or '""'
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)


def words(node: Node, phrases: Mapping[str, str]) -> str:
    """What the values of a key are, in words.

    Raises:
        KeyError: the schema holds something that has no words yet.
    """
    if "anyOf" in node:
        parts = [words(part, phrases) for part in node["anyOf"] if part.get("type") != "null"]
        return phrases["or"].join(dict.fromkeys(parts))
    if "$ref" in node:
        return phrases["keys" if node["$ref"] != _ANYTHING else "plain"]
    if choice := node.get("enum") or node.get("examples") or ([node["const"]] if "const" in node else None):
        return phrases["comma"].join(f"`{value}`" for value in choice)
    if "pattern" in node:
        return phrases[PATTERNS[node["pattern"]]]
    kind = node["type"]
    if kind == "array":
        return phrases["some" if node.get("minItems") else "list"].format(words(node["items"], phrases))
    if kind == "object":
        return phrases["mapping"].format(words(_held(node), phrases))
    if kind == "string":
        least = node.get("minLength", 0)
        return phrases["date" if node.get("format") == "date" else "long" if least > 1 else "text"].format(least)
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {node[bound]:.12g}" for bound, sign in signs.items() if bound in node]
    return " ".join((phrases[kind], ", ".join(bounds))).rstrip()


def sentences() -> dict[str, str]:
    """Every English sentence that a page takes from the models, by what it is about."""
    result = {}
    for section in sections():
        result[f"section {section.place}"] = section.about
        result |= {key.place: key.sentence for key in section.keys}
    return result | {f"values {form}": sentence for form, sentence in FORMS.items()}


def mark(sentence: str) -> str:
    """What a translation records of the sentence that it translates."""
    return hashlib.sha256(sentence.encode()).hexdigest()[:8]


def untranslated(language: Language) -> list[str]:
    """What lacks a sentence in a language or has that of an earlier English one; and what is translated for nothing."""
    if language.sentences is None:
        return [place for place, sentence in sentences().items() if not sentence]
    wanted, there = sentences(), language.sentences
    stale = [f"{place}: {mark(said)}" for place, said in wanted.items() if there.get(place, ("",))[0] != mark(said)]
    return [*stale, *(f"{place}: no such key" for place in there if place not in wanted)]


def page(language: Language) -> str:
    """The page in one language."""
    phrases = language.phrases
    said = sentences() if language.sentences is None else {key: text for key, (_, text) in language.sentences.items()}
    said = {key: _linked(text, language) for key, text in said.items()}
    parts = [phrases["start"]]
    for section in sections():
        heading = f"`{section.place}`" if section.place else phrases["top"]
        rows = [
            (f"`{key.place}`", words(key.node, phrases), _said(key.default, phrases), said[key.place])
            for key in section.keys
        ]
        heads = (phrases["key"], phrases["values"], phrases["default"], phrases["meaning"])
        parts += [f"## {heading}", _wrapped(said[f"section {section.place}"]), _table(heads, rows)]
        if section.place in EXAMPLES:
            parts.append(f"```yaml\n{EXAMPLES[section.place]}```")
        if section.place == "inputs.NAME":
            forms = [(f"`{form}`", said[f"values {form}"]) for form in FORMS]
            parts += [f"### {phrases['forms']}", _table(("`values`", phrases["meaning"]), forms)]
    return "\n\n".join([*parts, *_plugins(phrases)]) + "\n"


def _wrapped(text: str) -> str:
    """Lines of at most 120 characters. Chinese has no spaces to break at, and each paragraph stays one line."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) if max(text) < "⺀" else text


def _linked(text: str, language: Language) -> str:
    """Pages that a sentence names become links; those that the language has too, are its own."""
    ending = language.file.removeprefix("spec")
    return re.sub(
        r"docs/(\w+)\.md",
        lambda name: f"[docs/{name[1]}.md]({name[1]}{ending if name[1] == 'parity' else '.md'})",
        text,
    )


def _said(default: str | None, phrases: Mapping[str, str]) -> str:
    return phrases["required"] if default is None else phrases["none"] if default == "null" else f"`{default}`"


def _plugins(phrases: Mapping[str, str]) -> list[str]:
    """The engines and precisions that are plugins, and what each can do."""
    engines: Registry[Any] = Registry("exporter.engines", "engine")
    rows = [
        (f"`{name}`", _codes(engine.formats), _codes(engine.precisions))
        for name, engine in engines.all()
        if "source" not in engine.formats
    ]
    heads = ("`engines`", phrases["formats"], phrases["precisions"])
    precisions: Registry[Any] = Registry("exporter.export.lower.precision", "precision")
    made = [
        (f"`{name}`", _codes(way.formats), _codes(sorted(way.knows)), _budget(way.budget))
        for name, way in precisions.all()
    ]
    columns = ("`precisions`", phrases["formats"], phrases["settings"], phrases["budget"])
    return [
        *(f"## {phrases['engines']}", phrases["about_engines"], _table(heads, rows)),
        *(f"## {phrases['variants']}", _wrapped(phrases["about_variants"]), _table(columns, made)),
    ]


def _budget(budget: Budget) -> str:
    return _codes(f"{key}: {_yaml(value)}" for key, value in budget if value is not None)


def _codes(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _main(folder: Path) -> None:
    from exporter.base.files import write_bytes

    for language in (ENGLISH, CHINESE):
        if lacking := untranslated(language):
            raise SystemExit(f"{language.file} lacks a sentence that is up to date:\n" + "\n".join(lacking))
        write_bytes(folder / language.file, page(language).encode())


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
