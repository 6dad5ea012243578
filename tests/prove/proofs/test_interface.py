"""What a real file declares against what is promised: names, dtypes and sizes, each by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Artifact
from exporter.prove.proofs.kinds import interface
from exporter.prove.proofs.kinds.interface import plugin, prove_declared
from exporter.prove.verdict.claim import Evidence, Outcome
from exporter.spec.model import Spec
from tests.export.lower.passes.models import constant, model
from tests.prove.proofs.subjects import PLAIN, artifact, claim, harness, spec, subject

INPUTS: dict[str, Any] = {
    "x": {"dtype": "float32", "shape": ["batch", 3, "seq"]},
    "m": {"dtype": "int64", "shape": ["batch"], "values": "integers(0,2)"},
}
DIMS = {"batch": {"min": 1, "typical": 4, "max": 6}, "seq": {"min": 8, "typical": 8, "max": 8}}
OUTPUTS = (TensorSpec("y", "float32", ("batch", 3)), TensorSpec("z", "int64", ("batch",)))
FLOAT, WHOLE, DOUBLE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE
DECLARED: dict[str, tuple[int, list[Any]]] = {
    "x": (FLOAT, ["batch", 3, 8]),
    "m": (WHOLE, ["batch"]),
    "y": (FLOAT, ["batch", 3]),
    "z": (WHOLE, ["batch"]),
}


def written(folder: Path, **changed: tuple[int, list[Any]] | None) -> Artifact:
    """A file that declares this; None: it declares no such tensor."""
    tensors = {name: about for name, about in {**DECLARED, **changed}.items() if about is not None}
    infos = {name: helper.make_tensor_value_info(name, *about) for name, about in tensors.items()}
    outputs = [info for name, info in infos.items() if name in ("y", "z", "w")]
    inputs = [info for name, info in infos.items() if name not in ("y", "z", "w")]
    nodes = [
        helper.make_node("Unheard", [info.name for info in inputs], [info.name for info in outputs], domain="ours")
    ]
    graph = helper.make_graph(nodes, "declared", inputs, outputs)
    (folder / "onnx").mkdir(exist_ok=True)
    onnx.save(helper.make_model(graph, ir_version=8), folder / "onnx/model.onnx")
    return artifact()


def proved(folder: Path, of: Spec | None = None, **changed: tuple[int, list[Any]] | None) -> Evidence:
    return prove_declared(written(folder, **changed), folder, of or spec(inputs=INPUTS, dims=DIMS), OUTPUTS)


def test_what_is_promised_is_declared(tmp_path: Path) -> None:
    found = proved(tmp_path)
    assert (found.outcome, found.elements, found.provider) == (Outcome.MATCH, 4, "by reading")
    assert _asked(replace(artifact(), outputs=("y", "z"), native_outputs=("y", "z")), tmp_path) == found
    turned = _asked(replace(artifact(), outputs=("y", "z"), native_outputs=("z", "y")), tmp_path)
    assert turned.outcome is Outcome.MISMATCH and "puts out ['y', 'z']" in turned.reason
    assert plugin.reads, "it needs no engine"


@pytest.mark.parametrize("called", [("y", "another"), ("z", "y")])
def test_the_bundle_tells_what_the_file_calls_its_outputs(tmp_path: Path, called: tuple[str, ...]) -> None:
    found = _asked(replace(written(tmp_path), outputs=called, native_outputs=called), tmp_path)
    assert found.outcome is Outcome.MISMATCH
    assert found.reason == f"it declares the outputs ['y', 'z'], and the bundle says that it calls them {[*called]}"


def test_what_the_file_calls_them_are_the_same_names(tmp_path: Path) -> None:
    found = _asked(replace(written(tmp_path), outputs=("y", "z"), native_outputs=("y", "another")), tmp_path)
    assert found.outcome is Outcome.MISMATCH and "it declares the outputs ['y', 'z']" in found.reason


def test_what_is_declared_otherwise_is_told_before_names(tmp_path: Path) -> None:
    found = _asked(written(tmp_path, z=(FLOAT, ["batch"])), tmp_path)
    assert (found.outcome, found.reason) == (Outcome.MISMATCH, "output 'z' is declared float32, promised int64")


@pytest.mark.parametrize(
    ("marks", "reason"),
    [
        ({}, ""),
        ({"constants": ("fixed",)}, ""),
        ({"constants": ("fixed",), "sized": ("size", "fixed")}, ""),
        ({"sized": ("size",)}, ""),
        ({"constants": ("y",)}, "no input decides output 'y' of the model, and in this file one leads to it"),
        ({"constants": ("y", "size")}, "no input decides output 'size' of the model, and in this file one leads to it"),
        ({"sized": ("y", "size")}, "sizes alone decide output 'y' of the model, and in this file values lead to it"),
        ({"sized": ("gone",)}, "sizes alone decide output 'gone' of the model, and in this file values lead to it"),
    ],
)
def test_what_no_value_decides_in_the_model_none_decides_in_the_file(
    marks: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    nodes = [
        constant("number", np.ones(2, "float32")),
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Shape", ["x"], ["size"]),
        helper.make_node("Identity", ["number"], ["fixed"]),
    ]
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx/model.onnx").write_bytes(model(nodes, {"x": [None, 3]}, ["y", "size", "fixed"]))
    names = ("y", "size", "fixed")
    outputs = tuple(TensorSpec(name, "float32", (2,)) for name in names)
    made = replace(artifact(), outputs=names, native_outputs=names)
    subject_ = replace(subject(made, of=spec(), outputs=outputs, folder=tmp_path), **marks)
    (found,) = plugin.prove([claim("interface", PLAIN, engine="")], harness(subject_)).values()
    assert (found.reason, found.outcome) == (reason, Outcome.MISMATCH if reason else Outcome.MATCH)


def test_of_a_kind_of_file_that_is_not_followed_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interface, "reach", lambda _: None)
    made = replace(written(tmp_path), outputs=("y", "z"), native_outputs=("y", "z"))
    assert _asked(made, tmp_path, constants=("y",)).outcome is Outcome.MATCH


def _asked(made: Artifact, folder: Path, **more: Any) -> Evidence:
    subject_ = subject(made, of=spec(inputs=INPUTS, dims=DIMS), outputs=OUTPUTS, folder=folder, **more)
    (evidence,) = plugin.prove([claim("interface", PLAIN, engine="")], harness(subject_)).values()
    return evidence


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"m": None}, "inputs ['x'] are declared, ['x', 'm'] are promised"),
        ({"n": (FLOAT, [3])}, "inputs ['x', 'm', 'n'] are declared, ['x', 'm'] are promised"),
        ({"z": None}, "outputs ['y'] are declared, ['y', 'z'] are promised"),
        ({"w": (FLOAT, [3])}, "outputs ['y', 'z', 'w'] are declared, ['y', 'z'] are promised"),
        ({"x": (DOUBLE, ["batch", 3, 8])}, "input 'x' is declared float64, promised float32"),
        ({"m": (FLOAT, ["batch"])}, "input 'm' is declared float32, promised int64"),
        ({"z": (FLOAT, ["batch"])}, "output 'z' is declared float32, promised int64"),
        ({"x": (FLOAT, ["batch", 3])}, "input 'x' is declared ['batch', 3], promised ['batch', 3, 'seq']"),
        ({"x": (FLOAT, ["batch", 3, 8, 1])}, "input 'x' is declared ['batch', 3, 8, 1], promised ['batch', 3, 'seq']"),
        ({"x": (FLOAT, ["batch", 4, 8])}, "input 'x' is declared ['batch', 4, 8], promised ['batch', 3, 'seq']"),
        ({"x": (FLOAT, ["batch", 3, 9])}, "input 'x' is declared ['batch', 3, 9], promised ['batch', 3, 'seq']"),
        ({"x": (FLOAT, [1, 3, 8])}, "input 'x' is declared [1, 3, 8], promised ['batch', 3, 'seq']"),
        ({"m": (WHOLE, [6])}, "input 'm' is declared [6], promised ['batch']"),
        ({"m": (FLOAT, ["batch"]), "x": (FLOAT, [1, 3, 8])}, "input 'm' is declared float32, promised int64"),
    ],
)
def test_anything_else_is_a_mismatch_and_the_first_of_it_is_told(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    found = proved(tmp_path, **changed)
    assert (found.outcome, found.reason, found.elements) == (Outcome.MISMATCH, reason, 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"x": (FLOAT, ["batch", "any", "other"])},
        {"x": (FLOAT, ["n", 3, "seq"]), "m": (WHOLE, ["n"])},
        {"x": (FLOAT, [None, None, None])},
        {"y": (FLOAT, [7, 7, 7])},
    ],
)
def test_a_file_may_leave_open_what_is_fixed_and_the_sizes_of_outputs_are_seen_elsewhere(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    assert proved(tmp_path, **changed).outcome is Outcome.MATCH


@pytest.mark.parametrize(("size", "outcome"), [(9, Outcome.MATCH), (8, Outcome.MISMATCH), (7, Outcome.MISMATCH)])
def test_what_is_promised_of_a_fixed_dim_and_some_more_may_be_declared_as_a_number(
    tmp_path: Path, size: int, outcome: Outcome
) -> None:
    longer = spec(inputs={**INPUTS, "x": {"dtype": "float32", "shape": ["batch", 3, "seq+1"]}}, dims=DIMS)
    assert proved(tmp_path, longer, x=(FLOAT, ["batch", 3, size])).outcome is outcome


def test_the_order_is_free(tmp_path: Path) -> None:
    turned = spec(inputs=dict(reversed(INPUTS.items())), dims=DIMS)
    made = written(tmp_path)
    assert prove_declared(made, tmp_path, turned, OUTPUTS[::-1]).outcome is Outcome.MATCH
    assert prove_declared(replace(made), tmp_path, turned, OUTPUTS[:1]).outcome is Outcome.MISMATCH


def test_a_file_that_cannot_be_read_is_a_crash(tmp_path: Path) -> None:
    made = written(tmp_path)
    (tmp_path / "onnx/model.onnx").write_bytes(b"\x08\x08no model")
    found = prove_declared(made, tmp_path, spec(), OUTPUTS)
    assert (found.outcome, found.stage) == (Outcome.CRASHED, "load") and found.reason.startswith("cannot be read: ")
