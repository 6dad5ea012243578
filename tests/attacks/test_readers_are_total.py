"""Any bytes give facts or an error of ours, never another exception; real files, bent, come closest to a crash."""

from __future__ import annotations

import json
import resource
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.base.errors import BundleError, UsageError
from exporter.base.readers import read
from exporter.base.readers.base import ModelFacts, Reader, Weight, checked_shape
from exporter.base.readers.kinds import onnx, pdiparams, pdmodel, pir, safetensors

READERS: dict[str, Reader] = {
    "onnx/model.onnx": onnx.plugin,
    "pdmodel/model.pdmodel": pdmodel.plugin,
    "pir/model.json": pir.plugin,
    "pir/model.pdiparams": pdiparams.plugin,
    "checkpoint.safetensors": safetensors.plugin,
}
#: As many as the profile asks for (HYPOTHESIS_PROFILE=search: 2000), and 400 at least.
EXAMPLES = max(400, settings.default.max_examples if settings.default else 0)
RELAXED = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
#: What lies at the ends of numbers: varints of -1 and of the largest, JSON's infinities and integers beyond 64 bits.
ENDS = [b"\xff" * 9 + b"\x01", b"\xff" * 10, b"\x80" * 5 + b"\x01", b"\xff\xff\x03", bytes(4), bytes(8), b"\xff" * 8]
ENDS += [
    b"1e999",
    b"-1e999",
    b"NaN",
    b"Infinity",
    b"-1",
    b"0",
    b"9" * 30,
    b"null",
    b'""',
    b"[]",
    b"4611686018427387904",
]


@pytest.fixture(params=READERS)
def real(request: pytest.FixtureRequest, artifacts: Path) -> tuple[Reader, bytes]:
    return READERS[request.param], (artifacts / request.param).read_bytes()


def assert_total(reader: Reader, content: bytes) -> ModelFacts | None:
    """Reading, and taking every tensor that is offered, gives facts or an error that says what is wrong and where."""
    try:
        facts = reader.facts(content, "here")
    except (BundleError, UsageError) as error:
        assert error.where == "here"
        assert error.what
        return None
    for weight in facts.weights:
        try:
            assert weight.array(content).size == weight.elements
        except UsageError:
            assert weight.file or not weight.pieces or weight.dtype in ("int4", "uint4", "float4_e2m1", "string")
    return facts


@pytest.mark.parametrize("shape", [(0, -1), (-1,), (-1, -1), (0, -1, 3)], ids=str)
def test_a_declared_tensor_of_unknown_size_has_no_array(shape: tuple[int, ...]) -> None:
    """Flipped bits in a `.pdmodel` declared a parameter of [0, -1]: numpy cannot shape nothing into that."""
    with pytest.raises(UsageError, match="values cannot be read"):
        Weight("w", "float32", shape).array(b"")


def test_a_stored_tensor_whose_bytes_are_gone_is_damaged() -> None:
    """As when the file was replaced after its facts were read."""
    with pytest.raises(BundleError, match=r"at byte 4: tensor 'w' float32\[2\] has 6 bytes, not 8"):
        Weight("w", "float32", (2,), ((4, 12),)).array(bytes(10))


@pytest.mark.parametrize("dims", [[1] * 33, [1 << 62, 1 << 62, 0], [1 << 60]], ids=["rank", "product", "size"])
def test_a_shape_that_no_array_can_have_is_damage(dims: list[int]) -> None:
    with pytest.raises(BundleError, match="a tensor of"):
        checked_shape(dims, "here", 7)


@RELAXED
@given(st.sampled_from(sorted(READERS)), st.binary(max_size=300))
def test_random_bytes(name: str, content: bytes) -> None:
    assert_total(READERS[name], content)


@RELAXED
@given(data=st.data())
def test_flipped_bits(real: tuple[Reader, bytes], data: st.DataObject) -> None:
    reader, content = real
    bent = bytearray(content)
    for bit in data.draw(st.lists(st.integers(0, len(content) * 8 - 1), min_size=1, max_size=8)):
        bent[bit // 8] ^= 1 << bit % 8
    assert_total(reader, bytes(bent))


@RELAXED
@given(data=st.data())
def test_cut_and_spliced(real: tuple[Reader, bytes], data: st.DataObject) -> None:
    """A piece is replaced by random bytes, by nothing, or by another piece of the file."""
    reader, content = real
    places = st.integers(0, len(content))
    start = data.draw(places)
    stop = min(len(content), start + data.draw(st.integers(0, 12) | places))
    other, end = sorted((data.draw(places), data.draw(places)))
    filling = data.draw(st.one_of(st.binary(max_size=20), st.just(content[other:end]), st.sampled_from(ENDS)))
    assert_total(reader, content[:start] + filling + content[stop:])


def test_truncated_at_every_place(real: tuple[Reader, bytes]) -> None:
    """No prefix of these files is a whole file, except that parameters may end after any tensor."""
    reader, content = real
    whole = assert_total(reader, content)
    assert whole is not None
    ends = {0, *(stop for weight in whole.weights for _, stop in weight.pieces)}
    for stop in range(0, len(content), 41):
        facts = assert_total(reader, content[:stop])
        if reader is pdiparams.plugin:
            assert (facts is not None) == (stop in ends)
        elif reader is not pdmodel.plugin:  # a ProgramDesc may lack the list of operator versions at its end
            assert facts is None


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("#AIODN%TT"), inner, max_size=4)
    ),
    max_leaves=10,
)


@RELAXED
@given(data=st.data())
def test_programs_of_another_shape(artifacts: Path, data: st.DataObject) -> None:
    """A real PIR program with one value somewhere inside replaced by any JSON."""
    program = json.loads((artifacts / "pir/model.json").read_bytes())
    place, key = program, data.draw(st.sampled_from(sorted(program)))
    for _ in range(data.draw(st.integers(0, 12))):
        if not isinstance(place[key], (dict, list)) or not place[key]:
            break
        place = place[key]
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(json_values)
    assert_total(pir.plugin, json.dumps(program).encode())


def test_a_large_file_of_nothing_is_read_in_little_memory(tmp_path: Path) -> None:
    """16 GB that take no disk: the readers map, and stop at the first byte that is wrong."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for suffix in (".pdiparams", ".onnx", ".pdmodel", ".safetensors", ".json"):
        path = tmp_path / f"m{suffix}"
        with path.open("wb") as stream:
            stream.truncate(16 << 30)
        with pytest.raises(BundleError):
            read(path)
        path.unlink()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert grown < 100, f"{grown} MB"


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (pir, b'{"base_code": {"magic": "pir", "version": 1, "version": 4}, "program": {"regions": []}}'),
        (safetensors, b'{"a": {}, "a": {}}'),
    ],
)
def test_a_key_that_is_given_twice_is_damage(reader: Any, content: bytes) -> None:
    """Of two equal keys readers take the first or the last: what is checked must be what runs."""
    whole = struct.pack("<Q", len(content)) + content if reader is safetensors else content
    with pytest.raises(BundleError, match="given twice"):
        reader.facts(whole, "here")
