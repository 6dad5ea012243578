"""A spec of a file is touched where its program, its parameters or the file for the runtimes beside it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.gate.reuse.release import Releases
from exporter.gate.reuse.store import Store
from exporter.spec.model import Spec
from exporter.spec.read import read_spec
from tests.export.sources.networks import saved
from tests.gate.test_touched import git, hit

RUNTIMES = "PreProcess:\n  transform_ops:\n  - NormalizeImage: {scale: 1./255.}\n"


def test_a_spec_of_a_file_is_touched_by_what_lies_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    saved("picture", tmp_path / "net")
    (tmp_path / "specs/one.yaml").write_text("name: one\nsource: net\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "README.md").write_text("x")
    assert hit() == set()
    (tmp_path / "net/inference.yml").write_text(RUNTIMES)
    assert hit() == {"one"}
    (tmp_path / "net/inference.yml").unlink()
    for name, content in (("inference.json", " "), ("inference.pdiparams", "")):
        path = tmp_path / "net" / name
        before = path.read_bytes()
        path.write_bytes(before + content.encode() if content else before[:-1] + b"\x00")
        assert hit() == {"one"}, name
        path.write_bytes(before)
    assert hit() == set()


def test_a_spec_is_read_again_where_what_its_reading_opened_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    saved("picture", tmp_path / "net")
    path, reads = Path("one.yaml"), list[Spec]()
    path.write_text("name: one\nsource: ../net\n")
    known = Releases(Store(tmp_path / "cache"))

    def read() -> Spec:
        reads.append(read_spec(path))
        return reads[-1]

    def times() -> int:
        for _ in range(2):
            assert known.read(path, (), read) == read_spec(path).model_dump(mode="json")
        return len(reads)

    assert times() == 1
    (tmp_path / "net/inference.yml").write_text(RUNTIMES)
    assert times() == 2
    (tmp_path / "net/inference.yml").write_text(RUNTIMES.replace("255", "128"))
    assert times() == 3
