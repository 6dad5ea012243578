from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exporter.base.errors import BundleError
from exporter.base.files import canonical_json, sha256_bytes
from exporter.bundle.manifest import parse, sealed
from exporter.bundle.open import recorded_spec

SHA = "0" * 64
OUTPUT = {
    **{
        "dtype": "float32",
        "shape": [2, 3],
        "exact": False,
        "method": "float64",
        "gate": "",
        "scores": None,
        "allowance": 1.0,
    },
    **dict.fromkeys(("scale_max", "scale_l2", "e_ref_max", "e_ref_l2"), 1.0),
}
CONTENT: dict[str, Any] = {
    "schema": 1,
    "name": "net",
    "version": "1.0.0",
    "inputs": [
        {"name": "x", "dtype": "float32", "shape": ["batch", 4]},
        {"name": "a", "dtype": "int64", "shape": ["batch"]},
    ],
    "outputs": [{"name": "y", "dtype": "float32", "shape": ["batch", 3]}],
    "dims": {"batch": {"min": 1, "typical": 2, "max": 4, "multiple_of": 1}},
    "budget": 4.0,
    "variants": {
        "pir": {
            **{"format": "pir", "precision": "fp32", "files": ["pir/model.json", "pir/model.pdiparams"]},
            **{
                "inputs": ["x", "a"],
                "outputs": ["y"],
                "native_outputs": ["y"],
                "details": {},
                "weights": {"w": SHA},
                "origins": {},
            },
        }
    },
    "cases": [{"name": "batch=2", "dims": {"batch": 2}, "seed": 0, "outputs": {"y": OUTPUT}}],
    "parameters": {"w": SHA},
    "files": {"pir/model.json": {"sha256": SHA, "size": 3}, "pir/model.pdiparams": {"sha256": SHA, "size": 0}},
    "spec": {
        "name": "net",
        "model": "models.sound:mlp",
        "weights": "factory",
        "inputs": {
            "a": {"dtype": "int64", "shape": ["batch"], "values": "integers(0,2)"},
            "x": {"dtype": "float32", "shape": ["batch", 4]},
        },
        "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
    },
    "provenance": {"model": "models.sound:mlp", "note": "ä\u2028"},
    "waivers": [],
    "not_reproducible": [],
    "verdict": "passed",
}
RAW = sealed(CONTENT)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    return [*([path] if path else []), *(inner for key in keys for inner in places(value[key], (*path, key)))]


def changed(path: tuple[Any, ...], value: Any) -> bytes:
    """Sealed again by somebody who put `value` at `path`, or took what was there away."""
    content = copy.deepcopy(CONTENT)
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    if value is GONE:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return sealed(content)


GONE = object()
STRANGE = st.sampled_from([GONE, None, 0, -1, 1e308, "x", "", [], {}, [["a"]], {"a": {}}, True, 10**30, "../x", "\0"])


def test_what_was_sealed_is_read_and_its_digest_is_over_the_rest() -> None:
    found = parse(RAW, "manifest.json")
    body = {key: value for key, value in json.loads(RAW).items() if key != "digest"}
    assert found.digest == sha256_bytes(canonical_json(body)) and found.name == "net"
    assert sealed(json.loads(RAW)) == RAW, "one content has one form"


@given(st.integers(0, len(RAW) * 8 - 1))
def test_no_flipped_bit_goes_by(bit: int) -> None:
    raw = bytearray(RAW)
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(BundleError) as caught:
        parse(bytes(raw), "place/manifest.json")
    assert caught.value.where == "place/manifest.json" and caught.value.hint


@given(st.binary(max_size=80) | st.integers(0, len(RAW) - 1).map(lambda size: RAW[:size]))
@example(b"")
@example(b"{}")
@example(b"[]")
@example(b"null")
@example(b"[" * 100_000)
@example(b'{"a": NaN}')
@example(b'{"a": ' + b"9" * 5000 + b"}")
@example(b"\xff\xfe{\x00}\x00")
@example(b'{"a": "\\ud800"}')
@example(RAW + b"\n")
@example(b" " + RAW)
@example(b"\xef\xbb\xbf" + RAW)
@example(RAW.replace(b'"name": "net",', b'"name": "net", "name": "net",', 1))
def test_nothing_else_is_a_manifest(raw: bytes) -> None:
    with pytest.raises(BundleError):
        parse(raw, "manifest.json")


@given(st.sampled_from(places(CONTENT)), STRANGE)
def test_whatever_a_forger_writes_it_is_read_or_refused(path: tuple[Any, ...], value: Any) -> None:
    try:
        found = parse(changed(path, value), "manifest.json")
        recorded_spec(found)
    except BundleError as error:
        assert error.what and error.hint


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), 2, "schema 2, this exporter reads 1"),
        (("schema",), "1", "schema '1'"),
        (("more",), 1, "more"),
        (("variants",), {}, "variants"),
        (("variants", "pir", "files"), [], "files"),
        (("variants", "pir", "format"), "onnx", "variant 'pir' holds onnx"),
        (("variants", "pir", "inputs"), ["x"], "other inputs or outputs"),
        (("variants", "pir", "native_outputs"), ["z"], "other inputs or outputs"),
        (("variants", "pir", "native_outputs"), ["y", "y"], "other inputs or outputs"),
        (("variants", "pir", "files"), ["pir/model.pdiparams"], "not one main file"),
        (("cases", 0, "outputs"), {}, "case 'batch=2' has other outputs"),
        (("cases",), CONTENT["cases"] * 2, "two cases have one name"),
        (("verdict",), "fine", "verdict"),
        (("files", "pir/model.json", "sha256"), "0" * 63, "sha256"),
        (("files", "pir/model.json", "size"), -1, "size"),
        (("files", "pir/model.json", "size"), "2", "size"),
        (("cases", 0, "dims", "batch"), True, "dims.batch"),
    ],
)
def test_a_manifest_that_contradicts_itself_says_where(path: tuple[Any, ...], value: Any, said: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse(changed(path, value), "manifest.json")
    assert said in caught.value.what


def test_the_spec_in_it_comes_back_with_its_inputs_in_order() -> None:
    """JSON keys are sorted; a layer that takes `*args` is called in the spec's order."""
    assert list(recorded_spec(parse(RAW, "manifest.json")).inputs) == ["x", "a"]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("spec",), {}, "the spec in it is wrong"),
        (("spec", "model"), 3, "the spec in it is wrong"),
        (("spec", "budget"), 64, "its budget is not that of the spec"),
        (("budget",), 64.0, "its budget is not that of the spec"),
        (("name",), "other", "its name is not that of the spec"),
        (("dims", "batch", "max"), 64, "its dims are not those of the spec"),
        (("inputs", 0, "dtype"), "float64", "its inputs are not those of the spec"),
        (("spec", "waivers"), [{"claim": "*", "reason": "all is well", "until": "2999-01-01"}], "its waivers"),
        (("spec", "candidates"), ["other.onnx"], "its candidates are not those of the spec"),
    ],
)
def test_a_spec_that_is_not_the_manifest_s_is_refused(path: tuple[Any, ...], value: Any, said: str) -> None:
    found = parse(changed(path, value), "manifest.json")
    with pytest.raises(BundleError, match=said):
        recorded_spec(found)


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[1] / "data/bundles").rglob("manifest.json")), ids=str)
def test_stored_bundles_of_every_version_are_still_read(path: Path) -> None:
    told, manifest = json.loads(path.read_bytes()), parse(path.read_bytes(), str(path))
    spec = recorded_spec(manifest)
    assert (spec.name, manifest.version, manifest.digest) == (told["name"], told["version"], told["digest"])
    assert list(spec.inputs) == [one["name"] for one in told["inputs"]]
    assert set(manifest.variants) == set(told["variants"]) and len(manifest.cases) == len(told["cases"]) > 0
