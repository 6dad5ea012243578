"""Files of arrays by NumPy's format: what a header may not announce."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.tensors import load_npy, npy_facts


def written(path: Path, header: str, body: bytes = b"") -> Path:
    text = header.encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body)
    return path


@pytest.mark.parametrize(
    ("descr", "shape", "said"),
    [
        ("'<f4'", "(3,)", "truncated: it announces 12 bytes of numbers and holds 8"),
        ("'|O'", "(1,)", "it holds Python objects, and nothing is unpickled"),
        ("'<U0'", "(1000000000,)", "it announces (1000000000,) elements of <U0"),
        ("'<f4'", "(-1, 2)", "it announces (-1, 2) elements of float32"),
        ("('<f4',)", "(1,)", ""),
        ("[('a',)]", "(1,)", ""),
    ],
)
def test_a_header_that_announces_too_much_is_refused(descr: str, shape: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path / "x.npy", f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n", bytes(8))
    for read in (load_npy, npy_facts):
        with pytest.raises(UsageError) as raised:
            read(path)
        assert raised.value.what.startswith("not a readable .npy file: ") and said in raised.value.what


def test_a_header_that_is_no_header_is_refused(tmp_path: Path) -> None:
    for number, text in enumerate(("{{}: 1}\n", "'a", "(" * 500, "{'descr': '<f4'\n")):
        with pytest.raises(UsageError, match="not a readable"):
            load_npy(written(tmp_path / f"{number}.npy", text))


def test_what_numpy_wrote_is_read(tmp_path: Path) -> None:
    for number, value in enumerate((np.eye(3), np.zeros((0, 4), "float16"), np.array(["a", "bc"]), np.array(2.0))):
        np.save(tmp_path / f"{number}.npy", value)
        assert np.array_equal(load_npy(tmp_path / f"{number}.npy"), value)
        assert npy_facts(tmp_path / f"{number}.npy") == (value.shape, value.dtype.name)
