"""The image of the HTTP service, built by the one command and run: not as root, and nothing in it is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from evals.serve import drain, load, malformed
from evals.serve.client import get
from evals.serve.goldens import Goldens
from evals.serve.service import Service, free_port
from tests.command import ROOT, STORED, environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("buildah"), reason="needs root and buildah (apt-get install buildah)"
    ),
]


def buildah(*words: str | Path) -> str:
    done = subprocess.run(["buildah", *map(str, words)], capture_output=True, text=True, check=False, env=isolated())
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def isolated() -> dict[str, str]:
    return {**environment(), "BUILDAH_ISOLATION": os.environ.get("BUILDAH_ISOLATION", "chroot")}


@pytest.fixture(scope="module")
def image() -> str:
    """Built on a base of Debian's packages, so that no registry is needed."""
    command = ["scripts/image", "--stand-in", "http", str(STORED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=isolated())
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "localhost/pictures:http"
    return "localhost/pictures:http"


@dataclass(frozen=True)
class Box:
    """The service in a container, and the container's files."""

    service: Service
    program: psutil.Process
    files: Path


@pytest.fixture
def box(image: str, tmp_path: Path) -> Iterator[Box]:
    name = buildah("from", "--pull-never", image)
    files, port = Path(buildah("mount", name)), free_port()
    program = ["/opt/service/bin/python", "-E", "-s", "/srv/serve.py", "--port", str(port)]
    with (tmp_path / "log").open("wb") as stream:
        command = ["buildah", "run", name, "--", *program]
        running = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, env=isolated())
    try:
        end = time.monotonic() + 60
        while get(port, "/v2/health/ready") != 200:
            assert running.poll() is None and time.monotonic() < end, (tmp_path / "log").read_text()
            time.sleep(0.1)
        inside = [one for one in psutil.Process(running.pid).children(recursive=True) if one.cmdline() == program]
        yield Box(Service(running, port, tmp_path / "log"), inside[-1], files)
    finally:
        if running.poll() is None:
            running.kill()
        running.wait()
        buildah("rm", name)


def written(files: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file of ours in the container."""
    paths = [path for folder in ("srv", "opt", "home", "tmp", "var/tmp") for path in (files / folder).rglob("*")]
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths}


def test_the_image_serves_as_nobody_and_writes_nothing(box: Box) -> None:
    goldens, before = Goldens(STORED), written(box.files)
    assert box.program.uids().real == 10001
    assert before and not [path for path in map(Path, before) if path.lstat().st_uid == 10001]
    busy = load.run(box.service, goldens, clients=8, seconds=3)
    assert busy.right == busy.sent > 0, busy.told()
    wrong = malformed.run(box.service, goldens, noise=50)
    assert wrong.passed, wrong.told()
    stopped = drain.run(box.service, goldens, clients=4, terminate=box.program.terminate)
    assert stopped.passed, stopped.told()
    assert written(box.files) == before
