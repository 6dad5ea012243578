"""Answers as one file: those of a kit, packed as the page packs them; and what is no such file."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from tests.command import STORED, exporter, refused


def packed(folder: Path, *, names: tuple[str, ...] = ()) -> bytes:
    pieces = []
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        about = tarfile.TarInfo(path.name)
        about.size = path.stat().st_size
        pieces += [about.tobuf(tarfile.USTAR_FORMAT), path.read_bytes(), bytes(-about.size % 512)]
    for name in names:
        pieces.append(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
    return b"".join([*pieces, bytes(1024)])


def test_a_tar_of_answers_is_judged_as_the_folder_is(answers: Path, tmp_path: Path) -> None:
    archive = tmp_path / "answers.tar"
    archive.write_bytes(packed(answers))
    done = exporter("verify", STORED, "--answers", archive, "--engine", "x 1", "--json", cwd=tmp_path)
    assert (done.code, done.json()["verdict"]) == (0, "passed"), done.err


def test_what_is_no_such_tar_is_refused(answers: Path, tmp_path: Path) -> None:
    link = tarfile.TarInfo("answers.json")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    whole = packed(answers)
    spoilt = {
        "link": link.tobuf(tarfile.USTAR_FORMAT) + bytes(1024),
        "up": packed(answers, names=("../x",)),
        "cut": whole[: len(whole) // 2],
        "text": b"no tar at all",
        "gzip": io.BytesIO(b"\x1f\x8b" + bytes(600)).getvalue(),
    }
    for name, content in spoilt.items():
        archive = tmp_path / f"{name}.tar"
        archive.write_bytes(content)
        done = exporter("verify", STORED, "--answers", archive, "--engine", "x 1", cwd=tmp_path)
        refused(done, 2, "is no archive of answers")
    assert not (tmp_path.parent / "x").exists()
