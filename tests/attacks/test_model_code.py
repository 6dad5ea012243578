"""What the code of a model may try while it is released: to outlive its process, and to judge itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from safetensors.numpy import save_file

from exporter.base.errors import ExitCode
from tests import faults
from tests.command import Done, exporter
from tests.described import small


def release(workplace: Path, model: str, **keys: Any) -> Done:
    (workplace / "small.yaml").write_text(json.dumps(small(model, **keys)))
    return exporter("release", "small.yaml", "--json", cwd=workplace)


def test_a_process_that_it_leaves_behind_changes_no_file(workplace: Path, tmp_path: Path) -> None:
    """It stops the command when the report is written, changes what was proven, and lets it go on to the seal."""
    done = release(workplace, "models.lurking:Lurking", weights="factory")
    lurking = [int(line) for line in (workplace / "lurking").read_text().split()]
    assert lurking and not [pid for pid in lurking if psutil.pid_exists(pid)], "it outlived the command"
    assert done.code == 0 and not (workplace / "changed").exists()
    copy = faults.copied(workplace / done.json()["bundle"], tmp_path / "copy")
    verified = exporter("verify", copy, "--json", cwd=tmp_path)  # where its code is not, else it would start again
    assert verified.code == 0 and verified.json()["verdict"] == "passed"


@pytest.mark.parametrize("module", ["patching", "patching_hashlib"])
def test_what_it_patches_in_its_own_process_judges_nothing(workplace: Path, module: str) -> None:
    """It doubles its weights once they are loaded; hashes and comparisons of its process say that they are as trained.

    The goldens are eager's, which are doubled too: only the checkpoint tells.
    """
    values = np.random.default_rng(0).standard_normal(15).astype("float32")
    tensors = {"only.weight": values[:12].reshape(4, 3), "only.bias": values[12:]}
    save_file(tensors, workplace / "trained.safetensors")
    done = release(workplace, f"models.{module}:Doubled", checkpoint="trained.safetensors")
    assert done.code == ExitCode.MODEL, done.out + done.err
    assert not (workplace / "artifacts/small/1").exists(), "nothing is released"
    # What its own process told is as trained, or the checkpoint's would be named; what the parent reads is not.
    assert "tensors in the written file are not the layer's" in done.json()["error"]["what"]
