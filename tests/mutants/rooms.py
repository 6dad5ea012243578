"""The rooms of the proof, and the tests that must notice a fault in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """`paths` are files and folders below the repository; `tests` those that are run on their mutants."""

    paths: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "verdict": Room(("exporter/verdict",), ("tests/verdict", "tests/judge")),
    "numbers": Room(("exporter/numbers",), ("tests/numbers", "tests/compare")),
    "compare": Room(("exporter/compare",), ("tests/compare", "tests/numbers", "tests/judge")),
    "judge": Room(("exporter/judge",), ("tests/judge", "tests/verdict")),
    "harness": Room(("exporter/harness.py",), ("tests/test_harness.py",)),
    "proofs": Room(("exporter/proofs",), ("tests/proofs", "tests/judge")),
    "goldens": Room(
        tuple(f"exporter/goldens/{name}.py" for name in ("cases", "finish", "float64", "oracle", "truth")),
        tuple(f"tests/goldens/test_{name}.py" for name in ("cases", "finish", "float64", "oracle", "truth")),
    ),
}
