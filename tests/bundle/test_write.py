"""The hashes of a bundle's files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from exporter.base.files import sha256_file
from exporter.bundle import write
from exporter.bundle.write import Hashed

LONG = os.urandom(1 << 20) + b"tail"


def laid(folder: Path, **contents: bytes) -> Path:
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that are hashed from now on."""
    names: list[str] = []

    def hashed(path: Path) -> str:
        names.append(path.name)
        return sha256_file(path)

    monkeypatch.setattr(write, "sha256_file", hashed)
    return names


def test_files_of_the_same_bytes_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = LONG[:-1] + b"!"
    files = {"a": LONG, "b": LONG, "c": other, "d": other, "e": b"", "f": b"", "g": LONG[1:]}
    names = counted(monkeypatch)
    found = Hashed.of(laid(tmp_path, **files)).files
    assert {name: (fact.sha256, fact.size) for name, fact in found.items()} == {
        name: (hashlib.sha256(content).hexdigest(), len(content)) for name, content in files.items()
    }
    assert list(found) == sorted(files) and sorted(names) == ["a", "c", "e", "g"]


def test_a_file_that_changed_is_hashed_again_and_the_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Hashed.of(laid(tmp_path, a=LONG, b=LONG, c=b"same"))
    laid(tmp_path, b=b"!" + LONG[1:])
    names = counted(monkeypatch)
    after = Hashed.of(tmp_path, before)
    assert names == ["b"] and after.files["a"] == before.files["a"] and after.files["c"] == before.files["c"]
    assert after.files["b"].sha256 == hashlib.sha256(b"!" + LONG[1:]).hexdigest()
