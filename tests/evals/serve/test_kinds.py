"""A sample of `python -m evals.serve.kinds`: one model of each kind, few clients, a few seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.serve.kinds import DEPENDENT, INDEPENDENT, MODELS, Served, serve

pytestmark = pytest.mark.slow  # pip builds the environment; each model is released, handed over and started


@pytest.mark.parametrize("name", ["Dense", "Centred", "Cell"])
def test_every_answer_is_the_goldens_whoever_asks_meanwhile(name: str, tmp_path: Path) -> None:
    served = serve(name, tmp_path / "place", clients=8, seconds=3)
    assert served.passed, served
    assert served.joined == (MODELS[name].kind != DEPENDENT)


def test_what_is_joined_against_the_evidence_fails() -> None:
    joined = Served(DEPENDENT, joined=True, why="", sent=9, right=9, wrong=0, lost=0, distinct=3)
    apart = Served(INDEPENDENT, joined=False, why="", sent=9, right=9, wrong=0, lost=0, distinct=3)
    blind = Served(DEPENDENT, joined=False, why="", sent=9, right=9, wrong=0, lost=0, distinct=3, forced_wrong=0)
    assert not any(served.passed for served in (joined, apart, blind))
