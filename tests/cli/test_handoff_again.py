"""`exporter handoff` where something lies already: the same bytes or a further version; nothing is ever overwritten."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import BundleError, UsageError
from exporter.base.files import place_folder, sha256_file
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.write import Wish, hand_over
from exporter.process.workers import Setting
from tests import faults
from tests.cli.test_handoff import edited, for_target
from tests.command import COMMAND, Done, contents, environment, exporter, leftovers, refused
from tests.sampling import some

VERSIONS = {
    "triton": "model_repository/small",
    "mlserver": "models/small",
    "paddle_serving": "models/small",
}


def handed(bundle: Path, cwd: Path, target: str, *more: str, out: str = "given") -> Done:
    return exporter("handoff", bundle, "--to", target, "--out", out, "--json", *more, cwd=cwd)


@pytest.fixture
def other(bundle: Path, tmp_path: Path) -> Path:
    """A bundle of the same name, inputs and outputs, with another digest and another model."""

    def change(content: dict[str, Any]) -> None:
        content["version"] = "1.1.0"
        content["spec"]["targets"] = ["paddle_inference>=2.6"]
        content["spec"]["version"] = "1.1.0"

    copy = edited(bundle, tmp_path / "other", change)
    for name in ("onnx/model.onnx", "pdmodel/model.pdiparams"):
        faults.scale_tensor(copy / name)
    faults.reseal(copy)
    return copy


@pytest.mark.parametrize("target", ["plain", "triton"])
def test_the_same_again_changes_nothing(bundle: Path, tmp_path: Path, target: str) -> None:
    assert handed(bundle, tmp_path, target).json()["written"] is True
    before, inode = contents(tmp_path), (tmp_path / "given").stat().st_ino
    again = handed(bundle, tmp_path, target)
    assert (again.code, again.json()["written"]) == (0, False)
    assert contents(tmp_path) == before and (tmp_path / "given").stat().st_ino == inode


@pytest.mark.parametrize("kind", some(["changed", "lost", "added", "link", "another target", "no record"], 2))
def test_other_content_is_refused(bundle: Path, tmp_path: Path, kind: str) -> None:
    assert handed(bundle, tmp_path, "plain").code == 0
    given, target, said = tmp_path / "given", "plain", "run.py"
    if kind == "changed":
        (given / "run.py").write_text("print(1)\n")
    elif kind == "lost":
        (given / "run.py").unlink()
    elif kind == "added":
        (given / "notes.txt").write_text("mine")
        said = "notes.txt"
    elif kind == "link":
        (given / "run.py").rename(tmp_path / "run.py")
        (given / "run.py").symlink_to(tmp_path / "run.py")
    elif kind == "another target":
        target, said = "triton", "a hand-over for plain, not triton"
    else:
        (given / "MANIFEST.json").write_text('{"schema": 1}')
        said = "no record"
    before = contents(tmp_path)
    refused(exporter("handoff", bundle, "--to", target, "--out", "given", cwd=tmp_path), 2, said)
    assert contents(tmp_path) == before


def test_another_bundle_is_refused_and_loses_nothing(bundle: Path, other: Path, tmp_path: Path) -> None:
    assert handed(bundle, tmp_path, "plain").code == 0
    before = contents(tmp_path)
    done = exporter("handoff", other, "--to", "plain", "--out", "given", cwd=tmp_path)
    refused(done, 2, "model/model.onnx is there with other content", "nothing is overwritten")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "record", ["[]", '{"schema": 2}', '{"schema": 2, "files": {}, "target": "triton", "versions": 1}']
)
def test_a_record_that_is_none(bundle: Path, tmp_path: Path, record: str) -> None:
    assert handed(bundle, tmp_path, "triton").code == 0
    (tmp_path / "given/MANIFEST.json").write_text(record)
    before = contents(tmp_path)
    refused(exporter("handoff", bundle, "--to", "triton", "--out", "given", cwd=tmp_path), 2, "is no record")
    assert contents(tmp_path) == before


def test_a_file_that_changes_while_it_is_handed_over(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    opened = open_bundle(copy)
    faults.flip_bit(copy / "onnx/model.onnx", -3)
    with pytest.raises(BundleError, match="was changed while it was handed over"):
        hand_over(opened, Wish("triton"), tmp_path / "given", Setting())
    assert not (tmp_path / "given").exists() and not leftovers(tmp_path)


def test_a_link_is_not_followed(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "given").symlink_to(tmp_path / "elsewhere")
    done = exporter("handoff", bundle, "--to", "triton", "--out", "given", cwd=tmp_path)
    refused(done, 2, "symbolic link")
    assert not any((tmp_path / "elsewhere").iterdir())


def test_what_appeared_meanwhile_is_kept(tmp_path: Path) -> None:
    """Between the look and the rename somebody else may have written there; the kernel refuses."""
    for name in ("draft", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="nothing is overwritten"):
        place_folder(tmp_path / "draft", tmp_path / "there")
    assert contents(tmp_path) == before


# ------------------------------------------------------------------------------------------- versions in a repository


@pytest.mark.parametrize("target", some(VERSIONS, 3))
def test_a_version_is_added_beside_the_first(bundle: Path, other: Path, tmp_path: Path, target: str) -> None:
    first = for_target(bundle, tmp_path / "first", target)
    assert handed(first, tmp_path, target).code == 0
    before, inode = contents(tmp_path / "given"), (tmp_path / "given").stat().st_ino
    done = handed(other, tmp_path, target, "--model-version", "2")
    assert (done.code, done.json()["written"]) == (0, True), done.err
    after, place = contents(tmp_path / "given"), VERSIONS[target]
    assert (tmp_path / "given").stat().st_ino == inode, "a server has this folder open"
    records = ("MANIFEST.json", "README.md")
    assert {name: after[name] for name in before if name not in records} == {
        name: content for name, content in before.items() if name not in records
    }
    added = {name for name in after if name not in before}
    old = {name for name in before if name.startswith(f"{place}/1/")}
    assert old and added == {name.replace(f"{place}/1/", f"{place}/2/") for name in old}
    assert any(after[name.replace("/1/", "/2/")] != before[name] for name in old)
    record = json.loads(after["MANIFEST.json"])
    assert {path: own["bundle"]["version"] for path, own in record["versions"].items()} == {
        f"{place}/1": "1.0.0",
        f"{place}/2": "1.1.0",
    }
    assert set(record["files"]) == set(after) - set(records)
    for name, facts in record["files"].items():
        assert facts["sha256"] == sha256_file(tmp_path / "given" / name)
    readme = after["README.md"].decode()
    assert readme.startswith("# small 1.1.0 for") and f"| {place}/1 | small 1.0.0" in readme
    again = handed(other, tmp_path, target, "--model-version", "2")
    assert (again.code, again.json()["written"]) == (0, False)
    assert contents(tmp_path / "given") == after


def test_a_version_that_is_there_is_never_changed(bundle: Path, other: Path, tmp_path: Path) -> None:
    assert handed(bundle, tmp_path, "triton").code == 0
    before = contents(tmp_path)
    done = exporter("handoff", other, "--to", "triton", "--out", "given", cwd=tmp_path)
    refused(done, 2, "model_repository/small/1/model.onnx is there with other content", "--model-version 2")
    (tmp_path / "given/model_repository/small/1/extra.txt").write_text("mine")
    done = exporter("handoff", bundle, "--to", "triton", "--out", "given", cwd=tmp_path)
    refused(done, 2, "extra.txt")
    (tmp_path / "given/model_repository/small/1/extra.txt").unlink()
    assert contents(tmp_path) == before


def test_a_configuration_that_would_change_is_refused(bundle: Path, other: Path, tmp_path: Path) -> None:
    """Triton has one `config.pbtxt` for all versions; of other inputs it says which."""
    assert handed(bundle, tmp_path, "triton").code == 0
    config = tmp_path / "given/model_repository/small/config.pbtxt"
    config.write_text("# ours\n" + config.read_text().replace("max_batch_size: 5", "max_batch_size: 64"))
    before = contents(tmp_path)
    done = exporter("handoff", other, "--to", "triton", "--out", "given", "--model-version", "2", cwd=tmp_path)
    refused(done, 2, "config.pbtxt", "it has 'max_batch_size: 64', and this bundle needs 'max_batch_size: 5'")
    assert contents(tmp_path) == before
    config.write_text("# ours\n\n" + config.read_text().replace("max_batch_size: 64", "max_batch_size: 5"))
    assert handed(other, tmp_path, "triton", "--model-version", "2").code == 0, "a comment is no difference"
    assert config.read_text().startswith("# ours\n")


def test_json_configurations_are_compared_by_key(bundle: Path, other: Path, tmp_path: Path) -> None:
    assert handed(bundle, tmp_path, "mlserver").code == 0
    settings = tmp_path / "given/settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "debug": True}))
    done = exporter("handoff", other, "--to", "mlserver", "--out", "given", "--model-version", "2", cwd=tmp_path)
    refused(done, 2, "settings.json", "it has 'debug: true', and this bundle needs 'debug: false'")


def test_another_model_joins_the_repository(bundle: Path, tmp_path: Path) -> None:
    def rename(content: dict[str, Any]) -> None:
        content["name"] = content["spec"]["name"] = "second"

    assert handed(bundle, tmp_path, "triton").code == 0
    assert handed(edited(bundle, tmp_path / "second", rename), tmp_path, "triton").code == 0
    names = {path.relative_to(tmp_path / "given").as_posix() for path in (tmp_path / "given").rglob("*.*")}
    assert {f"model_repository/{model}/config.pbtxt" for model in ("small", "second")} < names
    record = json.loads((tmp_path / "given/MANIFEST.json").read_text())
    assert list(record["versions"]) == ["model_repository/second/1", "model_repository/small/1"]


def test_a_link_in_a_repository_is_not_followed(bundle: Path, other: Path, tmp_path: Path) -> None:
    assert handed(bundle, tmp_path, "triton").code == 0
    models = tmp_path / "given/model_repository"
    models.rename(tmp_path / "elsewhere")
    models.symlink_to(tmp_path / "elsewhere")
    before = contents(tmp_path / "elsewhere")
    done = exporter("handoff", other, "--to", "triton", "--out", "given", "--model-version", "2", cwd=tmp_path)
    refused(done, 2, "symbolic link")
    assert contents(tmp_path / "elsewhere") == before


def test_a_target_without_versions_says_so(bundle: Path, tmp_path: Path) -> None:
    done = exporter("handoff", bundle, "--to", "plain", "--model-version", "2", cwd=tmp_path)
    refused(done, 2, "--model-version", "without versions")


def test_two_at_once_add_two_versions(bundle: Path, other: Path, tmp_path: Path) -> None:
    assert handed(bundle, tmp_path, "triton").code == 0

    def add(number: int) -> int:
        command = [*COMMAND, "handoff", str(other), "--to", "triton", "--out", "given", "--model-version", str(number)]
        return subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, check=False).returncode

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(add, (2, 3))) == [0, 0]
    record = json.loads((tmp_path / "given/MANIFEST.json").read_text())
    assert [path.rpartition("/")[2] for path in record["versions"]] == ["1", "2", "3"]


# ---------------------------------------------------------------------------------------------- kills and full disks


def test_a_kill_between_a_version_and_its_record_is_mended(bundle: Path, other: Path, tmp_path: Path) -> None:
    assert handed(bundle, tmp_path, "triton").code == 0
    record = (tmp_path / "given/MANIFEST.json").read_bytes()
    assert handed(other, tmp_path, "triton", "--model-version", "2").code == 0
    whole = contents(tmp_path / "given")
    (tmp_path / "given/MANIFEST.json").write_bytes(record)
    assert handed(other, tmp_path, "triton", "--model-version", "2").json()["written"] is True
    assert contents(tmp_path / "given") == whole


@pytest.mark.slow
@pytest.mark.parametrize("target", ["plain", "triton"])
def test_killed_at_any_moment_it_leaves_all_or_nothing(bundle: Path, other: Path, tmp_path: Path, target: str) -> None:
    """Kills spread over the time that it takes; for Triton a second version is added to a repository."""
    more = ("--model-version", "2") if target == "triton" else ()
    given = tmp_path / "given"
    if more:
        assert handed(bundle, tmp_path, target).code == 0
    before = contents(given) if more else {}
    command = [*COMMAND, "handoff", str(other if more else bundle), "--to", target, "--out", "given", *more]
    begun = time.monotonic()
    subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, check=True)
    seconds, whole = time.monotonic() - begun, contents(given)
    states = set()
    for step in range(8):
        shutil.rmtree(given, ignore_errors=True)
        for name, content in before.items():
            (given / name).parent.mkdir(parents=True, exist_ok=True)
            (given / name).write_bytes(content)
        process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
        time.sleep(seconds * (0.3 + 0.7 * step / 7))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        there = {name: content for name, content in contents(given).items() if ".tmp-" not in name}
        models = {name for name in there if name.startswith("model")}
        assert models in ({name for name in before if name.startswith("model")}, {n for n in whole if n[:5] == "model"})
        states.add(len(models))
    done = exporter("handoff", *command[len(COMMAND) + 1 :], cwd=tmp_path)
    assert done.code == 0, done.err
    assert contents(given) == whole
    assert not leftovers(tmp_path), "what kills left is removed by whoever comes next"


@pytest.mark.parametrize("target", ["plain", "triton"])
def test_no_room_leaves_what_was_there(bundle: Path, other: Path, tmp_path: Path, target: str) -> None:
    if target == "triton":
        assert handed(bundle, tmp_path, target).code == 0
    before = contents(tmp_path)
    size = (bundle / "onnx/model.onnx").stat().st_size // 2
    done = exporter(
        *("handoff", other, "--to", target, "--out", "given", "--variant", "onnx"),
        *(("--model-version", "2") if target == "triton" else ()),
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    refused(done, 3, "no room to write")
    assert contents(tmp_path) == before


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_a_small_disk_of_its_own(bundle: Path, tmp_path: Path) -> None:
    """The repository may be a disk of its own: nothing is moved from another, and a full one keeps what it had."""
    disk = tmp_path / "given"
    disk.mkdir()
    size = (bundle / "onnx/model.onnx").stat().st_size
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size * 8}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this container may not mount")
    try:
        refused(exporter("handoff", bundle, "--to", "triton", "--out", "given", cwd=tmp_path), 2, "a disk of its own")
        assert handed(bundle, tmp_path, "triton", out="given/repo").code == 0
        assert handed(bundle, tmp_path, "triton", "--model-version", "2", out="given/repo").code == 0
        free = os.statvfs(disk)
        (disk / "filler").write_bytes(bytes(free.f_bavail * free.f_bsize - size // 2))
        before = contents(disk)
        done = exporter(
            "handoff", bundle, "--to", "triton", "--out", "given/repo", "--model-version", "3", cwd=tmp_path
        )
        refused(done, 3, "no room to write")
        assert contents(disk) == before
    finally:
        subprocess.run(["umount", str(disk)], check=True)
