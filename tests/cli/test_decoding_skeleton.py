"""`init` of one step of a decoder: what is fed back is in the spec, and the spec leads on to a release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from exporter.cli.decoding_skeleton import Shaped, propose
from exporter.spec.decoding_names import paired, role
from exporter.spec.model import Spec
from tests.command import exporter


def test_a_step_is_recognised_and_its_spec_is_released(workplace: Path) -> None:
    done = exporter("init", "step", "--model", "models.stepwise:Step", cwd=workplace)
    assert done.code == 0, done.err
    assert "it is one step of a decoder: present_key becomes past_key, present_value becomes past_value" in done.out
    text = (workplace / "specs/step.yaml").read_text()
    assert "GUESSED" not in text
    spec = Spec.model_validate(yaml.safe_load(text))
    past = ("batch", 3, "past", 4)
    assert {name: declared.shape for name, declared in spec.inputs.items()} == {
        "input_ids": ("batch", 1),
        "position_ids": ("batch", 1),
        "attention_mask": ("batch", "past+1"),
        "past_key": past,
        "past_value": past,
    }
    assert spec.inputs["position_ids"].values == "integers(past,past+1)"
    assert (spec.inputs["input_ids"].values, spec.inputs["attention_mask"].empty_rows) == ("integers(0,50)", False)
    assert spec.outputs == ("logits", "present_key", "present_value") and spec.decoding is not None
    assert spec.decoding.cache == {"past_key": "present_key", "past_value": "present_value"}
    assert spec.decoding.tokens == {"input_ids": "logits"}
    assert (spec.dims["past"].max, spec.decoding.steps) == (39, 39), "the table of places has 40"
    checked = exporter("check", "specs/step.yaml", cwd=workplace)
    assert checked.code == 0, checked.out + checked.err
    few = ("--set", "decoding.steps=3", "--set", "formats=[onnx]", "--set", "engines=[onnxruntime]")
    released = exporter("release", "specs/step.yaml", *few, "--json", cwd=workplace)
    assert released.code == 0, released.out + released.err
    report = json.loads((workplace / released.json()["bundle"] / "parity.json").read_bytes())
    assert "decoding" in {check["kind"] for check in report["checks"]}


def test_of_a_step_that_is_only_read_the_key_is_guessed_by_its_names(workplace: Path) -> None:
    done = exporter("init", "step", "--model", "models.stepwise:Step", "--no-build", "--json", cwd=workplace)
    assert done.json()["decoding"] == {
        "cache": {"past_key": "present_key", "past_value": "present_value"},
        "tokens": {"input_ids": "logits"},
        "steps": 64,
    }
    text = (workplace / "specs/step.yaml").read_text()
    assert text.count("GUESSED") == 2
    spec = Spec.model_validate(yaml.safe_load(text))
    assert spec.decoding is not None and spec.inputs["past_key"].shape == ("batch", 8, "past", 64)


def test_what_is_given_back_as_something_else_is_no_step(workplace: Path) -> None:
    done = exporter("init", "mean", "--model", "models.stepwise:Recurrent", "--json", cwd=workplace)
    assert done.json()["looked"] and done.json()["decoding"] is None
    assert "decoding" not in (workplace / "specs/mean.yaml").read_text()


@pytest.mark.parametrize(
    ("inputs", "outputs", "pairs"),
    [
        (["ids", "past_key_values.0.key", "past_key_values.0.value"], ["logits", "present.0.key", "present.0.value"],
         {"past_key_values.0.key": "present.0.key", "past_key_values.0.value": "present.0.value"}),
        (["past_key_values_1_key"], ["present_key_values_1_key"],
         {"past_key_values_1_key": "present_key_values_1_key"}),
        (["past_key_values"], ["logits", "present"], {"past_key_values": "present"}),
        (["cache_k", "cache_v"], ["new_cache_v", "new_cache_k"], {"cache_k": "new_cache_k", "cache_v": "new_cache_v"}),
        (["past_key", "past_value"], ["logits", "present_key"], {}),
        (["ids"], ["present_key"], {}),
    ],
)  # fmt: skip
def test_inputs_and_outputs_are_paired_by_their_names(
    inputs: list[str], outputs: list[str], pairs: dict[str, str]
) -> None:
    assert paired(inputs, outputs) == pairs


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("input_ids", "ids"),
        ("past_key_values_length", "place"),
        ("cache_position", "place"),
        ("attention_mask", "mask"),
        ("encoder_hidden_states", "held"),
        ("pastKeyValues", "cache"),
        ("token_type_ids", ""),
        ("image", ""),
    ],
)
def test_a_name_says_what_an_input_of_a_step_holds(name: str, expected: str) -> None:
    assert role(name) == expected


IDS, PLACE = Shaped("ids", "int64", ("batch", 1)), Shaped("position", "int64", ("batch", 1))
KEYS, VALUES = (Shaped(f"past_{part}", "float32", ("batch", 4, "past", 8)) for part in ("keys", "values"))


def test_outputs_without_names_are_taken_by_their_shapes() -> None:
    scores = Shaped("output_0", "float32", ("batch", 1, 50))
    grown = [Shaped(f"output_{at}", "float32", ("batch", 4, "past+1", 8)) for at in (1, 2)]
    proposal = propose([IDS, PLACE, KEYS, VALUES], [scores, *grown])
    assert proposal is not None and proposal.outputs == ("logits", "present_keys", "present_values")
    assert (proposal.cache["past_values"], proposal.counts) == ("present_values", ())
    assert propose([IDS, KEYS, VALUES], [scores, grown[0]]) is None
    assert propose([IDS, KEYS, VALUES], [scores, grown[0], Shaped("output_2", "float32", ("batch", 8))]) is None
    assert propose([IDS], [scores, *grown]) is None


def test_a_buffer_of_one_size_counts_its_places() -> None:
    scores = Shaped("logits", "float32", ("batch", 1, 50))
    kept = [Shaped(f"new_{part}", "float32", ("batch", 4, "past", 8)) for part in ("keys", "values")]
    fed = [Shaped(name.replace("new", "cache"), "float32", shape) for name, shape in ((k.name, k.shape) for k in kept)]
    proposal = propose([IDS, PLACE, *fed], [scores, *kept])
    assert proposal is not None and proposal.counts == ("position",)
    assert proposal.cache == {"cache_keys": "new_keys", "cache_values": "new_values"}
