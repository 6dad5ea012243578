"""The tensors of an artifact against what was trained: every way in which a file may hold others, and each is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from exporter.base.tensors import Array, digest
from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import stored_digests
from exporter.prove.proofs.kinds.size import prove_size
from exporter.prove.proofs.kinds.weights import origins_of, prove_halved, prove_trained, prove_unchanged
from exporter.prove.verdict.claim import Outcome

VALUES = {name: np.random.default_rng(at).standard_normal((2, 3)).astype("float32") for at, name in enumerate("abc")}
TRAINED = {f"layer.{name}": digest(value) for name, value in VALUES.items()}


def stored(folder: Path, values: dict[str, Array], place: str = "onnx", **more: Any) -> Artifact:
    """A real ONNX file that holds these tensors, and what is said of it."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "held",
        [helper.make_tensor_value_info("x", 1, [2, 3])],
        [helper.make_tensor_value_info("y", 1, [2, 3])],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    (folder / place).mkdir(exist_ok=True)
    (folder / place / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    files = (f"{place}/model.onnx",)
    origins = {name: f"layer.{name}" for name in values}
    plain = Artifact("onnx", "fp32", files, ("x",), ("y",), ("y",), {}, stored_digests(files, folder), origins)
    return replace(plain, **more)


class TestUnchanged:
    def test_all_as_it_was_written_is_counted(self, tmp_path: Path) -> None:
        found = prove_unchanged(stored(tmp_path, VALUES), tmp_path)
        assert (found.outcome, found.elements, found.bit_equal) == (Outcome.MATCH, 18, True)

    def test_what_is_gone_is_named(self, tmp_path: Path) -> None:
        artifact = stored(tmp_path, VALUES)
        stored(tmp_path, {"b": VALUES["b"]})
        found = prove_unchanged(artifact, tmp_path)
        assert (found.outcome, found.reason) == (Outcome.MISMATCH, "2 tensors are gone, the first is 'a'")

    def test_what_is_changed_or_one_more_is_named(self, tmp_path: Path) -> None:
        artifact = stored(tmp_path, VALUES)
        stored(tmp_path, {**VALUES, "b": VALUES["b"] + np.float32(1e-7)})
        assert prove_unchanged(artifact, tmp_path).reason == "1 tensors are not the released ones, as 'b'"
        stored(tmp_path, {**VALUES, "z": VALUES["b"]})
        found = prove_unchanged(artifact, tmp_path)
        assert (found.outcome, found.reason) == (Outcome.MISMATCH, "1 tensors are not the released ones, as 'z'")

    def test_a_damaged_file_is_a_crash_of_its_reader(self, tmp_path: Path) -> None:
        artifact = stored(tmp_path, VALUES)
        path = tmp_path / "onnx/model.onnx"
        path.write_bytes(path.read_bytes()[:40])
        found = prove_unchanged(artifact, tmp_path)
        assert (found.outcome, found.stage) == (Outcome.CRASHED, "load") and found.reason.startswith("cannot be read")

    def test_a_file_without_tensors_proves_nothing(self, tmp_path: Path) -> None:
        assert prove_unchanged(stored(tmp_path, {}), tmp_path).outcome is Outcome.VACUOUS


class TestTrained:
    @pytest.mark.parametrize("format", ["onnx", "pir"])
    def test_every_tensor_by_its_name(self, tmp_path: Path, format: str) -> None:
        found = prove_trained(stored(tmp_path, VALUES, format=format), tmp_path, TRAINED)
        assert (found.outcome, found.elements, found.bit_equal) == (Outcome.MATCH, 18, True)
        assert (found.reason, found.provider) == ("3 tensors by name", "by content")

    def test_what_stands_under_its_own_name_was_not_folded(self, tmp_path: Path) -> None:
        artifact = stored(tmp_path, VALUES, details={"folded": {"a": [TRAINED["layer.b"]]}})
        found = prove_trained(artifact, tmp_path, TRAINED)
        assert (found.reason, found.elements, found.bit_equal) == ("3 tensors by name", 18, True)

    def test_another_tensor_under_a_name_is_named(self, tmp_path: Path) -> None:
        artifact = stored(tmp_path, {**VALUES, "b": VALUES["b"] * 2})
        found = prove_trained(artifact, tmp_path, TRAINED)
        assert found.outcome is Outcome.MISMATCH
        assert found.reason == "1 stored tensors are not what was trained, as 'b', which is the layer's 'layer.b'"

    @pytest.mark.parametrize(("format", "outcome"), [("onnx", Outcome.MATCH), ("pir", Outcome.MISMATCH)])
    def test_a_foreign_tensor_is_told_and_in_paddle_s_formats_refused(
        self, tmp_path: Path, format: str, outcome: Outcome
    ) -> None:
        artifact = stored(tmp_path, {**VALUES, "z": np.ones((2, 3), "float32")}, format=format)
        origins = {name: own for name, own in artifact.origins.items() if name != "z"}
        found = prove_trained(replace(artifact, origins=origins), tmp_path, TRAINED)
        assert found.outcome is outcome
        if outcome is Outcome.MATCH:
            assert found.reason == "3 tensors by name; 1 traced to nothing, as 'z'"
            assert found.elements == 18 and not found.bit_equal
        else:
            assert found.reason == "1 stored tensors are not the layer's, as 'z'"

    def test_what_is_not_stored_is_told(self, tmp_path: Path) -> None:
        found = prove_trained(stored(tmp_path, {"a": VALUES["a"]}), tmp_path, TRAINED)
        assert found.outcome is Outcome.MATCH and not found.bit_equal and found.elements == 6
        assert found.reason == "1 tensors by name; 2 of the layer's are not stored, as 'layer.b'"

    def test_a_tensor_that_two_sublayers_share_is_stored_once(self, tmp_path: Path) -> None:
        shared = {**TRAINED, "layer.again": TRAINED["layer.a"]}
        found = prove_trained(stored(tmp_path, VALUES), tmp_path, shared)
        assert found.bit_equal and found.reason == "3 tensors by name"

    def test_nothing_of_the_layer_proves_nothing(self, tmp_path: Path) -> None:
        artifact = stored(tmp_path, {"z": np.ones((2, 3), "float32")}, origins={})
        assert prove_trained(artifact, tmp_path, TRAINED).outcome is Outcome.VACUOUS

    def test_an_origin_of_a_name_that_is_not_stored_is_none(self, tmp_path: Path) -> None:
        artifact = stored(tmp_path, VALUES)
        more = replace(artifact, origins={**artifact.origins, "gone": "layer.gone"})
        assert prove_trained(more, tmp_path, TRAINED).bit_equal

    def test_by_content_a_tensor_of_the_layer_stands_for_one(self, tmp_path: Path) -> None:
        nameless = stored(tmp_path, {"p": VALUES["a"], "q": VALUES["a"]}, origins={})
        assert origins_of(nameless, {**TRAINED, "twin": TRAINED["layer.a"]}) == {"p": "layer.a", "q": "twin"}
        assert origins_of(nameless, TRAINED) == {"p": "layer.a"}
        half = replace(nameless, origins={"q": "layer.a"})
        assert origins_of(half, TRAINED) == {"q": "layer.a"}, "what has a name is not given away again"
        known = replace(nameless, origins={"p": "layer.a"})
        assert origins_of(known, {**TRAINED, "twin": TRAINED["layer.a"]}) == {"p": "layer.a", "q": "twin"}


class TestHalved:
    def low(self, folder: Path, values: dict[str, Array]) -> Artifact:
        return stored(folder, values, "onnx-fp16", precision="fp16")

    def halves(self, **more: Array) -> dict[str, Array]:
        return {**{name: value.astype("float16") for name, value in VALUES.items()}, **more}

    def test_all_rounded_to_the_nearest(self, tmp_path: Path) -> None:
        values = self.halves(c=VALUES["c"])
        found = prove_halved(self.low(tmp_path, values), stored(tmp_path, VALUES), tmp_path)
        assert (found.outcome, found.elements) == (Outcome.MATCH, 12)
        assert found.reason.startswith("12 of 18 stored numbers are fp32's, rounded to fp16")

    def test_the_next_but_one_is_not_the_nearest(self, tmp_path: Path) -> None:
        off = VALUES["b"].astype("float16")
        off[1, 2] = np.nextafter(off[1, 2], np.float16(9))
        found = prove_halved(self.low(tmp_path, self.halves(b=off)), stored(tmp_path, VALUES), tmp_path)
        assert found.outcome is Outcome.MISMATCH and "'b' is not fp32's, rounded" in found.reason

    def test_what_stayed_in_fp32_is_equal(self, tmp_path: Path) -> None:
        off = VALUES["b"] + np.float32(1e-6)
        found = prove_halved(self.low(tmp_path, self.halves(b=off)), stored(tmp_path, VALUES), tmp_path)
        assert found.outcome is Outcome.MISMATCH

    def test_what_is_gone_is_named(self, tmp_path: Path) -> None:
        values = self.halves()
        del values["a"]
        found = prove_halved(self.low(tmp_path, values), stored(tmp_path, VALUES), tmp_path)
        assert (found.outcome, found.reason) == (Outcome.MISMATCH, "tensor 'a' of fp32's file is gone")

    def test_another_shape_or_dtype_is_another_tensor(self, tmp_path: Path) -> None:
        for other in (VALUES["b"].astype("float16").reshape(3, 2), VALUES["b"].astype("float64")):
            found = prove_halved(self.low(tmp_path, self.halves(b=other)), stored(tmp_path, VALUES), tmp_path)
            assert found.outcome is Outcome.MISMATCH

    def test_without_any_half_nothing_is_proven(self, tmp_path: Path) -> None:
        assert prove_halved(self.low(tmp_path, VALUES), stored(tmp_path, VALUES), tmp_path).outcome is Outcome.VACUOUS


@pytest.mark.parametrize(
    ("wanted", "outcome"), [(0.35, Outcome.MATCH), (0.349, Outcome.MISMATCH), (None, Outcome.MATCH)]
)
def test_all_bytes_of_both_variants_are_compared_and_as_many_as_promised_are_right(
    tmp_path: Path, wanted: float | None, outcome: Outcome
) -> None:
    for name, length in (("a", 100), ("b", 300), ("c", 40), ("d", 100)):
        (tmp_path / name).write_bytes(b"x" * length)
    plain = Artifact("onnx", "fp32", ("a", "b"), ("x",), ("y",), ("y",))
    found = prove_size(replace(plain, precision="int8", files=("c", "d")), plain, tmp_path, wanted)
    assert (found.outcome, found.elements, dict(found.metrics)) == (outcome, 140, {"share": 0.35})
    assert found.reason.startswith("140 bytes are 0.350 of fp32's 400")
