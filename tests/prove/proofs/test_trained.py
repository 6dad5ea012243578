"""Where the tensors of a canonical ONNX file come from: stored as trained, or made of what was trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from exporter.base.tensors import digest
from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import stored_digests
from exporter.prove.proofs.kinds.weights import prove_trained, prove_unchanged
from exporter.prove.verdict.claim import Outcome
from tests.export.lower.passes.models import constant, made, model

_RNG = np.random.default_rng(0)
PARTS = {"w": _RNG.normal(size=(4, 3, 1, 1)), **{name: _RNG.uniform(0.5, 2, 4) for name in "abmv"}}


@pytest.fixture
def folded(tmp_path: Path) -> tuple[Artifact, dict[str, str]]:
    """A convolution with its batch norm folded into it, and the digests of the five tensors it was made of."""
    nodes = [constant(name, value) for name, value in PARTS.items()]
    trained = {name: digest(numpy_helper.to_array(one.attribute[0].t)) for name, one in zip(PARTS, nodes, strict=True)}
    nodes += [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", "a", "b", "m", "v"], ["y"]),
    ]
    found = made(model(nodes, {"x": [None, 3, 4, 4]}))
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx/model.onnx").write_bytes(found.content)
    files = ("onnx/model.onnx",)
    details = {"folded": dict(found.folded)}
    weights = stored_digests(files, tmp_path)
    return Artifact("onnx", "fp32", files, ("x",), ("y",), ("y",), details, weights), trained


def test_what_is_folded_out_of_trained_tensors_counts_as_theirs(
    folded: tuple[Artifact, dict[str, str]], tmp_path: Path
) -> None:
    artifact, trained = folded
    evidence = prove_trained(artifact, tmp_path, trained)
    assert evidence.outcome is Outcome.MATCH and evidence.elements == 4 * 3 + 4
    assert not evidence.bit_equal and "2 folded out of trained ones, not computed again" in evidence.reason
    at_hand = {trained[name]: value.astype("float32") for name, value in PARTS.items()}
    evidence = prove_trained(artifact, tmp_path, trained, at_hand)
    assert evidence.outcome is Outcome.MATCH and evidence.elements == 4 * 3 + 4
    assert evidence.bit_equal and "2 folded out of trained ones, computed again" in evidence.reason
    evidence = prove_trained(artifact, tmp_path, {**trained, "lost": "0"}, at_hand)
    assert not evidence.bit_equal and "1 of the layer's are not stored, as 'lost'" in evidence.reason


def test_one_part_that_was_not_trained_makes_the_whole_foreign(
    folded: tuple[Artifact, dict[str, str]], tmp_path: Path
) -> None:
    artifact, trained = folded
    # Without the weight the bias is left, which it did not go into; without a statistic neither.
    without = [{name: digest for name, digest in trained.items() if name != part} for part in trained]
    found = [prove_trained(artifact, tmp_path, one) for one in without]
    assert sorted(one.elements for one in found) == [0, 0, 0, 0, 4] and not any(one.bit_equal for one in found)


def test_nothing_is_said_of_tensors_that_name_no_part(folded: tuple[Artifact, dict[str, str]], tmp_path: Path) -> None:
    artifact, trained = folded
    named = {name: [] for name in artifact.details["folded"]}
    silent = Artifact(**{**vars(artifact), "details": {"folded": named}})
    assert prove_trained(silent, tmp_path, trained).outcome is Outcome.VACUOUS


def test_a_folded_tensor_that_changed_is_found(folded: tuple[Artifact, dict[str, str]], tmp_path: Path) -> None:
    artifact, _ = folded
    path = tmp_path / "onnx/model.onnx"
    assert prove_unchanged(artifact, tmp_path).outcome is Outcome.MATCH
    content = bytearray(path.read_bytes())
    place = content.rindex(b"w.folded") + 20  # inside the numbers that follow the name
    content[place] ^= 1
    path.write_bytes(bytes(content))
    assert prove_unchanged(artifact, tmp_path).outcome is not Outcome.MATCH


NAMES = ("a", "b", "c", "d", "e", "f")


@pytest.fixture
def plain(tmp_path: Path) -> tuple[Artifact, dict[str, str]]:
    """Six tensors of one shape, stored as they are, and the digests of the trained ones by the layer's names."""
    rng = np.random.default_rng(1)
    values = {name: rng.normal(size=(2, 2)).astype("float32") for name in NAMES}
    return _stored(tmp_path, values), {f"layer.{name}": digest(value) for name, value in values.items()}


def _stored(folder: Path, values: dict[str, np.ndarray], format: str = "onnx") -> Artifact:
    """An ONNX file that adds them up, and what is said of it; said to be of another format where that is asked."""
    nodes = [helper.make_node("Sum", ["x", *values], ["y"])]
    graph = helper.make_graph(
        nodes,
        "sum",
        [helper.make_tensor_value_info("x", 1, [2, 2])],
        [helper.make_tensor_value_info("y", 1, [2, 2])],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    (folder / "onnx").mkdir(exist_ok=True)
    (folder / "onnx/model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    files = ("onnx/model.onnx",)
    origins = {name: f"layer.{name}" for name in values}
    return Artifact(format, "fp32", files, ("x",), ("y",), ("y",), {}, stored_digests(files, folder), origins)


def test_every_tensor_is_proven_under_its_name(plain: tuple[Artifact, dict[str, str]], tmp_path: Path) -> None:
    artifact, trained = plain
    found = prove_trained(artifact, tmp_path, trained)
    assert (found.outcome, found.elements, found.bit_equal) == (Outcome.MATCH, 24, True)


@pytest.mark.parametrize("format", ["onnx", "pir"])
def test_tensors_overwritten_by_another_trained_one_are_found(tmp_path: Path, format: str) -> None:
    """Each of them is in the set of what was trained."""
    rng = np.random.default_rng(1)
    values = {name: rng.normal(size=(2, 2)).astype("float32") for name in NAMES}
    trained = {f"layer.{name}": digest(value) for name, value in values.items()}
    wrong = {name: values["a"] if name in "abc" else value for name, value in values.items()}
    named = _stored(tmp_path, wrong, format)
    assert prove_trained(named, tmp_path, trained).outcome is Outcome.MISMATCH
    nameless = Artifact(**{**vars(named), "origins": {}})
    found = prove_trained(nameless, tmp_path, trained)
    if format == "pir":
        assert found.outcome is Outcome.MISMATCH, "a trained tensor stands for one stored tensor alone"
    else:
        assert found.elements == 16 and not found.bit_equal and "layer.b" in found.reason


def test_one_right_tensor_of_six_proves_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = {name: rng.normal(size=(2, 2)).astype("float32") for name in NAMES}
    trained = {f"layer.{name}": digest(value) for name, value in values.items()}
    wrong = {name: value if name == "a" else value + 1 for name, value in values.items()}
    found = prove_trained(_stored(tmp_path, wrong), tmp_path, trained)
    assert found.outcome is Outcome.MISMATCH and found.reason.startswith("5 stored tensors are not what was trained")


def test_an_origin_that_two_tensors_claim_is_refused(tmp_path: Path) -> None:
    value = np.ones((2, 2), "float32")
    artifact = _stored(tmp_path, {"a": value, "b": value})
    twice = Artifact(**{**vars(artifact), "origins": {"a": "layer.a", "b": "layer.a"}})
    trained = {"layer.a": digest(value), "layer.b": digest(value + 1)}
    found = prove_trained(twice, tmp_path, trained)
    assert found.outcome is Outcome.MISMATCH and "stand for the layer's 'layer.a'" in found.reason
