"""docs/spec.md and docs/spec.zh.md are what the models say: every key, with a sentence in both languages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from exporter.spec import model, yaml12
from exporter.spec.read import validate
from exporter.spec.values import FORMS, check_values, known_values
from tests.command import ROOT
from tools.spec_pages import CHINESE, ENGLISH, EXAMPLES, Language, page, sections, untranslated, words

BASE: dict[str, Any] = {
    "name": "net",
    "model": "net:build",
    "weights": "factory",
    "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
    "dims": {"batch": {"min": 1, "typical": 4, "max": 8}},
}


@pytest.mark.parametrize("language", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_the_page_is_fresh(language: Language) -> None:
    there = (ROOT / "docs" / language.file).read_text(encoding="utf-8")
    assert there == page(language), "run: python -m tools.spec_pages docs"


@pytest.mark.parametrize("language", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_every_key_has_its_sentence(language: Language) -> None:
    assert untranslated(language) == [], "the key, and the digits that belong beside its sentence"


def test_every_field_of_every_model_has_a_row() -> None:
    """Counted on the models, and not on the schema that the page is made of."""
    models = [
        kind
        for kind in vars(model).values()
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind.model_fields
    ]
    rows = {section.place: [key.place.rpartition(".")[2] for key in section.keys] for section in sections()}
    assert sorted(map(tuple, rows.values())) == sorted(tuple(kind.model_fields) for kind in models)
    lines = page(ENGLISH).splitlines()
    assert all(
        any(line.startswith(f"| `{key.place}` |") for line in lines) for section in sections() for key in section.keys
    )


def test_a_sentence_that_lacks_is_old_or_belongs_to_nothing_is_named() -> None:
    assert CHINESE.sentences is not None
    others = {key: said for key, said in CHINESE.sentences.items() if key not in ("seed", "budget")}
    changed = replace(CHINESE, sentences={**others, "budget": ("00000000", "…"), "buget": ("00000000", "…")})
    assert [said.partition(":")[0] for said in untranslated(changed)] == ["budget", "seed", "buget"]


@pytest.mark.parametrize("place", EXAMPLES)
def test_an_example_is_a_spec_or_a_part_of_one(place: str) -> None:
    part, _ = yaml12.load(EXAMPLES[place], place)
    content = {**BASE, **part} if place else part
    if "inputs" in part and place:
        content["dims"] = part.get("dims", {"batch": BASE["dims"]["batch"]})
    key = place.partition(".")[0].removesuffix("[]")
    spec = validate(content, place)
    said = spec.model_dump(mode="json", exclude_unset=True)
    assert said["name"] and (not key or said[key])


def test_there_are_examples_only_of_sections_that_are_there() -> None:
    assert set(EXAMPLES) <= {section.place for section in sections()}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_values_is_one(form: str) -> None:
    text = form.replace("(a,b)", "(0,9)")
    assert known_values(text) == text
    dtype = "float32" if form.startswith(("normal", "uniform")) else "int64"
    check_values(text, dtype, {"seq": (2, 8)})


def test_what_has_no_words_yet_ends_the_generator() -> None:
    with pytest.raises(KeyError):
        words({"type": "string", "pattern": "^new$"}, ENGLISH.phrases)
    assert words({"type": "integer", "minimum": 7, "maximum": 21}, ENGLISH.phrases) == "integer ≥ 7, ≤ 21"
