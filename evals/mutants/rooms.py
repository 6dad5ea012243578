"""The rooms of the proof, and the tests that must notice a fault in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Room:
    """`paths` are files and folders below the repository; `tests` those that are run on their mutants.

    Code that `traces` puts a tracer in the place of the one that records which lines a test runs: each of the room's
    tests counts as one that may run any of its lines.
    """

    paths: tuple[str, ...]
    tests: tuple[str, ...]
    traces: bool = False


#: Without `declared`, `pipeline` and `sublayers`, which release or verify bundles: that takes a minute for each fault.
_PROOFS = ("agreement", "alike", "budgets", "chains", "decoding", "fold_limits", "folded", "folds", "injected")
_PROOFS += ("interface", "look", "looked_into", "noise", "origins", "overflow", "plans", "rating", "samples")
_PROOFS += ("speed", "task_metric", "trained", "weights")

ROOMS = {
    "verdict": Room(("exporter/prove/verdict",), ("tests/prove/verdict", "tests/prove/judge")),
    "numbers": Room(("exporter/base/numbers",), ("tests/base/numbers", "tests/prove/compare")),
    "compare": Room(("exporter/prove/compare",), ("tests/prove/compare", "tests/base/numbers", "tests/prove/judge")),
    "judge": Room(("exporter/prove/judge",), ("tests/prove/judge", "tests/prove/verdict")),
    "harness": Room(("exporter/prove/harness.py",), ("tests/prove/test_harness.py",)),
    "proofs": Room(
        ("exporter/prove/proofs",),
        (
            *(f"tests/prove/proofs/test_{name}.py" for name in _PROOFS),
            "tests/prove/judge",
            "tests/export/lower/precision/test_int8.py",
        ),
    ),
    "steps": Room(
        tuple(
            f"exporter/steps/{name}.py"
            for name in ("answer", "compare", "controls", "judge", "material", "replay", "search")
        ),
        tuple(
            f"tests/steps/test_{name}.py"
            for name in ("answer", "compare", "controls", "judge", "material", "replay", "search")
        ),
    ),
    "causes": Room(("exporter/steps/causes",), ("tests/steps/test_causes.py", "tests/steps/test_planted.py")),
    "fold": Room(
        ("exporter/export/fold/both.py", "exporter/export/fold/split.py"),
        ("tests/export/fold/test_both.py", "tests/export/fold/test_steps.py", "tests/export/fold/test_layer.py"),
    ),
    "subject": Room(
        ("exporter/bundle/subject.py", "exporter/bundle/left_out.py"),
        ("tests/bundle/test_subject.py", "tests/bundle/test_left_out.py"),
    ),
    "record": Room(("exporter/prove/goldens/record.py",), ("tests/prove/goldens/test_recording.py",)),
    "goldens": Room(
        tuple(
            f"exporter/prove/goldens/{name}.py"
            for name in (
                *("cases", "copies", "decoding", "domain", "explore", "extremes", "finish", "float64", "fresh"),
                *("masks", "oracle", "positions", "telling", "truth", "values"),
            )
        ),
        tuple(
            f"tests/prove/goldens/test_{name}.py"
            for name in (
                *("cases", "copies", "decoding", "domain", "explore", "extremes", "finish", "float64", "fresh"),
                *("masks", "oracle", "positions", "telling", "truth", "values"),
            )
        ),
    ),
    "origin": Room(
        ("exporter/prove/root_cause/origin.py",),
        ("tests/prove/root_cause/test_first_off.py", "tests/prove/root_cause/test_origin.py"),
        traces=True,
    ),
    "search": Room(
        tuple(
            f"exporter/prove/goldens/{name}.py" for name in ("branches", "coverage", "influence", "questions", "sides")
        ),
        tuple(
            f"tests/prove/goldens/test_{name}.py"
            for name in ("coverage", "coverage_noted", "influence", "questions", "sides")
        ),
        traces=True,
    ),
    "preflight": Room(("exporter/prove/preflight",), ("tests/prove/preflight",), traces=True),
}


def files_of(rooms: Mapping[str, Room], root: Path) -> dict[str, str]:
    """The source files of some rooms below `root`, each with its room; what is not there is left out."""
    files: dict[str, str] = {}
    for name, room in rooms.items():
        for path in room.paths:
            place = root / path
            for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
                files[str(file.relative_to(root))] = name
    return files
