"""The store: whole or not there, believed by content, bounded, under several writers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.base.files import sha256_bytes
from exporter.gate.reuse.store import Store
from tests.command import ROOT, environment


def laid(folder: Path, **contents: bytes) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def record(**contents: bytes) -> dict[str, Any]:
    return {"objects": {name: sha256_bytes(content) for name, content in contents.items()}}


def test_what_is_put_is_found_with_its_files(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    assert list(store.records("k")) == []
    store.put("k", record(a=b"one"), laid(tmp_path / "work", a=b"one"))
    assert list(store.records("k")) == [record(a=b"one")] and list(store.records("other")) == []
    assert store.fetch(sha256_bytes(b"one"), tmp_path / "a") and (tmp_path / "a").read_bytes() == b"one"
    assert not store.fetch(sha256_bytes(b"two"), tmp_path / "b")


def test_the_record_that_was_used_last_comes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = [record(a=bytes([number])) for number in range(3)]
    for at, one in enumerate(made):
        store.put("k", one, [])
        path = next(path for path in (tmp_path / "records/k").iterdir() if path.stat().st_mtime > 1000)
        os.utime(path, (at, at))
    assert list(store.records("k")) == made[::-1]
    store.use("k", made[0])
    assert list(store.records("k")) == [made[0], made[2], made[1]]


def test_of_one_key_the_oldest_go(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(20):
        store.put("k", {**record(), "number": number}, [])
    kept = [one["number"] for one in store.records("k")]
    assert len(kept) == 16 and 19 in kept


@given(bit=st.integers(min_value=0))
def test_one_flipped_bit_is_not_believed(bit: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("store")
    store = Store(place / "cache")
    store.put("k", record(a=b"content"), laid(place / "work", a=b"content"))
    for path in [path for path in (place / "cache").rglob("*") if path.is_file()]:
        raw = bytearray(path.read_bytes())
        raw[bit // 8 % len(raw)] ^= 1 << bit % 8
        path.write_bytes(raw)
    assert list(store.records("k")) == []
    assert not store.fetch(sha256_bytes(b"content"), place / "a")
    assert not [path for path in (place / "cache").rglob("*") if path.is_file()], "what is damaged is thrown away"
    store.put("k", record(a=b"content"), laid(place / "work", a=b"content"))
    assert store.fetch(sha256_bytes(b"content"), place / "a")


def test_a_damaged_file_is_mended_by_the_next_that_is_put(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    store.put("k", record(a=b"content"), laid(tmp_path / "work", a=b"content"))
    store.object(sha256_bytes(b"content")).write_bytes(b"c0ntent")
    store.put("k", record(a=b"content"), laid(tmp_path / "work", a=b"content"))
    assert store.fetch(sha256_bytes(b"content"), tmp_path / "a")


def test_one_that_nobody_asked_for_keeps_nothing_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    files = laid(tmp_path / "work", a=b"1")
    with pytest.raises(UsageError):
        Store(tmp_path / "file").put("key", record(a=b"1"), files)
    unasked = Store(tmp_path / "file", demanded=False)
    unasked.put("key", record(a=b"1"), files)
    unasked.shrink()
    assert not list(unasked.records("key"))


def test_what_was_not_used_for_longest_goes_where_it_grows_too_large(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache", most=3000)
    for number in range(5):
        content = bytes([number]) * 1000
        store.put(str(number), record(a=content), laid(tmp_path / "work", a=content))
        store.shrink()
        for path in (tmp_path / "cache").rglob("*"):
            if path.is_file() and path.stat().st_mtime > 1000:
                os.utime(path, (number, number))
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 3000
    assert store.fetch(sha256_bytes(b"\4" * 1000), tmp_path / "a") and list(store.records("4"))
    assert not store.fetch(sha256_bytes(b"\0" * 1000), tmp_path / "a")


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError) as caught:
        Store(tmp_path / "file").put("k", record(), [])
    assert str(tmp_path / "file") in caught.value.where


WRITER = """
import sys
from pathlib import Path
from exporter.gate.reuse.store import Store
from exporter.base.files import sha256_bytes
place, mine = Path(sys.argv[1]), sys.argv[2]
store = Store(place / "cache", most=200_000)
for number in range(200):
    content = bytes([number]) * 2000
    file = place / f"{mine}-{number}"
    file.write_bytes(content)
    store.put(str(number % 7), {"objects": {"a": sha256_bytes(content)}, "number": number}, [file])
    for record in store.records(str(number % 7)):
        digest = record["objects"]["a"]
        if store.fetch(digest, place / f"{mine}-out"):
            assert sha256_bytes((place / f"{mine}-out").read_bytes()) == digest
"""


def test_two_writers_at_once_and_one_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    first, second, killed = (
        subprocess.Popen([*command, name], env=environment(), cwd=ROOT, stderr=subprocess.PIPE) for name in "abc"
    )
    while not list((tmp_path / "cache").glob("records/*/*.json")) and killed.poll() is None:
        pass
    killed.kill()
    said = [process.communicate()[1].decode() for process in (first, second, killed)]
    assert (first.returncode, second.returncode) == (0, 0), said
    for path in (tmp_path / "cache/objects").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            assert sha256_bytes(path.read_bytes()) == path.name
