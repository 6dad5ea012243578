"""Digests of what files store: bytes that were hashed before are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from exporter.base.tensors import Array, digest
from exporter.export.lower import stored
from exporter.export.lower.stored import Digests

RNG = np.random.default_rng(0)
LONG = RNG.standard_normal(700_000).astype("float32")


def _last_bit_moved(array: Array) -> Array:
    moved = array.copy()
    moved.view("uint32")[-1] ^= 1
    return moved


def _digested(arrays: Sequence[Array], monkeypatch: pytest.MonkeyPatch) -> int:
    """Digest arrays, each rightly; how many were hashed for it."""
    hashed: list[Array] = []

    def counted(array: Array) -> str:
        hashed.append(array)
        return digest(array)

    monkeypatch.setattr(stored, "digest", counted)
    digests = Digests()
    for array in arrays:
        assert digests.of(array) == digest(array)
    return len(hashed)


def test_equal_bytes_are_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = [LONG, LONG.copy(), LONG.reshape(700, 1000), np.asfortranarray(LONG.reshape(700, 1000)).copy("C")]
    assert _digested(alike, monkeypatch) == 1


def test_what_differs_anywhere_or_in_dtype_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [LONG, _last_bit_moved(LONG), LONG.view("int32"), LONG[:-1], np.where(LONG[-2] == LONG, -LONG, LONG)]
    assert _digested(others, monkeypatch) == len(others)


def test_nan_empty_and_single_numbers_have_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    nan = np.full(3, np.nan, "float32")
    arrays: list[Array] = [nan, nan.copy(), np.zeros(0, "float32"), np.array(3, "float32"), np.array([3], "float32")]
    assert _digested(arrays, monkeypatch) == 3
