"""The images, as scripts/image builds them: one releases, the other verifies what it gets; neither runs as root.

Slow: buildah and mmdebstrap of Debian have to be installed, and the process must be root, as buildah's chroot asks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command import PATIENCE, ROOT, STORED
from tests.conftest import working_folder

pytestmark = pytest.mark.slow
USER = 10001


def command(*words: str | Path) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Image:
    """An image that was built, and one container of it."""

    def __init__(self, target: str) -> None:
        name = command("scripts/image", "--stand-in", target).splitlines()[-1]
        self.box = command("buildah", "from", "--pull-never", name).strip()
        sizes = command("buildah", "images", "--format", "{{.Name}}:{{.Tag}} {{.Size}}").splitlines()
        print(*(line for line in sizes if line.startswith(name)))

    def run(self, script: str, folder: Path) -> str:
        """What a shell says there, in /work, which is `folder`."""
        options = ["--isolation", "chroot", "--volume", f"{folder}:/work"]
        return command("buildah", "run", *options, self.box, "--", "sh", "-c", f"cd /work && {script}")

    def remove(self) -> None:
        command("buildah", "rm", self.box)


@pytest.fixture(scope="module")
def need_buildah() -> None:
    for program in ("buildah", "mmdebstrap"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: apt-get install {program}")
    if os.geteuid() != 0:
        pytest.skip("buildah's chroot isolation asks for root")


@pytest.fixture
def runtime(need_buildah: None) -> Image:
    return Image("runtime")


def opened(folder: Path) -> Path:
    """The folder, and all above it that the test made, as the image's user may write it."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, USER, USER)
    for above in list(folder.parents)[:3]:
        above.chmod(above.stat().st_mode | 0o011)
    return folder


def test_the_runtime_image_verifies_what_it_gets_and_makes_nothing(runtime: Image, tmp_path: Path) -> None:
    work = opened(Path(shutil.copytree(STORED, tmp_path / "work")))
    said = runtime.run("id -u; exporter doctor | tail -1; exporter verify . --quiet", work)
    assert said.split()[0] == str(USER)
    assert "\nready\n" in said and "PASSED: 109 of 109" in said
    assert " release" not in runtime.run("exporter --help", work)
    weights = next(work.rglob("*.pdiparams"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"\0")
    assert "exit 5" in runtime.run("exporter verify . --quiet || echo exit $?", work)
    runtime.remove()


def test_the_full_image_releases_and_the_runtime_image_believes_it(
    need_buildah: None, runtime: Image, tmp_path: Path
) -> None:
    full = Image("full")
    work = opened(working_folder(tmp_path / "work"))
    assert "PASSED" in full.run("exporter release specs/digits.yaml --quiet", work)
    assert "PASSED" in runtime.run("exporter verify artifacts/digits/1.0.0 --quiet", work)
    fewer = "--modes ast --steps 8 --rounds 1 --batches 2 --serve 0.3 --clients 2 --quiet"
    assert "requests a second" in full.run(
        f"exporter compare-modes digits {fewer} --page modes.html && cat modes.html", work
    )
    assert "no compiler" in full.run("command -v cc g++ nvcc || echo no compiler", work)
    for image in (full, runtime):
        image.remove()
