"""No word of pydantic's reaches a user, and each edit that is advised is YAML that the spec takes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from exporter.base.errors import UsageError
from exporter.spec import yaml12
from exporter.spec.advice import FORMS
from exporter.spec.model import Spec
from exporter.spec.read import validate
from tests.spec.test_read import PLAIN

PYDANTICS = re.compile(r"should|valid (?:str|int|num|tup|dict|list|bool)|after validation|field required|\[type=", re.I)
WRONG: tuple[Any, ...] = (1.5, True, None, [], {}, "two words", -7, "", [None], {"a b": {}}, 10**9)


def test_each_pattern_of_a_spec_has_words() -> None:
    patterns = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(Spec.model_json_schema()))
    assert {json.loads(pattern) for pattern in patterns} == set(FORMS)


@pytest.mark.parametrize("key", sorted(Spec.model_fields))
def test_whatever_a_key_holds_the_advice_is_an_edit_in_plain_words(key: str) -> None:
    for value in WRONG:
        try:
            validate({**PLAIN, key: value}, "here")
        except UsageError as error:
            assert not PYDANTICS.search(f"{error.what} {error.hint}"), (value, error.what, error.hint)
            assert re.match("write|add|remove|rename|did you mean|one of|change", error.hint), (value, error.hint)


@pytest.mark.parametrize(
    ("content", "what", "edit"),
    [
        ("version: 1.10", "version: 1.10 is a number, and text is needed", {"version": "1.10"}),
        ("version: 3", "version: 3 is a number, and text is needed", {"version": "3"}),
        ("model: mydet.factory.detector", "is not module:attribute", {"model": "mydet.factory:detector"}),
        ("model: src/net.py:build", "is not module:attribute", {"model": "src.net:build"}),
        ("name: my net", "is not a name of letters", {"name": "my-net"}),
        ("formats: pir", "'pir' is text, and a list is needed", {"formats": ["pir"]}),
        ("seed: '7'", "'7' is text, and a whole number is needed", {"seed": 7}),
        ("budget: 400", "it has to be at most 64", {"budget": 64}),
        ("outputs: [y, y]", "outputs names something twice", {"outputs": ["y"]}),
        ("device: cuda:0", "is not auto, cpu, gpu or gpu:N", {"device": "gpu"}),
        ("waivers: [{claim: x, reason: it is known, until: soon}]", "'soon' is no day", {"until": "2030-12-31"}),
        ("dims: {batch: {min: 2, max: 4}}", "dims.batch.typical is missing", {"typical": 2}),
    ],
)
def test_the_edit_is_the_value_that_was_meant(content: str, what: str, edit: dict[str, Any]) -> None:
    loaded, marks = yaml12.load(content, "here")
    with pytest.raises(UsageError) as caught:
        validate({**PLAIN, **loaded}, "here", marks)
    assert what in caught.value.what
    advised = re.match(r"(?:write|add) ([^;]*)", caught.value.hint)
    assert advised and yaml12.load(advised[1], "hint")[0] == edit
