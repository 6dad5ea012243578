"""The files around the package: locks, install script, container images, CI, licence."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import exporter
from tests.command import PATIENCE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it on Python 3.10

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
#: What each lock must satisfy: with the dependencies themselves, these extras.
LOCKS = {
    "runtime": ("cpu",),
    "cpu": ("cpu", "convert", "paddle2onnx", "train"),
    "gpu": ("gpu", "convert", "paddle2onnx", "train"),
    "dev": ("dev", "openvino"),
}
SCRIPTS = ("scripts/image", "scripts/install", "scripts/lock", ".ci/run")
TEST_COMMAND = "scripts/install --dev && .venv/bin/python -m pytest"
TOOLS = Path(sys.executable).parent


def pins(lock: str, python: str) -> dict[str, list[str]]:
    """Name -> the versions that a Linux machine with that Python would install."""
    environment = default_environment() | {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
    }
    found: dict[str, list[str]] = {}
    for line in (ROOT / "requirements" / f"{lock}.lock").read_text().splitlines():
        if line[:1] in ("", " ", "#"):
            continue
        pin = Requirement(line.removesuffix("\\"))
        assert [one.operator for one in pin.specifier] == ["=="], f"not pinned to one version: {line}"
        if pin.marker is None or pin.marker.evaluate(environment):
            found.setdefault(canonicalize_name(pin.name), []).append(next(iter(pin.specifier)).version)
    return found


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


# ---------------------------------------------------------------------------------------------------------- the locks


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS)
def test_lock_satisfies_the_project(lock: str, python: str) -> None:
    assert python in SpecifierSet(PROJECT["project"]["requires-python"])
    wanted = list(PROJECT["project"]["dependencies"])
    for extra in LOCKS[lock]:
        wanted += PROJECT["project"]["optional-dependencies"][extra]
    locked = pins(lock, python)
    assert not {name: versions for name, versions in locked.items() if len(versions) != 1}
    for line in wanted:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"python_version": python}):
            continue
        if requirement.name == "paddlepaddle-gpu":
            assert requirement.name not in locked, "it is only on Paddle's own index, and scripts/install pins it"
            continue
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{line} is missing in {lock}.lock: run scripts/lock"
        assert requirement.specifier.contains(locked[name][0]), f"{line}: {lock}.lock has {locked[name][0]}"


def test_the_paddle_on_a_gpu_is_in_the_range_of_the_project() -> None:
    pinned = re.search(r"^paddle_gpu=(\S+)", (ROOT / "scripts/install").read_text(), re.MULTILINE)
    wanted = [Requirement(line) for line in PROJECT["project"]["optional-dependencies"]["gpu"]]
    assert pinned is not None
    assert [one.specifier.contains(pinned[1]) for one in wanted if one.name == "paddlepaddle-gpu"] == [True]


@pytest.mark.parametrize("python", PYTHONS)
def test_locks_agree_so_that_they_can_be_installed_on_top_of_each_other(python: str) -> None:
    everything = pins("cpu", python)
    for lock in LOCKS:
        for name, versions in pins(lock, python).items():
            assert everything.get(name, versions) == versions, f"{name}: {lock}.lock and cpu.lock differ"
    assert set(pins("runtime", python)) < set(everything)
    paddle = {"paddlepaddle", "onnxruntime"}
    assert set(everything) - set(pins("gpu", python)) == paddle, "gpu.lock is cpu.lock but for the engines"


def test_runtime_has_nothing_to_train_or_convert_with() -> None:
    assert not {"scikit-learn", "matplotlib", "paddle2onnx", "onnx", "pytest"} & set(pins("runtime", "3.11"))


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_address_and_hashes_everything(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.lock").read_text()
    assert not re.findall(r"(?i)://|www\.|\.(?:com|org|net|io)\b|--?(?:extra-)?index|--find-links|^-\S* ", text, re.M)
    entries = re.split(r"\n(?=[a-z])", text.split("\n", 2)[2], flags=re.IGNORECASE)
    assert len(entries) > 40
    assert not [entry for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)]


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_leaves_out_what_installs_or_compiles_behind_ones_back(lock: str) -> None:
    assert not {"polygraphy", "onnxoptimizer"} & set(pins(lock, "3.11"))


# --------------------------------------------------------------------------------------------------------- the scripts


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_pass_shellcheck_and_can_be_executed(script: str) -> None:
    checked = run(TOOLS / "shellcheck", script)
    assert checked.returncode == 0, checked.stdout
    assert os.access(ROOT / script, os.X_OK)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What scripts/install needs, without anything that was built here."""
    for name in ("scripts", "requirements", "exporter"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--frobnicate"], "unknown option --frobnicate"),
        (["--venv"], "--venv needs a value"),
        (["--gpu", "cu118"], "use cu126, cu129 or provided"),
        (["--gpu", "cu126", "--runtime"], "exclude each other"),
        (["--python", "no-such-python"], "no such Python: no-such-python"),
        (["--python", "./python-of-1991"], "./python-of-1991 is Python 0.9"),
        (["--venv", "scripts"], "exists and is no virtual environment"),
    ],
)
def test_install_says_what_is_wrong_and_changes_nothing(checkout: Path, options: list[str], said: str) -> None:
    old = checkout / "python-of-1991"
    old.write_text("#!/bin/sh\necho 0.9\n")
    old.chmod(0o755)
    before = sorted(checkout.rglob("*"))
    answer = run("scripts/install", *options, cwd=checkout)
    assert answer.returncode == 1
    assert said in answer.stderr
    assert sorted(checkout.rglob("*")) == before


def test_install_without_a_network_says_so_and_does_not_call_it_done(checkout: Path) -> None:
    nobody = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    answer = run("scripts/install", "--python", sys.executable, cwd=checkout, **nobody, PIP_FIND_LINKS="")
    assert answer.returncode == 1
    assert "requirements/cpu.lock: the package index cannot be reached" in answer.stderr
    assert (checkout / ".venv/pyvenv.cfg").is_file()
    assert not (checkout / ".venv/.exporter").exists()


def test_install_does_not_mix_cpu_and_gpu(checkout: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True)
    (checkout / ".venv/.exporter").write_text("cpu 1 2\n")
    answer = run("scripts/install", "--gpu", "cu126", cwd=checkout)
    assert answer.returncode == 1
    assert "was set up for cpu" in answer.stderr


def test_ci_runs_the_command_of_readme(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    between = f"<!-- test-command -->\n```\\w*\n{re.escape(TEST_COMMAND)}\n```\n<!-- /test-command -->"
    assert re.search(between, readme)
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    instead = "touch ran && echo '= 1 failed in 0.01s =' && false"
    (tmp_path / "README.md").write_text(readme.replace(TEST_COMMAND, instead))
    answer = run(".ci/run", cwd=tmp_path)
    assert (tmp_path / "ran").is_file()
    assert answer.returncode == 1
    assert "ci: pytest closed with: = 1 failed in 0.01s =" in answer.stdout
    assert re.search(r"ci: FAILED: tests\b", answer.stdout)


def test_ci_fails_loudly_where_readme_has_no_command(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    (tmp_path / "README.md").write_text("# exporter\n\n    python -m pytest\n")
    answer = run(".ci/run", cwd=tmp_path)
    assert answer.returncode == 2
    assert "README.md has no command" in answer.stderr


# ---------------------------------------------------------------------------------------------------------- the images


def test_dockerfile_passes_hadolint() -> None:
    linted = run(TOOLS / "hadolint", "--no-color", "Dockerfile")
    assert linted.returncode == 0, linted.stdout
    assert linted.stdout == ""


def test_images_install_by_the_script_and_do_not_run_as_root() -> None:
    stages = re.split(r"(?m)^FROM ", (ROOT / "Dockerfile").read_text())[1:]
    finals = [stage for stage in stages if "ENTRYPOINT" in stage]
    assert len(finals) == 2
    assert all(re.search(r"(?m)^USER (?!0\b)\d+:\d+$", stage) for stage in finals)
    assert not [stage for stage in stages if re.search(r"pip install|uv ", stage)]
    options = re.findall(r"scripts/install ([^&\\]+)", "".join(stages))
    assert ["--runtime" in line for line in options] == [True, False]


def test_runtime_image_loses_only_the_verbs_that_make_artifacts(checkout: Path) -> None:
    """The removal runs here as it stands in the Dockerfile, in another place."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    removal = re.search(r"--runtime .*\\\n((?:.*\\\n)*.*)", dockerfile)
    assert removal is not None and "rm" in removal[1]
    inside = "/opt/exporter/lib/python3.11/site-packages"
    assert inside in removal[1]
    here = removal[1].replace("\\\n", "").strip().removeprefix("&&").replace(inside, str(checkout))
    code = [sys.executable, "-c", "from exporter.cli import main; main()"]

    before = verbs(run(*code, "--help", cwd=checkout).stdout)
    assert run("sh", "-euc", here, cwd=checkout).returncode == 0
    assert before - verbs(run(*code, "--help", cwd=checkout).stdout) == {
        *("train", "prune", "convert", "release", "gate", "compare-modes")
    }
    assert run(sys.executable, "-c", "import exporter.pipeline", cwd=checkout).stderr == ""
    # What the image lacks because it makes no artifacts is no fault of it.
    absent = checkout / "absent"
    (absent / "paddle2onnx-0.dist-info").mkdir(parents=True)
    (absent / "paddle2onnx-0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: paddle2onnx\nVersion: 0\n")
    (absent / "paddle2onnx.py").write_text("raise ImportError('not in this image')")
    path = os.pathsep.join([str(absent), str(checkout)])
    examined = json.loads(run(*code, "doctor", "--device", "cpu", "--json", cwd=checkout, PYTHONPATH=path).stdout)
    states = {check["what"]: check["state"] for check in examined["checks"]}
    assert (states["converter paddle2onnx"], states["package paddle2onnx"]) == ("absent", "absent")
    assert examined["ready"] is True
    verified = run(*code, "verify", "nothing-here", cwd=checkout)
    assert verified.returncode in (2, 5), verified.stderr
    assert "nothing-here" in verified.stderr


def verbs(help: str) -> set[str]:
    return set(re.findall(r"^  ([a-z-]+) ", help.partition("Commands:")[2], re.MULTILINE))


# ---------------------------------------------------------------------------------------------------------- the package


def test_wheel_holds_the_whole_package_and_nothing_else(checkout: Path, tmp_path: Path) -> None:
    code = "import setuptools.build_meta as backend; backend.build_wheel('dist')"
    built = run(sys.executable, "-W", "ignore", "-c", code, cwd=checkout)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        entry_points = archive.read(f"paddle_exporter-{exporter.__version__}.dist-info/entry_points.txt").decode()
    kinds = (".py", ".json", ".txt", ".typed", ".Dockerfile", ".cc", ".in", ".yaml", ".mjs", ".html")
    files = [path for path in (ROOT / "exporter").rglob("*") if path.suffix in kinds]
    assert packed == {path.relative_to(ROOT).as_posix() for path in files}
    assert "exporter = exporter.cli:main" in entry_points
    assert "export = exporter.cli:main" in entry_points


def test_sdist_holds_all_that_a_wheel_needs_and_the_checkout_around_it(checkout: Path) -> None:
    for name in ("ci", "docs", "recipes", "specs", "tests"):
        (checkout / name).mkdir()
        (checkout / name / "one.md").write_text("here")
    for name in (
        "MANIFEST.in",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Dockerfile",
        "action.yml",
        ".pre-commit-hooks.yaml",
    ):
        shutil.copy(ROOT / name, checkout / name)
    code = "import setuptools.build_meta as backend; backend.build_sdist('dist')"
    built = run(sys.executable, "-W", "ignore", "-c", code, cwd=checkout)
    assert built.returncode == 0, built.stderr
    (sdist,) = (checkout / "dist").glob("paddle_exporter-*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    package = [path for path in (ROOT / "exporter").rglob("*") if path.suffix in (".py", ".json", ".txt", ".typed")]
    assert {path.relative_to(ROOT).as_posix() for path in package} <= packed
    assert {"docs/one.md", "recipes/one.md", "specs/one.md", "tests/one.md", "scripts/install", "Dockerfile"} <= packed
    assert {"requirements/cpu.lock", "ci/one.md", "action.yml", ".pre-commit-hooks.yaml"} <= packed


def test_version_is_the_same_everywhere() -> None:
    assert PROJECT["project"]["version"] == exporter.__version__
    assert f"\n## {exporter.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_installed_paddle_is_the_locked_one() -> None:
    python = "{}.{}".format(*sys.version_info)
    assert [version("paddlepaddle")] == pins("cpu", python)["paddlepaddle"]


def test_licence_is_apache_2_to_the_byte() -> None:
    content = (ROOT / "LICENSE").read_bytes()
    assert hashlib.sha256(content).hexdigest() == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    assert PROJECT["project"]["license"] == "Apache-2.0"


@pytest.mark.parametrize(
    "file", ["README.md", "README.zh.md", "ci/Jenkinsfile", "ci/gitlab.yml", "scripts/install", "scripts/lock"]
)
def test_every_page_names_the_pythons_that_the_project_takes(file: str) -> None:
    ranges = re.findall(r"(3\.\d+) (?:to|到) (3\.\d+)", (ROOT / file).read_text(encoding="utf-8"))
    assert ranges and set(ranges) == {(PYTHONS[0], PYTHONS[-1])}
