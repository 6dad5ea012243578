"""A sample of the clean checks, by the command; and that the command can say no."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evals.clean.__main__ import LEVELS, tally
from evals.clean.known import DEFECTS
from evals.clean.networks import NETWORKS
from tests.command import ROOT

#: The network that failed at 4.01 and 4.49; one number for each row.
SAMPLE = ("bigru_attention", "mlp_relu")


def command(results: Path, *options: str) -> subprocess.CompletedProcess[str]:
    asked = ["--networks", ",".join(SAMPLE), "--json", str(results), *options]
    run = [sys.executable, "-m", "evals.clean", *asked]
    return subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    results = tmp_path_factory.mktemp("clean") / "results.json"
    done = command(results)
    assert done.returncode == 0, done.stdout + done.stderr
    return results, done.stdout


def test_no_sound_file_is_failed(sample: tuple[Path, str]) -> None:
    results, said = sample
    content = json.loads(results.read_bytes())
    assert set(content) == {f"{network}@{level}" for network in SAMPLE for level in LEVELS}
    found = tally(content)
    assert found["outcomes"] == {"match": sum(found["outcomes"].values())} and found["outcomes"]["match"] > 500
    assert "2 networks and 2 CPU levels" in said and "ALARM" not in said
    for row in (row for result in content.values() for row in result["seeds"]):
        assert {"jit_load", "paddle_inference", "onnxruntime"} <= set(row["bits"]) and not row["refused"]


def test_it_goes_on_where_it_was_left(sample: tuple[Path, str]) -> None:
    results, said = sample
    before = results.read_bytes()
    done = command(results, "--resume")
    assert done.returncode == 0 and not done.stderr.strip(), "nothing was run again"
    assert done.stdout == said and results.read_bytes() == before


@pytest.mark.parametrize("outcome", ["mismatch", "crashed", "missing"])
def test_an_alarm_fails_the_command(sample: tuple[Path, str], tmp_path: Path, outcome: str) -> None:
    content = json.loads(sample[0].read_bytes())
    row = content["mlp_relu@low"]["seeds"][0]
    row["not_matched"].append(["onnxruntime", "batch=3/output_0", outcome, "error ratio 4.01 is over the budget of 4"])
    row["outcomes"] |= {outcome: 1}
    (tmp_path / "r.json").write_text(json.dumps(content))
    done = command(tmp_path / "r.json", "--resume")
    assert done.returncode == 1 and "ALARM mlp_relu@low weights 0, onnxruntime, batch=3/output_0" in done.stdout


def test_only_the_engine_of_a_known_defect_is_excused() -> None:
    network, engine = next(iter(DEFECTS))
    row: dict[str, Any] = {"weights": 0, "outcomes": {"match": 1, "mismatch": 1}}
    row["not_matched"] = [[engine, "batch=3/y", "mismatch", "error ratio 1e+05 is over the budget of 4"]]
    beside = copy.deepcopy(row)
    beside["not_matched"][0][0] = "jit_load"
    found = tally({f"{network}@low": {"seeds": [row, beside]}})
    assert sum(found["known"].values()) == 1 and len(found["alarms"]) == 1 and "jit_load" in found["alarms"][0]


def test_there_are_sixty_networks() -> None:
    assert len(NETWORKS) >= 60
