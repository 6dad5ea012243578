"""Answers that aim at their reader: three hundred and some folders, none of which crashes, hangs or passes."""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.base.tensors import load_npy
from exporter.deploy.elsewhere.answers import Answers, Due, Fault, read_about, read_answers
from tests.command import STORED, exporter

DUE = Due(0, 0, "float32", (2, 5))
RIGHT = np.arange(10, dtype="float32").reshape(2, 5)
ABOUT = {"engine": "x", "version": "1", "device": "d", "who": "w", "when": "2026-11-28"}


def npy(header: str | bytes, body: bytes = b"", version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
    text = header.encode("latin1") if isinstance(header, str) else header
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<I", size) + text + body


def saved(value: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(value), allow_pickle=True)
    return stream.getvalue()


def head(descr: str = "'<f4'", order: str = "False", shape: str = "(2, 5)", more: str = "") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n"


#: Contents of a `.npy`, none of which is the right answer.
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "magic alone": b"\x93NUMPY",
    "no magic": b"PK\x03\x04" + bytes(100),
    "pickle": b"\x80\x04\x95" + bytes(40) + b".",
    "object array": saved(np.array([None, 1], dtype=object)),
    "text array": saved(np.array(["a", "b"])),
    "bytes array": saved(np.array([b"a", b"b"])),
    "void array": saved(np.zeros(3, "V7")),
    "records": saved(np.zeros(3, [("a", "f4"), ("b", "O")])),
    "dates": saved(np.zeros((2, 5), "datetime64[s]")),
    "complex": saved(RIGHT.astype("complex64")),
    "NaN flood": saved(np.full((2, 5), np.nan, "float32")),
    "infinities": saved(np.full((2, 5), np.inf, "float32")),
    "denormals": saved(np.full((2, 5), 1e-45, "float32")),
    "largest": saved(np.full((2, 5), 3.4e38, "float32")),
    "big-endian bytes under a little-endian header": saved(RIGHT.byteswap()),
    "wide": saved(RIGHT.astype("float64")),
    "whole numbers": saved(RIGHT.astype("int64")),
    "half": saved(RIGHT.astype("float16")),
    "other shape": saved(RIGHT.T.copy()),
    "one number": saved(np.float32(3)),
    "no number": saved(np.zeros((0, 5), "float32")),
    "more rows": saved(np.zeros((3, 5), "float32")),
    "many axes": saved(np.zeros((1,) * 32, "float32")),
    "huge shape": npy(head(shape="(1000000000000, 5)")),
    "shape beyond 64 bits": npy(head(shape=f"({10**30},)")),
    "negative shape": npy(head(shape="(-1, 5)"), RIGHT.tobytes()),
    "negative and huge": npy(head(shape=f"(-1, {10**20})"), RIGHT.tobytes()),
    "zero times huge": npy(head(shape=f"(0, {10**20})")),
    "boolean shape": npy(head(shape="(True, 5)"), RIGHT.tobytes()),
    "float shape": npy(head(shape="(2.0, 5)"), RIGHT.tobytes()),
    "text shape": npy(head(shape="'2, 5'")),
    "no tuple": npy(head(shape="[2, 5]"), RIGHT.tobytes()),
    "a hundred axes": npy(head(shape="(" + "1," * 100 + ")"), bytes(4)),
    "no size of text": npy(head(descr="'<U0'", shape="(1000000000,)")),
    "no size of void": npy(head(descr="'|V0'", shape="(1000000000,)")),
    "huge text": npy(head(descr="'<U2000000000'", shape="(1,)")),
    "huge inner shape": npy(head(descr="('<f4', (1000000000,))")),
    "unknown dtype": npy(head(descr="'<z9'")),
    "dtype is None": npy(head(descr="None"), bytes(80)),
    "dtype is a number": npy(head(descr="7")),
    "dtype is an empty tuple": npy(head(descr="()")),
    "dtype of one": npy(head(descr="('<f4',)")),
    "dtype is an empty list": npy(head(descr="[]"), bytes(80)),
    "dtype of odd pairs": npy(head(descr="[('a',), ('b', '<f4')]")),
    "dtype within dtype": npy(head(descr="[('a', " * 30 + "'<f4'" + ")]" * 30)),
    "object dtype": npy(head(descr="'|O'"), b"\x80\x04N."),
    "a dict in a dict": npy("{{}: 1}\n"),
    "a set": npy("{1, 2}\n"),
    "a list": npy("[1, 2]\n"),
    "a call": npy("__import__('os').system('true')\n"),
    "further key": npy(head(more="'more': 1"), RIGHT.tobytes()),
    "lacking key": npy("{'descr': '<f4', 'shape': (2, 5)}\n", RIGHT.tobytes()),
    "key twice": npy(head(more="'shape': (3, 5)"), RIGHT.tobytes()),
    "order is text": npy(head(order="'no'"), RIGHT.tobytes()),
    "no closing brace": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 5)"),
    "no closing quote": npy("{'descr': '<f4"),
    "brackets without end": npy("(" * 9000),
    "minus signs without end": npy("-" * 9000 + "1"),
    "a number of many digits": npy(head(shape="(" + "9" * 6000 + ",)")),
    "zero bytes in the header": npy(b"{'descr': '<f4'\x00}"),
    "no text in the header": npy(bytes(range(128, 256))),
    "no UTF-8 in the header": npy(b"\xff\xfe{}", version=(3, 0)),
    "header longer than the file": npy(head(), length=60000),
    "header of four gigabytes": npy(head(), version=(2, 0), length=(1 << 32) - 1),
    "header of 60 kB": npy(head() + " " * 60000, RIGHT.tobytes(), version=(2, 0)),
    "version 0": npy(head(), RIGHT.tobytes(), version=(0, 0)),
    "version 9": npy(head(), RIGHT.tobytes(), version=(9, 9)),
    "of Python 2": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 5L), }\n", RIGHT.tobytes()[:-1]),
    "too large": saved(np.zeros(200_000, "float32")),
}
for size in range(0, len(saved(RIGHT)), 2):
    CONTENTS[f"cut off after {size} bytes"] = saved(RIGHT)[:size]
for at in range(128):
    CONTENTS[f"byte {at} changed"] = saved(RIGHT)[:at] + bytes([saved(RIGHT)[at] ^ 0x15]) + saved(RIGHT)[at + 1 :]


def folder_of(place: Path, about: object = ABOUT) -> Path:
    place.mkdir()
    (place / "answers.json").write_text(about if isinstance(about, str) else json.dumps(about))
    return place


def read(place: Path) -> Answers:
    return read_answers(place, [DUE], ["y"])


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.filterwarnings("ignore")
def test_a_hostile_array_is_a_fault_or_another_answer(name: str, tmp_path: Path, bounded: None) -> None:
    place = folder_of(tmp_path / "answers")
    (place / "0.0.npy").write_bytes(CONTENTS[name])
    value = read(place).cases[0]["y"]
    if isinstance(value, Fault):
        assert value.reason and not value.missing
    else:  # a changed byte of padding leaves it right
        right = value.shape == RIGHT.shape and value.dtype == RIGHT.dtype and np.array_equal(value, RIGHT)
        assert not right or name.startswith("byte ") or name == "key twice", name


def link(place: Path) -> None:
    (place.parent / "secret.npy").write_bytes(saved(RIGHT))
    (place / "0.0.npy").symlink_to(place.parent / "secret.npy")


def dangling(place: Path) -> None:
    (place / "0.0.npy").symlink_to("nowhere")


def around(place: Path) -> None:
    (place / "0.0.npy").symlink_to("0.0.npy")


def folder(place: Path) -> None:
    (place / "0.0.npy").mkdir()


def pipe(place: Path) -> None:
    os.mkfifo(place / "0.0.npy")


def device(place: Path) -> None:
    (place / "0.0.bin").symlink_to("/dev/zero")


def both(place: Path) -> None:
    (place / "0.0.npy").write_bytes(saved(RIGHT))
    (place / "0.0.bin").write_bytes(RIGHT.tobytes())


def hole(place: Path) -> None:
    with (place / "0.0.bin").open("wb") as stream:
        stream.truncate(1 << 40)


def long_bin(place: Path) -> None:
    (place / "0.0.bin").write_bytes(RIGHT.tobytes() + b"\0")


def short_bin(place: Path) -> None:
    (place / "0.0.bin").write_bytes(RIGHT.tobytes()[:-4])


def half_bin(place: Path) -> None:
    (place / "0.0.bin").write_bytes(RIGHT.astype("float16").tobytes())


def empty_bin(place: Path) -> None:
    (place / "0.0.bin").write_bytes(b"")


FILES: tuple[tuple[Callable[[Path], None], str], ...] = (
    (link, "0.0.npy is a symbolic link, which is not followed"),
    (dangling, "0.0.npy is a symbolic link, which is not followed"),
    (around, "0.0.npy is a symbolic link, which is not followed"),
    (folder, "0.0.npy: "),
    (pipe, "0.0.npy: "),
    (device, "0.0.bin is a symbolic link, which is not followed"),
    (both, "0.0.npy and 0.0.bin are both there, and may differ"),
    (hole, "0.0.bin has 1,099,511,627,776 bytes, and 40 are due"),
    (long_bin, "0.0.bin: has 41 bytes, and 40 are due"),
    (short_bin, "0.0.bin: has 36 bytes, and 40 are due: truncated"),
    (half_bin, "0.0.bin: has 20 bytes, and 40 are due: as many as of float16"),
    (empty_bin, "0.0.bin: has 0 bytes, and 40 are due: truncated"),
)


@pytest.mark.parametrize(("make", "said"), FILES)
def test_what_is_no_file_of_an_answer_is_a_fault(
    make: Callable[[Path], None], said: str, tmp_path: Path, bounded: None
) -> None:
    place = folder_of(tmp_path / "answers")
    make(place)
    value = read(place).cases[0]["y"]
    assert isinstance(value, Fault) and value.reason.startswith(said), value


#: What answers.json may not be, with what is said of it.
DOCUMENTS: tuple[tuple[object, str], ...] = (
    ("", "is damaged"),
    ("[]", "is no object"),
    ("null", "is no object"),
    ("{", "is damaged"),
    ("\ufeff{}", "is damaged"),
    ('{"engine": NaN}', "is damaged"),
    ('{"engine": 1e999}', "is damaged"),
    ('{"engine": ' + "9" * 40 + "}", "is damaged"),
    ('{"engine": "a", "engine": "b"}', "is damaged"),
    ("[" * 5000, "is damaged"),
    ('{"a":' * 100 + "1" + "}" * 100, "is damaged"),
    (json.dumps({**ABOUT, "more": [0] * 30_000}), "is damaged"),
    (json.dumps({**ABOUT, "more": "\ud800"}), "is damaged"),
    ({}, "engine"),
    ({**ABOUT, "engine": 7}, "engine"),
    ({**ABOUT, "engine": ""}, "engine"),
    ({**ABOUT, "engine": "x" * 201}, "engine"),
    ({**ABOUT, "device": "\x1b[2Jmine"}, "device: holds characters that cannot be printed"),
    ({**ABOUT, "who": "a\nPASSED"}, "who: holds characters that cannot be printed"),
    ({**ABOUT, "when": "yesterday"}, "when: 'yesterday' is no date"),
    ({**ABOUT, "when": "9999-99-99"}, "when: "),
    ({**ABOUT, "outputs": "y"}, "outputs"),
    ({**ABOUT, "outputs": ["y", "y"]}, "outputs: a name is given twice"),
    ({**ABOUT, "outputs": [1]}, "outputs"),
    ({**ABOUT, "inputs": {"a": 1}}, "inputs"),
    ({**ABOUT, "bundle": 5}, "bundle"),
)


@pytest.mark.parametrize(("document", "said"), DOCUMENTS)
def test_a_hostile_document_is_a_usage_error(document: object, said: str, tmp_path: Path, bounded: None) -> None:
    place = folder_of(tmp_path / "answers", document)
    with pytest.raises(UsageError) as raised:
        read_about(place)
    assert said in raised.value.what, raised.value.what


def test_a_document_that_is_no_file_is_a_usage_error(tmp_path: Path) -> None:
    place = folder_of(tmp_path / "answers")
    (place / "answers.json").rename(tmp_path / "other.json")
    with pytest.raises(UsageError, match="is missing"):
        read_about(place)
    (place / "answers.json").symlink_to(tmp_path / "other.json")
    with pytest.raises(UsageError, match="symbolic link"):
        read_about(place)
    (place / "answers.json").unlink()
    (place / "answers.json").write_bytes(b" " * (2 << 20))
    with pytest.raises(UsageError, match="at most 1,048,576 are read"):
        read_about(place)


def test_no_path_is_taken_from_an_answer(tmp_path: Path) -> None:
    (tmp_path / "secret.npy").write_bytes(saved(RIGHT))
    place = folder_of(tmp_path / "answers", {**ABOUT, "outputs": ["../secret"]})
    value = read(place).cases[0]["../secret"]
    assert isinstance(value, Fault) and value.missing


def test_other_orders_in_memory_are_the_same_numbers(tmp_path: Path) -> None:
    """Fortran's order and big-endian numbers are what their header says, and right."""
    for number, value in enumerate((np.asfortranarray(RIGHT), RIGHT.astype(">f4"), RIGHT[::-1][::-1])):
        place = folder_of(tmp_path / f"answers-{number}")
        np.save(place / "0.0.npy", value)
        got = read(place).cases[0]["y"]
        assert isinstance(got, np.ndarray) and got.dtype == np.dtype("float32") and np.array_equal(got, RIGHT)


@given(content=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "x.npy"
    for body in (content, b"\x93NUMPY\x01\x00" + content, npy(content, RIGHT.tobytes())):
        path.write_bytes(body)
        try:
            assert load_npy(path).nbytes <= len(body)
        except UsageError as error:
            assert error.what.startswith("not a readable .npy file")


words = st.sampled_from(["'<f4'", "'|O'", "'<U0'", "None", "True", "()", "-1", "2", "(2, 5)", "[]", "{}", "'a'", "1e9"])
entries = st.lists(st.tuples(st.sampled_from(["descr", "fortran_order", "shape", "more"]), words), max_size=5)


@given(entries=entries)
@pytest.mark.filterwarnings("ignore")
def test_any_header_is_read_or_refused(
    entries: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "x.npy"
    text = "{" + ", ".join(f"'{key}': {word}" for key, word in entries) + "}"
    path.write_bytes(npy(text, RIGHT.tobytes()))
    try:
        assert load_npy(path).nbytes <= RIGHT.nbytes
    except UsageError as error:
        assert error.what.startswith("not a readable .npy file")


def spoiled(answers: Path) -> Iterator[tuple[str, Path, int]]:
    """Folders for the command line, each with the exit code that docs/elsewhere.md gives it."""
    for name in ("NaN flood", "object array", "huge shape", "header of four gigabytes", "wide", "largest", "complex"):
        place = Path(shutil.copytree(answers, answers.with_name(f"spoiled-{name.replace(' ', '-')}")))
        for path in place.glob("*.npy"):
            path.write_bytes(CONTENTS[name])
        yield name, place, 1
    place = Path(shutil.copytree(answers, answers.with_name("document")))
    (place / "answers.json").write_text("[" * 5000)
    yield "document", place, 2
    yield "nowhere", answers.with_name("nowhere"), 2


@pytest.mark.filterwarnings("ignore")
def test_the_command_line_says_what_is_wrong(answers: Path) -> None:
    for name, place, code in spoiled(answers):
        for options in ((), ("--precision", "fp16")):
            done = exporter("verify", STORED, "--answers", place, "--engine", "x", *options, cwd=answers.parent)
            assert done.code == code, (name, done.out, done.err)
            assert "  try: " in done.err and "bug of ours" not in done.err, (name, done.err)


def test_three_hundred_are_tried() -> None:
    assert len(CONTENTS) + len(FILES) + len(DOCUMENTS) > 300
