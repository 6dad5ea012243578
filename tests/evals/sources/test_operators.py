"""A sample of the operator tables, each case as a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from evals.lower.onnx_table import cases_of, record
from tests.command import ROOT, environment


def test_a_sample_is_right(tmp_path: Path) -> None:
    cases = [
        case
        for case in cases_of("kind")
        if case.name.startswith(("getitem :, ::-2", "setitem :, 0 =", "number x * 1.1"))
    ]
    assert len(cases) >= 3
    record(cases, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "evals.sources.operators", str(tmp_path)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"replayed {{'right': {len(cases)}}}" in done.stdout and f"pdmodel {{'right': {len(cases)}}}" in done.stdout
