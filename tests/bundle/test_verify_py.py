"""verify.py of a bundle, as an operator runs it: one copy of a real bundle, one change each."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.sample import places_of
from exporter.bundle.script import verify_script
from tests import faults
from tests.command import ROOT
from tests.sampling import some


def run(bundle: Path, *options: str, python: str = sys.executable, **environment: str) -> tuple[int, str]:
    command = [python, str(bundle / "verify.py"), *options]
    env = {"PATH": "/usr/bin:/bin", **environment}
    done = subprocess.run(command, capture_output=True, text=True, cwd=bundle.parent, env=env, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def blocked(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """An environment in which some packages are not installed, as far as Python can see."""

    def block(*names: str) -> dict[str, str]:
        folder = tmp_path / "blocked"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(
            "import sys\n"
            "class Absent:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            f"        if name.partition('.')[0] in {names!r}:\n"
            "            raise ModuleNotFoundError(name)\n"
            "import importlib.util\n"
            "known = importlib.util.find_spec\n"
            "def find_spec(name, package=None):\n"
            f"    return None if name in {names!r} else known(name, package)\n"
            "importlib.util.find_spec = find_spec\n"
            "sys.meta_path.insert(0, Absent())\n"
        )
        return {"PYTHONPATH": str(folder)}

    return block


def damaged(bundle: Path, to: Path, change: Callable[[Path], object]) -> Path:
    copy = faults.copied(bundle, to)
    change(copy)
    return copy


def edit_manifest(bundle: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = bundle / "manifest.json"
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content))
    faults.reseal(bundle)


def test_a_sound_bundle_passes_in_every_engine(bundle: Path) -> None:
    before = sorted(bundle.rglob("*"))
    code, said = run(bundle)
    assert code == 0, said
    passed = [line for line in said.splitlines() if line.startswith("PASSED") and "13 of 13 checks match" in line]
    assert [line.split()[1] for line in passed] == ["onnx", "pdmodel", "pir"]
    assert sorted(bundle.rglob("*")) == before, "it left something in the bundle"


def test_where_an_engine_is_lacking_it_is_no_pass_and_says_how_to_narrow(bundle: Path, blocked: Any) -> None:
    absent = blocked("paddle", "exporter", "safetensors", "onnx")
    code, said = run(bundle, **absent)
    assert code == 3 and "--only onnx leaves out what cannot be run here" in said, said
    code, said = run(bundle, "--only", "onnx", **absent)
    assert code == 0 and "verdict: partial" in said, said
    assert run(bundle, "--only", "pir", **absent)[0] == 3


def test_with_onnxruntime_only_it_says_what_it_could_not_run(bundle: Path, blocked: Any) -> None:
    code, said = run(bundle, "--json", **blocked("paddle", "exporter", "safetensors", "onnx"))
    report = json.loads(said)
    assert code == report["exit"] == 3
    assert {one["variant"]: one["outcome"] for one in report["runs"]} == {
        "onnx": "passed",
        "pdmodel": "not run",
        "pir": "not run",
    }
    assert "paddle not installed" in report["runs"][1]["reason"]
    assert {tuple(check[:3]) for check in report["runs"][0]["checks"]} == {
        (case, output, "match")
        for case in ("batch=2", "batch=2#2", "batch=1", "batch=5", "batch=2:again", "batch=5:threads=2")
        for output in ("logits", "levels")
    } | {("pooled_bias", "logits", "match")}


@pytest.mark.parametrize("absent", [("paddle", "onnxruntime"), ("numpy",)])
def test_where_nothing_can_run_it_exits_3(bundle: Path, blocked: Any, absent: tuple[str, ...]) -> None:
    code, said = run(bundle, **blocked(*absent))
    assert code == 3
    assert said.count("NOT RUN") == 3
    assert "nothing could be run here" in said


def test_an_engine_that_was_asked_for_and_is_absent_exits_3(bundle: Path, blocked: Any) -> None:
    code, said = run(bundle, "--engine", "paddle_inference", **blocked("paddle"))
    assert code == 3, said
    assert run(bundle, "--engine", "abacus")[0] == 2


def script_of(bundle: Path) -> ModuleType:
    """verify.py as a module, as if it lay in `bundle`."""
    spec = importlib.util.spec_from_loader("verify", loader=None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(bundle / "verify.py")
    sys.modules["verify"] = module
    exec(compile(verify_script(), "verify.py", "exec"), vars(module))
    return module


FILES = (
    "golden.safetensors",
    "manifest.json",
    "onnx/model.onnx",
    "pdmodel/model.pdiparams",
    "pdmodel/model.pdmodel",
    "pir/model.json",
    "pir/model.pdiparams",
    "verify.py",  # it may find its own damage: a flipped bit in a comment leaves it running
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("bit", [5, 1234, -3])
def test_a_flipped_bit_exits_5_and_names_the_file(bundle: Path, tmp_path: Path, name: str, bit: int) -> None:
    if name == "verify.py":
        bit = verify_script().encode().index(b"It needs Python 3.8") * 8
    copy = damaged(bundle, tmp_path / "copy", lambda to: faults.flip_bit(to / name, bit))
    code, said = run(copy)
    assert code == 5, said
    assert name in said and "do not use" in said


def test_every_bit_of_the_manifest_counts(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "copy")
    raw = (copy / "manifest.json").read_bytes()
    read_manifest = script_of(copy).read_manifest
    assert read_manifest(copy)[1] == []
    for bit in range(0, len(raw) * 8, 37):
        (copy / "manifest.json").write_bytes(raw)
        faults.flip_bit(copy / "manifest.json", bit)
        assert read_manifest(copy)[1], f"bit {bit} went unseen"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda to: (to / "pir/model.json").unlink(), "pir/model.json: missing"),
        (lambda to: (to / "notes.txt").write_text("x"), "notes.txt: not a file of this bundle"),
        (lambda to: (to / "manifest.json").unlink(), "manifest.json: cannot be read"),
        (lambda to: (to / "manifest.json").write_text("[" * 100_000), "manifest.json: cannot be read"),
        (lambda to: (to / "onnx/model.onnx").write_bytes(b""), "onnx/model.onnx: has 0 bytes"),
        (lambda to: edit_manifest(to, lambda m: m["cases"].clear()), "nothing could be proved"),
        (lambda to: edit_manifest(to, lambda m: m["variants"].clear()), "nothing could be proved"),
        (lambda to: edit_manifest(to, lambda m: m.pop("waivers")), "not what this script reads"),
        (lambda to: edit_manifest(to, lambda m: m["variants"]["pir"]["files"].append("/etc/passwd")), "not listed"),
    ],
)
def test_what_is_not_the_sealed_bundle_exits_5(
    bundle: Path, tmp_path: Path, change: Callable[[Path], object], word: str
) -> None:
    copy = damaged(bundle, tmp_path / "copy", change)
    code, said = run(copy, "--engine", "onnxruntime")
    assert code == 5, said
    assert word in said


def test_a_link_out_of_the_bundle_exits_5(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "copy")
    (copy / "onnx/model.onnx").rename(tmp_path / "elsewhere.onnx")
    (copy / "onnx/model.onnx").symlink_to(tmp_path / "elsewhere.onnx")
    code, said = run(copy)
    assert (code, "onnx/model.onnx: not a plain file" in said) == (5, True)


@pytest.mark.parametrize(
    "fault",
    some([faults.zero_tensor, faults.swap_tensors, faults.scale_tensor, faults.truncate], 2),
    ids=lambda one: one.__name__,
)
@pytest.mark.parametrize("name", ["onnx/model.onnx", "pir/model.pdiparams", "pdmodel/model.pdiparams"])
def test_a_fault_under_a_fresh_seal_exits_1(bundle: Path, tmp_path: Path, name: str, fault: Any) -> None:
    copy = damaged(bundle, tmp_path / "copy", lambda to: (fault(to / name), faults.reseal(to)))
    code, said = run(copy, "--engine", "onnxruntime" if "onnx" in name else "paddle_inference")
    assert code == 1, said
    failed = [line for line in said.splitlines() if line.startswith("FAILED")]
    assert [line.split()[1] for line in failed] == [name.partition("/")[0]]


def reseal_golden(bundle: Path, change: Callable[[dict[str, Any]], object]) -> None:
    from safetensors.numpy import load_file, save_file

    tensors = load_file(bundle / "golden.safetensors")
    change(tensors)
    save_file(tensors, bundle / "golden.safetensors")
    faults.reseal(bundle)


def test_what_proves_nothing_does_not_pass(bundle: Path, tmp_path: Path) -> None:
    """A budget so wide that zeros would pass; a case behind a gate."""
    wide = damaged(bundle, tmp_path / "wide", lambda to: edit_manifest(to, lambda m: m.update(budget=1e9)))
    code, said = run(wide, "--engine", "onnxruntime")
    assert (code, "would have passed" in said) == (1, True)

    def gate(manifest: dict[str, Any]) -> None:
        manifest["cases"][1]["outputs"]["logits"]["gate"] = "ill-conditioned"

    gated = damaged(bundle, tmp_path / "gated", lambda to: edit_manifest(to, gate))
    code, said = run(gated, "--engine", "onnxruntime")
    assert (code, "12 of 13 checks match" in said, "inconclusive: ill-conditioned" in said) == (1, True, True)


def test_a_waiver_holds_until_its_date_and_a_refused_release_never(bundle: Path, tmp_path: Path) -> None:
    def gate(until: str) -> Callable[[dict[str, Any]], None]:
        def change(manifest: dict[str, Any]) -> None:
            manifest["cases"][1]["outputs"]["logits"]["gate"] = "ill-conditioned"
            claim = "onnx/*/batch=2#2/logits"
            manifest["waivers"] = [{"claim": claim, "reason": "known and accepted", "until": until}]

        return change

    for until, expected in {"2999-01-01": 0, "2020-01-01": 1}.items():
        copy = damaged(bundle, tmp_path / until, lambda to, until=until: edit_manifest(to, gate(until)))
        assert run(copy, "--engine", "onnxruntime", "--accept-waivers")[0] == expected
        code, said = run(copy, "--engine", "onnxruntime")
        assert (code, "1 waivers of the bundle's own do not count" in said) == (1, True), "unless they are accepted"
    refused = damaged(bundle, tmp_path / "no", lambda to: edit_manifest(to, lambda m: m.update(verdict="failed")))
    code, said = run(refused, "--engine", "onnxruntime")
    assert (code, "the release itself was failed" in said) == (1, True)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda value: value.astype("float64"), "dtype is float32, eager's is float64"),
        (lambda value: value[:, :9], "shape is [2, 10], eager's is [2, 9]"),
    ],
)
def test_dtype_and_shape_are_part_of_the_promise(
    bundle: Path, tmp_path: Path, change: Callable[[Any], Any], word: str
) -> None:
    """Where only the manifest says so, the goldens are not those that it is about."""

    def promise(manifest: dict[str, Any]) -> None:
        facts = manifest["cases"][0]["outputs"]["logits"]
        value = change(np.zeros(facts["shape"], facts["dtype"]))
        facts.update(dtype=value.dtype.name, shape=list(value.shape))

    def record(tensors: dict[str, Any]) -> None:
        for kind in ("eager", "truth"):
            value = tensors[f"batch=2/{kind}/logits"]
            tensors[f"batch=2/{kind}/logits"] = np.ascontiguousarray(change(value) if kind == "eager" else
                                                                     change(value).astype("float64"))  # fmt: skip

    copy = damaged(bundle, tmp_path / "copy", lambda to: edit_manifest(to, promise))
    code, said = run(copy, "--engine", "onnxruntime")
    assert (code, "'logits' of case 'batch=2' is not what the manifest says of it" in said) == (5, True), said
    reseal_golden(copy, record)
    code, said = run(copy, "--engine", "onnxruntime")
    assert (code, word in said) == (1, True), said


def facts_of(manifest: dict[str, Any], **keys: Any) -> None:
    for case in manifest["cases"]:
        case["outputs"]["logits"].update(keys)


def checks_of(bundle: Path) -> dict[tuple[str, str], tuple[str, str]]:
    _, said = run(bundle, "--engine", "onnxruntime", "--json")
    return {(check[0], check[1]): (check[2], check[3]) for check in json.loads(said)["runs"][0]["checks"]}


def test_what_the_goldens_show_is_not_believed(bundle: Path, tmp_path: Path) -> None:
    """The scale, whether numbers are whole, the seeds, and an e_ref that no rounding explains."""

    def seeds(manifest: dict[str, Any]) -> None:
        for case in manifest["cases"]:
            case["seed"] = 0

    sound = checks_of(bundle)
    assert {outcome for outcome, _ in sound.values()} == {"match"}
    for number, change in enumerate((lambda m: facts_of(m, scale_max=1e9, scale_l2=1e9, exact=True), seeds)):
        lying = damaged(bundle, tmp_path / str(number), lambda to, change=change: edit_manifest(to, change))
        assert checks_of(lying) == sound
        faults.scale_tensor(lying / "onnx/model.onnx")
        faults.reseal(lying)
        found = checks_of(lying)
        assert found["pooled_bias", "logits"][0] == found["batch=1", "logits"][0] == "mismatch"
    lying = damaged(bundle, tmp_path / "e_ref", lambda to: edit_manifest(to, lambda m: facts_of(m, e_ref_max=2e-3)))
    outcome, reason = checks_of(lying)["batch=5", "logits"]
    assert outcome == "inconclusive" and "times what eager errs, which rounding does not explain" in reason


def test_goldens_of_eager_that_are_no_longer_those_of_the_truth_prove_nothing(bundle: Path, tmp_path: Path) -> None:
    def move(tensors: dict[str, Any]) -> None:
        tensors["batch=5/eager/logits"] = tensors["batch=5/eager/logits"] * np.float32(1.0001)

    lying = damaged(bundle, tmp_path / "eager", lambda to: reseal_golden(to, move))
    outcome, reason = checks_of(lying)["batch=5", "logits"]
    assert outcome == "inconclusive" and "not what was recorded" in reason


@pytest.mark.parametrize(
    ("precision", "shown", "word"),
    [
        ("fp32", "batch=1", "passed_with_waivers"),
        ("fp32", "pooled_bias", "failed"),
        ("int8", "top1", "passed_with_waivers"),
        ("int8", "snr_db", "passed_with_waivers"),
        ("int8", "batch=1", "failed"),
    ],
)
def test_where_all_that_shows_right_numbers_is_waived_nothing_passes(precision: str, shown: str, word: str) -> None:
    waiver = {"claim": "onnx/*/y", "reason": "known and accepted by all", "until": "2999-12-31"}
    manifest = {"variants": {"onnx": {"precision": precision}}, "waivers": [waiver]}
    checks = [[name, "y", "mismatch", "-"] for name in ("batch=1", "top1", "pooled_bias") if name != shown]
    found = {
        "checks": [*checks, [shown, "y", "match", ""]],
        "planned": len(checks) + 1,
        "version": "1",
        "device": "cpu",
        "said": [],
    }
    assert script_of(Path()).concluded(manifest, "onnx", "onnxruntime", found)[0] == word


def test_a_variant_is_judged_by_the_precision_that_its_spec_asks_for(bundle: Path, tmp_path: Path) -> None:
    """One that is called reduced would be judged by its noise alone."""

    def relabel(manifest: dict[str, Any]) -> None:
        manifest["variants"]["onnx"].update(precision="int8", details={"budget": {"min_snr_db": 1e-3}})

    copy = damaged(bundle, tmp_path / "copy", lambda to: edit_manifest(to, relabel))
    code, said = run(copy, "--engine", "onnxruntime")
    assert (code, "its variant onnx is none that its spec asks for" in said) == (1, True), said


def test_what_the_spec_promises_and_nothing_records_is_told(bundle: Path, tmp_path: Path) -> None:
    def drop(name: str) -> Callable[[dict[str, Any]], None]:
        return lambda m: m.update(cases=[case for case in m["cases"] if case["name"] != name])

    for name, word in {
        "batch=5": "promises batch=5, and no case records it",
        "batch=2#2": "drawn a second time",
    }.items():
        copy = damaged(bundle, tmp_path / name, lambda to, name=name: edit_manifest(to, drop(name)))
        code, said = run(copy, "--engine", "onnxruntime")
        assert (code, word in said) == (1, True), said


def test_of_a_large_output_a_sample_is_enough(bundle: Path, tmp_path: Path) -> None:
    """A wrong number in the sample is found, and outside of it, by the norms of the whole; any other sample is none."""
    index = places_of(20, 0, most=3)

    def sample(tensors: dict[str, Any]) -> None:
        tensors["batch=2/index/logits"] = index
        for kind in ("eager", "truth"):
            tensors[f"batch=2/{kind}/logits"] = tensors[f"batch=2/{kind}/logits"].reshape(-1)[index]

    def spoil(tensors: dict[str, Any]) -> None:
        sample(tensors)
        tensors["batch=2/truth/logits"][1] *= 1.001

    def drift(bundle: Path) -> None:
        reseal_golden(bundle, sample)
        edit_manifest(bundle, lambda m: m["cases"][0]["outputs"]["logits"].update(scale_l2=1.0))

    refused = damaged(bundle, tmp_path / "refused", lambda to: reseal_golden(to, sample))
    code, said = run(refused, "--engine", "onnxruntime")
    assert (code, "3 of 20 elements are kept, and a release keeps all of them" in said) == (5, True), said
    text = (bundle / "verify.py").read_text().replace("SAMPLE = 65_536", "SAMPLE = 3")
    small = damaged(bundle, tmp_path / "small", lambda to: (to / "verify.py").write_text(text))
    edit_manifest(small, lambda m: m["spec"].update(golden_mb=1e-6))
    drifted = damaged(small, tmp_path / "drifted", drift)
    code, said = run(drifted, "--engine", "onnxruntime")
    assert (code, "over the budget" in said) == (1, True), said
    for change, expected in ((sample, 0), (spoil, 1)):
        copy = damaged(small, tmp_path / change.__name__, lambda to, change=change: reseal_golden(to, change))
        code, said = run(copy, "--engine", "onnxruntime")
        assert code == expected, said


def test_a_hang_and_a_crash_of_an_engine_are_failures(bundle: Path, tmp_path: Path) -> None:
    fake = tmp_path / "fake/onnxruntime"
    fake.mkdir(parents=True)
    for body, word in {
        "import os; os.abort()": "ended with code -6",
        "import time; time.sleep(60)": "no result within",
    }.items():
        (fake / "__init__.py").write_text(body)
        code, said = run(bundle, "--engine", "onnxruntime", "--timeout", "3", PYTHONPATH=str(fake.parent))
        assert (code, word in said) == (1, True), said


def test_it_is_one_file_of_plain_python_3_8() -> None:
    source = verify_script()
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert imported - set(sys.stdlib_module_names) == {"numpy", "onnxruntime", "paddle"}
    newer = {"removeprefix", "removesuffix", "bit_count", "pairwise", "batched", "strict", "slots", "kw_only"}
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {str(node.arg) for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    assert not used & newer
    defined = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    defined += [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    assert len(defined) == len(set(defined)), "the modules that it is made of share one namespace"


def test_all_names_in_it_are_defined(tmp_path: Path) -> None:
    (tmp_path / "verify.py").write_text(verify_script())
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E9", "--target-version", "py38"]
    done = subprocess.run([*command, str(tmp_path / "verify.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["norms", "golden", "rule", "pooled"])
def test_it_judges_by_the_exporter_s_own_source(name: str) -> None:
    """Every function and class of the rule stands in it as it stands in the package, but for quotes of annotations."""
    parts = _parts((ROOT / f"exporter/base/numbers/{name}.py").read_text())
    assert parts and parts <= _parts(verify_script())


def _parts(source: str) -> set[str]:
    """Functions, classes and assignments of a module, as text in which no annotation is quoted."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for place in ("annotation", "returns"):
            said = getattr(node, place, None)
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                setattr(node, place, ast.parse(said.value, mode="eval").body)
    return {ast.unparse(node) for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign))}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("packages", "variants"),
    [(["onnxruntime"], {"onnx"}), (["paddlepaddle==3.3.*", "setuptools"], {"pir", "pdmodel"})],
    ids=["onnxruntime", "paddle"],
)
def test_in_a_new_environment_with_one_engine(
    bundle: Path, tmp_path: Path, packages: list[str], variants: set[str]
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = str(tmp_path / "venv/bin/python")
    subprocess.run([python, "-m", "pip", "install", "-q", "numpy", *packages], check=True)
    copy = faults.copied(bundle, tmp_path / "copy")
    code, said = run(copy, python=python)
    assert code == 0, said
    assert {line.split()[1] for line in said.splitlines() if line.startswith("PASSED")} == variants
    assert said.count("NOT RUN") == 3 - len(variants)
    faults.scale_tensor(copy / ("onnx/model.onnx" if "onnx" in variants else "pir/model.pdiparams"))
    faults.reseal(copy)
    assert run(copy, python=python)[0] == 1


@pytest.mark.parametrize(
    ("natives", "word"),
    [
        (
            ["fetch_name_0", "other"],
            "output levels: missing: no output of this name came; what came: fetch_name_1, logits",
        ),
        (["other", "fetch_name_1"], "output levels: mismatch: outputs came that nobody promised: fetch_name_0"),
        (["fetch_name_0"], "output levels: missing: no output of this name came; what came: fetch_name_1, logits"),
        (["fetch_name_1", "fetch_name_0"], "output levels: mismatch: dtype is float32, eager's is int64"),
    ],
)
def test_outputs_are_known_by_name(bundle: Path, tmp_path: Path, natives: list[str], word: str) -> None:
    copy = damaged(
        bundle, tmp_path / "copy", lambda to: edit_manifest(to, lambda m: m["variants"]["onnx"].update(outputs=natives))
    )
    code, said = run(copy, "--engine", "onnxruntime")
    assert (code, word in said) == (1, True), said
