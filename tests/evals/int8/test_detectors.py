"""Detectors released in int8 by a search; CI runs one for a few steps of training, the slow tests all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evals.int8.__main__ import Row
from evals.int8.networks import NETWORKS
from evals.int8.training import rows, scene
from tests.command import ROOT, environment
from tests.sampling import slow


def test_pictures_hold_what_is_said_of_them() -> None:
    draw = np.random.default_rng(0)
    own = scene(draw)
    assert own.image.shape == (3, 64, 64) and len(own.boxes) == len(own.labels) > 0
    assert (np.diff(own.boxes[:, 0]) >= 0).all(), "from left to right"
    assert np.array_equal(rows(2, 5), rows(2, 5)) and not np.array_equal(rows(2, 5), rows(2, 6))


def test_a_failure_holds_if_each_promise_that_is_broken_names_its_place() -> None:
    failed = Row("ssd", "failed", ("snr_db: 3 dB; most of the noise arises in what Add.3 gives",), {}, 0.3, {}, 1.0)
    assert failed.held
    assert not Row("ssd", "failed", (*failed.reasons, "outputs: wrong"), {}, 0.3, {}, 1.0).held
    assert not Row("ssd", "refused", (), {}, 0.0, {}, 1.0).held


@pytest.mark.parametrize(("name", "steps"), [("yolo", 40), *(slow((name, None)) for name in NETWORKS)])
def test_a_detector_keeps_its_budgets_or_fails_at_a_place(tmp_path: Path, name: str, steps: int | None) -> None:
    short = [] if steps is None else [f"--steps={steps}"]
    command = [sys.executable, "-m", "evals.int8", "--only", name, "--out", str(tmp_path), *short]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {name} | passed |" in done.stdout
