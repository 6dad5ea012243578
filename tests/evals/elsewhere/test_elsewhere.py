"""The eval on planted answers: its kinds are those that matter, and a sample of it holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evals.elsewhere.__main__ import row, run
from evals.elsewhere.bundles import NETWORKS, asked
from evals.elsewhere.faults import FAULTS


def test_forty_faults_of_ten_kinds_are_planted() -> None:
    kinds = Counter(fault.kind for fault in FAULTS)
    assert len(FAULTS) >= 40 and len(kinds) >= 10
    assert {fault.network for fault in FAULTS} == set(NETWORKS)
    assert len({(fault.kind, fault.network, fault.what) for fault in FAULTS}) == len(FAULTS)


def test_a_sample_is_caught_and_named(tmp_path: Path) -> None:
    """All of one network, in whose kit there are two inputs."""
    one = asked("pair", tmp_path)
    rows = {fault.what: row(fault, one, tmp_path) for fault in FAULTS if fault.network == "pair"}
    assert len(rows) >= 8
    assert {what for what, (caught, _, _) in rows.items() if not caught} == set()
    assert sum(named for _, named, _ in rows.values()) >= len(rows) - 1, rows


@pytest.mark.slow
def test_all_of_them(tmp_path: Path) -> None:
    assert run(tmp_path, "") == 0
