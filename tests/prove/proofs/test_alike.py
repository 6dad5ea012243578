from __future__ import annotations

import pytest

from exporter.base import machine
from exporter.prove.proofs.kinds.speed import on_the_like
from exporter.prove.verdict.claim import Evidence, Outcome

KEPT = Evidence(Outcome.MATCH, "3.1 times as fast", elements=5)
BROKEN = Evidence(Outcome.MISMATCH, "1.1 times as fast, at least 2.8 promised", elements=5)


@pytest.fixture
def plain_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cpu", lambda: {"model": "plain", "cores": 2, "abilities": ["avx2"]})


@pytest.mark.usefixtures("plain_cpu")
def test_a_promise_of_a_cpu_that_could_more_is_not_broken_here() -> None:
    found = on_the_like(BROKEN, ["avx2", "avx512_vnni"])
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.reason.endswith("but this CPU has no avx512_vnni, which the one that released it had")
    assert BROKEN.reason in found.reason


@pytest.mark.usefixtures("plain_cpu")
@pytest.mark.parametrize("released_on", [["avx2"], []], ids=["the like", "not recorded"])
def test_on_the_like_a_broken_promise_is_broken(released_on: list[str]) -> None:
    assert on_the_like(BROKEN, released_on) == BROKEN


@pytest.mark.usefixtures("plain_cpu")
def test_a_promise_that_is_kept_is_kept_anywhere() -> None:
    assert on_the_like(KEPT, ["avx512_vnni"]) == KEPT


def test_a_promise_of_a_cpu_that_could_less_is_not_broken_here_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cpu", lambda: {"abilities": ["avx2", "avx512f"]})
    found = on_the_like(BROKEN, ["avx2"])
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.reason.endswith("but this CPU has avx512f, which the one that released it had not")
