"""The score: what it adds up, when it refuses, and a small one by the command; the whole one takes minutes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evals.drill.score import NETWORKS, TRAINED, strong, table
from tests.command import ROOT, environment

#: Kinds that must be among the networks: a name each.
KINDS = {"transformer", "lengths", "branches", "tiny", "mobilenet", "segments", "detector", TRAINED}


def fault(fate: str, outside: str, *proofs: str) -> dict[str, Any]:
    return {
        "fault": "parameters: zeroed: w",
        "variant": "onnx",
        "fate": fate,
        "fate_from_outside": outside,
        "proofs": dict.fromkeys(proofs, "seen"),
        "error_ratio": 2.5,
        "effect": 1.5,
        "why_not": "",
    }


def told(*faults: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"net": {"faults": list(faults), "notes": [], "cpu_seconds": 60.0}}


CAUGHT = fault("caught", "caught", "error ratio", "parameters")
INSIDE = fault("caught", "survived", "parameters")
HARMLESS = fault("equivalent", "equivalent")
SURVIVED = fault("survived", "survived")


@pytest.mark.parametrize(
    ("faults", "enough"),
    [
        ([CAUGHT], True),
        ([HARMLESS], False),  # where nothing does harm, nothing is proven
        ([], False),
        ([CAUGHT] * 99 + [SURVIVED], True),
        ([CAUGHT] * 98 + [SURVIVED], False),
        ([CAUGHT] * 98 + [SURVIVED] + [HARMLESS] * 50, False),  # what does no harm lifts no share
        ([CAUGHT] * 95 + [INSIDE] * 5, True),
        ([CAUGHT] * 94 + [INSIDE] * 6, False),
    ],
)
def test_both_shares_must_be_reached(faults: list[dict[str, Any]], enough: bool) -> None:
    assert strong(told(*faults)) is enough


def test_the_table_names_each_fault_that_only_the_inner_proofs_saw() -> None:
    assert table(told(CAUGHT, INSIDE, HARMLESS, SURVIVED)) == (
        """\
| | planted | equivalent | caught | from outside |
| --- | --- | --- | --- | --- |
| net | 4 | 1 | 2 (66.7%) | 1 of 3 (33.3%) |
| parameters: zeroed | 4 | 1 | 2 (66.7%) | 1 of 3 (33.3%) |
| all | 4 | 1 | 2 (66.7%) | 1 of 3 (33.3%) |

| proof | saw | alone |
| --- | --- | --- |
| error ratio | 1 | 0 |
| parameters | 2 | 1 |

- net: onnx parameters: zeroed: w: seen only by parameters; an error ratio of 2.5, a true effect of 1.5 e_ref
- net: onnx parameters: zeroed: w: SURVIVED; an error ratio of 2.5, a true effect of 1.5 e_ref
CPU: 1.0 minutes
"""
    )


def score(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evals.drill.score", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)


def test_a_small_score_is_kept_and_not_computed_twice(tmp_path: Path) -> None:
    kept = tmp_path / "score.json"
    arguments = ("--networks", "branches", "--faults", "8", "--json", kept)
    first = score(*arguments)
    assert first.returncode == 0, first.stdout + first.stderr
    told = json.loads(kept.read_bytes())["branches"]
    assert told["planted"] == 8
    assert told["cpu_seconds"] > 1, "its children import Paddle, which alone takes as long"
    again = score(*arguments, "--resume")
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "")


def test_a_network_that_is_not_there_is_refused() -> None:
    done = score("--networks", "tiny,huge")
    assert done.returncode == 2 and "no network 'huge'" in done.stderr and "transformer" in done.stderr


@pytest.mark.slow
def test_the_whole_score(tmp_path: Path) -> None:
    assert len(NETWORKS) >= 8 and {TRAINED, *NETWORKS} >= KINDS
    done = score("--json", tmp_path / "score.json")
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "score.json").read_bytes())
    assert sum(one["planted"] for one in results.values()) >= 600
