"""What whoever makes a bundle says in it, sealed anew in full: a receiver holds it against what a release writes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from exporter.base.errors import ExitCode
from exporter.bundle.open import open_bundle
from exporter.bundle.script import verify_script
from exporter.export.lower.stored import stored_digests
from tests import faults
from tests.command import STORED, Done, exporter, refused
from tests.conftest import working_folder
from tests.described import small

TWO = """
import paddle

class Two(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        paddle.seed(0)
        self.first, self.other = paddle.nn.Linear(4, 3), paddle.nn.Linear(4, 5)

    def forward(self, x):
        return self.first(x), self.other(x)
"""
GOLDEN, ONNX = "golden.safetensors", "onnx/model.onnx"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of two heads in one format, so that no other file contradicts a wrong one."""
    work = working_folder(tmp_path_factory.mktemp("receiver") / "work")
    (work / "two.py").write_text(TWO)
    keys = {"outputs": ["a", "b"], "formats": ["onnx"], "engines": ["onnxruntime"], "weights": "factory"}
    (work / "two.yaml").write_text(json.dumps(small("two:Two", **keys)))
    done = exporter("release", "two.yaml", "--quiet", cwd=work)
    assert done.code == 0, done.out + done.err
    return work / "artifacts/small/1"


@pytest.fixture
def bundle(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "bundle"))


def changed(bundle: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest, and seal every document anew."""
    content = json.loads((bundle / "manifest.json").read_bytes())
    change(content)
    faults.reseal(bundle, content)


def verified(bundle: Path, *options: str) -> Done:
    return exporter("verify", bundle, *options, "--quiet", cwd=bundle.parent)


def reported(bundle: Path, *without: str) -> None:
    """Take the claims on cases of these names out of the report."""
    path = bundle / "parity.json"
    report = json.loads(path.read_bytes())
    report["checks"] = [check for check in report["checks"] if not check["case"].startswith(without or ("none",))]
    path.write_text(json.dumps({**report, "planned": len(report["checks"])}))


def flipped(bundle: Path, content: dict[str, Any]) -> None:
    """Flip the sign of the first head, and record the digests of what the file holds now."""
    names = [weight.name for weight in faults.float_weights(bundle / ONNX)]
    faults.scale_tensor(bundle / ONNX, names.index("linear_0.w_0"), -1.0)
    variant = content["variants"]["onnx"]
    variant["weights"] = stored_digests(tuple(variant["files"]), bundle)
    content["parameters"] |= {own: variant["weights"][name] for name, own in variant["origins"].items()}


def test_a_sound_one_passes_and_tells_what_nobody_vouches_for(bundle: Path) -> None:
    done = exporter("verify", bundle, "--json", "--quiet", cwd=bundle.parent)
    assert done.code == 0 and done.json()["verdict"] == "passed", done.out + done.err
    (said,) = (note for note in done.json()["notes"] if "nobody vouches for" in note)
    assert said.startswith("it is not signed") and "--trust KEYS" in said and "--digest" in said
    digest = open_bundle(bundle).manifest.digest
    assert "nobody vouches" not in verified(bundle, "--digest", digest).out


def test_its_own_waivers_excuse_nothing(bundle: Path) -> None:
    def waived(content: dict[str, Any]) -> None:
        flipped(bundle, content)
        claims = ("onnx/onnxruntime/*/a", "onnx/onnxruntime/pooled_bias/a")
        waivers = [{"claim": claim, "reason": "known and accepted", "until": "2999-01-01"} for claim in claims]
        content["waivers"] = content["spec"]["waivers"] = waivers
        report = json.loads((bundle / "parity.json").read_bytes())
        next(check for check in report["checks"] if check["output"] == "a")["outcome"] = "waived"
        (bundle / "parity.json").write_text(json.dumps({**report, "verdict": "passed_with_waivers"}))
        content["verdict"] = "passed_with_waivers"

    changed(bundle, waived)
    done = verified(bundle)
    assert done.code == ExitCode.REFUSED and "nobody accepted it here" in done.out, done.out
    assert verified(bundle, "--accept-waivers").code == 0


LARGE = "batch=2:large"


def _without(bundle: Path, content: dict[str, Any], why: str) -> None:
    content["cases"] = [case for case in content["cases"] if case["name"] != LARGE]
    content["left_out"][LARGE] = why
    tensors = load_file(bundle / GOLDEN)
    save_file({key: value for key, value in tensors.items() if not key.startswith(f"{LARGE}/")}, bundle / GOLDEN)
    reported(bundle, LARGE)


@pytest.mark.parametrize("why", ["it tells nothing", "eager is not finite", "eager refuses it: out of memory"])
def test_a_case_that_is_left_out_on_its_word_is_missing(bundle: Path, why: str) -> None:
    changed(bundle, lambda content: _without(bundle, content, why))
    done = verified(bundle)
    assert done.code == ExitCode.REFUSED and why in done.out and "--accept-waivers takes it" in done.out
    assert verified(bundle, "--accept-waivers").code == 0


def test_a_case_that_is_left_out_for_what_goldens_do_not_show_is_refused(bundle: Path) -> None:
    changed(bundle, lambda content: _without(bundle, content, "its inputs are those of batch=2"))
    refused(verified(bundle), ExitCode.BUNDLE, LARGE, "has others")


def test_a_case_that_tells_something_is_not_left_out(bundle: Path) -> None:
    def left_out(content: dict[str, Any]) -> None:
        content["untelling"] = [*content["untelling"], *(one for one in content["cases"] if one["name"] == LARGE)]
        content["cases"] = [case for case in content["cases"] if case["name"] != LARGE]
        content["left_out"][LARGE] = "the largest value (0.0e+00) is zero or near the denormals"
        reported(bundle, LARGE)

    changed(bundle, left_out)
    refused(verified(bundle), ExitCode.BUNDLE, LARGE, "tells as much as in any other")


@pytest.mark.parametrize("kept", [1, 3])
def test_of_an_output_that_fits_no_sample_is_kept(bundle: Path, kept: int) -> None:
    def sample(content: dict[str, Any]) -> None:
        tensors = load_file(bundle / GOLDEN)
        places = np.arange(kept, dtype="int64")
        for kind in ("eager", "truth"):
            tensors[f"batch=2/{kind}/a"] = tensors[f"batch=2/{kind}/a"].ravel()[places]
        save_file({**tensors, "batch=2/index/a": places}, bundle / GOLDEN)

    changed(bundle, sample)
    refused(verified(bundle), ExitCode.BUNDLE, "batch=2/eager/a", f"{kept} of 6 elements", "keeps all of them")


def _made_by_another(bundle: Path, module: str) -> None:
    """State that an exporter wrote the bundle of which this module is another one."""
    content = json.loads((bundle / "provenance.intoto.json").read_bytes())
    every = content["predicate"]["buildDefinition"]["resolvedDependencies"]
    own = next(entry for entry in every if entry["name"] == "paddle-exporter")
    own["annotations"]["modules"][module] = "0" * 64
    (bundle / "provenance.intoto.json").write_text(json.dumps(content))


def test_another_verify_py_is_refused(bundle: Path) -> None:
    (bundle / "verify.py").write_text("print('passed')\n")
    changed(bundle, lambda content: None)
    refused(verified(bundle), ExitCode.BUNDLE, "verify.py", "is not the verify.py that exporter")
    _made_by_another(bundle, "exporter/bundle/verify_template.py")
    changed(bundle, lambda content: None)
    done = verified(bundle)
    assert done.code == 0 and "verify.py could not be compared" in done.out, "one of another exporter is told"


@pytest.mark.parametrize("name", ["verify.py", "report.html", "parity.json"])
def test_what_every_release_writes_is_there(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    changed(bundle, lambda content: None)
    refused(verified(bundle), ExitCode.BUNDLE, f"lists no {name}, which every release writes")


def test_a_script_that_no_release_of_its_spec_writes_is_refused(bundle: Path) -> None:
    (bundle / "infer.py").write_text("print('answer')\n")
    changed(bundle, lambda content: None)
    refused(verified(bundle), ExitCode.BUNDLE, "lists infer.py, and no release of its spec writes one")


@pytest.mark.parametrize("module", ["", "exporter/prove/harness.py"])
def test_its_report_tells_of_every_claim_that_is_planned(bundle: Path, module: str) -> None:
    """Of another exporter's plan what every release compares."""
    reported(bundle, LARGE)
    if module:
        _made_by_another(bundle, module)
    changed(bundle, lambda content: None)
    done = verified(bundle)
    assert done.code == ExitCode.REFUSED
    assert "its parity.json tells nothing of onnx/onnxruntime/batch=2:large/a, which its spec plans" in done.out


def _stated(content: dict[str, Any], **stated: Any) -> None:
    content["outputs"][0] |= stated


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: _stated(content, shape=[-1, 7]), "gives 'a' as float32[2, 3]"),
        (lambda content: _stated(content, shape=[2, 3]), "gives 'a' as float32[1, 3]"),
        (lambda content: _stated(content, shape=[-1]), "the manifest states float32[-1]"),
        (lambda content: _stated(content, dtype="float64"), "the manifest states float64"),
        (lambda content: content.update(version="2"), "its version is '2'"),
        (lambda content: content["provenance"].update(model="two:Other"), "tells of 'two:Other'"),
        (lambda content: content.update(cases=content["cases"][1:]), "every probing case is made from it"),
    ],
)
def test_a_statement_that_the_goldens_or_the_spec_contradict_is_refused(
    bundle: Path, change: Callable[[Any], object], said: str
) -> None:
    changed(bundle, change)
    refused(verified(bundle), ExitCode.BUNDLE, said)


def test_a_size_that_is_known_is_not_left_open(tmp_path: Path) -> None:
    bundle = Path(shutil.copytree(STORED, tmp_path / "bundle"))
    changed(bundle, lambda content: _stated(content, shape=[-1, -1]))
    refused(verified(bundle), ExitCode.BUNDLE, "has 5 at axis 1 of 'scores', as its file and all do")


@pytest.mark.parametrize("documents", [None, {}])
def test_documents_do_not_vanish(bundle: Path, documents: object) -> None:
    for name in ("provenance.intoto.json", "bom.cdx.json"):
        (bundle / name).unlink()
    content = json.loads((bundle / "manifest.json").read_bytes())
    faults.reseal(bundle, {**content, "documents": None} if documents is None else content)
    said = "names no provenance.intoto.json" if documents is None else "does not list it"
    refused(verified(bundle), ExitCode.BUNDLE, said)


def test_no_earlier_schema_is_read(bundle: Path) -> None:
    changed(bundle, lambda content: content.update(schema=0))
    refused(verified(bundle), ExitCode.BUNDLE, "schema 0")


@pytest.mark.parametrize(
    ("case", "said"),
    [("batch=2:large", "is not what 'large' stands for"), ("batch=2:reversed", "is not what 'reversed' stands for")],
)
def test_the_inputs_of_a_probing_case_are_what_its_name_says(bundle: Path, case: str, said: str) -> None:
    tensors = load_file(bundle / GOLDEN)
    save_file({**tensors, f"{case}/input/x": tensors["batch=2#2/input/x"]}, bundle / GOLDEN)
    changed(bundle, lambda content: None)
    refused(verified(bundle), ExitCode.BUNDLE, case, said)


def test_verify_py_of_the_sound_one_is_ours(sound: Path) -> None:
    assert (sound / "verify.py").read_text() == verify_script()
