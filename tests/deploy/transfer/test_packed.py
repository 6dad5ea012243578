"""A bundle as one file: the same bytes each time, and nothing but a whole bundle comes out."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.base.errors import BundleError, UsageError
from exporter.bundle.open import open_bundle
from exporter.deploy.transfer import packed
from exporter.deploy.transfer.packed import pack, unpack
from tests import faults
from tests.command import exporter

FIRST = "onnx/model.onnx"


@pytest.fixture(scope="module")
def archive(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack(open_bundle(bundle), tmp_path_factory.mktemp("packed") / "small.tar").path


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_and_back_by_the_command_line(bundle: Path, tmp_path: Path) -> None:
    done = exporter("pack", bundle, "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    told = done.json()
    path = tmp_path / told["file"]
    about = open_bundle(bundle).manifest
    assert told["file"] == f"{about.name}-{about.version}.tar" and told["digest"] == about.digest
    assert (told["sha256"], told["size"]) == (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)
    back = exporter("unpack", told["file"], "--out", "there", "--json", cwd=tmp_path)
    assert (back.code, back.json()) == (0, {"bundle": "there", "digest": about.digest}), back.err
    assert files(tmp_path / "there") == files(bundle)


def test_the_bytes_depend_on_the_bundle_alone(bundle: Path, archive: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "copy")
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    again = pack(open_bundle(copy), tmp_path / "again.tar")
    assert again.path.read_bytes() == archive.read_bytes()
    (copy / FIRST).chmod(0o600)
    faults.scale_tensor(copy / FIRST)
    faults.reseal(copy)
    assert pack(open_bundle(copy), tmp_path / "other.tar").sha256 != again.sha256


def test_a_stock_tar_reads_it(bundle: Path, archive: Path) -> None:
    with tarfile.open(archive) as stock:
        assert stock.getnames() == sorted(files(bundle))
        assert {(one.mtime, one.uid, one.gid, one.uname, one.mode) for one in stock} == {(0, 0, 0, "", 0o644)}


def rewritten(archive: Path, to: Path, change: Callable[[tarfile.TarInfo, bytes], object]) -> Path:
    """A copy in which each header may be changed; a stock tar writes it."""
    with tarfile.open(archive) as before, tarfile.open(to, "w", format=tarfile.USTAR_FORMAT) as after:
        for about in before:
            stream = before.extractfile(about)
            content = stream.read() if stream else b""
            change(about, content)
            after.addfile(about, io.BytesIO(content) if about.isreg() else None)
        end = after.offset
    with to.open("rb+") as stream:  # a stock tar fills up to 10 KB
        stream.truncate(end + 2 * tarfile.BLOCKSIZE)
    return to


def renamed(name: str) -> Callable[[tarfile.TarInfo, bytes], object]:
    return lambda about, _: setattr(about, "name", name if about.name == FIRST else about.name)


def linked(kind: bytes) -> Callable[[tarfile.TarInfo, bytes], object]:
    def change(about: tarfile.TarInfo, _: bytes) -> None:
        if about.name == FIRST:
            about.type, about.linkname, about.size = kind, "/etc/passwd", 0

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (renamed("../../outside"), "out of order"),
        (renamed("manifest.json/../../outside"), "unsafe path"),
        (renamed("/tmp/outside"), "out of order"),
        (renamed("manifest.json"), "out of order"),
        (renamed("nothing/else"), "for none of the listed files"),
        (renamed("nothing"), "is not listed"),
        (linked(tarfile.SYMTYPE), "is no packed bundle"),
        (linked(tarfile.LNKTYPE), "is no packed bundle"),
        (linked(tarfile.FIFOTYPE), "is no packed bundle"),
        (linked(tarfile.CHRTYPE), "is no packed bundle"),
        (lambda about, _: setattr(about, "mode", 0o777), "is no packed bundle"),
        (lambda about, _: setattr(about, "mtime", 12), "is no packed bundle"),
    ],
)
def test_what_pack_does_not_write_is_not_unpacked(
    archive: Path, tmp_path: Path, change: Callable[[tarfile.TarInfo, bytes], object], said: str
) -> None:
    (tmp_path / "in").mkdir()
    hostile = rewritten(archive, tmp_path / "hostile.tar", change)
    with pytest.raises(BundleError, match=said):
        unpack(hostile, tmp_path / "in/side/there")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hostile.tar", "in"]
    assert not [path for path in (tmp_path / "in").rglob("*") if path.is_file()]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_archive_never_becomes_a_bundle(archive: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(archive.read_bytes())
    if data.draw(st.booleans(), label="cut"):
        del content[data.draw(st.integers(0, len(content) - 1), label="length") :]
    else:
        place = data.draw(st.integers(0, len(content) - 1), label="place")
        content[place] ^= data.draw(st.integers(1, 255), label="bits")
    damaged = tmp_path / "damaged.tar"
    damaged.write_bytes(content)
    with pytest.raises(BundleError):
        unpack(damaged, tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_what_hides_between_two_files_is_refused(archive: Path, tmp_path: Path) -> None:
    content = bytearray(archive.read_bytes())
    with tarfile.open(archive) as stock:
        first = stock.getmember(FIRST)
    assert first.size % tarfile.BLOCKSIZE
    content[first.offset_data + first.size] = 1
    (tmp_path / "hiding.tar").write_bytes(content)
    with pytest.raises(BundleError, match="than its size says"):
        unpack(tmp_path / "hiding.tar", tmp_path / "there")


def test_more_behind_the_end_is_refused(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "long.tar").write_bytes(archive.read_bytes() + b"\0")
    with pytest.raises(BundleError, match="goes on after its end"):
        unpack(tmp_path / "long.tar", tmp_path / "there")


def test_too_many_files_are_refused(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_FILES", 2)
    with pytest.raises(BundleError, match="one file too many"):
        unpack(archive, tmp_path / "there")


def test_nothing_of_the_users_is_replaced(archive: Path, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("keep")
    for place in (tmp_path / "mine", faults.copied(bundle, tmp_path / "released")):
        before = files(place)
        with pytest.raises(UsageError):
            unpack(archive, place)
        assert files(place) == before
    with pytest.raises(UsageError):
        pack(open_bundle(bundle), bundle / "inside.tar")
    with pytest.raises(UsageError):
        pack(open_bundle(bundle), tmp_path / "mine")
    with pytest.raises(UsageError):
        unpack(tmp_path / "nothing.tar", tmp_path / "there")
