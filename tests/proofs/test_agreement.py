"""What variants give on inputs that nobody recorded: who is blamed, and what is too far apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exporter.judge.judge import PROOFS
from exporter.proofs.agreement import _judge, furthest
from exporter.tensors import Array, save
from exporter.verdict.claim import Evidence, Outcome
from exporter.verdict.plan import Run
from tests.proofs.subjects import LOW, PLAIN, SOURCE, artifact, claim, harness, spec, subject

PIR, PDMODEL = Run("pir", "fp32", "jit_load"), Run("pdmodel", "fp32", "jit_load")
RIGHT = [np.random.default_rng(seed).standard_normal((4, 5)).astype("float32") for seed in range(4)]
LABELS = [np.arange(8) + seed for seed in range(4)]
CRASHED = Evidence(Outcome.CRASHED, "it died", stage="run")


def given(values: Sequence[Array], name: str = "y") -> dict[str, list[dict[str, Array]]]:
    """Two draws at each of two sizes."""
    return {"batch=4": [{name: values[0]}, {name: values[1]}], "batch=2": [{name: values[2]}, {name: values[3]}]}


def turned(*which: int) -> dict[str, list[dict[str, Array]]]:
    return given([-value if at in which else value for at, value in enumerate(RIGHT)])


class TestTheVote:
    def test_the_one_that_is_alone_with_its_answer_is_blamed(self) -> None:
        answers = {PLAIN: given(RIGHT), PIR: turned(0, 1, 2, 3), PDMODEL: given(RIGHT)}
        found = {run: _judge(run, answers) for run in answers}
        assert [found[run].outcome for run in answers] == [Outcome.MATCH, Outcome.MISMATCH, Outcome.MATCH]
        assert "nobody recorded" in found[PIR].reason and "'y' differs by 200% of its size" in found[PIR].reason
        assert found[PIR].reason.endswith("from onnx") and found[PIR].elements == 80
        assert found[PLAIN].metrics == {"apart": 0.0} and found[PLAIN].elements == 80

    def test_of_two_that_differ_neither_is_believed(self) -> None:
        answers = {PLAIN: given(RIGHT), PIR: turned(0, 1)}
        assert {_judge(run, answers).outcome for run in answers} == {Outcome.MISMATCH}

    def test_where_the_source_is_at_hand_it_alone_counts(self) -> None:
        wrong = turned(0, 1, 2, 3)
        answers = {SOURCE: given(RIGHT), PLAIN: wrong, PIR: wrong, PDMODEL: given(RIGHT)}
        found = [_judge(run, answers) for run in (PLAIN, PIR, PDMODEL)]
        assert [one.outcome for one in found] == [Outcome.MISMATCH, Outcome.MISMATCH, Outcome.MATCH]
        assert found[0].reason.endswith("from eager")

    def test_low_precision_is_compared_with_fp32_and_fp32_not_with_it(self) -> None:
        answers = {PLAIN: given(RIGHT), PIR: given(RIGHT), LOW: turned(0, 1, 2, 3)}
        found = {run: _judge(run, answers).outcome for run in answers}
        assert found == {PLAIN: Outcome.MATCH, PIR: Outcome.MATCH, LOW: Outcome.MISMATCH}

    def test_what_gave_nothing_has_no_vote(self) -> None:
        assert _judge(PLAIN, {PLAIN: CRASHED, PIR: given(RIGHT)}) == CRASHED
        assert _judge(PLAIN, {PLAIN: given(RIGHT), PIR: CRASHED}).outcome is Outcome.INCONCLUSIVE
        assert _judge(PLAIN, {SOURCE: CRASHED, PLAIN: given(RIGHT), PIR: given(RIGHT)}).outcome is Outcome.MATCH

    def test_outputs_without_a_number_prove_nothing(self) -> None:
        empty = given([np.zeros((0, 5), "float32")] * 4)
        assert _judge(PLAIN, {PLAIN: empty, PIR: empty}).outcome is Outcome.VACUOUS


class TestTooFar:
    def test_one_size_is_enough_and_one_draw_of_it_is_not(self) -> None:
        assert furthest(given(RIGHT), turned(2, 3), PLAIN, PIR)[0].endswith("(batch=2, in every draw) from")
        assert furthest(given(RIGHT), turned(0, 3), PLAIN, PIR) == ("", 0.0)

    def test_in_low_precision_all_draws_are_needed(self) -> None:
        assert furthest(given(RIGHT), turned(2, 3), LOW, PLAIN) == ("", 0.0)
        assert furthest(given(RIGHT), turned(0, 1, 2, 3), LOW, PLAIN)[0]
        assert furthest(given(RIGHT), turned(0, 1, 2, 3), PLAIN, LOW)[0]

    @pytest.mark.parametrize(("run", "share", "far"), [(PIR, 0.09, False), (PIR, 0.11, True), (LOW, 0.45, False)])
    def test_how_far_real_numbers_may_be_apart(self, run: Run, share: float, far: bool) -> None:
        other = given([value * np.float32(1 - share) for value in RIGHT])
        said, apart = furthest(given(RIGHT), other, PLAIN, run)
        assert bool(said) == far and apart == pytest.approx(share, rel=1e-5)

    @pytest.mark.parametrize(
        ("run", "wrong", "far"), [(PIR, 4, False), (PIR, 5, True), (LOW, 7, False), (LOW, 8, True)]
    )
    def test_of_how_many_whole_numbers_the_rest_may_differ(self, run: Run, wrong: int, far: bool) -> None:
        other = given([np.concatenate([value[:-wrong], value[-wrong:] + 1]) for value in LABELS])
        said, apart = furthest(given(LABELS), other, PLAIN, run)
        assert bool(said) == far and apart == wrong / 8
        assert not said or f"in {wrong / 8:.0%} of its numbers" in said

    def test_another_shape_dtype_or_no_output_is_too_far(self) -> None:
        for other in (given([value[:2] for value in RIGHT]), given(RIGHT, "z"), given([np.int64(v) for v in RIGHT])):
            said, apart = furthest(given(RIGHT), other, PLAIN, PIR)
            assert "differs in shape" in said and apart == np.inf

    def test_infinities_belong_where_they_are(self) -> None:
        half = [np.where(np.arange(5) < 2, -np.inf, value).astype("float32") for value in RIGHT]
        assert furthest(given(half), given(half), PLAIN, PIR) == ("", 0.0)
        assert furthest(given(half), given(RIGHT), PLAIN, PIR)[1] == 1.0
        none = [np.full_like(value, np.nan) for value in RIGHT]
        assert furthest(given(none), given(none), PLAIN, PIR) == ("", 0.0)
        nothing = [np.zeros_like(value) for value in RIGHT]
        assert furthest(given(nothing), given(nothing), PLAIN, PIR) == ("", 0.0)
        assert furthest(given(nothing), given(RIGHT), PLAIN, PIR)[1] == 1.0


class TestThePlan:
    def test_every_variant_that_has_another_or_the_source_beside_it(self) -> None:
        both = subject(artifact(), artifact("int8"))
        own = {claim("agreement", run, engine="") for run in (PLAIN, LOW)}
        assert PROOFS["agreement"].plan(harness(both)) == own
        assert PROOFS["agreement"].plan(harness(both, PLAIN, LOW)) == own
        assert PROOFS["agreement"].plan(harness(both, SOURCE, PLAIN)) == {claim("agreement", PLAIN, engine="")}
        assert PROOFS["agreement"].plan(harness(both, PLAIN)) == frozenset()
        assert PROOFS["agreement"].plan(harness(replace(both, only="batch=4"))) == frozenset()

    @pytest.mark.parametrize(
        ("dtype", "values", "planned"), [("int64", "x.npy", 0), ("float32", "x.npy", 1), ("int64", "integers(0,9)", 1)]
    )
    def test_none_where_no_input_can_be_drawn_anew(self, dtype: str, values: str, planned: int) -> None:
        of = spec(inputs={"x": {"dtype": dtype, "shape": ["batch", 3], "values": values}})
        assert len(PROOFS["agreement"].plan(harness(subject(artifact(), of=of), SOURCE, PLAIN))) == planned

    def test_inputs_that_are_all_the_same_prove_nothing(self, tmp_path: Path) -> None:
        one = {"dtype": "int64", "shape": ["batch", 3], "values": "dataset"}
        of = spec(inputs={"x": one}, dims={"batch": {"min": 4, "typical": 4, "max": 6}}, recipe="r:r", weights=None)
        save(tmp_path / "golden.safetensors", {f"batch=4{end}/input/x": np.ones((4, 3), "int64") for end in ("", "#2")})
        made = harness(subject(artifact(), of=of, folder=tmp_path), SOURCE, PLAIN)
        (found,) = PROOFS["agreement"].prove([claim("agreement", PLAIN, engine="")], made).values()
        assert found.outcome is Outcome.VACUOUS

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        inputs = {name: np.full((4, 3), at, "float32") for at, name in enumerate(("batch=4", "batch=4#2"))}
        save(tmp_path / "golden.safetensors", {f"{name}/input/x": value for name, value in inputs.items()})
        return tmp_path

    def test_what_did_not_end_in_order_is_not_run_again(self, folder: Path) -> None:
        """So that a program without end costs its limit once."""
        of = harness(subject(artifact(), artifact("int8"), folder=folder), PLAIN, LOW)
        found = PROOFS["agreement"].prove(sorted(PROOFS["agreement"].plan(of)), of)
        assert {evidence.outcome for evidence in found.values()} == {Outcome.INCONCLUSIVE} and len(found) == 2
        assert all("does not come to its end" in evidence.reason for evidence in found.values())
