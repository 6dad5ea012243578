"""verify.py of a bundle, as an operator runs it: one copy of a real bundle, one change each."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import faults

TEMPLATE = Path(__file__).parents[2] / "exporter/bundle/verify_template.py"


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


def namespace_of_template(bundle: Path = Path()) -> dict[str, Any]:
    """The functions of verify.py as if it lay in `bundle`."""
    namespace: dict[str, Any] = {"__name__": "verify", "__file__": str(bundle / "verify.py")}
    exec(compile(TEMPLATE.read_text(), "verify.py", "exec"), namespace)
    return namespace


def test_the_rule_fails_what_is_not_a_number() -> None:
    rule = namespace_of_template()["judge_float"]
    truth = np.array([1.0, 2.0, -3.0])
    expected = {"e_ref_max": 1e-7, "e_ref_l2": 1e-7}
    assert rule(truth, truth.astype("float32"), [truth[::-1]], expected, 4.0)[0] == "match"
    for wrong in (np.nan, np.inf, 1.00001):
        assert rule(truth, truth * [1, 1, wrong], [truth[::-1]], expected, 4.0)[0] == "mismatch"
    assert rule(truth, truth, [truth], expected, 4.0) == ("vacuous", "another case's output would pass too")
    assert rule(truth * np.nan, truth, [truth[::-1]], expected, 4.0)[0] == "mismatch", "a truth that is none"
    constant = np.ones(4)
    assert rule(constant, constant, [], expected, 4.0) == ("vacuous", "the mean would pass too")
    assert rule(truth * 1e300, truth * 1e300, [truth], expected, 4.0)[0] == "match"


def test_the_rule_doubts_what_an_impostor_nearly_passes() -> None:
    rule = namespace_of_template()["judge_float"]
    truth = np.array([[1.0, -2.0], [1.0 + 1e-5, -2.0], [1.0, -2.0]])
    expected = {"e_ref_max": 2e-6, "e_ref_l2": 2e-6}
    stranger = np.array([[5.0, 7.0]])
    assert rule(truth, truth, [stranger], expected, 4.0, False)[0] == "match"
    rows = rule(truth[:2], truth[:2], [stranger], expected, 4.0, True)
    assert rows == ("vacuous", "the rows reversed would pass too")
    apart = np.array([[1.0, -2.0], [1.0 + 1.1e-4, -2.0]])
    assert rule(apart, apart, [stranger], expected, 4.0, True)[0] == "inconclusive"
    same = np.array([[1.0, -2.0], [1.0, -2.0]])
    assert rule(same, same, [stranger], expected, 4.0, True)[0] == "match", "equal rows are no impostor"


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
        bit = TEMPLATE.read_bytes().index(b"It needs Python 3.8") * 8
    copy = damaged(bundle, tmp_path / "copy", lambda to: faults.flip_bit(to / name, bit))
    code, said = run(copy)
    assert code == 5, said
    assert name in said and "do not use" in said


def test_every_bit_of_the_manifest_counts(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "copy")
    raw = (copy / "manifest.json").read_bytes()
    read_manifest = namespace_of_template(copy)["read_manifest"]
    assert read_manifest()[1] == []
    for bit in range(0, len(raw) * 8, 37):
        (copy / "manifest.json").write_bytes(raw)
        faults.flip_bit(copy / "manifest.json", bit)
        assert read_manifest()[1], f"bit {bit} went unseen"


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
    [faults.zero_tensor, faults.swap_tensors, faults.scale_tensor, faults.truncate],
    ids=lambda one: one.__name__,
)
@pytest.mark.parametrize("name", ["onnx/model.onnx", "pir/model.pdiparams", "pdmodel/model.pdiparams"])
def test_a_fault_under_a_fresh_seal_exits_1(bundle: Path, tmp_path: Path, name: str, fault: Any) -> None:
    copy = damaged(bundle, tmp_path / "copy", lambda to: (fault(to / name), faults.reseal(to)))
    code, said = run(copy, "--engine", "onnxruntime" if "onnx" in name else "paddle_inference")
    assert code == 1, said
    failed = [line for line in said.splitlines() if line.startswith("FAILED")]
    assert [line.split()[1] for line in failed] == [name.partition("/")[0]]


TRUTH = np.random.default_rng(0).normal(size=(2, 5))
#: What a variant of low precision put out for `TRUTH`, what was promised, and what has to be said.
LOW = {
    "near enough": (TRUTH * 1.01, {"min_snr_db": 39.0}, "match"),
    "too far": (TRUTH * 1.01, {"min_snr_db": 41.0}, "mismatch"),
    "zeros": (TRUTH * 0, {"min_snr_db": 20.0}, "mismatch"),
    "not a number": (TRUTH * np.nan, {"min_snr_db": 20.0}, "mismatch"),
    "the mean would do": (TRUTH, {"min_snr_db": 0.001}, "vacuous"),
}


@pytest.mark.parametrize("name", LOW)
def test_low_precision_is_judged_by_its_budget_over_all_cases(name: str) -> None:
    got, budget, outcome = LOW[name]
    manifest = {"cases": [{"name": case, "outputs": {"y": {"exact": False}}} for case in ("a", "b", "b:large")]}
    golden = {"a/truth/y": TRUTH[:1], "b/truth/y": TRUTH[1:], "b:large/truth/y": TRUTH}
    outputs = [got[:1], got[1:], TRUTH * 100]  # the last one probes: it promises nothing
    assert namespace_of_template()["judge_low"](manifest, golden, "y", outputs, budget)[0] == outcome


def test_whole_numbers_of_low_precision_agree_as_often_as_promised() -> None:
    manifest = {"cases": [{"name": "a", "outputs": {"y": {"exact": True}}}]}
    labels = np.arange(10)
    judge = namespace_of_template()["judge_low"]
    for wrong, outcome in ((1, "match"), (2, "mismatch")):
        assert judge(manifest, {"a/eager/y": labels}, "y", [np.where(labels < wrong, 99, labels)], {})[0] == outcome


def reseal_golden(bundle: Path, change: Callable[[dict[str, Any]], object]) -> None:
    from safetensors.numpy import load_file, save_file

    tensors = load_file(bundle / "golden.safetensors")
    change(tensors)
    save_file(tensors, bundle / "golden.safetensors")
    faults.reseal(bundle)


def test_what_proves_nothing_does_not_pass(bundle: Path, tmp_path: Path) -> None:
    """A budget so wide that zeros would pass; whole numbers that are the same in every case; a case behind a gate."""
    wide = damaged(bundle, tmp_path / "wide", lambda to: edit_manifest(to, lambda m: m.update(budget=1e9)))
    code, said = run(wide, "--engine", "onnxruntime")
    assert (code, "would pass too" in said) == (1, True)

    judge = namespace_of_template()["judge_exact"]
    zeros, label = np.zeros(3, "int64"), np.array([4])
    assert judge(zeros, zeros, [zeros])[0] == judge(label, label, [label, label])[0] == "vacuous"
    assert judge(label, label, [zeros])[0] == judge(label, label, [])[0] == "match"
    assert judge(label, label + 1, [zeros])[0] == "mismatch"

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
        assert run(copy, "--engine", "onnxruntime")[0] == expected
    refused = damaged(bundle, tmp_path / "no", lambda to: edit_manifest(to, lambda m: m.update(verdict="failed")))
    code, said = run(refused, "--engine", "onnxruntime")
    assert (code, "the release itself was failed" in said) == (1, True)


@pytest.mark.parametrize(
    ("output", "change", "word"),
    [
        ("logits", lambda value: value.astype("float64"), "float32[2, 10] instead of float64[2, 10]"),
        ("logits", lambda value: value[:1], "instead of float32[1, 10]"),
    ],
)
def test_dtype_and_shape_are_part_of_the_promise(
    bundle: Path, tmp_path: Path, output: str, change: Callable[[Any], Any], word: str
) -> None:
    def promise(manifest: dict[str, Any]) -> None:
        facts = manifest["cases"][0]["outputs"][output]
        value = change(np.zeros(facts["shape"], facts["dtype"]))
        facts.update(dtype=value.dtype.name, shape=list(value.shape))

    copy = damaged(bundle, tmp_path / "copy", lambda to: edit_manifest(to, promise))
    code, said = run(copy, "--engine", "onnxruntime")
    assert (code, word in said) == (1, True), said


def test_of_a_large_output_a_sample_is_enough(bundle: Path, tmp_path: Path) -> None:
    """A wrong number in the sample is found, and outside of it, by the norms of the whole."""

    def sample(tensors: dict[str, Any]) -> None:
        index = np.array([3, 7, 11])
        tensors["batch=2/index/logits"] = index
        for kind in ("eager", "truth"):
            tensors[f"batch=2/{kind}/logits"] = tensors[f"batch=2/{kind}/logits"].reshape(-1)[index]

    def spoil(tensors: dict[str, Any]) -> None:
        sample(tensors)
        tensors["batch=2/truth/logits"][1] *= 1.001

    def drift(bundle: Path) -> None:
        reseal_golden(bundle, sample)
        edit_manifest(bundle, lambda m: m["cases"][0]["outputs"]["logits"].update(scale_l2=1.0))

    drifted = damaged(bundle, tmp_path / "drifted", drift)
    code, said = run(drifted, "--engine", "onnxruntime")
    assert (code, "norms as a whole" in said) == (1, True), said
    for change, expected in ((sample, 0), (spoil, 1)):
        copy = damaged(bundle, tmp_path / change.__name__, lambda to, change=change: reseal_golden(to, change))
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


def test_it_is_plain_python_3_8_and_small() -> None:
    source = TEMPLATE.read_text()
    ast.parse(source, feature_version=(3, 8))
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert imported - set(sys.stdlib_module_names) == {"numpy", "onnxruntime", "paddle"}
    assert sum(bool(line.strip()) for line in source.splitlines()) < 520


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
        (["fetch_name_0", "other"], "its outputs are ['fetch_name_0', 'fetch_name_1'], not ['fetch_name_0', 'other']"),
        (["fetch_name_0"], "its outputs are"),
        (["fetch_name_1", "fetch_name_0"], "int64[2, 10] instead of float32[2, 10]"),
    ],
)
def test_outputs_are_known_by_name(bundle: Path, tmp_path: Path, natives: list[str], word: str) -> None:
    copy = damaged(
        bundle, tmp_path / "copy", lambda to: edit_manifest(to, lambda m: m["variants"]["onnx"].update(outputs=natives))
    )
    code, said = run(copy, "--engine", "onnxruntime")
    assert (code, word in said) == (1, True), said
