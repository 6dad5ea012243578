"""`gate --executor ray`: what one machine would have said, also where a node is lost; and what nodes are sent."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partialmethod
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import psutil
import pytest

from exporter.base.errors import UsageError
from exporter.gate import tree
from exporter.gate.executors.kinds.ray import INSTALL
from exporter.gate.node import ReleaseRequest
from exporter.gate.task import Task
from exporter.gate.touched import Touched
from exporter.process.workers import Limits, Setting
from tests.cli.test_gate import git
from tests.command import COMMAND, PATIENCE, ROOT, contents, environment, exporter, leftovers, refused
from tests.conftest import working_folder
from tests.described import small
from tests.test_project import PROJECT

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'ray>=2.60'")
ENGINE = {"weights": "factory", "formats": ["pir"], "engines": ["jit_load"]}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with two specs that pass, and one with a mistake."""
    place = working_folder(tmp_path / "work")
    for shipped in (place / "specs").glob("*.yaml"):
        shipped.unlink()
    for name in ("one", "two", "wrong"):
        more = {"sort": 1} if name == "wrong" else {}
        content = small("models.sound:mlp", name=name, **ENGINE, **more)
        (place / f"specs/{name}.yaml").write_text(json.dumps(content))
    return place


# ---------------------------------------------------------------------------------------------------- without a cluster


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_it_says_how_to_get_it(work: Path) -> None:
    refused(exporter("gate", "--executor", "ray", "--quiet", cwd=work), 3, "Ray is not installed")
    done = exporter("gate", "--executor", "rai", "--quiet", cwd=work)
    refused(done, 2, "unknown executor 'rai'")


def test_the_hint_names_what_pyproject_declares() -> None:
    declared = PROJECT["project"]["optional-dependencies"]["ray"]
    assert [f"pip install '{requirement}'" for requirement in declared] == [INSTALL]


def test_a_folder_comes_out_as_it_went_in_but_for_what_no_release_reads(work: Path) -> None:
    (work / "runs/a").mkdir(parents=True)
    (work / "runs/a/weights").write_bytes(b"\0" * 10_000)
    (work / "link").symlink_to("runs/a")
    whole = contents(work)
    for name in ("env/pyvenv.cfg", "env/lib.py", "models/__pycache__/x.pyc", ".tmp-draft-1/x", "kept/objects/x"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).touch()
    into = work.parent / "into"
    tree.unpacked(tree.packed(work, [work / "kept"]), into)
    assert contents(into) == whole and (into / "link").readlink() == Path("runs/a")


@pytest.fixture(params=["of Python's", "ours"])
def filters(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the filter that newer Pythons have, and by ours for the others."""
    if request.param == "ours":
        monkeypatch.delattr(tarfile, "tar_filter", raising=False)
        extract = tarfile.TarFile.extractall
        trusting = {"filter": "fully_trusted"} if "filter" in signature(extract).parameters else {}
        monkeypatch.setattr(tarfile.TarFile, "extractall", partialmethod(extract, **trusting))
    elif not hasattr(tarfile, "tar_filter"):
        pytest.skip("this Python has none")


def tar(*members: tuple[str, bytes, str, int]) -> bytes:
    """Names, kinds, what they link to, and modes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, kind, link, mode in members:
            about = tarfile.TarInfo(name)
            about.type, about.linkname, about.mode = kind, link, mode
            archive.addfile(about)
    return content.getvalue()


@pytest.mark.usefixtures("filters")
def test_files_of_any_mode_and_links_are_laid_inside(tmp_path: Path) -> None:
    members = ("/a/file", tarfile.REGTYPE, "", 0o6777), ("b", tarfile.SYMTYPE, "a", 0o777)
    tree.unpacked(tar(("a", tarfile.DIRTYPE, "", 0o777), *members), tmp_path / "into")
    assert (tmp_path / "into/a/file").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "into/a").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "into/b/file").is_file() and (tmp_path / "into/b").is_symlink()


@pytest.mark.usefixtures("filters")
@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "link/outside"])
def test_a_file_that_would_lie_outside_is_refused(name: str, tmp_path: Path) -> None:
    link = ("link", tarfile.SYMTYPE, str(tmp_path), 0o777)
    with pytest.raises(tarfile.TarError, match="outside"):
        tree.unpacked(tar(link, (name, tarfile.REGTYPE, "", 0o644)), tmp_path / "into")
    assert not (tmp_path / "outside").exists()


def test_the_commit_goes_along_without_its_history(work: Path) -> None:
    git(work, "init", "-q", "-b", "main")
    source, code = work / "models/sound.py", (work / "models/sound.py").read_text()
    for number in (1, 2):
        source.write_text(f"{code}\n# {number}\n")
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", f"{number}")
    source.write_text(f"{code}\n# not committed\n")
    into = work.parent / "into"
    tree.unpacked(tree.packed(work), into)

    def told(folder: Path, *arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout

    for question in (("rev-parse", "HEAD"), ("status", "--porcelain"), ("diff", "HEAD")):
        assert told(into, *question) == told(work, *question)
    assert len(told(into, "log", "--oneline").splitlines()) == 1


def test_too_much_to_send_is_refused(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_BYTES", 1000)
    with pytest.raises(UsageError, match="more than 1e-06 GB"):
        tree.packed(work)


def test_what_was_made_takes_its_place_and_nothing_else_is_touched(tmp_path: Path) -> None:
    node, here, out = tmp_path / "node", tmp_path / "here", Path("artifacts")
    for folder in (node, here):
        for name in ("artifacts/a/1/old", "artifacts/a/2/kept", "runs/a/seed-0/run.json", "runs/b.qat/run.json", "x"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("before")
    before = tree.files_below(node, (out, tree.RUNS))
    (node / "artifacts/a/1/old").unlink()
    made = ("artifacts/a/1/new", "artifacts/a/failed/manifest", "runs/a/seed-1/run.json", "runs/a/best")
    for name in (*made, "runs/b.qat/run.json", "x"):
        (node / name).parent.mkdir(parents=True, exist_ok=True)
        (node / name).write_text("after, and longer")
    units, content = tree.changed(node, out, before)
    assert units == ["artifacts/a/1", "artifacts/a/failed", "runs/a/best", "runs/a/seed-1", "runs/b.qat"]
    tree.laid(content, units, here)
    expected = {**contents(node), "x": b"before"}
    assert contents(here) == expected and not leftovers(here)


def on_a_node(work: Path, spec: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """What the process on a node does, without a cluster around it."""
    task = Task((), Path("artifacts"), True, Setting(Limits(seconds=300)), None, reports=True)
    wanted = replace(ReleaseRequest.of(task, Touched(Path(spec), "asked for"), 1), **more)
    wanted.write(work.parent / "request.json")
    command = [sys.executable, "-m", "exporter.gate.node", "request.json", "answer.json", str(work), str(os.getpid())]
    return subprocess.run(command, cwd=work.parent, capture_output=True, text=True, check=False, env=environment())


def test_a_node_answers_what_became_of_a_spec(work: Path) -> None:
    done = on_a_node(work, "specs/wrong.yaml")
    assert done.returncode == 0, done.stderr
    told = json.loads((work.parent / "answer.json").read_text())["gated"]
    assert (told["exit"], told["spec"], told["why"]) == (2, "specs/wrong.yaml", "asked for") and "sort" in told["said"]


def test_a_node_with_another_exporter_says_so(work: Path) -> None:
    done = on_a_node(work, "specs/one.yaml", code="another")
    assert done.returncode == 0 and "another exporter" in (work.parent / "answer.json").read_text(), done.stderr
    assert not (work / "artifacts").exists()


# ------------------------------------------------------------------------------------------------------- with a cluster


@pytest.fixture
def cluster() -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Two nodes on this machine."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    more = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_register_timeout_seconds": "600", "RAY_worker_niceness": "0"}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**environment(**more), "PYTHONPATH": path}
    command = [sys.executable, "-m", "tests.gate.cluster"]
    with subprocess.Popen(command, cwd=ROOT, env=env, text=True, **pipes) as process:  # at the end its stdin is closed
        assert process.stdout
        line = next((line for line in process.stdout if line.startswith('{"address"')), "")
        assert line, "the cluster did not start"
        yield process, json.loads(line)


def releasing_below(raylet: int) -> list[psutil.Process]:
    """The processes that release a spec on a node."""
    found = []
    for process in psutil.Process(raylet).children(recursive=True):
        try:
            if "exporter.gate.node" in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def verdicts(text: str) -> list[tuple[str, str, int]]:
    return [(told["spec"], told["word"], told["exit"]) for told in json.loads(text)["specs"]]


@pytest.mark.slow  # 2 min: a cluster starts, and four releases are made
@needs_ray
def test_a_node_that_is_killed_changes_no_verdict(work: Path, cluster: Any) -> None:
    process, about = cluster
    local = exporter("gate", "--json", "--quiet", "--out", "local", cwd=work)
    assert local.code == 2, local.err
    env = environment(RAY_ADDRESS=about["address"], RAY_USAGE_STATS_ENABLED="0")
    command = [*COMMAND, "gate", "--executor", "ray", "--json", "specs/one.yaml", "specs/two.yaml", "specs/wrong.yaml"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    gate = subprocess.Popen(command, cwd=work, env=env, text=True, **pipes)
    end = time.monotonic() + PATIENCE
    while not (lost := releasing_below(about["raylets"][1])):
        assert gate.poll() is None and time.monotonic() < end, gate.communicate()
        time.sleep(0.05)
    process.stdin.write("kill\n")
    process.stdin.flush()
    out, err = gate.communicate(timeout=PATIENCE)
    assert (gate.returncode, verdicts(out)) == (local.code, verdicts(local.out)), err
    assert not psutil.wait_procs(lost, timeout=PATIENCE)[1], "what ran on the lost node is over"
    for name in ("one", "two"):
        made, same = (
            json.loads((work / place / name / "1/manifest.json").read_text()) for place in ("artifacts", "local")
        )
        assert made["verdict"] == "passed" and made["variants"] == same["variants"]
        done = exporter("verify", f"artifacts/{name}/1", "--engines", "jit_load", "--json", cwd=work)
        assert done.code == 0, done.err
    assert not leftovers(work)


@pytest.mark.slow  # a cluster starts
@needs_ray
def test_a_cluster_without_room_is_said_and_so_is_none(work: Path, cluster: Any) -> None:
    env = environment(RAY_ADDRESS="127.0.0.1:1", RAY_USAGE_STATS_ENABLED="0")
    refused(exporter("gate", "--executor", "ray", "-q", cwd=work, env=env), 3, "no Ray cluster at '127.0.0.1:1'")
    env["RAY_ADDRESS"] = cluster[1]["address"]
    refused(exporter("gate", "--executor", "ray", "-q", "--out", "/tmp/x", cwd=work, env=env), 2, "--out")
    done = exporter("gate", "--executor", "ray", "-q", "specs/wrong.yaml", cwd=work, env=env)
    assert done.code == 2 and "unknown key 'sort'" in done.out, done.err
