"""The reader of OpenVINO's IR: what OpenVINO says of the same file, and how a stranger's may be wrong."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import openvino
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import BundleError, UsageError
from exporter.base.readers import read, read_program
from exporter.base.readers.allowed import allowed
from exporter.base.readers.kinds.openvino import facts, joined, names_of
from exporter.export.lower.stored import stored_tensors
from exporter.export.sources.foreign import read_foreign
from tests.exported import as_ir

#: Operations that keep a state or hold text, or are none; and what Python's functions call what the IR calls otherwise.
REFUSED = {"assign", "readvalue", "stringtensorpack", "stringtensorunpack", "parameter", "result", "constant", "ops"}
OTHERWISE = {"absolute": "abs", "ceil": "ceiling", "ifop": "if"}


@pytest.fixture(scope="module")
def ir(artifacts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return as_ir(artifacts / "onnx/model.onnx", tmp_path_factory.mktemp("ir") / "model.xml")


def changed(ir: Path, folder: Path, before: str, after: str, count: int = 1) -> Path:
    """A copy of the program with one text for another; its `.bin` beside it."""
    content = ir.read_text()
    assert before in content
    (folder / "model.xml").write_text(content.replace(before, after, count))
    (folder / "model.bin").write_bytes(ir.with_suffix(".bin").read_bytes())
    return folder / "model.xml"


def test_the_interface_and_the_constants_are_those_that_openvino_tells(ir: Path) -> None:
    model, told = openvino.Core().read_model(ir), read_program(ir)
    assert [spec.name for spec in told.inputs] == [port.any_name for port in model.inputs] == ["image"]
    assert [spec.shape for spec in told.inputs] == [(-1, 1, 8, 8)]
    for spec, port in zip(told.outputs, model.outputs, strict=True):
        assert spec.name in port.get_names() and spec.shape == (-1, 10)
    assert [spec.dtype for spec in told.outputs] == ["float32", "int64"]
    assert told.format == "openvino" and told.writer.startswith("OpenVINO 20") and told.versions == {"ir": 11}
    theirs = {op.get_friendly_name(): op.data for op in model.get_ops() if op.get_type_name() == "Constant"}
    stored = stored_tensors(("model.bin", "model.xml"), ir.parent).arrays()
    assert set(stored) == set(theirs) and len(stored) > 12
    for name, value in stored.items():
        np.testing.assert_array_equal(value, theirs[name])


def test_every_operation_of_the_opsets_is_listed_or_refused_on_purpose() -> None:
    listed = {name.lower() for name in allowed("openvino")}
    for number in range(1, 18):
        opset = importlib.import_module(f"openvino.opset{number}")
        for name in dir(opset):
            plain = name.replace("_", "").lower()
            if not name.startswith("_") and not plain.startswith("opset") and plain not in REFUSED:
                assert OTHERWISE.get(plain, plain) in listed, f"{name} of opset{number}"
    assert not listed & REFUSED


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('type="ReLU" version="opset1"', 'type="Mine" version="extension"', "the operator 'extension.Mine'"),
        ('type="ReLU" version="opset1"', 'type="ReLU" version="gpu_opset"', "the operator 'gpu_opset.ReLU'"),
        ('type="ReLU" version="opset1"', 'type="ReadValue" version="opset6"', "the operator 'ReadValue'"),
        ('version="11"', 'version="7"', "an IR of version 7"),
        ('offset="0"', 'offset="-4"', "bytes at -4"),
        ('offset="0"', 'offset="99999999999"', "bytes are here"),
        ('offset="0"', f'offset="{9 * "9" * 9}"', "where a whole number is due"),
        ('element_type="f32" shape="', 'element_type="f32" shape="7, ', "takes"),
        ('element_type="f32" shape="', 'element_type="text" shape="', "of an unknown type"),
        ("<dim>-1</dim>", "<dim>many</dim>", "'many' where a whole number is due"),
        ("</net>", "", "not XML"),
        ('<?xml version="1.0"?>', '<?xml version="1.0"?><!DOCTYPE net>', "declares a document type"),
    ],
)
def test_a_file_that_is_wrong_is_refused(ir: Path, tmp_path: Path, before: str, after: str, said: str) -> None:
    with pytest.raises(BundleError, match=re.escape(said)):
        read_foreign(changed(ir, tmp_path, before, after))


def test_entities_do_not_grow(bounded: None, tmp_path: Path) -> None:
    """A billion laughs: ten entities, each of ten of the one before."""
    laughs = "".join(f'<!ENTITY e{at} "{10 * f"&e{at - 1};"}">' for at in range(1, 10))
    text = f'<?xml version="1.0"?><!DOCTYPE net [<!ENTITY e0 "ha">{laughs}]><net version="11">&e9;</net>'
    (tmp_path / "model.xml").write_text(text)
    with pytest.raises(BundleError, match="declares a document type"):
        read(tmp_path / "model.xml")


def test_depth_and_size_are_bounded(bounded: None) -> None:
    for content in (b"<net>" + 100_000 * b"<a>", b"<net>" + 2_000_000 * b"<a/>" + b"</net>", b" " * (25 << 20)):
        with pytest.raises(BundleError, match=r"deep|tags|more than any program"):
            facts(content, "x")


def test_xml_of_another_kind_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "page.xml").write_text("<page/>")
    with pytest.raises(UsageError, match="not an IR of OpenVINO"):
        read(tmp_path / "page.xml")


def test_the_numbers_have_to_be_there_and_whole(ir: Path, tmp_path: Path) -> None:
    copy = changed(ir, tmp_path, "<net", "<net")
    numbers = copy.with_suffix(".bin")
    numbers.write_bytes(numbers.read_bytes()[:-1])
    with pytest.raises(BundleError, match="bytes are here") as error:
        read_foreign(copy)
    assert error.value.where.endswith("model.bin")
    numbers.unlink()
    with pytest.raises(BundleError, match=r"its numbers are not there: model\.bin"):
        read_foreign(copy)


@given(st.lists(st.text("a,b:0", min_size=1), max_size=4))
def test_names_at_a_port_are_read_as_they_are_written(names: list[str]) -> None:
    assert names_of(joined(names)) == names


@given(st.binary(max_size=200))
def test_any_bytes_give_facts_or_one_of_our_errors(content: bytes) -> None:
    for whole in (content, b'<net version="11"><layers>' + content + b"</layers></net>"):
        try:
            facts(whole, "x")
        except (BundleError, UsageError) as error:
            assert error.hint
