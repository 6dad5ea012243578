"""Configurations of people nobody knows: bounded before any of them is built, and an error says the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.steps.configuration import MOST_BYTES, line_of, one_file

LAUGHS = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
DAMAGED = {
    "100,000 levels of lists": ("[" * 100_000, r"1:101: more than 100 levels"),
    "100,000 levels of mappings": ("{a: " * 100_000, r"more than 100 levels"),
    "100,000 levels in lines": ("- " * 100_000, r"more than 100 levels"),
    "aliases that multiply": (LAUGHS, r"6:.*: more than 1,000,000 values"),
    "an alias to itself": ("a: &a\n  b: [*a]\n", r"2:7: an alias leads back to itself"),
    "an alias to nothing": ("a: *b\n", r"1:4: it is no YAML: found undefined alias"),
    "a bracket that is open": ("a: [1,\nb: 2\n", r"3:1: it is no YAML"),
    "month 13": ("a: 1\nb: 2001-13-01\n", "2:4: it is no YAML: month must be"),
    "a list": ("- 1\n", "no mapping"),
    "nothing": ("", "no mapping"),
    "a byte of zero": ("字字字: 1\na: \0\n\n\n", ":2: it is no YAML"),
    "two documents": ("a: 1\n---\nb: 2\n", "2:1: it is no YAML"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_told_with_its_place(kind: str, tmp_path: Path) -> None:
    text, said = DAMAGED[kind]
    path = tmp_path / "inference.yml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said) as error:
        one_file(path)
    assert error.value.where.startswith(str(path)) and error.value.hint


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "inference.yml"
    path.write_bytes(b"a: 1\n\nb: \xff\xfe\x00")
    with pytest.raises(UsageError, match=":3: it is no YAML"):
        one_file(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "inference.yml"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(UsageError):
        one_file(path)


def test_a_vocabulary_of_a_model_that_reads_formulas_is_read(tmp_path: Path) -> None:
    path = tmp_path / "inference.yml"
    path.write_text("words:\n" + "".join(f"- '字{number}'\n" for number in range(50_000)))
    assert len(one_file(path)["words"]) == 50_000


def test_the_place_of_a_value_is_found_by_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "inference.yml"
    path.write_text("a:\n  b:\n  - 1\n  - {c: 3}\n")
    assert line_of(path, ("a", "b", 1, "c")) == f"{path}:4:9"
    assert line_of(path, ("a", "nowhere")) == f"{path}:2:3"
