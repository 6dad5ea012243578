"""What variants give on inputs that nobody recorded: who is blamed, and what is too far apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from exporter.base.errors import ChildTimedOut
from exporter.base.files import sha256_bytes, sha256_file
from exporter.base.numbers.norms import SMALLEST_SCALE
from exporter.base.tensors import Array, load, save
from exporter.engines.cost import beyond
from exporter.engines.job import EngineAnswer, EngineJob
from exporter.process.workers import Setting
from exporter.prove.judge.judge import PROOFS
from exporter.prove.proofs.kinds.agreement import _judge, furthest
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Spec
from tests.prove.proofs.subjects import LOW, PLAIN, SOURCE, artifact, cases, claim, harness, spec, subject

PIR, PDMODEL = Run("pir", "fp32", "jit_load"), Run("pdmodel", "fp32", "jit_load")
RIGHT = [np.random.default_rng(seed).standard_normal((4, 5)).astype("float32") for seed in range(4)]
LABELS = [np.arange(8) + seed for seed in range(4)]
CRASHED = Evidence(Outcome.CRASHED, "it died", stage="run")
ENDED = Evidence(Outcome.MATCH, elements=1)
NAMES = ("batch=4", "batch=4#2", "batch=4:large")


def given(values: Sequence[Array], name: str = "y") -> dict[str, list[dict[str, Array]]]:
    """Two draws at each of two sizes."""
    return {"batch=4": [{name: values[0]}, {name: values[1]}], "batch=2": [{name: values[2]}, {name: values[3]}]}


def turned(*which: int) -> dict[str, list[dict[str, Array]]]:
    return given([-value if at in which else value for at, value in enumerate(RIGHT)])


def graph_of(path: Path, kind: str) -> None:
    """One node as a real file."""
    values = [helper.make_tensor_value_info(name, 1, ["batch", 3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node(kind, ["x"], ["y"])], "g", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(model.SerializeToString())


def proven(folder: Path, **more: Any) -> Mapping[Claim, Evidence]:
    """The proof of two variants that ended in order on what was recorded."""
    ended = {claim("process", run): ENDED for run in (PLAIN, LOW)}
    of = harness(subject(artifact(), artifact("int8"), folder=folder, **more), PLAIN, LOW, evidence=ended)
    return PROOFS["agreement"].prove(sorted(PROOFS["agreement"].plan(of)), of)


def of_two_variants(folder: Path) -> Mapping[Claim, Evidence]:
    """Prove the agreement of the source, a plain variant and a low one, each of whose runs ended well."""
    runs = (SOURCE, PLAIN, LOW)
    ended = {claim("process", run): ENDED for run in runs}
    of = harness(subject(artifact(), artifact("int8"), folder=folder), *runs, evidence=ended)
    return PROOFS["agreement"].prove(sorted(PROOFS["agreement"].plan(of)), of)


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
        two = {**answers, Run("pir", "fp16", "jit_load"): answers[LOW]}
        assert _judge(PLAIN, two).outcome is _judge(PIR, two).outcome is Outcome.MATCH, "the low ones have no majority"

    @pytest.mark.parametrize(("unlike", "outcome"), [(5, Outcome.MATCH), (6, Outcome.MISMATCH)])
    def test_more_than_half_of_the_others_decide(self, unlike: int, outcome: Outcome) -> None:
        others = {Run(f"f{at}", "fp32", "e"): turned(*range(4)) if at < unlike else given(RIGHT) for at in range(11)}
        assert _judge(PLAIN, {PLAIN: given(RIGHT), **others}).outcome is outcome

    def test_the_furthest_of_those_that_agree_is_told(self) -> None:
        near, far = (given([value * np.float32(1 - share) for value in RIGHT]) for share in (0.01, 0.05))
        found = _judge(PLAIN, {PLAIN: given(RIGHT), PIR: near, PDMODEL: far})
        assert found.metrics == {"apart": pytest.approx(0.05, rel=1e-5)}

    def test_what_gave_nothing_has_no_vote(self) -> None:
        assert _judge(PLAIN, {PLAIN: CRASHED, PIR: given(RIGHT)}) == CRASHED
        alone = _judge(PLAIN, {PLAIN: given(RIGHT), PIR: CRASHED})
        assert (alone.outcome, alone.stage) == (Outcome.INCONCLUSIVE, "run")
        assert _judge(PLAIN, {SOURCE: CRASHED, PLAIN: given(RIGHT), PIR: given(RIGHT)}).outcome is Outcome.MATCH

    def test_outputs_without_a_number_prove_nothing(self) -> None:
        empty = given([np.zeros((0, 5), "float32")] * 4)
        assert _judge(PLAIN, {PLAIN: empty, PIR: empty}).outcome is Outcome.VACUOUS


class TestTooFar:
    def test_one_size_is_enough_and_one_draw_of_it_is_not(self) -> None:
        assert furthest(given(RIGHT), turned(2, 3), PLAIN, PIR)[0].endswith("(batch=2, in every draw) from")
        assert furthest(given(RIGHT), turned(0, 3), PLAIN, PIR) == ("", 0.0)

    def test_a_size_may_have_a_single_draw(self) -> None:
        right, wrong = ({"batch=4": [{"y": value}]} for value in (RIGHT[0], -RIGHT[0]))
        assert furthest(right, right, PLAIN, PIR) == ("", 0.0)
        assert furthest(right, wrong, PLAIN, PIR)[0].endswith("(batch=4, in every draw) from")

    def test_in_low_precision_all_draws_are_needed(self) -> None:
        assert furthest(given(RIGHT), turned(2, 3), LOW, PLAIN) == ("", 0.0)
        three, wrong = ({**of, "batch=9": of["batch=2"]} for of in (given(RIGHT), turned(2, 3)))
        assert furthest(three, wrong, LOW, PLAIN)[0], "in half of the sizes"
        assert furthest(given(RIGHT), turned(0, 1, 2, 3), LOW, PLAIN)[0]
        assert furthest(given(RIGHT), turned(0, 1, 2, 3), PLAIN, LOW)[0]

    @pytest.mark.parametrize(("run", "share", "far"), [(PIR, 0.09, False), (PIR, 0.105, True), (LOW, 0.45, False)])
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
        for other in (given([value[:2] for value in RIGHT]), given(RIGHT, "z")):
            said, apart = furthest(given(RIGHT), other, PLAIN, PIR)
            assert "differs in shape" in said and apart == np.inf
        for dtype in ("int64", "float64", "float16"):
            other = given([np.asarray(value).astype(dtype) for value in RIGHT])
            said, apart = furthest(given(RIGHT), other, PLAIN, PIR)
            assert said == f"'y' is float32, not {dtype} as in" and apart == np.inf
            assert (furthest(given(RIGHT), other, PLAIN, LOW)[1] < np.inf) == (dtype != "int64")

    def test_infinities_belong_where_they_are(self) -> None:
        half = [np.where(np.arange(5) < 2, -np.inf, value).astype("float32") for value in RIGHT]
        assert furthest(given(half), given(half), PLAIN, PIR) == ("", 0.0)
        assert furthest(given(half), given(RIGHT), PLAIN, PIR)[1] == 1.0
        other = [np.where(np.isinf(value), -value, value) for value in half]
        assert furthest(given(half), given(other), PLAIN, PIR)[1] == 1.0, "of another sign"
        none = [np.full_like(value, np.nan) for value in RIGHT]
        assert furthest(given(none), given(none), PLAIN, PIR) == ("", 0.0)
        assert furthest(given(none), given(RIGHT), PLAIN, PIR)[1] == 1.0, "no number in one alone"
        assert furthest(given(RIGHT), given(none), PLAIN, PIR)[1] == 1.0

    @pytest.mark.parametrize(("strange", "apart"), [(20, 0.1), (21, 1.0)])
    def test_one_number_of_ten_may_be_infinite_in_one_alone(self, strange: int, apart: float) -> None:
        wide = [np.linspace(1, 2, 200, dtype="float32")] * 4
        holed = [np.where(np.arange(200) < strange, np.inf, value).astype("float32") for value in wide]
        said, most = furthest(given(holed), given(wide), PLAIN, PIR)
        assert bool(said) == (apart > 0.1) and most == apart

    def test_one_infinity_hides_nothing_of_the_rest(self) -> None:
        wrong = [-value for value in RIGHT]
        for value in wrong:
            value[0, 0] = np.nan
        said, apart = furthest(given(wrong), given(RIGHT), PLAIN, PIR)
        assert "differs by 200% of its size" in said and apart == pytest.approx(2.0)

    def test_what_is_too_small_to_be_kept_by_every_engine_is_zero(self) -> None:
        nothing = [np.zeros_like(value) for value in RIGHT]
        assert furthest(given(nothing), given(nothing), PLAIN, PIR) == ("", 0.0)
        assert furthest(given(nothing), given(RIGHT), PLAIN, PIR)[1] == 1.0
        for size, apart in ((SMALLEST_SCALE, 1.0), (SMALLEST_SCALE / 2, 0.0)):
            small = [np.full_like(value, size) for value in RIGHT]
            assert furthest(given(small), given(nothing), PLAIN, PIR)[1] == apart


class TestThePlan:
    def test_every_variant_that_has_another_or_the_source_beside_it(self) -> None:
        both = subject(artifact(), artifact("int8"))
        own = {claim("agreement", run, engine="") for run in (PLAIN, LOW)}
        assert PROOFS["agreement"].plan(harness(both)) == own
        assert PROOFS["agreement"].plan(harness(both, PLAIN, LOW)) == own
        assert PROOFS["agreement"].plan(harness(both, SOURCE, PLAIN)) == {claim("agreement", PLAIN, engine="")}
        assert PROOFS["agreement"].plan(harness(both, PLAIN)) == frozenset()
        assert PROOFS["agreement"].plan(harness(replace(both, only="batch=4"))) == frozenset()


def double(x: Array) -> Array:
    return x * np.float32(2)


class TestTheRuns:
    """What runs is real in the first two; what else an engine may do is put in its place."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """Two variants that are alike, and goldens of nothing but zeros, on which a sign makes no difference."""
        rows = {"batch=4": 4, "batch=4#2": 4, "batch=6": 6}
        inputs = {f"{name}/input/x": np.zeros((count, 3), "float32") for name, count in rows.items()}
        save(tmp_path / "golden.safetensors", inputs)
        for variant in ("onnx", "onnx-int8"):
            graph_of(tmp_path / variant / "model.onnx", "Identity")
        return tmp_path

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
        """Instead of engines, one that doubles: who was asked, and for which inputs."""
        heard: list[tuple[str, bytes]] = []

        def run(job: EngineJob, into: Path, _: Setting) -> EngineAnswer:
            heard.append((job.engine, job.golden.read_bytes()))
            for at, case in enumerate(job.cases):
                save(into / f"{at}.safetensors", {"y": double(load(job.golden)[f"{case.recorded}/input/x"])})
            return EngineAnswer()

        monkeypatch.setattr(EngineJob, "run", run)
        return heard

    def test_files_that_differ_only_where_nobody_recorded_are_told_apart(self, folder: Path) -> None:
        graph_of(folder / "onnx-int8/model.onnx", "Neg")
        found = proven(folder)
        assert {(str(one), evidence.outcome) for one, evidence in found.items()} == {
            ("onnx/agreement", Outcome.MISMATCH),
            ("onnx-int8/agreement", Outcome.MISMATCH),
        }
        assert all(evidence.provider == "fresh inputs" for evidence in found.values())

    def test_what_an_engine_refuses_has_crashed(self, folder: Path) -> None:
        (folder / "onnx/model.onnx").write_bytes(b"no model")
        plain = proven(folder)[claim("agreement", PLAIN, engine="")]
        assert (plain.outcome, plain.stage) == (Outcome.CRASHED, "run")
        assert plain.reason.startswith("onnxruntime refuses inputs drawn anew: ")

    def test_the_same_everywhere_is_a_match(self, folder: Path, asked: list[tuple[str, bytes]]) -> None:
        found = proven(folder)
        assert {(one.outcome, one.reason) for one in found.values()} == {(Outcome.MATCH, "")}
        assert len(found) == len(asked) == 2

    @pytest.mark.parametrize(
        ("wrong", "outcome"),
        [("every", Outcome.MISMATCH), ("first", Outcome.MATCH), ("another size", Outcome.MATCH)],
    )
    def test_what_is_wrong_at_one_size_alone_is_drawn_again_there(
        self, wrong: str, outcome: Outcome, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By chance one draw is apart, at a tie of two labels; not the next one of that size, too. One of two is so."""
        drawn: list[dict[str, Array]] = []

        def run(job: EngineJob, into: Path, _: Setting) -> EngineAnswer:
            inputs = load(job.golden)
            turn, place = divmod(len(drawn), 3)  # of eager, of the file, and of the one that is always right
            drawn.append(inputs)
            for at, case in enumerate(job.cases):
                x = inputs[f"{case.recorded}/input/x"]
                size = 2 if turn == 1 and wrong == "another size" else 3
                flips = len(x) == size and place == 1 and (turn == 0 or wrong != "first")
                save(into / f"{at}.safetensors", {"y": -x if flips else x})
            return EngineAnswer()

        monkeypatch.setattr(EngineJob, "run", run)
        judged = of_two_variants(folder)
        found = judged[claim("agreement", PLAIN, engine="")]
        assert found.outcome is outcome and len(drawn) == 6
        assert judged[claim("agreement", LOW, engine="")].outcome is Outcome.MATCH
        assert ("(batch=3, in every draw) from eager" in found.reason) == (wrong == "every")
        assert not {value.tobytes() for value in drawn[0].values()} & {value.tobytes() for value in drawn[3].values()}

    @pytest.mark.parametrize("ends", [0, 1])
    def test_what_gave_nothing_in_one_of_two_turns_gave_nothing(
        self, ends: int, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        turns: list[str] = []

        def run(job: EngineJob, into: Path, _: Setting) -> EngineAnswer:
            turn, place = divmod(len(turns), 3)
            turns.append(job.engine)
            if place == 1 and turn == ends:
                raise ChildTimedOut("it used up its limit")
            for at, case in enumerate(job.cases):
                x = load(job.golden)[f"{case.recorded}/input/x"]
                save(into / f"{at}.safetensors", {"y": -x if place == 2 else x})
            return EngineAnswer()

        monkeypatch.setattr(EngineJob, "run", run)
        judged = of_two_variants(folder)
        assert len(turns) == 6 and judged[claim("agreement", LOW, engine="")].outcome is Outcome.MISMATCH
        assert judged[claim("agreement", PLAIN, engine="")].outcome is Outcome.CRASHED

    def test_the_draws_may_cost_three_times_what_the_recorded_cases_did(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        heard: list[object] = []

        def run(_: EngineJob, _into: Path, setting: Setting) -> EngineAnswer:
            heard.append(setting.limits.beyond)
            raise ChildTimedOut("nothing runs here")

        monkeypatch.setattr(EngineJob, "run", run)
        costs = {f"{run.variant}/{run.engine}": {"seconds": 100.0, "megabytes": 512.0} for run in (PLAIN, LOW)}
        proven(folder, costs=costs)
        assert heard == [beyond(costs["onnx/onnxruntime"], 3)] * 2

    def test_how_a_child_ended_is_told(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def end(*_: object) -> EngineAnswer:
            raise ChildTimedOut("the child used up its limit of 9 s", where="while running")

        monkeypatch.setattr(EngineJob, "run", end)
        plain = proven(folder)[claim("agreement", PLAIN, engine="")]
        assert (plain.outcome, plain.stage) == (Outcome.CRASHED, "run")
        assert plain.reason.startswith("onnxruntime on inputs drawn anew: ") and "used up its limit" in plain.reason

    def test_other_files_other_goldens_and_another_seed_of_the_spec_give_other_inputs(
        self, folder: Path, asked: list[tuple[str, bytes]]
    ) -> None:
        def drawn(of: Spec | None = None) -> bytes:
            proven(folder, of=of)
            return asked[-1][1]

        seen = [drawn()]
        assert drawn() == seen[0]
        seen.append(drawn(spec(seed=9)))
        graph_of(folder / "onnx-int8/model.onnx", "Neg")
        seen.append(drawn())
        (folder / "onnx-int8/model.onnx").unlink()
        seen.append(drawn())
        golden = load(folder / "golden.safetensors")
        save(folder / "golden.safetensors", {name: value + 1 for name, value in golden.items()})
        assert len({*seen, drawn()}) == 5

    def test_a_file_whose_hash_is_known_is_not_read_once_more_and_counts_alike(
        self, folder: Path, asked: list[tuple[str, bytes]]
    ) -> None:
        def drawn(**hashes: str) -> bytes:
            proven(folder, hashes={f"{variant}/model.onnx": sha256 for variant, sha256 in hashes.items()})
            return asked[-1][1]

        seen = drawn()
        assert drawn(onnx=sha256_file(folder / "onnx/model.onnx")) == seen
        assert drawn(onnx=sha256_bytes(b"another file")) != seen

    def test_nothing_of_a_case_that_probes_is_drawn(self, folder: Path, asked: list[tuple[str, bytes]]) -> None:
        given = spec(inputs={"x": {"dtype": "float32", "shape": ["batch", 3], "values": "x.npy"}})
        golden = load(folder / "golden.safetensors")
        save(folder / "golden.safetensors", {**golden, "batch=4:large/input/x": np.full((4, 3), 1e9, "float32")})
        proven(folder, of=given, recorded=tuple(replace(cases()[0], name=name, recorded=name) for name in NAMES))
        (folder / "drawn.safetensors").write_bytes(asked[0][1])
        assert max(value.max() for value in load(folder / "drawn.safetensors").values()) <= 1.0

    def test_where_nothing_was_recorded_at_the_typical_sizes_nothing_is_drawn(self, folder: Path) -> None:
        other = tuple(replace(case, dims={"batch": 6}) for case in cases())
        for recorded in (other, (replace(cases()[0], name="batch=4:large"),)):
            found = proven(folder, recorded=recorded)
            assert {(one.outcome, one.stage) for one in found.values()} == {(Outcome.MISSING, "plan")}
            assert len(found) == 2

    def test_where_the_spec_allows_nothing_but_what_is_recorded_it_is_said(
        self, folder: Path, asked: list[tuple[str, bytes]]
    ) -> None:
        """A sound model does not fail for it: what differs nowhere that its spec allows is the same."""
        inputs = {"x": {"dtype": "int64", "shape": [2], "values": "x.npy"}}
        save(folder / "golden.safetensors", {f"{name}/input/x": np.zeros(2, "int64") for name in NAMES})
        one = tuple(replace(case, dims={}) for case in cases()[:1])
        found = proven(folder, of=spec(inputs=inputs, dims={}), recorded=one).values()
        assert {evidence.outcome for evidence in found} == {Outcome.MATCH} and len(asked) == 2
        assert all("every input that was drawn is a recorded one" in evidence.reason for evidence in found)

    def test_one_new_draw_is_enough(
        self, folder: Path, asked: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        draws = [{"x": np.full((4, 3), value, "float32")} for value in (0, 1)]
        monkeypatch.setattr("exporter.prove.proofs.kinds.agreement.fresh_inputs", lambda *_, **__: {"batch=4": draws})
        assert {evidence.reason for evidence in proven(folder).values()} == {""} and len(asked) == 2

    def test_of_a_variant_the_first_engine_that_ended_in_order_runs_and_no_other(
        self, folder: Path, asked: list[tuple[str, bytes]]
    ) -> None:
        """So that a program without end costs its limit once; of the source only eager tells what is right."""
        runs = [
            SOURCE,
            replace(SOURCE, engine="static"),
            PLAIN,
            replace(PLAIN, engine="two"),
            replace(PLAIN, engine="3"),
        ]
        evidence = dict.fromkeys((claim("process", run) for run in (*runs, LOW)), ENDED)
        evidence |= dict.fromkeys((claim("process", run) for run in (SOURCE, PLAIN)), CRASHED)
        of = harness(subject(artifact(), artifact("int8"), folder=folder), *runs, LOW, evidence=evidence)
        assert PROOFS["agreement"].prove([], of) == {} and asked == []
        found = PROOFS["agreement"].prove(sorted(PROOFS["agreement"].plan(of)), of)
        assert [engine for engine, _ in asked] == ["two", "onnxruntime"]
        assert {evidence.outcome for evidence in found.values()} == {Outcome.MATCH}

    def test_where_none_ended_in_order_nothing_runs(self, folder: Path, asked: list[tuple[str, bytes]]) -> None:
        of = harness(subject(artifact(), artifact("int8"), folder=folder), PLAIN, LOW)
        found = PROOFS["agreement"].prove(sorted(PROOFS["agreement"].plan(of)), of)
        assert {(one.outcome, one.stage) for one in found.values()} == {(Outcome.INCONCLUSIVE, "run")}
        assert all("does not come to its end" in one.reason for one in found.values()) and asked == []
