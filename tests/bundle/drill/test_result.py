"""What is made of a drill: every fault has one fate, and only what was measured to be harmless is called so."""

from __future__ import annotations

import json

import pytest

from exporter.bundle.drill.fault import Fault
from exporter.bundle.drill.result import Drilled, Planted
from exporter.cli.kinds.drill import as_text

ZEROED = Fault("parameters", "zeroed", "w", "pir", 0)
SCALED = Fault("parameters", "x1.001", "w", "pir", 0)
RENAMED = Fault("interface", "output renamed", "y", "onnx", 0)


@pytest.mark.parametrize(
    ("planted", "fate", "outside"),
    [
        (Planted(ZEROED, {"error ratio": "…"}, 9e6), "caught", "caught"),
        (Planted(ZEROED, {"parameters": "…"}, 1.0, effect=0.5), "caught", "equivalent"),
        (Planted(ZEROED, {"parameters": "…", "bits": "…"}, 2.0, effect=1.5), "caught", "survived"),
        (Planted(ZEROED, {}, 2.0, effect=1.0), "equivalent", "equivalent"),
        (Planted(ZEROED, {}, 2.0, effect=1.01), "survived", "survived"),
        (Planted(ZEROED, {}, 2.0, effect=None, why_not="no float64"), "survived", "survived"),
        (Planted(RENAMED, {}, 0.0), "survived", "survived"),
        (Planted(RENAMED, {}, 0.0, effect=0.0), "survived", "survived"),  # a promise is broken where no number changes
    ],
)
def test_the_fate_of_a_fault(planted: Planted, fate: str, outside: str) -> None:
    assert (planted.fate, planted.fate_outside) == (fate, outside)


@pytest.mark.parametrize(
    ("proofs", "verified", "disagrees"),
    [
        ({"error ratio": "…"}, "failed", False),
        ({"error ratio": "…"}, "passed", True),
        ({}, "passed", False),
        ({}, "failed", True),
        ({"bits": "…"}, "passed", False),  # a note, and no failure
        ({"bits": "…"}, "failed", True),
        ({"error ratio": "…"}, "", False),  # not asked
    ],
)
def test_drill_and_verify_are_held_against_each_other(proofs: dict[str, str], verified: str, disagrees: bool) -> None:
    one = Planted(ZEROED, proofs, 1.0, effect=0.1, verified=verified)
    assert one.disagrees is disagrees
    assert Drilled("n", "1", 4.0, [one]).passed is not disagrees


def drilled() -> Drilled:
    planted = [
        Planted(ZEROED, {"parameters": "w is another", "error ratio": "9"}, 9.0),
        Planted(SCALED, {"bits": "differ"}, 2.0, effect=1.5, verified="passed"),
        Planted(SCALED, {}, 1.5, effect=0.7),
        Planted(SCALED, {}, 3.5, effect=2.5),
        Planted(ZEROED, {}, 1.0, why_not="the child died"),
        Planted(RENAMED, {}, 0.0),
        Planted(RENAMED, {"interface": "no y"}, 0.0, verified="passed"),
    ]
    return Drilled("small", "1", 4.0, planted, ["onnx has room for 2"])


def test_the_object_says_it_all_and_its_parts_add_up() -> None:
    told = drilled().to_json()
    json.dumps(told, allow_nan=False)
    assert told["planted"] == 7 == told["caught"] + told["equivalent"] + len(told["survived"])
    assert (told["caught"], told["equivalent"]) == (3, 1)
    assert told["by_proof"] == {"bits": 1, "error ratio": 1, "interface": 1, "parameters": 1}
    assert told["only_by"] == {"bits": 1, "interface": 1}
    assert told["from_outside"] == {"caught": 2, "equivalent": 1, "survived": 4}
    assert [one["why"] for one in told["survived"]] == [
        "its error ratio is at most 3.5 of a budget of 4; without rounding it moves the outputs by 2.5 times eager's "
        "own error",
        "its error ratio is at most 1 of a budget of 4; its true effect could not be measured: the child died",
        "every output that came was right, and so is what the file declares",
    ]
    assert told["through_verify"]["asked"] == 2
    assert [one["variant"] for one in told["through_verify"]["disagree"]] == ["onnx"]


def test_the_table() -> None:
    assert as_text(drilled(), None) == (
        """\
fault                      onnx              pir
interface: output renamed  1/2 (1 survived)  -
parameters: x1.001         -                 1/3 (1 equivalent, 1 survived)
parameters: zeroed         -                 1/2 (1 survived)
all                        1/2 (1 survived)  2/5 (1 equivalent, 2 survived)

7 planted: 3 caught, 1 equivalent (the true effect is below eager's own rounding), 3 survived
seen by: bits 1, error ratio 1, interface 1, parameters 1
without the proofs by parameters and by bits: 2 caught, 1 equivalent, 4 survived
1 were seen by their bits alone: verify says so in a note, and its verdict passes
2 went through verify: 1 disagree
DISAGREES onnx interface: output renamed: y: verify says passed
SURVIVED pir parameters: x1.001: w: its error ratio is at most 3.5 of a budget of 4; without rounding it moves the """
        """outputs by 2.5 times eager's own error
SURVIVED pir parameters: zeroed: w: its error ratio is at most 1 of a budget of 4; its true effect could not be """
        """measured: the child died
SURVIVED onnx interface: output renamed: y: every output that came was right, and so is what the file declares
note: onnx has room for 2
"""
    )


def test_a_drill_that_planted_nothing_shows_nothing() -> None:
    assert not Drilled("n", "1", 4.0, []).passed
