"""A release that is cut off, at any moment and by any means: the earlier bundle is there, whole, and still verifies."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from exporter.base.errors import ExitCode
from exporter.bundle.open import open_bundle
from tests.command import COMMAND, PATIENCE, contents, environment, exporter, leftovers

#: One small model, few children: a release of about ten seconds.
SPEC = """
name: small
version: 1.0.0
model: models.sound:mlp
weights: factory
inputs: {x: {dtype: float32, shape: [batch, 4]}}
dims: {batch: {min: 1, typical: 2, max: 3}}
formats: [onnx]
engines: [onnxruntime]
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with one release; `seconds` holds how long it took."""
    from tests.conftest import working_folder

    place = working_folder(tmp_path_factory.mktemp("interrupted") / "work")
    (place / "small.yaml").write_text(SPEC)
    begun = time.monotonic()
    done = exporter("release", "small.yaml", cwd=place)
    assert done.code == 0, done.err + done.out
    (place / "seconds").write_text(str(time.monotonic() - begun))
    return place


@pytest.fixture
def work(small: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small, tmp_path / "work"))


def release(work: Path) -> subprocess.Popen[str]:
    """A second release with other weights, so that it would replace the first by something else."""
    command = [*COMMAND, "release", "small.yaml", "--set", "seed=7", "--force"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=work, env=environment(TMPDIR=str(work)), text=True, **pipes)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def outermost(paths: list[Path]) -> list[Path]:
    """Those that lie in none of the others: a file that was being written lies in a folder that was, too."""
    return [path for path in paths if not set(path.parents) & set(paths)]


def proven(work: Path, before: dict[str, bytes]) -> None:
    """The release in its place is the earlier one or the new one, whole, and verifies."""
    place = work / "artifacts/small/1.0.0"
    if contents(place) != before:
        assert open_bundle(place).manifest.spec["seed"] == 7, "neither the earlier nor the new one"
    done = exporter("verify", "artifacts/small/1.0.0", "--engines", "onnxruntime", cwd=work)
    assert done.code == 0, done.out + done.err


def assert_bundle_survives_kills_at(work: Path, moments: list[float]) -> None:
    before = contents(work / "artifacts/small/1.0.0")
    for moment in moments:
        process = release(work)
        time.sleep(moment)
        started = children(process)
        process.send_signal(signal.SIGKILL)
        ended(process)
        psutil.wait_procs(started, timeout=PATIENCE)
        assert not [one for one in started if one.is_running()], "a child outlives its parent"
        for left in outermost(leftovers(work / "artifacts")):
            shutil.rmtree(left)  # the killed one could not; that the next one does is shown below
        shutil.rmtree(work / "artifacts/small/failed", ignore_errors=True)
        proven(work, before)


def moments(work: Path, count: int, seed: int) -> list[float]:
    generator, whole = random.Random(seed), float((work / "seconds").read_text())
    return [generator.uniform(0, 1.1 * whole) for _ in range(count)]


def test_killed_at_a_few_moments_the_earlier_bundle_verifies(work: Path) -> None:
    assert_bundle_survives_kills_at(work, moments(work, 3, seed=3))


@pytest.mark.slow
def test_killed_at_ten_random_moments_the_earlier_bundle_verifies(work: Path) -> None:
    assert_bundle_survives_kills_at(work, moments(work, 10, seed=random.SystemRandom().randrange(10**6)))


def test_what_a_killed_release_left_the_next_one_removes(work: Path) -> None:
    while not leftovers(work / "artifacts"):  # again where it put all in place between the look and the kill
        process = release(work)
        while not leftovers(work / "artifacts"):
            time.sleep(0.01)
            assert process.poll() is None, ended(process)
        process.send_signal(signal.SIGKILL)
        ended(process)
    done = exporter("release", "small.yaml", cwd=work)
    assert done.code == 0 and not leftovers(work), done.err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_with_130_and_leaves_nothing(work: Path, how: signal.Signals) -> None:
    before = contents(work)
    process = release(work)
    while not (leftovers(work / "artifacts") and children(process)):
        time.sleep(0.02)
        assert process.poll() is None, ended(process)
    time.sleep(0.3)
    started = children(process)
    process.send_signal(how)
    code, err = ended(process)
    assert code == ExitCode.INTERRUPTED and "interrupted" in err and "Traceback" not in err, (code, err)
    psutil.wait_procs(started, timeout=PATIENCE)
    assert not [one for one in started if one.is_running()]
    after = {name: content for name, content in contents(work).items() if "__pycache__" not in name}
    assert after == {name: content for name, content in before.items() if "__pycache__" not in name}


def test_an_interrupt_while_it_proves_leaves_nothing(work: Path) -> None:
    """Later: when the engines run."""
    process = release(work)
    assert process.stderr
    for line in process.stderr:
        if "verifying" in line:
            break
    os.kill(process.pid, signal.SIGINT)
    code, err = ended(process)
    assert code == ExitCode.INTERRUPTED and "Traceback" not in err
    assert not leftovers(work) and not list(work.glob("exporter-*"))
