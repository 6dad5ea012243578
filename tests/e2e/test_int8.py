"""The digits in int8 through the command line: released within their budgets, and refused where calibrated badly."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from exporter.base import machine
from tests import faults
from tests.command import environment, exporter

SPEC = "specs/digits-int8.yaml"
MISTREATING = Path(__file__).parents[1] / "vacuity/mistreating"
KINDS = ("snr_db", "top1", "metric", "size", "overflow")


@pytest.fixture(scope="module")
def workplace(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder in which the digits are trained already."""
    place = tmp_path_factory.mktemp("int8") / "work"
    shutil.copytree(released, place, ignore=shutil.ignore_patterns("artifacts"))
    return place


def budgets(bundle: Path) -> dict[str, Any]:
    checks = json.loads((bundle / "parity.json").read_text())["checks"]
    low = [one for one in checks if one["precision"] == "int8"]
    return {f"{one['format']}/{one['kind']}": one for one in low if one["kind"] in KINDS}


def test_both_formats_keep_every_promise(workplace: Path, tmp_path: Path) -> None:
    done = exporter("release", SPEC, "--json", cwd=workplace)
    assert done.code == 0, done.out + done.err
    found = budgets(workplace / "artifacts/digits-int8/1.0.0")
    assert set(found) == {f"{format}/{kind}" for format in ("onnx", "pdmodel") for kind in KINDS}
    assert {one["outcome"] for one in found.values()} == {"match"}
    again = exporter("verify", "artifacts/digits-int8/1.0.0", "--source", ".", cwd=workplace)
    assert again.code == 0, again.out + again.err
    elsewhere = exporter("verify", "artifacts/digits-int8/1.0.0", "--json", cwd=workplace)
    lacking = [one for one in elsewhere.json()["checks"] if one["outcome"] != "match"]
    assert elsewhere.code == 3 and {(one["kind"], one["outcome"]) for one in lacking} == {("metric", "missing")}
    assert all("--source DIR" in one["reason"] and "--without metric" in one["reason"] for one in lacking)
    narrowed = exporter(
        "verify", workplace / "artifacts/digits-int8/1.0.0", "--json", "--without", "metric", cwd=tmp_path
    )
    assert (narrowed.code, narrowed.json()["verdict"]) == (0, "partial")


def calibration(workplace: Path, images: Any) -> str:
    save_file({"image": images.astype("float32")}, workplace / "bad.safetensors")
    return "precisions.int8.data=bad.safetensors"


def fails(workplace: Path, override: str) -> None:
    done = exporter("release", SPEC, "--json", "--set", override, cwd=workplace)
    assert done.code == 1, done.out + done.err
    found = budgets(workplace / "artifacts/digits-int8/failed")
    wrong = [one for one in found.values() if one["outcome"] == "mismatch" and one["kind"] == "snr_db"]
    assert {one["format"] for one in wrong} == {"onnx", "pdmodel"}
    named = {"onnx": "most of the noise arises in ", "pdmodel": "the layer that suffers most is "}
    assert all(named[one["format"]] in one["reason"] for one in wrong)


@pytest.fixture(scope="module")
def promising(workplace: Path) -> Path:
    """A bundle whose int8 promises to be a hundred times as fast as float32, which it is nowhere."""
    promise = "precisions.int8.budget.min_speedup={engine: onnxruntime, ratio: 100, batch: 8}"
    only = ("--set", "formats=[onnx]", "--set", "engines=[onnxruntime]")
    done = exporter("convert", SPEC, "--out", "promising", *only, "--set", promise, cwd=workplace)
    assert done.code == 0, done.err
    return workplace / "promising"


def speed(bundle: Path) -> tuple[str, dict[str, Any]]:
    """The verdict, and the check of the promised speed."""
    done = exporter("verify", bundle.name, "--source", ".", "--json", cwd=bundle.parent)
    assert done.code == 1, done.out + done.err
    (found,) = (one for one in done.json()["checks"] if one["kind"] == "speed")
    return done.json()["verdict"], found


@pytest.mark.slow
def test_a_speed_that_was_promised_and_is_not_reached_fails(promising: Path) -> None:
    verdict, found = speed(promising)
    assert (verdict, found["outcome"]) == ("failed", "mismatch")
    assert "times as fast as fp32 by onnxruntime" in found["reason"] and "at least 100 promised" in found["reason"]


@pytest.mark.slow
def test_a_cpu_that_can_less_than_the_one_that_released_it_breaks_no_promise(promising: Path) -> None:
    elsewhere = shutil.copytree(promising, promising.with_name("elsewhere"))
    content = json.loads((elsewhere / "manifest.json").read_text())
    content["provenance"]["machine"]["abilities"].append("avx_of_tomorrow")
    faults.reseal(elsewhere, content)
    verdict, found = speed(elsewhere)
    assert (verdict, found["outcome"]) == ("inconclusive", "inconclusive")
    assert "but this CPU has no avx_of_tomorrow" in found["reason"]


@pytest.mark.slow
def test_a_speed_that_is_promised_of_no_engine_is_missing(promising: Path) -> None:
    """Released by a gate that did not look, with a typing error in it: the promise does not vanish."""
    mistyped = shutil.copytree(promising, promising.with_name("mistyped"))
    content = json.loads((mistyped / "manifest.json").read_text())
    low = [one["details"]["budget"] for one in content["variants"].values() if one["precision"] == "int8"]
    for budget in (content["spec"]["precisions"]["int8"]["budget"], *low):
        budget["min_speedup"]["engine"] = "onnxruntim"
    faults.reseal(mistyped, content)
    verdict, found = speed(mistyped)
    assert (verdict, found["outcome"]) == ("failed", "missing") and "'onnxruntim'" in found["reason"]


def test_a_waiver_of_all_that_int8_promises_does_not_pass_for_zeros(promising: Path) -> None:
    """In a case that only probes, and of whole numbers, an output in low precision need but come."""
    waived = shutil.copytree(promising, promising.with_name("waived"))
    waiver = {"claim": "onnx-int8/*", "reason": "all is well, they say", "until": "2099-12-31"}
    content = json.loads((waived / "manifest.json").read_text())
    content["waivers"] = content["spec"]["waivers"] = [waiver]
    faults.reseal(waived, content)
    env = environment(PYTHONPATH=str(MISTREATING), EXPORTER_TEST_MISTREAT="zeros in low precision")
    narrow = ("--without", "metric,speed", "--source", ".", "--accept-waivers")
    done = exporter("verify", waived.name, "--json", *narrow, cwd=waived.parent, env=env)
    assert (done.code, done.json()["verdict"]) == (1, "failed"), done.out
    assert done.json()["against"] == ["no output of onnx-int8 was shown to be right"]


@pytest.fixture(scope="module")
def for_vnni(workplace: Path) -> Path:
    """A bundle whose int8 takes all 8 bits."""
    only = ("--set", "formats=[onnx]", "--set", "engines=[onnxruntime]", "--set", "precisions.int8.cpu=vnni")
    done = exporter("convert", SPEC, "--out", "vnni", *only, cwd=workplace)
    assert done.code == 0, done.err
    return workplace / "vnni"


@pytest.mark.slow
def test_what_is_made_for_vnni_fails_without_and_says_why(for_vnni: Path) -> None:
    done = exporter("verify", for_vnni.name, "--source", ".", "--json", cwd=for_vnni.parent)
    (pairs,) = (one for one in done.json()["checks"] if one["kind"] == "overflow")
    content = json.loads((for_vnni / "manifest.json").read_text())
    assert content["variants"]["onnx-int8"]["details"]["cpu"] == {"asked": "vnni", "effective": "vnni"}
    if machine.adds_in_16_bits():
        assert (done.code, pairs["outcome"]) == (1, "mismatch"), done.out
        assert "this one has none" in pairs["reason"] and "`cpu: any` writes one that is right here" in pairs["reason"]
        noise = next(one for one in done.json()["checks"] if one["kind"] == "snr_db")
        # ONEDNN_MAX_CPU_ISA takes VNNI from oneDNN alone: ONNX Runtime goes by the CPU, and is right where that has it.
        if not {"avx_vnni", "avx512_vnni"} & set(machine.cpu()["abilities"]):
            assert noise["outcome"] == "mismatch" and "this CPU has no VNNI" in noise["reason"]
    else:
        assert (done.code, pairs["outcome"]) == (0, "match"), done.out
        assert any("is made for CPUs with VNNI" in note for note in done.json()["notes"])


@pytest.mark.slow
def test_a_file_of_all_8_bits_that_is_promised_for_any_cpu_fails_on_every_one(for_vnni: Path) -> None:
    """The spec decides, whatever the manifest says beside it of how the file was made."""
    promised = shutil.copytree(for_vnni, for_vnni.with_name("promised"))
    content = json.loads((promised / "manifest.json").read_text())
    content["spec"]["precisions"]["int8"]["cpu"] = "any"
    faults.reseal(promised, content)
    done = exporter("verify", promised.name, "--source", ".", "--json", cwd=promised.parent)
    (pairs,) = (one for one in done.json()["checks"] if one["kind"] == "overflow")
    assert (done.code, pairs["outcome"]) == (1, "mismatch"), done.out
    assert "`cpu: any` promises that none does" in pairs["reason"]


def images() -> Any:
    from sklearn.datasets import load_digits

    return load_digits().images[:128, None] / 16


def test_a_calibration_with_zeros_fails_and_names_the_layer(workplace: Path) -> None:
    fails(workplace, calibration(workplace, np.zeros((128, 1, 8, 8))))


@pytest.mark.slow
def test_a_calibration_with_one_image_fails_and_names_the_layer(workplace: Path) -> None:
    fails(workplace, calibration(workplace, np.repeat(images()[:1], 128, axis=0)))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [16.0, 1 / 255])
def test_a_calibration_with_the_wrong_normalisation_fails_and_names_the_layer(workplace: Path, factor: float) -> None:
    fails(workplace, calibration(workplace, images() * factor))
