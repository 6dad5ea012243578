"""The C++ project of Paddle Inference: built and run against the library that the wheel holds.

The wheel has no header, so the project is compiled with declarations of our own (`wheel_api/`); the library, its names
and what it computes are the real ones.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests import faults
from tests.command import Done, environment, exporter, refused

TARGET = "paddle_inference_cpp"
LIBPYTHON = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY") or "")


def hand(bundle: Path, cwd: Path, *more: str | Path, **variables: str) -> Done:
    return exporter("handoff", bundle, "--to", TARGET, "--out", "given", *more, cwd=cwd, env=environment(**variables))


def test_without_the_package_it_says_that_it_was_only_generated(bundle: Path, tmp_path: Path) -> None:
    done = hand(bundle, tmp_path, "--json")
    assert done.code == 0 and done.json()["verified_here"] is False, done.err
    readme = (tmp_path / "given/README.md").read_text()
    assert "holds no paddle_inference_api.h" in readme
    assert "Only generated, and not run here: replay.cc and CMakeLists.txt." in readme
    assert "\n    cmake -S . -B build" in readme, "the first line of a block is indented as the others"


def test_the_judge_that_is_handed_over_sees_what_is_wrong(bundle: Path, tmp_path: Path) -> None:
    assert hand(bundle, tmp_path).code == 0
    from safetensors.numpy import load_file

    golden, outputs = load_file(bundle / "golden.safetensors"), tmp_path / "outputs"
    outputs.mkdir()

    def judged() -> tuple[int, str]:
        command = [sys.executable, "-I", str(tmp_path / "given/judge.py"), str(outputs)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    for case, name in enumerate(("batch=2", "batch=2#2", "batch=1", "batch=5")):
        for place, output in enumerate(("logits", "levels")):
            np.save(outputs / f"{case}.{place}.npy", golden[f"{name}/eager/{output}"])
    assert judged()[0] == 0, judged()
    np.save(outputs / "3.0.npy", golden["batch=5/eager/logits"] * np.float32(1.0001))
    code, said = judged()
    assert code == 1 and "case batch=5, output logits: mismatch" in said and "FAILED" in said
    (outputs / "3.0.npy").write_bytes(b"no array")
    assert judged()[0] == 2
    (outputs / "3.0.npy").unlink()
    assert judged()[0] == 2


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's library where the C++ package has its own, and the header that the wheel lacks."""
    if not shutil.which("cmake") or not shutil.which("g++"):
        pytest.skip("no CMake or no compiler here")
    if not LIBPYTHON.is_file() or LIBPYTHON.suffix == ".a":
        pytest.skip("this Python has no shared library, which the wheel's library needs")
    spec = find_spec("paddle")
    assert spec is not None and spec.origin is not None
    wheel, place = Path(spec.origin).parent, tmp_path_factory.mktemp("package") / "paddle"
    (place / "lib").mkdir(parents=True)
    for name in ("libpaddle_inference.so", "libpaddle.so"):  # what the linker looks for, and what the loader does
        (place / "lib" / name).symlink_to(wheel / "base/libpaddle.so")
    (place / "libs").symlink_to(wheel / "libs")
    (place / "include").symlink_to(Path(__file__).with_name("wheel_api"))
    return place.parent


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["pdmodel", "pir"])
def test_it_is_built_and_gives_what_the_bundle_recorded(
    bundle: Path, package: Path, tmp_path: Path, variant: str
) -> None:
    variables = {
        "PADDLE_INFERENCE_DIR": str(package),
        "LDFLAGS": f"-Wl,--no-as-needed {LIBPYTHON} -Wl,-rpath,{LIBPYTHON.parent}",
    }
    done = hand(bundle, tmp_path, "--variant", variant, **variables)
    assert done.code == 0, done.err
    assert done.out.startswith("verified here: yes (replay was built here and gave what the bundle recorded: 4 "), (
        done.out
    )
    print(f"\n{variant}: {done.out}")  # for docs/targets.md


@pytest.mark.slow
def test_a_faulty_artifact_is_not_handed_over(bundle: Path, package: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    faults.scale_tensor(copy / "pdmodel/model.pdiparams", factor=1.0001)
    faults.reseal(copy)
    variables = {
        "PADDLE_INFERENCE_DIR": str(package),
        "LDFLAGS": f"-Wl,--no-as-needed {LIBPYTHON} -Wl,-rpath,{LIBPYTHON.parent}",
    }
    refused(hand(copy, tmp_path, **variables), 4, "replay ran and does not give what the bundle recorded")
    assert not (tmp_path / "given").exists()


@pytest.mark.slow
def test_a_package_that_is_none_is_told(bundle: Path, tmp_path: Path) -> None:
    done = hand(bundle, tmp_path, PADDLE_INFERENCE_DIR=str(tmp_path))
    refused(done, 4, "Paddle Inference for C++ is not here")
