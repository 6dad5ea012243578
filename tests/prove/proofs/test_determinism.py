"""`determinism: bits`: what is planned, which numbers a pair compares, and real engines that break each kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, helper, numpy_helper

from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, TensorSpec, save
from exporter.export.lower.base import Artifact
from exporter.prove.judge.judge import PROOFS
from exporter.prove.proofs.determinism.pairs import (
    PADDED,
    PADDING,
    PLAIN,
    PROCESSES,
    ROWS,
    RUNS,
    THREADS,
    Pair,
    kinds,
    padded_dim,
    runs_of,
)
from exporter.prove.verdict.claim import Evidence, Outcome
from exporter.spec.model import Spec
from tests.prove.compare.goldens import golden
from tests.prove.proofs import subjects
from tests.prove.proofs.subjects import LOW, SOURCE, artifact, claim, harness, spec, subject

PROOF = PROOFS["determinism"]
RUN = subjects.PLAIN
SEQUENCES: dict[str, Any] = {
    "inputs": {
        "ids": {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(2,9)"},
        "mask": {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(0,2)"},
    },
    "dims": {"batch": {"min": 1, "typical": 2, "max": 3}, "seq": {"min": 2, "typical": 4, "max": 9}},
}


def promised(**more: Any) -> Spec:
    return spec(determinism="bits", precisions={"fp32": {}}, **more)


def recorded(size: int | None = None) -> list[GoldenCase]:
    """Two cases of an output whose first size is the batch's, or always the same."""
    return [
        GoldenCase(str(rows), {"batch": rows}, {"y0": golden(np.ones((size or rows, 5)), name="y0")}, str(rows))
        for rows in (4, 6)
    ]


class TestThePlan:
    def test_a_spec_without_the_key_has_no_claim_of_it(self) -> None:
        assert PROOF.plan(harness(subject(artifact(), artifact("int8")))) == frozenset()

    def test_each_engine_of_each_variant_and_each_pair(self) -> None:
        of = harness(subject(artifact(), of=promised()), SOURCE, RUN, LOW)
        wanted = (RUNS, PROCESSES, THREADS, ROWS)
        assert PROOF.plan(of) == {claim("determinism", run, output=kind) for run in (RUN, LOW) for kind in wanted}
        assert str(claim("determinism", RUN, output=ROWS)) == "onnx/onnxruntime/determinism/rows"

    def test_one_case_alone_is_not_asked(self) -> None:
        assert PROOF.plan(harness(subject(artifact(), of=promised(), only="batch=4"), RUN)) == frozenset()

    @pytest.mark.parametrize(
        ("more", "outputs", "rows"),
        [
            ({}, [("batch", 5)], True),
            ({}, [("batch", 5), (3,)], True),
            ({}, [(-1, 5)], True),
            ({}, [(-1, 5), (3,)], True),
            ({}, [(3, 5)], False),
            ({}, [(3, "batch")], False),
            ({"dims": {"batch": {"min": 2, "typical": 4, "max": 6}}}, [("batch", 5)], False),
            ({"dims": {"batch": {"min": 1, "typical": 1, "max": 1}}}, [("batch", 5)], False),
            ({"inputs": {"x": {"dtype": "float32", "shape": [2, "batch"]}}}, [("batch", 5)], False),
        ],
    )
    def test_rows_are_promised_where_a_dim_counts_them(self, more: Any, outputs: Any, rows: bool) -> None:
        tensors = [TensorSpec(f"y{place}", "float32", shape) for place, shape in enumerate(outputs)]
        assert (ROWS in kinds(promised(**more), tensors, recorded(3 if outputs[0] == (3, 5) else None))) == rows

    def test_a_size_that_is_none_of_the_batch_counts_no_rows(self) -> None:
        assert ROWS not in kinds(promised(), [TensorSpec("y0", "float32", (-1, 5))], recorded(7))

    @pytest.mark.parametrize(
        ("inputs", "dim"),
        [
            (SEQUENCES["inputs"], "seq"),
            ({"x": {"dtype": "float32", "shape": ["batch", "seq"]}}, None),
            (
                {
                    "x": {"dtype": "float32", "shape": ["batch", "seq"]},
                    "n": {"dtype": "int64", "shape": ["batch"], "values": "integers(1,seq+1)"},
                },
                "seq",
            ),
            (
                {
                    "x": {"dtype": "float32", "shape": ["batch", "seq"]},
                    "n": {"dtype": "int64", "shape": ["batch"], "values": "integers(0,seq)"},
                },
                None,
            ),
            (
                {
                    "mask": {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(0,2)"},
                    "cache": {"dtype": "float32", "shape": ["batch", "seq+1"]},
                },
                None,
            ),
        ],
        ids=["mask", "nothing", "lengths", "places", "a cache"],
    )
    def test_padding_is_promised_where_a_mask_or_lengths_say_what_it_is(self, inputs: Any, dim: str | None) -> None:
        wanted = promised(inputs=inputs, dims=SEQUENCES["dims"])
        assert padded_dim(wanted) == dim
        assert (PADDING in kinds(wanted, [], [])) == (dim is not None)

    def test_a_dim_of_one_size_cannot_be_padded(self) -> None:
        fixed = {**SEQUENCES["dims"], "seq": {"min": 4, "typical": 4, "max": 4}}
        assert padded_dim(promised(inputs=SEQUENCES["inputs"], dims=fixed)) is None


class TestThePairs:
    def test_a_row_is_cut_out_of_its_batch_wherever_rows_are_counted(self) -> None:
        pair = Pair(ROWS, "all", "one", row=1, rows=3)
        batch = np.arange(12).reshape(3, 4)
        assert [part.tolist() for part in pair.both(batch, batch[:1]) or ()] == [[[4, 5, 6, 7]], [[0, 1, 2, 3]]]
        turned = pair.both(batch.T, batch.T[:, :1])
        assert turned and turned[0].tolist() == [[4], [5], [6], [7]]
        joined = pair.both(np.arange(6), np.arange(2))  # rows of two, side by side
        assert joined and joined[0].tolist() == [2, 3]
        constant = pair.both(np.ones(5), np.zeros(5))
        assert constant and constant[0].tolist() == [1] * 5

    def test_what_is_no_row_is_not_compared(self) -> None:
        pair = Pair(ROWS, "all", "one", row=1, rows=3)
        assert pair.both(np.ones((3, 4)), np.ones(4)) is None
        assert pair.both(np.ones((3, 4)), np.ones((1, 5))) is None
        assert pair.both(np.ones((4, 2)), np.ones((1, 2))) is None

    def test_padding_is_cut_off_on_each_axis_that_it_made_longer(self) -> None:
        pair = Pair(PADDING, PLAIN, PADDED, sizes=(2, 3))
        both = pair.both(np.zeros((1, 2, 2)), np.arange(9.0).reshape(1, 3, 3))
        assert both and both[1].tolist() == [[[0, 1], [3, 4]]]
        assert pair.both(np.zeros((1, 2)), np.zeros((1, 4))) is None
        assert pair.both(np.zeros((1, 2)), np.zeros(2)) is None

    def test_the_inputs_of_every_run(self) -> None:
        names = {
            "batch=2,seq=4": (2, 4),
            "batch=2,seq=4#2": (2, 4),
            "batch=3,seq=9": (3, 9),
            "batch=2,seq=4:large": (2, 4),
        }
        recorded = [GoldenCase(name, {"batch": b, "seq": s}, {}, name) for name, (b, s) in names.items()]
        inputs = {
            name: {"ids": np.full((b, s), place + 2), "mask": np.ones((b, s), "int64")}
            for place, (name, (b, s)) in enumerate(names.items())
        }
        found = runs_of(promised(**SEQUENCES), recorded, inputs, (RUNS, PROCESSES, THREADS, ROWS, PADDING))
        assert [pair.kind for pair in found.pairs] == [RUNS, PROCESSES, THREADS, ROWS, ROWS, ROWS, PADDING]
        assert [pair.row for pair in found.pairs if pair.kind == ROWS] == [0, 1, 2]
        assert found.inputs["row 1 alone"]["ids"].tolist() == [[4] * 9]
        assert found.pairs[-1].sizes == (4, 8)
        padded = found.inputs[PADDED]
        assert padded["mask"].tolist() == [[1] * 4 + [0] * 4] * 2
        assert padded["ids"].tolist() == [[2] * 4 + [2] * 4] * 2, "0 is not in the range, 2 is nearest to it"
        assert found.strangers and found.inputs[found.strangers[1]]["ids"][0, 0] == 3
        assert runs_of(promised(**SEQUENCES), recorded[:1], inputs, (RUNS,)).strangers is None


def proven(folder: Path, node: NodeProto, stored: Mapping[str, Array], wide: int = 300) -> dict[str, Evidence]:
    """The proof of an ONNX file of one node in ONNX Runtime, by the kind of the pair."""
    shape = ["batch", wide, 3]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, shape)],
        [helper.make_tensor_value_info("y", 1, ["batch", None])],
        [numpy_helper.from_array(value, name) for name, value in stored.items()],
    )
    graph.output[0].type.tensor_type.ClearField("shape")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "onnx").mkdir()
    (folder / "onnx/model.onnx").write_bytes(model.SerializeToString())
    names = {"batch=4": 4, "batch=4#2": 4, "batch=6": 6}
    draw = np.random.default_rng(0)
    inputs = {
        f"{name}/input/x": draw.standard_normal((rows, wide, 3)).astype("float32") for name, rows in names.items()
    }
    save(folder / "golden.safetensors", inputs)
    of = subject(
        Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",)),
        of=promised(inputs={"x": {"dtype": "float32", "shape": shape}}),
        folder=folder,
        outputs=(TensorSpec("y", "float32", ("batch", 3)),),
        recorded=tuple(GoldenCase(name, {"batch": rows}, {}, name) for name, rows in names.items()),
    )
    judge = harness(of, RUN)
    claims = sorted(PROOF.plan(judge))
    return {found.output: evidence for found, evidence in PROOF.prove(claims, judge).items()}


def outcomes(evidence: Mapping[str, Evidence]) -> dict[str, Outcome]:
    return {kind: found.outcome for kind, found in evidence.items()}


def test_an_artifact_that_keeps_its_bits(tmp_path: Path) -> None:
    found = proven(tmp_path, helper.make_node("Relu", ["x"], ["y"]), {})
    assert set(outcomes(found).values()) == {Outcome.MATCH}
    assert found[RUNS].elements == 6 * 900 and found[ROWS].elements == 3 * 900 and found[RUNS].bit_equal


def test_a_sum_that_is_split_by_the_size_of_the_batch(tmp_path: Path) -> None:
    """ONNX Runtime 1.31 adds the rows of a tensor in another order where it has one row."""
    found = proven(tmp_path, helper.make_node("ReduceMean", ["x"], ["y"], axes=[1], keepdims=0), {})
    broken = found.pop(ROWS)
    assert broken.outcome is Outcome.MISMATCH and set(outcomes(found).values()) == {Outcome.MATCH}
    assert broken.reason.startswith("the case and row ") and "output y differs in " in broken.reason
    assert broken.reason.endswith("first in ReduceMean y, operator 0") and 0 < broken.metrics["max_rel"] < 1e-5


def test_numbers_that_go_on_from_run_to_run(tmp_path: Path) -> None:
    """A seeded generator begins anew in each process, and not in each run."""
    found = proven(tmp_path, helper.make_node("RandomNormalLike", ["x"], ["y"], seed=1.0), {})
    assert found[RUNS].outcome is Outcome.MISMATCH and found[PROCESSES].outcome is Outcome.MATCH
    assert found[RUNS].reason.startswith("the case and the case again: output y differs in 5400 of 5400 numbers, by ")
    assert found[RUNS].reason.endswith("first in RandomNormalLike y, operator 0")


def test_numbers_that_are_others_in_each_process(tmp_path: Path) -> None:
    found = proven(tmp_path, helper.make_node("RandomNormalLike", ["x"], ["y"]), {})
    assert found[PROCESSES].outcome is Outcome.MISMATCH
    assert found[PROCESSES].reason.startswith("the case in two processes: output y differs in ")
    assert found[PROCESSES].reason.endswith("first in RandomNormalLike y, operator 0")


def test_a_constant_proves_nothing(tmp_path: Path) -> None:
    shape = np.zeros((4, 3), "float32")
    found = proven(tmp_path, helper.make_node("Identity", ["w"], ["y"]), {"w": shape})
    assert set(outcomes(found).values()) == {Outcome.VACUOUS} and "drawn apart" in found[RUNS].reason


def test_an_engine_that_refuses_it_is_no_match(tmp_path: Path) -> None:
    found = proven(tmp_path, helper.make_node("NoSuchOperator", ["x"], ["y"]), {})
    assert set(outcomes(found).values()) == {Outcome.CRASHED} and "onnxruntime refuses it" in found[RUNS].reason
