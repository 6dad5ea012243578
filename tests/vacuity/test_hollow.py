"""Passes that were hollow, each through the command line: what was missing, narrowed, waived or believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from exporter.base.errors import ExitCode, ModelError
from exporter.bundle.manifest import Content
from exporter.bundle.write import Hashed, seal
from exporter.export.lower.stored import stored_digests
from tests import faults
from tests.command import Done, environment, exporter, refused
from tests.described import small

MISTREATING = Path(__file__).parent / "mistreating"


def changed(digits: Path, to: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of the bundle whose manifest says something else, sealed again."""
    copy = faults.copied(digits, to / "copy")
    path = copy / "manifest.json"
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content))
    faults.reseal(copy)
    return copy


def verify(bundle: Path, *more: str, cwd: Path | None = None, **variables: str) -> Done:
    """Verify it away from its source, unless `cwd` says where."""
    return exporter("verify", bundle, "--json", *more, cwd=cwd or bundle.parent, env=environment(**variables))


def wrong(done: Done) -> list[dict[str, Any]]:
    return [one for one in done.json()["checks"] if one["outcome"] != "match"]


class TestTheEngine:
    @pytest.mark.parametrize("way", ["dies at its end", "leaves at its end"])
    def test_one_that_ends_after_its_last_case_has_not_ended_in_order(
        self, digits: Path, tmp_path: Path, way: str
    ) -> None:
        variables = {"PYTHONPATH": str(MISTREATING), "EXPORTER_TEST_MISTREAT": way}
        done = verify(digits, "--engines", "onnxruntime", cwd=tmp_path, **variables)
        assert done.code == ExitCode.REFUSED and done.json()["verdict"] == "failed"
        assert {(one["kind"], one["outcome"]) for one in wrong(done)} == {("process", "crashed")}

    def test_one_that_computes_in_other_settings_than_it_was_asked_for(self, digits: Path, tmp_path: Path) -> None:
        variables = {"PYTHONPATH": str(MISTREATING), "EXPORTER_TEST_MISTREAT": "other threads"}
        done = verify(digits, "--engines", "onnxruntime", cwd=tmp_path, **variables)
        assert done.code == ExitCode.REFUSED and done.json()["verdict"] == "failed"
        (process,) = (check for check in wrong(done) if check["kind"] == "process")
        assert "threads 1 was asked for and 7 is in effect" in process["reason"]

    def test_one_that_reads_no_artifact_proves_nothing(self, released: Path, digits: Path) -> None:
        done = exporter("verify", digits, "--engines", "eager", "--source", ".", cwd=released)
        refused(done, ExitCode.USAGE, "read no artifact")
        done = exporter("verify", digits, "--engines", "eager", cwd=released)
        refused(done, ExitCode.USAGE, "has nothing to run here", "--source DIR")


class TestWhatTheSpecAsksForAndTheBundleLacks:
    def test_a_variant(self, digits: Path, tmp_path: Path) -> None:
        def drop(content: dict[str, Any]) -> None:
            del content["variants"]["pdmodel"]

        copy = changed(digits, tmp_path, drop)
        for path in (copy / "pdmodel").iterdir():
            path.unlink()
        (copy / "pdmodel").rmdir()
        faults.reseal(copy)
        done = verify(copy)
        lacking = wrong(done)
        assert done.code == ExitCode.REFUSED and done.json()["verdict"] == "failed"
        assert {one["format"] for one in lacking} == {"pdmodel"} and {one["outcome"] for one in lacking} == {"missing"}
        assert {one["kind"] for one in lacking} >= {"outputs", "weights", "interface", "process"}

    def test_cases(self, digits: Path, tmp_path: Path) -> None:
        copy = changed(digits, tmp_path, lambda content: content.update(cases=content["cases"][:2]))
        done = verify(copy, "--engines", "onnxruntime")
        lacking = wrong(done)
        assert done.code == ExitCode.REFUSED and {one["outcome"] for one in lacking} == {"missing"}
        assert {"batch=1", "batch=64", "batch=8:large"} <= {one["case"] for one in lacking}

    def test_cases_that_the_spec_promises_cannot_be_left_out(self, digits: Path, tmp_path: Path) -> None:
        def leave_out(content: dict[str, Any]) -> None:
            content["left_out"] |= {one["name"]: "it tells nothing" for one in content["cases"][2:]}
            content["cases"] = content["cases"][:2]

        copy = changed(digits, tmp_path, leave_out)
        promised = {"batch=1", "batch=33", "batch=64"}
        for options, missing in (((), {*promised, "batch=8:large"}), (("--accept-waivers",), promised)):
            done = verify(copy, "--engines", "onnxruntime", *options)
            assert done.code == ExitCode.REFUSED
            cases = {one["case"] for one in wrong(done)}
            assert missing <= cases and (not options or cases == promised)

    def test_the_digests_of_the_parameters(self, digits: Path, tmp_path: Path) -> None:
        done = verify(changed(digits, tmp_path, lambda c: c.update(parameters={})), "--engines", "onnxruntime")
        assert done.code == ExitCode.REFUSED
        assert [(one["kind"], one["outcome"]) for one in wrong(done)] == [("weights", "missing")]

    def test_a_spec_that_is_not_that_of_the_bundle(self, digits: Path, tmp_path: Path) -> None:
        """Whoever makes the spec smaller as well leaves a variant that nobody asked for."""
        copy = changed(digits, tmp_path, lambda content: content["spec"].update(formats=["onnx"]))
        refused(exporter("verify", copy, cwd=tmp_path), ExitCode.BUNDLE, "variants", "not those of the spec")


class TestTheReleaseItself:
    def test_its_verdict_was_failed(self, digits: Path, tmp_path: Path) -> None:
        done = verify(changed(digits, tmp_path, lambda c: c.update(verdict="failed")), "--engines", "onnxruntime")
        assert done.code == ExitCode.REFUSED and done.json()["verdict"] == "failed" and not wrong(done)
        assert done.json()["against"] == ["the verdict of its release was failed"]

    @pytest.mark.parametrize(
        "change",
        [
            lambda report: report.update(checks=[]),
            lambda report: report.update(verdict="failed"),
            lambda report: report["checks"][0].update(outcome="mismatch"),
            lambda report: report.clear(),
        ],
        ids=["emptied", "another verdict", "a mismatch", "nothing at all"],
    )
    def test_its_report_is_another(self, digits: Path, tmp_path: Path, change: Callable[[Any], object]) -> None:
        copy = faults.copied(digits, tmp_path / "copy")
        report = json.loads((copy / "parity.json").read_bytes())
        change(report)
        (copy / "parity.json").write_text(json.dumps(report))
        faults.reseal(copy)
        done = verify(copy, "--engines", "onnxruntime")
        assert done.code == ExitCode.REFUSED and "its parity.json is not the report" in done.json()["against"][0]


class TestTheWords:
    @pytest.mark.parametrize("narrow", [("--engines", "onnxruntime"), ("--without", "sublayers,interface")])
    def test_what_was_narrowed_and_holds_is_partial(
        self, digits: Path, tmp_path: Path, narrow: tuple[str, ...]
    ) -> None:
        done = verify(digits, *narrow, cwd=tmp_path)
        assert done.code == 0 and done.json()["verdict"] == "partial", done.out
        assert done.json()["notes"][0].startswith("partial: ")

    def test_one_case_alone_is_partial(self, digits: Path, tmp_path: Path) -> None:
        done = verify(digits, "--engines", "onnxruntime", "--case", "batch=8:large", cwd=tmp_path)
        assert done.json()["verdict"] in ("partial", "inconclusive", "failed")

    def test_a_waiver_of_everything_does_not_pass_for_zeros(self, digits: Path, tmp_path: Path) -> None:
        waiver = {"claim": "*", "reason": "all is well, they say", "until": "2099-12-31"}

        def waive(content: dict[str, Any]) -> None:
            content["waivers"] = content["spec"]["waivers"] = [waiver]

        copy = changed(digits, tmp_path, waive)
        for place in range(len(faults.float_weights(copy / "onnx/model.onnx"))):
            faults.zero_tensor(copy / "onnx/model.onnx", place)
        faults.reseal(copy)
        done = verify(copy, "--engines", "onnxruntime", "--accept-waivers")
        assert done.code == ExitCode.REFUSED and done.json()["verdict"] == "failed"
        assert done.json()["against"] == ["no output of onnx was shown to be right"]

    def test_with_waivers_it_is_another_word_and_an_expired_one_is_told(self, digits: Path, tmp_path: Path) -> None:
        reason = "known and accepted by all"
        waivers = [
            {"claim": "onnx/weights", "reason": reason, "until": "2099-12-31"},
            {"claim": "onnx/*", "reason": reason, "until": "2020-01-31"},
        ]

        def waive(content: dict[str, Any]) -> None:
            content["waivers"] = content["spec"]["waivers"] = waivers
            content["parameters"]["linear.bias"] = "0" * 64

        done = verify(changed(digits, tmp_path, waive), "--accept-waivers", cwd=tmp_path)
        report = done.json()
        waived = {one["kind"] for one in report["checks"] if one["outcome"] == "waived"}
        assert waived == {"weights"} and report["verdict"] == "failed", "the other variants' weights are not waived"
        assert any("onnx/* has expired on 2020-01-31" in note for note in report["notes"])


def recorded(digits: Path, to: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy with other goldens, sealed again."""
    copy = faults.copied(digits, to / "copy")
    tensors = load_file(copy / "golden.safetensors")
    change(tensors)
    save_file(tensors, copy / "golden.safetensors")
    faults.reseal(copy)
    return copy


def facts(content: dict[str, Any], **keys: Any) -> None:
    for case in content["cases"]:
        for output in case["outputs"].values():
            output.update(keys)


class TestFactsThatCanBeComputedAgain:
    def test_eager_goldens_that_are_constants(self, digits: Path, tmp_path: Path) -> None:
        def sevens(tensors: dict[str, Any]) -> None:
            tensors |= {name: np.full_like(value, 7) for name, value in tensors.items() if "/eager/" in name}

        done = verify(recorded(digits, tmp_path, sevens), "--engines", "onnxruntime")
        assert done.code == ExitCode.REFUSED and done.json()["verdict"] != "passed"
        assert {one["kind"] for one in wrong(done)} >= {"outputs"}

    def test_a_scale_that_makes_every_error_small(self, digits: Path, tmp_path: Path) -> None:
        """The pooled errors are measured in it; a bias of the last layer shows in nothing else."""

        def big(content: dict[str, Any]) -> None:
            facts(content, scale_max=1e9, scale_l2=1e9)

        sound = verify(changed(digits, tmp_path, big), "--engines", "onnxruntime")
        assert sound.json()["verdict"] == "partial"
        ratios = {one["combined_ratio"] for one in sound.json()["checks"] if one["kind"] == "pooled_bias"}
        before = verify(digits, "--engines", "onnxruntime", cwd=tmp_path).json()["checks"]
        assert ratios == {one["combined_ratio"] for one in before if one["kind"] == "pooled_bias"} != {0.0}

    def test_seeds_that_are_all_one(self, digits: Path, tmp_path: Path) -> None:
        """Cases of one seed are related: none would be a stranger to another, and nothing pooled."""

        def zero(content: dict[str, Any]) -> None:
            for case in content["cases"]:
                case["seed"] = 0

        done = exporter("verify", changed(digits, tmp_path, zero), cwd=tmp_path)
        refused(done, ExitCode.BUNDLE, "another seed or size than the spec plans")

    def test_floats_that_are_called_exact(self, digits: Path, tmp_path: Path) -> None:
        def exact(content: dict[str, Any]) -> None:
            facts(content, exact=True, scale_max=0.0, scale_l2=0.0, e_ref_max=0.0, e_ref_l2=0.0)

        copy = changed(digits, tmp_path, exact)
        weights = len(faults.float_weights(copy / "onnx/model.onnx"))
        faults.scale_tensor(copy / "onnx/model.onnx", weights - 1, 1.0001)
        content = json.loads((copy / "manifest.json").read_bytes())
        one = content["variants"]["onnx"]
        one["weights"] = stored_digests(one["files"], copy)
        (copy / "manifest.json").write_text(json.dumps(content))
        faults.reseal(copy)
        done = verify(copy, "--engines", "onnxruntime")
        assert {one["kind"] for one in wrong(done)} >= {"outputs"} and done.code == ExitCode.REFUSED

    def test_inputs_of_another_size(self, digits: Path, tmp_path: Path) -> None:
        def cut(tensors: dict[str, Any]) -> None:
            tensors["batch=64/input/image"] = tensors["batch=64/input/image"][:1]

        done = exporter("verify", recorded(digits, tmp_path, cut), cwd=tmp_path)
        refused(done, ExitCode.BUNDLE, "batch=64")


class TestWhatIsReadIsWhatIsRun:
    @pytest.mark.parametrize("name", ["pir/other.pdiparams", "pir/model.pdmodel", "onnx/weights.bin"])
    def test_a_file_beside_those_of_the_format(self, digits: Path, tmp_path: Path, name: str) -> None:
        copy = faults.copied(digits, tmp_path / "copy")
        (copy / name).write_bytes((copy / "pir/model.pdiparams").read_bytes())
        faults.reseal(copy)
        refused(exporter("verify", copy, cwd=tmp_path), ExitCode.BUNDLE, name, "not just the files of its format")

    def test_parameters_under_another_name_first(self, digits: Path, tmp_path: Path) -> None:
        """The proof by content read the first that was listed, engines open the one beside the program."""

        def list_it(content: dict[str, Any]) -> None:
            content["variants"]["pir"]["files"].insert(0, "pir/a.pdiparams")

        copy = changed(digits, tmp_path, list_it)
        (copy / "pir/a.pdiparams").write_bytes((copy / "pir/model.pdiparams").read_bytes())
        faults.zero_tensor(copy / "pir/model.pdiparams")
        faults.reseal(copy)
        refused(exporter("verify", copy, cwd=tmp_path), ExitCode.BUNDLE, "pir/a.pdiparams")

    def test_stored_tensors_overwritten_by_other_trained_ones(self, digits: Path, tmp_path: Path) -> None:
        """The digests of the files are made right again; each is one of the layer's tensors, at another's place."""
        copy = faults.copied(digits, tmp_path / "copy")
        faults.swap_tensors(copy / "pir/model.pdiparams")
        content = json.loads((copy / "manifest.json").read_bytes())
        one = content["variants"]["pir"]
        one["weights"] = stored_digests(one["files"], copy)
        (copy / "manifest.json").write_text(json.dumps(content))
        faults.reseal(copy)
        done = verify(copy, "--engines", "jit_load")
        (found,) = (one for one in wrong(done) if one["kind"] == "weights")
        assert found["format"] == "pir" and "2 stored tensors are not what was trained" in found["reason"]


class TestTheCodeOfTheModel:
    @pytest.mark.parametrize("how", ["changed", "put back", "put back with its folder"])
    def test_what_is_sealed_is_what_was_verified(self, tmp_path: Path, how: str) -> None:
        draft = tmp_path / "draft"
        (draft / "pir").mkdir(parents=True)
        (draft / "pir/model.json").write_text("{}")
        proven = Hashed.of(draft)
        aside = draft / "pir/model.json"
        if how == "changed":
            aside.write_text("[]")
        elif how == "put back":
            aside.rename(tmp_path / "aside")
            aside.write_text("[]")
            (tmp_path / "aside").replace(aside)
        else:
            (draft / "pir").rename(tmp_path / "aside")
            (draft / "pir").mkdir()
            (draft / "pir").rmdir()
            (tmp_path / "aside").rename(draft / "pir")
        with pytest.raises(ModelError, match="not the file that was verified"):
            seal(draft, tmp_path / "final", Content.model_construct(), proven=proven, runnable=False)
        assert not (tmp_path / "final").exists()

    def test_float64_is_held_to_float64(self, workplace: Path) -> None:
        """An error of 5e-7 is rounding in float32, and a wrong number here."""
        spec = small("models.wide:Wide", weights="factory")
        spec["inputs"]["x"]["dtype"] = "float64"
        (workplace / "small.yaml").write_text(json.dumps(spec))
        done = exporter("release", "small.yaml", "--json", cwd=workplace)
        assert done.code == 0, done.out + done.err
        copy = faults.copied(workplace / "artifacts/small/1", workplace / "copy")
        tensors = load_file(copy / "golden.safetensors")
        for name, value in tensors.items():
            if "/truth/" in name or "/eager/" in name:
                tensors[name] = value * (1 + 5e-7)
        save_file(tensors, copy / "golden.safetensors")
        faults.reseal(copy)
        done = verify(copy, cwd=workplace)
        assert done.code == ExitCode.REFUSED and ("outputs", "mismatch") in {
            (one["kind"], one["outcome"]) for one in wrong(done)
        }


class TestWhatNobodyAskedFor:
    def test_weights_that_nobody_trained(self, workplace: Path) -> None:
        spec = small("models.sound:mlp")
        (workplace / "untrained.yaml").write_text(json.dumps(spec))
        done = exporter("release", "untrained.yaml", cwd=workplace)
        refused(done, ExitCode.USAGE, "which weights are exported", "weights: factory")
        done = exporter("release", "untrained.yaml", "--json", "--set", "weights=factory", cwd=workplace)
        assert done.code == 0, done.out + done.err
        report = json.loads((workplace / done.json()["bundle"] / "parity.json").read_bytes())
        assert any("not trained" in note for note in report["notes"])

    def test_both_at_once(self, workplace: Path) -> None:
        done = exporter("release", "specs/digits.yaml", "--set", "weights=factory", cwd=workplace)
        refused(done, ExitCode.USAGE, "weights: factory asks for untrained weights")

    @pytest.mark.parametrize(
        ("budget", "said"),
        [
            ("min_speedup={engine: onnxruntim, ratio: 2}", ("none of the spec's engines", "'onnxruntime'?")),
            ("min_speedup={engine: jit_load, ratio: 2}", ("none of the spec's engines",)),
            ("min_speedup={engine: paddle_inference, ratio: 2}", ("runs no int8 variant",)),
            ("min_speedup={engine: onnxruntime, ratio: 2, over: onnxruntim}", ("unknown engine", "'onnxruntime'?")),
        ],
    )
    def test_a_speed_that_nothing_would_measure(self, workplace: Path, budget: str, said: tuple[str, ...]) -> None:
        override = f"precisions.int8.budget.{budget}"
        done = exporter("release", "specs/digits-int8.yaml", "--set", override, cwd=workplace)
        refused(done, ExitCode.USAGE, *said)

    def test_a_metric_that_nothing_would_measure(self, workplace: Path) -> None:
        overrides = ("inputs.image.values=normal", "precisions.int8.noise=true")
        more = [part for text in overrides for part in ("--set", text)]
        done = exporter("release", "specs/digits-int8.yaml", *more, cwd=workplace)
        refused(done, ExitCode.USAGE, "a metric is promised")
