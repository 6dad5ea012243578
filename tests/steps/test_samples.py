"""Raw samples come from files of several kinds, each by a name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter.base import tensors
from exporter.base.errors import UsageError
from exporter.steps.samples import MOST_SAMPLES, read_samples


def test_pictures_lines_and_arrays(tmp_path: Path) -> None:
    (tmp_path / "b.png").write_bytes(b"\x89PNG")
    (tmp_path / "lines.txt").write_bytes("first\n\n für \r\n".encode())
    np.save(tmp_path / "rows.npy", np.arange(6).reshape(2, 3))
    tensors.save(tmp_path / "many.safetensors", {"one": np.zeros(2), "two": np.ones(2)})
    samples = read_samples(["*.png", "lines.txt", "*.npy", str(tmp_path / "many.safetensors")], tmp_path)
    assert list(samples) == [
        *("b.png", "lines.txt#1", "lines.txt#3", "rows.npy", "many.safetensors#one", "many.safetensors#two")
    ]
    assert samples["b.png"].tobytes() == b"\x89PNG" and samples["lines.txt#3"].tobytes().decode() == " für "
    assert samples["rows.npy"].shape == (2, 3)


def test_what_is_no_sample_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty.png").touch()
    (tmp_path / "blank.txt").write_text("\n \n")
    (tmp_path / "many.txt").write_text("line\n" * (MOST_SAMPLES + 1))
    for pattern, said in (
        ("*.jpg", "no sample matches"),
        ("empty.png", "is empty"),
        ("blank.txt", "no line"),
        ("many.txt", "more than"),
    ):
        with pytest.raises(UsageError, match=said):
            read_samples([pattern], tmp_path)
