from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base import files
from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from tests.command import contents, environment, leftovers

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_a_writer_that_fails_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "state"
    files.write_bytes(path, b"old")
    with pytest.raises(ZeroDivisionError), files.sibling(path) as temporary:
        temporary.write_bytes(b"half")
        1 / 0  # noqa: B018
    assert contents(tmp_path) == {"state": b"old"}


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, EnvironmentLacks),
        (errno.EDQUOT, EnvironmentLacks),
        (errno.EFBIG, EnvironmentLacks),
        (errno.EACCES, UsageError),
        (errno.EROFS, UsageError),
        (errno.ENOTDIR, UsageError),
    ],
)
def test_what_the_system_refuses_is_said_with_the_path_and_what_to_do(tmp_path: Path, number: int, kind: type) -> None:
    with pytest.raises(kind) as caught, files.translated(tmp_path / "x"):
        raise OSError(number, os.strerror(number))
    assert os.strerror(number) in caught.value.what and str(tmp_path / "x") == caught.value.where
    assert "--out" in caught.value.hint


def test_an_error_of_no_known_kind_is_not_dressed_up(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Input/output"), files.translated(tmp_path):
        raise OSError(errno.EIO, "Input/output error")


def test_a_limit_on_file_size_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"old")
    script = (
        "import resource, sys; from pathlib import Path; from exporter.base import errors, files\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: files.write_bytes(Path(sys.argv[1]), b'x' * 5000)\n"
        "except errors.EnvironmentLacks as error: print(error.what)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, env=environment(), check=True
    )
    assert "no room to write: File too large" in done.stdout
    assert contents(tmp_path) == {"state": b"old"}


def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f".tmp-state-{dead.pid}-00aa11bb"
    left.mkdir()
    (left / "file").write_text("half")
    busy = tmp_path / f".tmp-state-{os.getpid()}-00aa11bb"
    busy.write_text("at work")
    other = tmp_path / f".tmp-other-{dead.pid}-00aa11bb"
    other.write_text("of another path")
    files.write_bytes(tmp_path / "state", b"new")
    assert not left.exists() and busy.exists() and other.exists()


@pytest.mark.parametrize("name", ["a[b]", "*", "?", "-", "a-b-c"])
def test_leftovers_are_found_whatever_the_path_is_called(tmp_path: Path, name: str) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f".tmp-{name}-{dead.pid}-00aa11bb"
    left.write_text("half")
    files.write_bytes(tmp_path / name, b"new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


KILLED_AT = """
import os, signal, sys
from pathlib import Path
from exporter.base import files

step, seen = int(sys.argv[2]), 0
real = {name: getattr(os, name) for name in ("fsync", "open", "close", "rename", "replace", "unlink", "rmdir")}

def counted(name):
    def call(*arguments, **options):
        global seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return real[name](*arguments, **options)
    return call

folder = Path(sys.argv[1])
exchange = files._exchange
if sys.argv[3] == "two renames":
    files._exchange = lambda one, other: False
for name in real:
    setattr(os, name, counted(name))
with files.sibling(folder / "final") as draft:
    draft.mkdir()
    for name in ("one", "two"):
        (draft / name).write_text("new")
    files.replace_folder(draft, folder / "final")
print("finished")
"""


def test_a_draft_is_flushed_once_when_it_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        flushed.append(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with files.sibling(tmp_path / "final") as draft:
        (draft / "pir").mkdir(parents=True)
        for name in ("parity.json", "pir/model.json"):
            files.write_draft(draft / name, b"first")
            files.write_draft(draft / name, b"second")
        assert not flushed and contents(draft) == {"parity.json": b"second", "pir/model.json": b"second"}
        files.replace_folder(draft, tmp_path / "final")
    held = [tmp_path / "final", *(tmp_path / "final").rglob("*")]
    assert len(held) == 4 and sorted(flushed) == sorted(path.stat().st_ino for path in (*held, tmp_path))


@pytest.mark.parametrize("way", ["exchange", "two renames"])
def test_killed_at_any_step_a_folder_is_the_old_one_or_the_new_one(tmp_path: Path, way: str) -> None:
    old, new = {"one": b"old", "three": b"old"}, {"one": b"new", "two": b"new"}
    seen: list[dict[str, bytes]] = []
    for step in range(1, 60):
        folder = tmp_path / str(step)
        (folder / "final").mkdir(parents=True)
        for name, content in old.items():
            (folder / "final" / name).write_bytes(content)
        done = subprocess.run(
            [sys.executable, "-c", KILLED_AT, str(folder), str(step), way],
            capture_output=True,
            env=environment(),
            check=False,
        )
        whole = [contents(path) for path in folder.iterdir() if contents(path) in (old, new)]
        if way == "exchange":
            assert contents(folder / "final") in (old, new), f"torn at step {step}"
        assert whole, f"nothing whole is left at step {step}"
        if done.returncode and contents(folder / "final") != new:
            with files.sibling(
                folder / "final"
            ):  # the next writer cleans up, and must not clean away the last good one
                pass
            assert old in [contents(path) for path in folder.iterdir()], f"lost after step {step}"
        if done.returncode == 0:
            assert contents(folder / "final") == new and not leftovers(folder)
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        seen.append(contents(folder / "final"))
    else:
        pytest.fail("it never finished")
    assert old in seen and new in seen, "no step before or none after the change was tried"


@given(JSON)
def test_readable_and_canonical_json_say_the_same(value: object) -> None:
    assert json.loads(files.readable_json(value)) == json.loads(files.canonical_json(value)) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_what_json_does_not_have_is_not_written(value: object) -> None:
    for write in (files.readable_json, files.canonical_json):
        with pytest.raises(ValueError):
            write(value)


@given(st.text(st.sampled_from("ab/.\\\0~ -") | st.sampled_from(string.printable), max_size=12))
def test_a_relative_path_stays_below_its_folder_or_is_refused(name: str) -> None:
    try:
        path = files.safe_relative(name, "manifest.json")
    except BundleError as error:
        assert error.where == "manifest.json" and error.hint
        return
    base = Path("/some/folder")
    landed = Path(os.path.normpath(base / path))
    assert landed != base and landed.is_relative_to(base) and "\0" not in name
    assert str(path) == name, "one file, one name"


@pytest.mark.parametrize("name", ["", ".", "..", "/etc/passwd", "a/../b", "a//b", "./a", "a/", "a\\b", "a\0b", "../a"])
def test_paths_that_climb_or_are_not_plain_are_refused(name: str) -> None:
    with pytest.raises(BundleError, match="unsafe path"):
        files.safe_relative(name, "manifest.json")


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    content = os.urandom((1 << 20) + 17)
    (tmp_path / "f").write_bytes(content)
    assert files.sha256_file(tmp_path / "f") == files.sha256_bytes(content)


def test_a_lock_ends_with_its_holder_however_that_ends(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from exporter.base import files\n"
        "with files.locked(Path(sys.argv[1])):\n    print(flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as holder:
        assert holder.stdout and holder.stdout.readline()
        handle = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(handle)
        holder.kill()
        holder.wait()
    with files.locked(tmp_path):
        pass
    assert contents(tmp_path) == {}


def test_a_link_stays_and_the_file_that_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, file = tmp_path / "link", tmp_path / "there/file"
    link.symlink_to("there/file")
    for content in (b"new", b"newer"):  # the first finds nothing where it leads
        files.write_bytes(link, content)
        assert link.is_symlink() and file.read_bytes() == content
    assert contents(tmp_path) == {"link": b"newer", "there/file": b"newer"}
    files.replace_bytes(link, b"ours")
    assert not link.is_symlink() and file.read_bytes() == b"newer"


def test_a_pipe_is_written_into_and_stays(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
            files.write_bytes(path, b"told")
            assert reader.communicate()[0] == b"told"
    assert pipe.is_fifo() and link.is_symlink()


def test_what_a_process_has_open_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with file.open("wb") as stream:
        before = file.stat().st_ino
        files.write_bytes(Path(f"/dev/fd/{stream.fileno()}"), b"told")
    assert (file.read_bytes(), file.stat().st_ino) == (b"told", before)


def test_a_pipe_that_nobody_reads_to_its_end_is_named(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    path = Path(f"/dev/fd/{writing}")
    with pytest.raises(EnvironmentLacks, match="cannot be written to: Broken pipe") as caught:
        files.write_bytes(path, b"told")
    os.close(writing)
    assert caught.value.where == str(path)


def test_a_socket_is_no_file_to_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a long path is none for a socket
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("listening")
        with pytest.raises(UsageError, match="cannot be written to") as caught:
            files.write_bytes(Path("listening"), b"told")
    assert caught.value.where == "listening" and Path("listening").is_socket()
