"""What `--runtime` names, and where an environment comes from."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.base.files import user_cache
from exporter.deploy.runtimes import environment
from exporter.deploy.runtimes.environment import Runtime, ensure, read_runtimes


def test_a_version_alone_is_of_the_package_before_it() -> None:
    assert read_runtimes("paddle==2.6.2, 3.1.1,onnxruntime==1.20.1,paddle==2.6.2") == (
        Runtime("paddle", "2.6.2"),
        Runtime("paddle", "3.1.1"),
        Runtime("onnxruntime", "1.20.1"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no runtime"),
        (" , ", "names no runtime"),
        ("3.1.1", "'3.1.1' is no runtime"),
        ("torch==2.0", "'torch' is no runtime"),
        ("paddle", "'paddle' is no runtime"),
        ("paddle==", "'' is no version of paddle"),
        ("paddle==new", "'new' is no version of paddle"),
        ("paddle==2.6.2; rm", "'2.6.2; rm' is no version of paddle"),
        ("paddle==../../x", "'../../x' is no version of paddle"),
        ("--index-url==1.0", "'--index-url' is no runtime"),
    ],
)
def test_what_names_no_runtime_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_runtimes(text)
    assert said in refused.value.what and refused.value.where == "--runtime" and refused.value.hint


@pytest.mark.parametrize(
    ("runtime", "wanted"),
    [
        (Runtime("paddle", "2.6.2"), ("paddlepaddle==2.6.2", "numpy<2", "setuptools<81")),
        (Runtime("paddle", "3.0.0"), ("paddlepaddle==3.0.0", "numpy", "setuptools<81")),
        (Runtime("onnxruntime", "1.18.1"), ("onnxruntime==1.18.1", "numpy<2")),
        (Runtime("onnxruntime", "1.20.1"), ("onnxruntime==1.20.1", "numpy")),
    ],
)
def test_an_engine_that_was_built_for_numpy_1_gets_it(runtime: Runtime, wanted: tuple[str, ...]) -> None:
    assert runtime.requirements() == wanted


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache("runtimes") == tmp_path / "exporter/runtimes"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert user_cache("runtimes") == Path("/home/somebody/.cache/exporter/runtimes")


#: What uv 0.4 and 0.11 write, and pip 24, of a version that no index has.
SAID = (
    """\
  × No solution found when resolving dependencies:
  ╰─▶ Because there is no version of onnxruntime==99.0.1 and you require
      onnxruntime==99.0.1, we can conclude that your requirements are unsatisfiable.

      hint: Packages were unavailable because index lookups were disabled
""",
    """\
error: No solution found when resolving dependencies
  cause: Because there is no version of onnxruntime==99.0.1 and you require onnxruntime==99.0.1, we can conclude
  hint: Packages were unavailable because index lookups were disabled
""",
    """\
ERROR: Could not find a version that satisfies the requirement onnxruntime==99.0.1 (from versions: none)
ERROR: No matching distribution found for onnxruntime==99.0.1
""",
)


@pytest.mark.parametrize("said", SAID, ids=["uv 0.4", "uv 0.13", "pip"])
def test_why_an_environment_cannot_be_built_is_said_whoever_builds_it(said: str) -> None:
    """Where uv says that there is no solution, the cause stands in a line of its own."""
    why = environment._why(said)
    assert "onnxruntime==99.0.1" in why and "hint" not in why and not why.startswith(("×", "cause"))


@pytest.fixture(params=["uv", "pip"])
def builder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Environments are built by uv, here a program that fails as uv does, or by pip, whatever is installed."""
    uv = tmp_path / "programs" / "uv"
    if request.param == "uv":
        uv.parent.mkdir()
        uv.write_text(f"#!/bin/sh\n[ $1 = venv ] || {{ cat >&2 <<'END'\n{SAID[0]}END\n exit 1; }}\n")
        uv.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(uv) if name == "uv" and uv.is_file() else None)
    monkeypatch.setattr(environment, "find_spec", lambda name: None)


@pytest.fixture
def empty_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package index that has nothing. A machine's own settings of uv or pip can outlive these variables.

    So the tests ask for a version that no index has.
    """
    (tmp_path / "empty").mkdir()
    for name, value in {"PIP_NO_INDEX": "1", "UV_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "empty")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "empty"))
    monkeypatch.setattr(environment, "_pythons", lambda: iter([sys.executable]))


@pytest.mark.usefixtures("builder", "empty_index")
def test_what_cannot_be_built_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    cache, said = tmp_path / "cache", list[str]()
    with pytest.raises(EnvironmentLacks, match=r"cannot be built: .*onnxruntime==99\.0\.1") as failed:
        ensure(Runtime("onnxruntime", "99.0.1"), cache, said.append)
    assert failed.value.where == "onnxruntime==99.0.1" and "wheel" in failed.value.hint
    assert said == ["building an environment for onnxruntime==99.0.1"]
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


@pytest.mark.usefixtures("builder", "empty_index")
def test_one_that_is_there_is_not_built_again_and_half_a_one_is(tmp_path: Path) -> None:
    tag = f"py{sys.version_info.major}.{sys.version_info.minor}"
    home = tmp_path / f"onnxruntime-99.0.1-{tag}"
    home.mkdir()
    (home / "runtime.json").write_text(json.dumps({}))
    assert ensure(Runtime("onnxruntime", "99.0.1"), tmp_path, print) == home / "bin/python"
    (home / "runtime.json").unlink()
    with pytest.raises(EnvironmentLacks):
        ensure(Runtime("onnxruntime", "99.0.1"), tmp_path, print)
    assert not home.exists()


def test_a_cache_that_cannot_be_written_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError):
        ensure(Runtime("onnxruntime", "99.0.1"), tmp_path / "file" / "cache", print)
