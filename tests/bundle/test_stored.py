"""A bundle of every manifest version is kept for ever, and must verify for ever: operations hold old bundles."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exporter.bundle.manifest import MANIFEST_VERSION
from exporter.bundle.open import open_bundle
from exporter.bundle.script import verify_script
from tests.command import ROOT, STORED, exporter

BUNDLES = ROOT / "tests/data/bundles"


def test_every_version_is_stored() -> None:
    assert sorted(path.name for path in BUNDLES.iterdir()) == [f"v{n}" for n in range(1, MANIFEST_VERSION + 1)]
    assert f"v{MANIFEST_VERSION}" == STORED.name


@pytest.mark.parametrize("version", range(1, MANIFEST_VERSION + 1))
def test_a_stored_bundle_opens_and_verifies(version: int, tmp_path: Path) -> None:
    """From its goldens alone: in an empty folder neither the model's code nor the checkpoint is at hand."""
    bundle = shutil.copytree(BUNDLES / f"v{version}", tmp_path / "bundle")
    assert open_bundle(bundle).manifest.schema_ == version
    done = exporter("verify", "bundle", "--json", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    verdict = done.json()
    engines = {(check["format"], check["engine"]) for check in verdict["checks"]}
    assert verdict["verdict"] == "passed"
    assert {("pir", "jit_load"), ("pdmodel", "paddle_inference"), ("onnx", "onnxruntime")} <= engines
    assert "eager itself was not run again" in " ".join(verdict["notes"])


@pytest.mark.parametrize("version", range(1, MANIFEST_VERSION + 1))
def test_a_stored_bundle_checks_itself(version: int, tmp_path: Path) -> None:
    """By the script in it, which knows the schemas of its day; with a signature beside the manifest."""
    bundle = shutil.copytree(BUNDLES / f"v{version}", tmp_path / "bundle")
    (bundle / "model.sig").write_text("{}")
    command = [sys.executable, bundle / "verify.py", "--engine", "onnxruntime"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "PASSED" in done.stdout, done.stdout + done.stderr


def test_what_is_sealed_now_is_read_by_the_script_of_now() -> None:
    """The script has a number of its own: it imports nothing of ours."""
    assert f'manifest["schema"] != {MANIFEST_VERSION}' in verify_script()
