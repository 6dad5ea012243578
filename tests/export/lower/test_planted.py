"""Lowering faults are found at their nodes, where no output tells as well: a sample of `evals.lower.planted`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evals.lower.planted import plant_all
from evals.lower.planted_networks import NETWORKS

#: As many kinds as there are, in the networks that are judged soonest.
SAMPLE = {"attention": 1, "recurrent": 1}


@pytest.mark.parametrize("network", SAMPLE)
def test_a_fault_of_each_kind_is_found_at_its_node(network: str, tmp_path: Path) -> None:
    planted = [one for one in plant_all(network, tmp_path, SAMPLE[network]) if not one.equivalent]
    assert not [f"{one.fault.what} -> {one.blamed}" for one in planted if not one.found]
    kinds = {one.fault.kind for one in planted}
    assert kinds >= ({"axis", "epsilon", "number"} if network == "attention" else {"gate order", "axis"})
    assert any(one.hidden for one in planted), "the outputs hide some of them"


@pytest.mark.slow
def test_every_fault_is_found_at_its_node(tmp_path: Path) -> None:
    every = [one for network in NETWORKS for one in plant_all(network, tmp_path / network)]
    planted = [one for one in every if not one.equivalent]
    missed = [one for one in planted if not one.found and not one.as_paddle]
    assert not [f"{one.network}: {one.fault.what} -> {one.blamed}" for one in missed]
    kinds = Counter(one.fault.kind for one in planted)
    assert len(planted) >= 60
    assert {"axis", "epsilon", "rounding mode", "padding", "gate order", "tie"} <= set(kinds)
    assert sum(one.hidden for one in planted) >= 30
