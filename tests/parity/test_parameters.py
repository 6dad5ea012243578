"""Where the tensors of a canonical ONNX file come from: stored as trained, or made of what was trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from exporter.lower._stored import stored_digests
from exporter.lower.base import Artifact
from exporter.parity.parameters import prove_origin, prove_unchanged
from exporter.parity.verdict import Outcome
from exporter.tensors import digest
from tests.lower.canonical.models import constant, made, model


@pytest.fixture
def folded(tmp_path: Path) -> tuple[Artifact, frozenset[str]]:
    """A convolution with its batch norm folded into it, and the digests of the five tensors it was made of."""
    rng = np.random.default_rng(0)
    parts = {"w": rng.normal(size=(4, 3, 1, 1)), **{name: rng.uniform(0.5, 2, 4) for name in "abmv"}}
    nodes = [constant(name, value) for name, value in parts.items()]
    trained = frozenset(digest(numpy_helper.to_array(one.attribute[0].t)) for one in nodes)
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
    folded: tuple[Artifact, frozenset[str]], tmp_path: Path
) -> None:
    artifact, trained = folded
    evidence = prove_origin(artifact, tmp_path, trained)
    assert evidence.outcome is Outcome.MATCH and evidence.bit_equal and evidence.elements == 4 * 3 + 4


def test_one_part_that_was_not_trained_makes_the_whole_foreign(
    folded: tuple[Artifact, frozenset[str]], tmp_path: Path
) -> None:
    artifact, trained = folded
    # Without the weight the bias is left, which it did not go into; without a statistic neither.
    found = [prove_origin(artifact, tmp_path, trained - {part}) for part in trained]
    assert sorted(one.elements for one in found) == [0, 0, 0, 0, 4] and not any(one.bit_equal for one in found)


def test_nothing_is_said_of_tensors_that_name_no_part(folded: tuple[Artifact, frozenset[str]], tmp_path: Path) -> None:
    artifact, trained = folded
    named = {name: [] for name in artifact.details["folded"]}
    silent = Artifact(**{**vars(artifact), "details": {"folded": named}})
    assert prove_origin(silent, tmp_path, trained).outcome is Outcome.VACUOUS


def test_a_folded_tensor_that_changed_is_found(folded: tuple[Artifact, frozenset[str]], tmp_path: Path) -> None:
    artifact, _ = folded
    path = tmp_path / "onnx/model.onnx"
    assert prove_unchanged(artifact, tmp_path).outcome is Outcome.MATCH
    content = bytearray(path.read_bytes())
    place = content.rindex(b"w.folded") + 20  # inside the numbers that follow the name
    content[place] ^= 1
    path.write_bytes(bytes(content))
    assert prove_unchanged(artifact, tmp_path).outcome is not Outcome.MATCH
