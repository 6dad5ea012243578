"""What is said of a claim by an interval, and ratios of rounds with theirs."""

from __future__ import annotations

import math

import pytest

from exporter.deploy.modes.claims import CANNOT_TELL, NOT_SUPPORTED, SUPPORTED, claims, judged
from exporter.deploy.modes.result import Apart, Asked, Comparison, Interval, Machine, Round, Served, Wish, ratio
from exporter.deploy.modes.text import as_markdown


@pytest.mark.parametrize(
    ("low", "high", "rounds", "said"),
    [
        (1.11, 1.14, 5, SUPPORTED),
        (1.10, 1.15, 5, SUPPORTED),
        (1.09, 1.14, 5, CANNOT_TELL),
        (1.11, 1.16, 5, CANNOT_TELL),
        (0.90, 1.09, 5, NOT_SUPPORTED),
        (1.16, 1.20, 5, NOT_SUPPORTED),
        (1.11, 1.14, 4, CANNOT_TELL),
        (math.nan, math.nan, 5, CANNOT_TELL),
    ],
)
def test_a_claim_is_said_by_the_whole_interval(low: float, high: float, rounds: int, said: str) -> None:
    assert judged(Interval((low + high) / 2, low, high), 1.10, 1.15, rounds) == said


def test_a_ratio_is_of_pairs() -> None:
    """A disturbance that slows both sides of a round widens nothing."""
    alike = ratio([2.0, 20.0, 4.0], [1.0, 10.0, 2.0])
    assert (alike.value, alike.low, alike.high) == pytest.approx((2.0, 2.0, 2.0))
    other = ratio([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 2.0, 2.0, 2.0, 2.0])
    assert 0.5 < other.low < other.value < other.high < 2.5
    assert math.isnan(ratio([1.0], [2.0]).low) and str(ratio([1.0], [2.0])) == "0.50"


def measured(rounds: int = 5, why_not: str = "") -> Comparison:
    """Eager takes twice as long as AST, and answers a quarter of the requests; batch 8 is 1.12 times slower."""

    def of(times: float) -> list[Round]:
        eight = 1.12 * 0.001 if times > 1 else 0.001
        forward = {"1": [0.001 * times], "8": [eight]}
        return [Round([1.0, 0.5], [0.01 * times] * 8, forward, 0.1, 0.9, 200 << 20) for _ in range(rounds)]

    served = Served(
        {"eager": [Asked(300, 0.01, 0.02)] * rounds, "onnx": [Asked(1200, 0.003, 0.004)] * rounds},
        {"eager": 0.0, "onnx": 1e-6},
        3.0,
    )
    return Comparison(
        wish=Wish("recipes.x:recipe", ("eager", "ast"), epochs=1, batches=(1, 8), rounds=rounds),
        paddle="3.3.1",
        machine=Machine({"model": "a CPU", "cores": 2, "abilities": []}, {}),
        metric="accuracy",
        titles={"eager": "eager", "ast": "to_static, AST", "cinn": "to_static, CINN"},
        rounds={"eager": of(2.0), "ast": of(1.0)},
        apart={"eager": Apart(0, 0), "ast": Apart(1e-7, 1e-6)},
        lacks={"cinn": "not compiled"},
        failed={},
        served=Served(why_not=why_not) if why_not else served,
    )


def test_each_claim_has_a_verdict() -> None:
    forward, training, served = claims(measured())
    assert forward.verdict == "not supported for batch 1, supported for batch 8"
    assert (training.verdict, served.verdict) == (NOT_SUPPORTED, SUPPORTED)
    assert "2.00 [2.00, 2.00]" in training.measured and "300 requests a second" in served.measured
    assert {said.verdict for said in claims(measured(rounds=4))} == {CANNOT_TELL}


def test_the_page_says_what_was_measured_and_what_was_not() -> None:
    page = as_markdown(measured())
    assert "| to_static, AST | 10.00 | 2.00 [2.00, 2.00] | 0.010 | 0.5 | 0.9000 | 1.0e-07 | bit for bit | 200 |" in page
    assert "| onnx | 1,200 | 4.00 [4.00, 4.00] | 3.00 | 4.00 | 1.0e-06 |" in page
    assert "- to_static, CINN: not compiled" in page
    assert "`exporter compare-modes recipes.x --epochs 1 --batches 1,8 --rounds 5" in page
    without = as_markdown(measured(why_not="aiohttp is not there"))
    assert "Not measured: aiohttp is not there." in without and "requests a second" not in without
