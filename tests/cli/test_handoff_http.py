"""What the HTTP service is told of a bundle, and what its interface refuses, without a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff import protocol
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.interface import DTYPES, Interface, Refused, an_array, flattened, parsed
from exporter.deploy.handoff.write import TARGETS
from tests import faults
from tests.command import STORED

DIMS = {"batch": {"min": 1, "max": 4, "multiple_of": 1}, "width": {"min": 32, "max": 96, "multiple_of": 32}}


def interface(*shape: int | str, datatype: str = "FP32", **more: Any) -> Interface:
    tensor = {"name": "x", "datatype": datatype, "shape": list(shape), **more}
    return Interface({"inputs": [tensor], "outputs": [{"name": "y"}], "dims": DIMS})


def asked(shape: list[Any], data: Any, datatype: str = "FP32") -> bytes:
    return json.dumps({"inputs": [{"name": "x", "datatype": datatype, "shape": shape, "data": data}]}).encode()


@pytest.mark.parametrize("datatype", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 1, 3)])
def test_a_tensor_of_any_type_and_rank_comes_through_flat_and_nested(datatype: str, shape: tuple[int, ...]) -> None:
    value = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(DTYPES[datatype])
    for data in (value.ravel().tolist(), value.tolist() if shape else [value.item()]):
        got = interface(*shape, datatype=datatype).read(asked(list(shape), data, datatype)).arrays["x"]
        assert got.dtype == value.dtype and got.shape == value.shape
        np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize(
    ("datatype", "value"),
    [
        *[(f"{sign}INT{bits}", bound) for sign in ("", "U") for bits in (8, 16, 32, 64) for bound in ("over", "under")],
        ("FP16", 70000.0), ("FP32", 1e39), ("FP64", 10**400), ("FP32", -1e39), ("BOOL", 1), ("INT8", 1.0),
        ("FP32", True), ("INT64", None), ("FP64", "1"), ("FP32", [1.0]), ("UINT8", {}),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused(datatype: str, value: Any) -> None:
    if isinstance(value, str) and value in ("over", "under"):
        info = np.iinfo(DTYPES[datatype])
        value = int(info.max) + 1 if value == "over" else int(info.min) - 1
    with pytest.raises(Refused) as refused:
        an_array([value], datatype, "x")
    assert refused.value.status == 400 and "x" in str(refused.value)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ([0, 32], "batch is 0, not 1 to 4"),
        ([5, 32], "batch is 5, not 1 to 4"),
        ([1, 33], "no multiple of 32"),
        ([1, 128], "width is 128, not 32 to 96"),
        ([1], "has not the rank"),
        ([1, 32, 1], "has not the rank"),
        ([-1, 32], "no list of sizes"),
        ([True, 32], "no list of sizes"),
        ([10**30, 32], "batch is huge"),
    ],
)
def test_a_shape_that_the_bundle_does_not_promise_is_refused(shape: list[Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        interface("batch", "width").read(asked(shape, [0.0] * 32))


def test_a_dim_has_one_size_in_all_inputs() -> None:
    tensors = [{"name": name, "datatype": "FP32", "shape": ["batch"]} for name in "ab"]
    two = Interface({"inputs": tensors, "outputs": [], "dims": DIMS})
    sent = [
        {"name": n, "datatype": "FP32", "shape": [size], "data": [0.0] * size}
        for n, size in zip("ab", (2, 3), strict=True)
    ]
    with pytest.raises(Refused, match="batch is 3, and 2 in another place"):
        two.arrays(sent)
    sent[1].update(shape=[2], data=[0.0, 0.0])
    assert sorted(two.arrays(sent)) == ["a", "b"]


def test_a_sum_holds_the_dim_to_one_size_as_well() -> None:
    """A mask is one longer than what is past, and a position is what is past."""
    tensors = [
        {"name": "mask", "datatype": "INT64", "shape": ["width+1"]},
        {"name": "place", "datatype": "INT64", "shape": ["batch"], "range": ["width", "width+1"]},
    ]
    both = Interface({"inputs": tensors, "outputs": [], "dims": DIMS})

    def read(length: int, place: int) -> Any:
        mask = {"name": "mask", "datatype": "INT64", "shape": [length], "data": [1] * length}
        return both.arrays([mask, {"name": "place", "datatype": "INT64", "shape": [1], "data": [place]}])

    assert len(read(65, 64)["mask"]) == 65
    for length, place, said in (
        (64, 64, "width is 63, no multiple of 32"),
        (32, 32, r"width\+1 is 32, not 33 to 97"),
        (129, 128, r"width\+1 is 129, not 33 to 97"),
        (65, 65, "values lie between 64 and 64"),
    ):
        with pytest.raises(Refused, match=said):
            read(length, place)


def test_whole_numbers_lie_in_the_range_that_was_proven() -> None:
    ids = interface("batch", datatype="INT64", range=[1, "batch"])
    assert ids.read(asked([3], [1, 2, 1], "INT64")).arrays["x"].tolist() == [1, 2, 1]
    for values in ([0, 1, 1], [1, 3, 1], [-1, 1, 1]):
        with pytest.raises(Refused, match="values lie between 1 and 2"):
            ids.read(asked([3], values, "INT64"))
    whole = interface("batch", datatype="INT64", range=["batch-2", "batch+1"])
    assert whole.read(asked([3], [1, 2, 3], "INT64")).arrays["x"].tolist() == [1, 2, 3]
    with pytest.raises(Refused, match="values lie between 1 and 3"):
        whole.read(asked([3], [0, 1, 4], "INT64"))


KEYS = st.sampled_from(["id", "inputs", "outputs", "name", "datatype", "shape", "data", "parameters", "x"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)


@given(st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner), max_leaves=20))
def test_whatever_json_comes_it_is_refused_or_read(content: Any) -> None:
    tensor = {"name": "x", "datatype": "FP32", "shape": [1, 32], "data": content}
    for body in (content, {"inputs": content}, {"inputs": [tensor], "outputs": content}):
        with pytest.raises(Refused) as refused:
            interface("batch", "width").read(json.dumps(body).encode())
        assert 400 <= refused.value.status < 500 and str(refused.value)


def test_nesting_follows_the_shape() -> None:
    assert flattened([[1, 2], [3, 4]], [2, 2], "x") == [1, 2, 3, 4]
    for data in ([[1, 2, 3, 4]], [[1], [2, 3, 4]], [[1, 2], 3, 4], [[[1, 2], [3, 4]]]):
        with pytest.raises(Refused):
            flattened(data, [2, 2], "x")


@pytest.mark.parametrize(
    "raw", [b"", b"\xff", b"[]", b'{"a": NaN}', b'{"a": 1, "a": 1}', b"[" * 10**5, b"{" + b"9" * 5000]
)
def test_what_is_no_json_object_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused):
        parsed(raw)


# -------------------------------------------------------------------------------------------- what is made of a bundle


def files_of(bundle: Path) -> dict[str, Any]:
    return dict(TARGETS["http_service"].layout(Chosen(open_bundle(bundle), "onnx")))


def edited(to: Path, **changes: Any) -> Path:
    copy = faults.copied(STORED, to)
    content = json.loads((copy / "manifest.json").read_bytes())
    faults.reseal(copy, {**content, **changes})
    return copy


def test_the_settings_are_the_bundles() -> None:
    about = json.loads(files_of(STORED)["service.json"])
    assert about["inputs"] == [{"name": "image", "datatype": "FP32", "shape": ["batch", 3, 16, 16], "range": None}]
    assert about["limits"]["body_bytes"] == (64 << 10) + 32 * 4 * 3 * 16 * 16


def test_the_range_of_whole_numbers_is_the_one_that_they_were_drawn_from(tmp_path: Path) -> None:
    content = json.loads((STORED / "manifest.json").read_bytes())
    ids = {"dtype": "int64", "shape": ["batch", "seq"]}
    dims = {**content["dims"], "seq": {"min": 2, "typical": 5, "max": 8, "multiple_of": 1}}
    spec = {**content["spec"], "dims": dims, "inputs": {"image": {**ids, "values": "integers(0,30)"}}}
    whole = edited(tmp_path / "bundle", inputs=[{"name": "image", **ids}], dims=dims, spec=spec)
    about = protocol.interface(Chosen(open_bundle(whole), "onnx"), "http_service")
    assert about.inputs == (protocol.InputTensor("image", "INT64", ("batch", "seq"), (0, 30)),)


def test_requests_are_not_joined_where_nobody_has_looked() -> None:
    about = json.loads(files_of(STORED)["service.json"])
    assert about["join"] is None and about["rows"]["why"] == "nobody looked whether a row follows from others"


def test_packages_are_pinned_as_the_bundle_was_proven(tmp_path: Path) -> None:
    pins = files_of(STORED)["requirements.txt"].decode().splitlines()
    assert "onnxruntime==1.31.1" in pins and all(line.count("==") == 1 for line in pins)
    content = json.loads((STORED / "manifest.json").read_bytes())
    for told, pinned in {"1.20.1": "1.20.1", "1.20.1; rm -rf": "1.31.1", "": "1.31.1"}.items():
        provenance = {**content["provenance"], "packages": {"onnxruntime": told}}
        copy = edited(tmp_path / f"bundle{len(told)}", provenance=provenance)
        assert f"onnxruntime=={pinned}" in files_of(copy)["requirements.txt"].decode().splitlines()


def test_the_served_folder_imports_nothing_of_the_exporter() -> None:
    files = files_of(STORED)
    for name in ("serve.py", "interface.py"):
        assert "exporter.deploy.handoff" not in files[name].decode()
        compile(files[name], name, "exec")
    assert b"from interface import" in files["serve.py"]


@pytest.mark.parametrize("target", ["http_service", "mlserver"])
def test_no_server_tells_its_engines_maker_what_it_loads(target: str) -> None:
    files = TARGETS[target].layout(Chosen(open_bundle(STORED), "onnx"))
    sources = [
        bytes(text).decode() for name, text in files.items() if name.endswith(".py") and not isinstance(text, Path)
    ]
    (source,) = (text for text in sources if "import onnxruntime" in text)
    assert source.index('os.environ["ORT_DISABLE_TELEMETRY"] = "1"') < source.index("import onnxruntime")


def test_the_image_is_not_root_and_its_recipe_passes_hadolint(tmp_path: Path) -> None:
    text = files_of(STORED)["Dockerfile"].decode()
    (tmp_path / "Dockerfile").write_text(text)
    linter = Path(sys.executable).with_name("hadolint")
    linted = subprocess.run(
        [linter, "--no-color", tmp_path / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (linted.returncode, linted.stdout) == (0, "")
    assert re.search(r"(?m)^USER (?!0\b)\d+:\d+$", text.split("FROM ")[-1])
    copied = set(re.findall(r"(?m)^COPY (?!--from)(.*) /", text)[1].split())
    assert copied <= {*(name.partition("/")[0] for name in files_of(STORED)), "MANIFEST.json"}


def test_a_type_that_json_cannot_hold_is_refused() -> None:
    stored = open_bundle(STORED)
    (tensor,) = stored.manifest.inputs
    inputs = (tensor.model_copy(update={"dtype": "bfloat16"}),)
    chosen = Chosen(replace(stored, manifest=stored.manifest.model_copy(update={"inputs": inputs})), "onnx")
    with pytest.raises(UsageError, match="image is bfloat16"):
        TARGETS["http_service"].layout(chosen)
