"""The file beside an ONNX model: what is read of it, and what no model may name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, StringStringEntryProto, TensorProto, helper

from exporter.base.errors import BundleError
from exporter.base.readers import read_program
from exporter.export.lower.stored import stored_tensors

NUMBERS = np.arange(2048, dtype="<f4")


def model(*places: tuple[str, int, int]) -> ModelProto:
    """A sum of stored tensors of 1,024 numbers, each with its file, its offset and its length."""
    stored = []
    for number, (location, offset, length) in enumerate(places):
        tensor = TensorProto(name=f"w{number}", data_type=TensorProto.FLOAT, dims=[1024])
        tensor.data_location = TensorProto.EXTERNAL
        told = {"location": location, "offset": str(offset), "length": str(length)}
        tensor.external_data.extend(StringStringEntryProto(key=key, value=value) for key, value in told.items())
        stored.append(tensor)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1024]) for name in ("x", "y")]
    node = helper.make_node("Sum", ["x", *(tensor.name for tensor in stored)], ["y"])
    graph = helper.make_graph([node], "main", values[:1], values[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def written(folder: Path, *places: tuple[str, int, int], beside: bytes | None = NUMBERS.tobytes()) -> Path:
    file = folder / "model.onnx"
    file.write_bytes(model(*places).SerializeToString())
    if beside is not None:
        (folder / "model.onnx.data").write_bytes(beside)
    return file


OWN = "model.onnx.data"


def test_tensors_beside_a_model_are_read(tmp_path: Path) -> None:
    file = written(tmp_path, (OWN, 4096, 4096), (OWN, 0, 4096))
    assert [weight.file for weight in read_program(file).weights] == [OWN, OWN]
    stored = stored_tensors(("model.onnx", OWN), tmp_path)
    np.testing.assert_array_equal(stored.array("w0"), NUMBERS[1024:])
    np.testing.assert_array_equal(stored.arrays()["w1"], NUMBERS[:1024])


@pytest.mark.parametrize(
    ("places", "beside", "said"),
    [
        ([("other.data", 0, 4096)], NUMBERS.tobytes(), "lies in another file"),
        ([("sub/model.onnx.data", 0, 4096)], NUMBERS.tobytes(), "lies in another file"),
        ([("../model.onnx.data", 0, 4096)], NUMBERS.tobytes(), "outside|below|path"),
        ([("/etc/passwd", 0, 4096)], NUMBERS.tobytes(), "outside|below|path"),
        ([(OWN, 0, 4096), (OWN, 2048, 4096)], NUMBERS.tobytes(), "another tensor ends at 4096"),
        ([(OWN, 0, 4096), (OWN, 0, 4096)], NUMBERS.tobytes(), "another tensor ends at 4096"),
        ([(OWN, 8192, 4096)], NUMBERS.tobytes(), "8192 bytes are here"),
        ([(OWN, 0, 4096), (OWN, 4096, 4096)], NUMBERS.tobytes()[:-1], "8191 bytes are here"),
        ([(OWN, -4096, 4096)], NUMBERS.tobytes(), "where 4096 are due"),
        ([(OWN, 0, 8192)], NUMBERS.tobytes(), "where 4096 are due"),
        ([(OWN, 0, 4096)], bytes(4096) + bytes(1 << 17), "that no tensor takes"),
        ([(OWN, 1 << 17, 4096)], bytes((1 << 17) + 4096), "that no tensor takes"),
        ([(OWN, 0, 4096)], None, "are not there"),
    ],
)
def test_what_no_model_may_say_of_the_file_beside_it(
    tmp_path: Path, places: list[tuple[str, int, int]], beside: bytes | None, said: str
) -> None:
    with pytest.raises(BundleError, match=said):
        read_program(written(tmp_path, *places, beside=beside))


def test_a_link_is_no_file_beside_a_model(tmp_path: Path) -> None:
    file = written(tmp_path, (OWN, 0, 4096), (OWN, 4096, 4096), beside=None)
    (tmp_path / "secret").write_bytes(NUMBERS.tobytes())
    (tmp_path / OWN).symlink_to(tmp_path / "secret")
    with pytest.raises(BundleError, match="a link"):
        read_program(file)
