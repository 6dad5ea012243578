from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy
from onnx import TensorProto, helper, numpy_helper

from exporter.base.errors import ModelError
from exporter.base.readers.external import data_of, refuse_misplaced
from exporter.base.readers.kinds.onnx import read_onnx
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes import encode

DTYPES = st.sampled_from(["float32", "float64", "float16", "int64", "int32", "uint8", "bool"])
ARRAYS = of_numpy.arrays(DTYPES, of_numpy.array_shapes(min_dims=0, min_side=0, max_side=40))


def empty() -> onnx.ModelProto:
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "main", [], [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="somebody")


BESIDE = encode.Beside("model.onnx.data")


def whole(constants: dict[str, Array]) -> bytes:
    """The bytes of a model that holds its tensors itself."""
    files = encode.encoded(empty(), constants, BESIDE)
    assert not files.beside
    return b"".join(files.model)


@given(st.dictionaries(st.text(min_size=1), ARRAYS, max_size=5))
def test_what_protobuf_reads_is_what_protobuf_would_have_written(constants: dict[str, Array]) -> None:
    wanted = empty()
    wanted.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in sorted(constants.items()))
    found = onnx.load_model_from_string(whole(constants))
    assert found.SerializeToString(deterministic=True) == wanted.SerializeToString(deterministic=True)


def test_numbers_of_another_order_are_stored_as_the_standard_has_them() -> None:
    stored = {"big": np.arange(6, dtype=">f4").reshape(2, 3), "turned": np.arange(6, dtype="float32").reshape(2, 3).T}
    found = onnx.load_model_from_string(whole(stored))
    for one in found.graph.initializer:
        assert np.array_equal(numpy_helper.to_array(one), stored[one.name])


def test_what_no_file_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "_MOST", 2000)
    whole({"w": np.zeros(300, "float32")})
    with pytest.raises(ModelError, match="an ONNX file holds"):
        whole({"v": np.zeros(300, "float32"), "w": np.zeros(300, "float32")})


@given(st.dictionaries(st.text(min_size=1), ARRAYS, max_size=5), st.integers(0, 3))
def test_large_tensors_beside_a_model_are_those_that_it_had(constants: dict[str, Array], extra: int) -> None:
    constants |= {f"large {number}": np.arange(1100 + number, dtype="float32") for number in range(extra)}
    files = encode.encoded(empty(), constants, encode.Beside("model.onnx.data", 0))
    large = [name for name, value in constants.items() if value.nbytes >= 4096]
    assert bool(files.beside) == bool(large)
    with tempfile.TemporaryDirectory() as place:
        model = Path(place, "model.onnx")
        model.write_bytes(b"".join(files.model))
        if files.beside:
            data_of(model).write_bytes(b"".join(files.beside))
        refuse_misplaced(read_onnx(model).weights, model.parent)
        beside = {one.name for one in onnx.load(model, load_external_data=False).graph.initializer if one.external_data}
        read_back = {one.name: numpy_helper.to_array(one) for one in onnx.load(model).graph.initializer}
    assert beside == set(large)
    for name, value in constants.items():
        assert read_back[name].dtype == value.dtype and read_back[name].tobytes() == value.tobytes()
