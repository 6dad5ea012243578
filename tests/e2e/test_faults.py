"""Faults in a released bundle: damage is named (5), and what was re-sealed by a forger is seen through (1, 4 or 5)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import faults
from tests.command import exporter

ENGINES = {
    "pir/model.pdiparams": "jit_load",
    "pdmodel/model.pdiparams": "paddle_inference",
    "onnx/model.onnx": "onnxruntime",
}
FAULTS: dict[str, Callable[[Path], object]] = {
    "zeroed": faults.zero_tensor,
    "swapped": faults.swap_tensors,
    "scaled": faults.scale_tensor,
    "truncated": faults.truncate,
}


@pytest.mark.parametrize("bit", [0, -1, 20_000], ids=["first", "last", "inside"])
def test_one_flipped_bit_in_any_file_is_named(digits: Path, tmp_path: Path, bit: int) -> None:
    for file in sorted(path for path in digits.rglob("*") if path.is_file()):
        bundle = faults.copied(digits, tmp_path / "-".join(file.relative_to(digits).parts) / "bundle")
        damaged = bundle / file.relative_to(digits)
        faults.flip_bit(damaged, bit)
        done = exporter("verify", bundle, cwd=tmp_path)
        assert done.code == 5, (file, done)
        assert str(damaged) in done.err
        if file.name != "verify.py":
            own = subprocess.run([sys.executable, "verify.py"], cwd=bundle, capture_output=True, text=True, check=False)
            assert own.returncode == 5, (file, own)
            assert file.relative_to(digits).as_posix() in own.stdout + own.stderr


@pytest.mark.parametrize("file", ENGINES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_forged_bundle_does_not_pass(digits: Path, tmp_path: Path, file: str, fault: str) -> None:
    bundle = faults.copied(digits, tmp_path / "bundle")
    FAULTS[fault](bundle / file)
    faults.reseal(bundle)
    done = exporter("verify", bundle, "--json", "--engines", ENGINES[file], cwd=tmp_path)
    assert done.code in (1, 4, 5), done
    if done.code == 1:
        assert done.json()["verdict"] == "failed"
        format = file.partition("/")[0]
        proof = [one for one in done.json()["checks"] if one["format"] == format and one["engine"] == "parameters"]
        assert [one["outcome"] == "match" for one in proof] == [False]


@pytest.mark.parametrize("file", ENGINES)
def test_the_numbers_alone_see_it_too(digits: Path, tmp_path: Path, file: str) -> None:
    """Even a forger who also writes the digests of the parameters anew is seen by the engine."""
    bundle = faults.copied(digits, tmp_path / "bundle")
    faults.scale_tensor(bundle / file)
    faults.reseal(bundle)
    done = exporter("verify", bundle, "--json", "--engines", ENGINES[file], cwd=tmp_path)
    computed = [check for check in done.json()["checks"] if check["engine"] == ENGINES[file]]
    assert computed and "mismatch" in {check["outcome"] for check in computed}


def test_the_bundle_passes_as_it_is(digits: Path, tmp_path: Path) -> None:
    """So that the tests above fail for the fault and for nothing else."""
    bundle = faults.copied(digits, tmp_path / "bundle")
    faults.reseal(bundle)
    for engine in set(ENGINES.values()):
        assert exporter("verify", bundle, "--engines", engine, cwd=tmp_path).code == 0
