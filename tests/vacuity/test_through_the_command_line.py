"""The same table by the command line: a broken engine in the place of ONNX Runtime, and a bundle that was sound.

Then what stock Paddle exports in silence and wrong: each ends in a refusal or a failure.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import ExitCode
from exporter.base.files import sha256_file
from exporter.bundle.manifest import FileFacts
from exporter.bundle.version import content_version
from tests import faults
from tests.command import Done, environment, exporter
from tests.described import small
from tests.sampling import some

MISTREATING = Path(__file__).parent / "mistreating"
#: What the engine does, and what must be said of it.
TABLE = {
    "missing": {"missing"},
    "renamed": {"missing"},
    "one more": {"mismatch", "crashed"},
    "empty": {"mismatch"},
    "int64": {"mismatch"},
    "float64": {"mismatch"},
    "nan": {"mismatch"},
    "infinite": {"mismatch"},
    "zeros": {"mismatch"},
    "mean": {"mismatch"},
    "one per cent": {"mismatch"},
    "half": {"mismatch"},
    "transposed": {"mismatch"},
    "dies": {"crashed"},
}
#: What it does to some cases only.
IN_PART = {
    "leaves after one case": {"crashed"},
    "first answer for ever": {"mismatch"},
    "noise from the second time on": {"mismatch"},
    "reversed": {"mismatch"},
}


def verify(bundle: Path, way: str, *more: str, cwd: Path) -> Done:
    env = environment(PYTHONPATH=str(MISTREATING), EXPORTER_TEST_MISTREAT=way)
    return exporter("verify", bundle, "--engines", "onnxruntime", "--json", *more, cwd=cwd, env=env)


def told(done: Done, code: int = ExitCode.REFUSED) -> list[dict[str, Any]]:
    """The checks of the engine, from a verdict that is not passed."""
    report = done.json()
    assert done.code == code and report["verdict"] != "passed", done.err
    computed = ("outputs", "pooled_bias")
    return [one for one in report["checks"] if one["engine"] == "onnxruntime" and one["kind"] in computed]


class TestABrokenEngine:
    def test_it_would_pass_were_it_sound(self, digits: Path, tmp_path: Path) -> None:
        done = verify(digits, "nothing", cwd=tmp_path)
        assert done.code == 0 and done.json()["verdict"] == "partial"

    @pytest.mark.parametrize("way", some(TABLE, 3))
    def test_in_every_case(self, way: str, digits: Path, tmp_path: Path) -> None:
        checks = told(verify(digits, way, cwd=tmp_path))
        assert checks and {one["outcome"] for one in checks} <= TABLE[way] | {"missing"}
        assert all(one["reason"] for one in checks)

    @pytest.mark.parametrize("way", IN_PART)
    def test_in_some(self, way: str, digits: Path, tmp_path: Path) -> None:
        found = {one["outcome"] for one in told(verify(digits, way, cwd=tmp_path))}
        assert found & IN_PART[way] and found <= IN_PART[way] | {"match", "missing"}

    def test_with_one_case_only(self, digits: Path, tmp_path: Path) -> None:
        checks = told(verify(digits, "zeros", "--case", "batch=8", cwd=tmp_path))
        assert {one["outcome"] for one in checks} == {"mismatch"}

    @pytest.mark.slow
    def test_zeros_for_a_softmax_of_200_000_ways(self, workplace: Path) -> None:
        more = ("--input", "x=float32[2,4]", "--formats", "onnx", "--out", "wide")
        done = exporter("convert", "models.silent:wide", *more, cwd=workplace)
        assert done.code == 0, done.err
        env = environment(PYTHONPATH=str(MISTREATING), EXPORTER_TEST_MISTREAT="zeros")
        asked = ("--engines", "onnxruntime", "--source", ".", "--json")
        done = exporter("verify", "wide", *asked, cwd=workplace, env=env)
        # With random weights its answers hardly depend on the input, so the gate may say so before any engine runs.
        assert {one["outcome"] for one in told(done)} in ({"mismatch"}, {"inconclusive"})


#: What stock Paddle exports without a word, and wrong.
SILENT = (
    "NumpyNoise",
    "PythonNoise",
    "Clock",
    "GlobalState",
    "CountingBuffer",
    "GuardedByAnd",
    "GuardedByOr",
    "AnswersNone",
    "AnswersANumber",
    "AsksForTensor",
    "AsksForDynamicMode",
    "AsksForGradient",
    "BatchAsANumber",
)


@pytest.mark.parametrize("model", some(SILENT, 2))
def test_what_stock_paddle_exports_in_silence_and_wrong(model: str, workplace: Path) -> None:
    """Refused by the static check, while it is traced, or by what comes out: never passed."""
    spec = small(f"models.silent:{model}", name="silent", weights="factory")
    (workplace / "silent.yaml").write_text(json.dumps(spec))
    done = exporter("release", "silent.yaml", "--json", cwd=workplace)
    assert done.code in (ExitCode.REFUSED, ExitCode.USAGE, ExitCode.MODEL), done.out + done.err
    said = done.json()
    assert said.get("verdict") in (None, "refused", "failed", "inconclusive")
    assert "error" in said or said["findings"] or "FAILED" in done.err or said["verdict"] == "failed", (
        "no reason is given"
    )
    assert not list((workplace / "artifacts").glob("silent/[!f]*")), "what did not pass is no release"


def test_what_is_wrong_at_one_size_that_no_case_is_planned_for(workplace: Path) -> None:
    dims = {"batch": {"min": 1, "typical": 2, "max": 64}}
    spec = small("models.silent:SizesInASet", name="silent", weights="factory", dims=dims)
    (workplace / "silent.yaml").write_text(json.dumps(spec))
    done = exporter("release", "silent.yaml", "--json", cwd=workplace)
    assert done.code == ExitCode.REFUSED and done.json()["verdict"] == "failed", done.out + done.err
    report = json.loads((workplace / "artifacts/silent/failed/parity.json").read_text())
    wrong = {one["case"] for one in report["checks"] if one["outcome"] == "mismatch" and one["case"]}
    assert [case.partition("-")[0] for case in wrong] == ["batch=37:search"]


def test_what_is_right_in_one_thread_only(workplace: Path) -> None:
    more = ("--input", "x=float32[batch,4]", "--dim", "batch=1..4", "--formats", "pir", "--out", "threads")
    done = exporter("convert", "models.silent:KnowsItsThreads", *more, cwd=workplace)
    assert done.code == 0, done.out + done.err
    done = exporter("verify", "threads", "--engines", "eager,jit_load", "--source", ".", "--json", cwd=workplace)
    wrong = [one for one in done.json()["checks"] if one["outcome"] != "match" and one["engine"] == "eager"]
    assert done.code == ExitCode.REFUSED and [one["case"] for one in wrong] == ["batch=4:threads=2"]


def test_outputs_of_a_dict_keep_their_names(workplace: Path) -> None:
    """Stock sorts them by key, so that values come under each other's names."""
    more = ("--input", "x=float32[batch,4]", "--dim", "batch=1..4", "--formats", "pir,onnx", "--out", "named")
    assert exporter("convert", "models.silent:Named", *more, cwd=workplace).code == 0
    done = exporter("verify", "named", "--engines", "jit_load,onnxruntime", "--source", ".", "--json", cwd=workplace)
    assert done.code == 0 and {one["output"] for one in done.json()["checks"]} >= {"zebra", "apple"}
    manifest = json.loads((workplace / "named/manifest.json").read_text())
    assert [one["name"] for one in manifest["outputs"]] == ["zebra", "apple"]


def test_a_file_exported_for_one_row(workplace: Path) -> None:
    """Put in the place of one that takes any number, and sealed again."""
    for name, dim in (("any", "batch=1..4"), ("one", "batch=1..1")):
        more = ("--input", "x=float32[batch,4]", "--dim", dim, "--formats", "pir,onnx", "--out", name)
        assert exporter("convert", "models.silent:rows", *more, cwd=workplace).code == 0
    for path in ("onnx/model.onnx", "pir/model.json"):
        (workplace / "any" / path).write_bytes((workplace / "one" / path).read_bytes())
    content = json.loads((workplace / "any/manifest.json").read_bytes())
    own = {name: workplace / "any" / name for variant in content["variants"].values() for name in variant["files"]}
    files = {name: FileFacts(sha256=sha256_file(path), size=path.stat().st_size) for name, path in own.items()}
    content["version"] = content_version(content["spec"], content["parameters"], files, content["provenance"])
    faults.reseal(workplace / "any", content)
    engines = "onnxruntime,paddle_inference"
    done = exporter("verify", "any", "--engines", engines, "--source", ".", "--json", cwd=workplace)
    report = done.json()
    assert done.code == ExitCode.REFUSED and report["verdict"] == "failed"
    declared = [one for one in report["checks"] if one["kind"] == "interface"]
    assert {one["outcome"] for one in declared} == {"mismatch"} and len(declared) == 2
