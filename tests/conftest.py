"""What all tests share: one real release of the digits, and working folders with models in them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.command import ROOT, exporter

# Derandomized: a suite that decides on a release must say the same twice. HYPOTHESIS_PROFILE=search looks further.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("search", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
# A shell starts what runs in the background with SIGINT ignored, and children inherit that: Ctrl-C could not be tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup() -> None:
    """Before each fixture: see :func:`_one_environment`."""
    _one_environment()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call() -> None:
    """Before each test: see :func:`_one_environment`."""
    _one_environment()


def _one_environment() -> None:
    """Let all tests have the same variables: children that have the same are forked from one server.

    pytest tells children the name of the test that runs: each test would have servers of its own, which import Paddle.
    """
    os.environ["PYTEST_CURRENT_TEST"] = "one of them"


@pytest.fixture
def bounded() -> Iterator[None]:
    """Ends a test that has taken 20 s of processor time: what it reads is refused before it is followed.

    Not by the clock: a busy machine fails no sound test.
    """

    def end(_signal: int, _frame: object) -> None:
        pytest.fail("it took 20 s of processor time")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, 20.0)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    signal.signal(signal.SIGPROF, before)


def working_folder(place: Path) -> Path:
    """A folder as a user has it: recipes, specs and models, and nothing of ours beside them."""
    place.mkdir(parents=True)
    for name in ("recipes", "specs"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests/models", place / "models", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "models/broken_syntax.py").write_text("def build(:\n")
    return place


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A working folder of this test's own."""
    return working_folder(tmp_path / "work")


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder in which the digits were trained and released, once for all workers of a run.

    Tests read it and copy from it; none writes into it. What it printed is in `release.json` and `release.err`.
    """
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place = base / "released"
    with (base / "released.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "release.json").exists():
            shutil.rmtree(place, ignore_errors=True)
            done = exporter("release", "specs/digits.yaml", "--json", cwd=working_folder(place), alone=True)
            assert done.code == 0, done.out + done.err
            (place / "release.err").write_text(done.err)
            (place / "release.json").write_text(json.dumps(done.json()))
    return place


@pytest.fixture(scope="session")
def digits(released: Path) -> Path:
    """The bundle of the released digits."""
    return released / "artifacts/digits/1.0.0"
