"""What is judged of a bundle: taken from the manifest where nothing else says it, and refused where plans differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from exporter.base.errors import BundleError, UsageError
from exporter.base.tensors import Array, TensorSpec, save
from exporter.bundle import subject
from exporter.bundle.manifest import CaseFacts, Content, Manifest, parse, sealed
from exporter.bundle.open import Bundle, recorded_spec
from exporter.bundle.provenance import provenance
from exporter.bundle.subject import (
    REPORT,
    about,
    exported_in,
    objections,
    refuse_contradiction,
    subject_in,
    subject_of,
    unfit,
    unreported,
    without_values,
)
from exporter.engines.cost import by_size
from exporter.process.job import to_json
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.finish import OutputFacts, describe
from exporter.prove.goldens.truth import measured
from exporter.prove.goldens.values import probing
from exporter.prove.proofs.base import Subject
from exporter.prove.verdict.claim import Claim
from exporter.spec.read import validate
from tests.export.lower.passes.models import model

SPEC: dict[str, Any] = {
    "name": "n",
    "version": "7",
    "model": "a:b",
    "weights": "factory",
    "inputs": {
        "x": {"dtype": "float32", "shape": ["batch", 3]},
        "mask": {"dtype": "float32", "shape": ["batch", "seq"]},
    },
    "dims": {"batch": {"min": 1, "typical": 4, "max": 6}, "seq": {"min": 2, "typical": 2, "max": 2}},
    "formats": ["onnx"],
}
WEIGHTS = np.random.default_rng(9).standard_normal((3, 5))
PLANNED = {case.name: case for case in plan_cases(validate(SPEC, "test"))}
PROBING, PROMISED = "batch=4,seq=2:zeros", "batch=6,seq=2"
#: The cases of schema 1 are planned for every bundle; `padded` is one of them, the strange whole numbers are not.
assert {case.kind for case in PLANNED.values()} == {
    *("", "zeros", "large", "tiny", "one_hot", "padded", "equal_rows", "reversed", "one_row")
}


class Made:
    """A bundle's manifest and goldens, for a test to change before it is read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tensors, cases = folder, dict[str, Array](), []
        self.draw(SPEC, "float32")
        for case in PLANNED.values():
            rows = self.tensors[f"{case.name}/input/x"]
            exact = rows.astype("float64") @ WEIGHTS
            eager = exact.astype("float32")
            self.tensors |= {f"{case.name}/eager/y": eager, f"{case.name}/truth/y": exact}
            outputs = {"y": to_json(OutputFacts, describe(eager, measured([eager], exact, "float64"), ""))}
            cases.append({"name": case.name, "dims": dict(case.dims), "seed": case.seed, "outputs": outputs})
        inputs = [{"name": name, "dtype": "float32", "shape": one["shape"]} for name, one in SPEC["inputs"].items()]
        variant = {"format": "onnx", "precision": "fp32", "files": ["onnx/model.onnx"], "inputs": ["x", "mask"]}
        variant |= {"outputs": ["y"], "native_outputs": ["y"], "details": {"opset": 17}, "weights": {}, "origins": {}}
        self.content: dict[str, Any] = {
            **{"schema": 1, "name": "n", "version": "7", "inputs": inputs, "budget": 4.0, "cases": cases},
            **{"outputs": [{"name": "y", "dtype": "float32", "shape": ["batch", 5]}], "parameters": {"w": "0" * 64}},
            "dims": {name: {**dim, "multiple_of": 1} for name, dim in SPEC["dims"].items()},
            **{"variants": {"onnx": variant}, "spec": SPEC, "waivers": [], "not_reproducible": []},
            "provenance": {"machine": {"abilities": ["avx2", "fma"]}},
            "verdict": "passed",
            "files": {},
        }

    def draw(self, described: dict[str, Any], mask: str) -> None:
        """Draw the inputs of the planned cases; the mask is all ones until a probing case changes it."""
        spec, typical = validate(described, "test"), dict[str, Array]()
        for case in PLANNED.values():
            rows = np.random.default_rng(case.seed).standard_normal((case.dims["batch"], 3)).astype("float32")
            inputs = {"x": rows, "mask": np.ones((case.dims["batch"], 2), mask)}
            typical = typical or inputs
            inputs = probing(spec, case, typical) if case.kind else inputs
            self.tensors |= {f"{case.name}/input/{name}": value for name, value in inputs.items()}

    def case(self, name: str) -> dict[str, Any]:
        return next(one for one in self.content["cases"] if one["name"] == name)

    def drop(self, name: str) -> None:
        self.content["cases"] = [one for one in self.content["cases"] if one["name"] != name]

    @property
    def manifest(self) -> Manifest:
        return parse(sealed(self.content), "test")

    def subject(self, **more: Any) -> Subject:
        golden = self.folder / "golden.safetensors"
        save(golden, self.tensors)
        manifest = self.manifest
        more = {"device": "cpu", **more}
        return subject_in(manifest, recorded_spec(manifest), (self.folder, golden), **more)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_all_that_the_proofs_need_is_taken_over(made: Made) -> None:
    found = made.subject(device="gpu:1", checkpoint=Path("w.safetensors"), no_source="it is not here")
    assert (found.folder, found.golden) == (made.folder, made.folder / "golden.safetensors")
    assert found.outputs == (TensorSpec("y", "float32", ("batch", 5)),)
    assert list(found.artifacts) == ["onnx"] and found.artifacts["onnx"].details == {"opset": 17}
    assert dict(found.parameters) == {"w": "0" * 64} and found.spec.version == "7"
    assert [case.name for case in found.recorded] == list(PLANNED)
    assert (found.missing, found.only, found.passed) == ((), "", True)
    assert (found.checkpoint, found.no_source, found.device) == (Path("w.safetensors"), "it is not here", "gpu:1")
    assert found.released_on == ("avx2", "fma")
    made.content |= {"verdict": "unverified", "provenance": {}}
    other = made.subject()
    assert (other.passed, other.released_on, other.checkpoint, other.no_source) == (False, (), None, "")


def test_of_a_sealed_bundle_the_folder_and_its_goldens_are_read(made: Made) -> None:
    found = made.subject()
    bundle = Bundle(made.folder, made.manifest)
    spec = recorded_spec(bundle.manifest)
    again = subject_of(bundle, spec, "gpu", Path("w"), "no source", PROMISED)
    assert (again.folder, again.golden, again.device) == (found.folder, found.golden, "gpu")
    assert (again.checkpoint, again.no_source, again.only) == (Path("w"), "no source", PROMISED)
    plain = subject_of(bundle, spec, "cpu")
    assert (plain.checkpoint, plain.no_source, plain.only) == (None, "", "")


class TestWhatARunTookAtTheRelease:
    def test_it_is_taken_over_for_a_sealed_bundle(self, made: Made) -> None:
        costs = {"onnx/onnxruntime": {"seconds": 16.0, "megabytes": 512}}
        made.content["provenance"] = {"costs": costs}
        assert made.subject().costs == costs == made.subject(no_source="it is not here").costs

    def test_where_it_is_not_recorded_the_size_of_the_files_stands_for_it(self, made: Made) -> None:
        engines = recorded_spec(made.manifest).engines
        assert made.subject().costs == {f"onnx/{engine}": by_size(0) for engine in engines}
        (made.folder / "onnx").mkdir()
        (made.folder / "onnx/model.onnx").write_bytes(bytes(20 << 20))
        assert made.subject().costs == {f"onnx/{engine}": by_size(20) for engine in engines}
        assert by_size(20)["seconds"] >= 5 > 1 == by_size(0)["seconds"]
        (made.folder / "onnx/model.onnx").write_bytes(bytes(16 << 20))
        assert made.subject().costs == {f"onnx/{engine}": by_size(16.01) for engine in engines}
        assert by_size(16.01) != by_size(16), "the goldens count as well"

    def test_what_its_own_source_verifies_first_has_no_such_limit(self, made: Made) -> None:
        made.content["verdict"] = "unverified"
        assert made.subject().costs == {}
        assert made.subject(no_source="it is not here").costs

    def test_what_is_not_sealed_yet_has_no_such_limit(self, made: Made) -> None:
        places = made.folder, made.subject().golden
        draft = Content.model_validate({key: value for key, value in made.content.items() if key != "files"})
        assert subject_in(draft, recorded_spec(made.manifest), places, "cpu", no_source="it is not here").costs == {}


class TestWhatIsPlannedAndNotRecorded:
    def test_a_promised_case_is_missing_whatever_is_said_of_it(self, made: Made) -> None:
        made.drop(PROMISED)
        made.content["left_out"] = {PROMISED: "it tells nothing"}
        assert made.subject().missing == made.subject(takes_its_word=True).missing == (PROMISED,)

    def test_a_probing_case_may_be_left_out_with_a_reason_and_not_without(self, made: Made) -> None:
        made.drop(PROBING)
        assert made.subject().missing == (PROBING,)
        made.content["left_out"] = {PROBING: "eager refuses it: no such value"}
        subject = made.subject()
        assert subject.missing == (PROBING,) and dict(subject.unshown) == made.content["left_out"], "by its word alone"
        assert made.subject(takes_its_word=True).missing == ()
        made.content["left_out"] = {PROBING: "its inputs are those of batch=6,seq=2"}
        with pytest.raises(BundleError, match="and has others"):
            made.subject()

    def test_all_are_named_in_the_order_of_the_plan(self, made: Made) -> None:
        made.drop(PROBING)
        made.drop(PROMISED)
        assert made.subject().missing == (PROMISED, PROBING)

    def test_of_one_case_nothing_else_is_missing(self, made: Made) -> None:
        made.drop(PROMISED)
        found = made.subject(case="batch=4,seq=2:again")
        assert (found.only, found.missing) == ("batch=4,seq=2", ())
        assert len(found.recorded) == len(PLANNED) - 1, "the others serve as controls"

    def test_a_case_that_was_not_recorded_is_refused(self, made: Made) -> None:
        with pytest.raises(UsageError, match="no case 'batch=9' was recorded") as caught:
            made.subject(case="batch=9")
        assert PROMISED in caught.value.hint


def test_the_cases_of_every_kind_that_the_spec_plans_are_missed(made: Made) -> None:
    """Of whole numbers more is planned than of real ones."""
    ids = {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(0,40)"}
    spec = {**SPEC, "inputs": {"x": SPEC["inputs"]["x"], "mask": ids}}
    made.content |= {"spec": spec, "inputs": [{**made.content["inputs"][0]}, {**made.content["inputs"][1]}]}
    made.content["inputs"][1]["dtype"] = "int64"
    made.draw(spec, "int64")
    later = [case.name for case in plan_cases(validate(spec, "test")) if case.name not in PLANNED]
    assert later and made.subject().missing == tuple(later)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda case: case.update(seed=case["seed"] + 1), "has another seed or size than the spec plans"),
        (lambda case: case.update(dims={**case["dims"], "batch": 5}), "has another seed or size than the spec plans"),
        (lambda case: case.update(name="batch=9"), "case 'batch=9' is none that the spec plans"),
    ],
)
def test_a_case_that_is_not_the_plan_s_is_refused(
    made: Made, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    change(made.case(PROMISED))
    with pytest.raises(BundleError, match=said) as caught:
        made.subject()
    assert caught.value.where == "golden.safetensors" and "fresh" in caught.value.hint


def test_a_case_that_a_search_found_is_in_no_plan_and_needs_none(made: Made) -> None:
    first = made.case("batch=4,seq=2")
    made.content["cases"].append({**first, "name": "batch=4,seq=2:search-3", "seed": 99})
    for key in ("input/x", "input/mask", "eager/y", "truth/y"):
        made.tensors[f"batch=4,seq=2:search-3/{key}"] = made.tensors[f"batch=4,seq=2/{key}"] * 2
    assert made.subject().recorded[-1].name == "batch=4,seq=2:search-3"
    made.case("batch=4,seq=2:search-3")["dims"] = {"batch": 4}
    for width in (2, 1, 0):  # no size is that of a dim that the case has not
        made.tensors["batch=4,seq=2:search-3/input/mask"] = np.ones((4, width), "float32")
        with pytest.raises(BundleError, match="input 'mask' of case 'batch=4,seq=2:search-3' is not of the size"):
            made.subject()


@pytest.mark.parametrize(("name", "shape"), [("x", (6, 4)), ("x", (5, 3)), ("mask", (6, 3)), ("mask", (6,))])
def test_recorded_inputs_have_the_sizes_of_their_case(made: Made, name: str, shape: tuple[int, ...]) -> None:
    made.tensors[f"{PROMISED}/input/{name}"] = np.ones(shape, "float32")
    wanted = [6, 3] if name == "x" else [6, 2]
    with pytest.raises(BundleError) as caught:
        made.subject()
    assert caught.value.what == f"input '{name}' of case '{PROMISED}' is not of the size {wanted}"
    assert caught.value.where == str(made.folder / "golden.safetensors")


def test_an_input_that_was_not_recorded_is_refused(made: Made) -> None:
    del made.tensors[f"{PROMISED}/input/mask"]
    with pytest.raises(BundleError, match="input 'mask' of case"):
        made.subject()


class TestTheBundlesOwnReport:
    def objected(self, made: Made, report: object, verdict: str = "passed") -> tuple[str, ...]:
        made.content["verdict"] = verdict
        text = report if isinstance(report, bytes) else json.dumps(report).encode()
        (made.folder / REPORT).write_bytes(text)
        return objections(Bundle(made.folder, made.manifest))

    def report(self, *outcomes: str, **more: Any) -> dict[str, Any]:
        checks = [{"outcome": outcome} for outcome in outcomes]
        return {"verdict": "passed", "planned": len(outcomes), "checks": checks, **more}

    def test_one_that_agrees_says_nothing_against_it(self, made: Made) -> None:
        assert self.objected(made, self.report("match", "match")) == ()
        waived = self.report("match", "waived", verdict="passed_with_waivers")
        assert self.objected(made, waived, "passed_with_waivers") == ()

    def test_one_with_waivers_holds_a_waived_claim(self, made: Made) -> None:
        (said,) = self.objected(made, self.report("match", verdict="passed_with_waivers"), "passed_with_waivers")
        assert said.endswith(": it holds 0 waived claims, and the manifest says passed_with_waivers")

    def test_of_a_report_a_million_values_are_read(self, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
        """Forty thousand claims have as many."""
        read: list[tuple[Path, int]] = []
        monkeypatch.setattr("exporter.bundle.subject.read_json", lambda *asked: read.append(asked) or {"checks": []})
        assert self.objected(made, b"{}")
        assert read == [(made.folder / REPORT, 1_000_000)]

    def test_one_that_nobody_verified_has_none(self, made: Made) -> None:
        assert self.objected(made, b"", "unverified") == ()

    @pytest.mark.parametrize("verdict", ["failed", "inconclusive"])
    def test_a_release_that_did_not_pass_speaks_against_it(self, made: Made, verdict: str) -> None:
        said = self.objected(made, self.report("match", verdict=verdict), verdict)
        assert said == (f"the verdict of its release was {verdict}",)

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ({"verdict": "passed_with_waivers"}, "it says passed_with_waivers, and the manifest passed"),
            ({"verdict": "failed"}, "it says failed, and the manifest passed"),
            ({"planned": 3}, "3 claims were planned, and it holds 2"),
            ({"planned": 1}, "1 claims were planned, and it holds 2"),
            ({"planned": 0, "checks": []}, "0 claims were planned, and it holds 0"),
            ({"checks": [{"outcome": "match"}, {"outcome": "mismatch"}]}, "it holds a claim that ended in mismatch"),
            ({"checks": [{"outcome": "missing"}, {"outcome": "match"}]}, "it holds a claim that ended in missing"),
            ({"checks": [{"outcome": "waived"}] * 2}, "it holds 2 waived claims, and the manifest says passed"),
            ({"checks": [{}, {}]}, "it cannot be read (KeyError: 'outcome')"),
            ({"checks": None}, "it cannot be read (TypeError: "),
        ],
    )
    def test_one_that_does_not_is_told(self, made: Made, more: dict[str, Any], said: str) -> None:
        (told,) = self.objected(made, {**self.report("match", "match"), **more})
        assert told.startswith(f"its parity.json is not the report of such a release: {said}")

    def test_one_that_is_damaged_or_gone_is_told(self, made: Made) -> None:
        assert "cannot be read (BundleError: " in self.objected(made, b"{")[0]
        (made.folder / REPORT).unlink()
        assert "cannot be read (BundleError: " in objections(Bundle(made.folder, made.manifest))[0]

    @pytest.mark.parametrize(
        ("verdict", "outcome", "said"),
        [
            ("passed", "match", ""),
            ("passed", "mismatch", "its parity.json is not the report of such a release: it holds a claim that ended"),
            ("failed", "mismatch", "its verdict is failed"),
            ("unverified", "match", "its verdict is unverified"),
        ],
    )
    def test_only_what_the_gate_let_through_is_fit(self, made: Made, verdict: str, outcome: str, said: str) -> None:
        """A bundle that says itself that it is none contradicts nothing."""
        self.objected(made, self.report(outcome, verdict=verdict), verdict)
        bundle = Bundle(made.folder, made.manifest)
        assert unfit(bundle).startswith(said) and bool(unfit(bundle)) == bool(said)
        if verdict == "passed" and said:
            with pytest.raises(BundleError) as caught:
                refuse_contradiction(bundle)
            assert caught.value.what == unfit(bundle) and caught.value.where == str(made.folder)
        else:
            refuse_contradiction(bundle)


def test_what_a_report_says_of_a_bundle(made: Made) -> None:
    made.content |= {"notes": ["rows depend"], "left_out": {PROBING: "it tells nothing"}}
    made.case(PROMISED)["outputs"]["y"]["method"] = "a spread"
    content: Content = made.manifest
    told = about(content, ["first of all"], "abc", "gpu:0")
    assert (told.name, told.version, told.digest, told.methods) == ("n", "7", "abc", ("a spread", "float64"))
    left_out = f"the probing case {PROBING} tells nothing and was left out: it tells nothing"
    assert told.notes == ("first of all", "rows depend", left_out)
    assert told.unlike == "they were computed on gpu:0, and the goldens on the CPU"
    made.content["provenance"] = provenance(recorded_spec(made.manifest), None)
    plain = about(made.manifest)
    assert (plain.digest, plain.unlike) == ("", "") and plain.notes == ("rows depend", left_out)


class TestWhatItsReportLacks:
    OUTPUT = Claim("onnx", "fp32", "onnxruntime", PROMISED, "y")
    NOT_RECORDED = replace(OUTPUT, case="batch=9")
    OF_A_LAYER = replace(OUTPUT, kind="sublayers")

    @pytest.mark.parametrize(
        ("reported", "same_code", "lacking"),
        [
            ((OUTPUT, NOT_RECORDED, OF_A_LAYER), True, None),
            ((OUTPUT, NOT_RECORDED), True, OF_A_LAYER),
            ((OUTPUT, OF_A_LAYER), True, NOT_RECORDED),
            ((), True, OUTPUT),
            ((OUTPUT,), False, None),
            ((NOT_RECORDED, OF_A_LAYER), False, OUTPUT),
        ],
    )
    @pytest.mark.parametrize("verdict", ["passed", "unverified"])
    def test_the_first_planned_claim_that_it_lacks_is_named(
        self,
        made: Made,
        monkeypatch: pytest.MonkeyPatch,
        reported: tuple[Claim, ...],
        same_code: bool,
        lacking: Claim | None,
        verdict: str,
    ) -> None:
        """Other code may plan other claims: it is asked for the outputs of what was recorded."""
        monkeypatch.setattr(subject, "same_code", lambda folder, *_: same_code and folder == made.folder)
        made.content["verdict"] = verdict
        (made.folder / REPORT).write_text(json.dumps({"checks": [asdict(claim) for claim in reported]}))
        found = unreported(Bundle(made.folder, made.manifest), [self.OUTPUT, self.NOT_RECORDED, self.OF_A_LAYER])
        said = (f"its parity.json tells nothing of {lacking}, which its spec plans",)
        assert found == (said if lacking and verdict == "passed" else ())


class TestWhatHangsOnNoValue:
    """It is said of outputs, and believed as far as every file shows it."""

    def content(self, made: Made, *, constants: list[str], sized: list[str]) -> Content:
        number = numpy_helper.from_array(np.ones(2, "float32"), "number")
        nodes = [
            helper.make_node("Relu", ["x"], ["y"]),
            helper.make_node("Shape", ["x"], ["size"]),
            helper.make_node("Identity", ["number"], ["fixed"]),
        ]
        proto = onnx.ModelProto.FromString(model(nodes, {"x": [None, 3]}, ["y", "size", "fixed"]))
        proto.graph.initializer.append(number)
        (made.folder / "onnx").mkdir()
        onnx.save(proto, made.folder / "onnx/model.onnx")
        outputs = [{"name": name, "dtype": "float32", "shape": [2]} for name in ("size", "fixed")]
        made.content |= {"constants": constants, "sized": sized, "outputs": [*made.content["outputs"], *outputs]}
        names = ["y", "size", "fixed"]
        made.content["variants"]["onnx"] |= {"outputs": names, "native_outputs": names}
        for case in made.content["cases"]:
            case["outputs"] = dict.fromkeys(names, case["outputs"]["y"])
        return made.manifest

    def test_an_output_that_an_input_reaches_is_none(self, made: Made) -> None:
        content = self.content(made, constants=["y", "size", "fixed"], sized=["y", "size"])
        assert without_values(content, made.folder) == (("fixed",), ("size",))
        exported = exported_in(content, made.folder)
        assert (exported.constants, exported.sized) == (("fixed",), ("size",))
        assert exported.program == made.folder / "onnx/model.onnx" and exported.parameters == {"w": "0" * 64}
        assert exported.outputs == ["y", "size", "fixed"]

    def test_one_of_both_is_enough_to_look(self, made: Made) -> None:
        assert without_values(self.content(made, constants=[], sized=["fixed", "y"]), made.folder) == ((), ("fixed",))
        made.content |= {"constants": ["fixed"], "sized": []}
        assert without_values(made.manifest, made.folder) == (("fixed",), ())

    def test_where_nothing_is_said_no_file_is_read(self, made: Made) -> None:
        assert without_values(made.manifest, made.folder / "gone") == ((), ())

    def test_of_a_case_only_what_is_shown_stays_marked(self, made: Made) -> None:
        told = made.case(PROMISED)["outputs"]["y"]
        outputs = {name: {**told, "constant": name != "c", "sized": name != "c"} for name in ("a", "b", "c")}
        case = CaseFacts.model_validate({**made.case(PROMISED), "outputs": outputs})
        shown = subject._shown_in(case, ["a", "c"], ["b", "c"]).outputs
        marks = {name: (output.constant, output.sized) for name, output in shown.items()}
        assert marks == {"a": (True, False), "b": (False, True), "c": (False, False)}


def test_goldens_of_other_outputs_than_the_bundle_s_are_refused(made: Made) -> None:
    made.content["outputs"][0]["shape"] = ["batch", 6]
    with pytest.raises(BundleError):
        made.subject()


def test_of_a_draft_and_of_one_case_no_word_is_weighed(made: Made) -> None:
    made.drop(PROBING)
    made.content["left_out"] = {PROBING: "eager refuses it: no such value"}
    places = made.folder, made.subject().golden
    draft = Content.model_validate({key: value for key, value in made.content.items() if key != "files"})
    found = subject_in(draft, recorded_spec(made.manifest), places, "cpu")
    assert (found.missing, dict(found.unshown)) == ((), {})
    assert dict(made.subject(case=PROMISED).unshown) == {} != dict(made.subject().unshown)
