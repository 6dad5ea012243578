"""OpenCV's bytes, by its tables and on Paddle operators, with sizes that are known and sizes that are not."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.export.fold import resize, taps
from tests.export.fold.opencv import SIZES, digest, key, picture, recorded

HASHES = recorded()["sha256"]


@pytest.mark.parametrize(("before", "after"), SIZES)
def test_the_bytes_are_those_of_opencv(before: tuple[int, int], after: tuple[int, int]) -> None:
    import paddle

    pictures = paddle.to_tensor(picture(*before)[None])
    for how, resized in (("nearest", resize.nearest), ("linear", resize.linear)):
        made = resized(pictures, *after).numpy()[0]
        assert made.dtype == np.uint8
        assert digest(made) == HASHES[key(how, before, after)], how


def test_open_sizes_take_the_same_taps_as_known_ones() -> None:
    """1,200 pairs of sizes: what is computed in whole numbers in the graph is what OpenCV computes in floats."""
    import paddle

    dice = np.random.RandomState(0)
    for turn in range(600):
        most = (40, 300, 1500, 4096)[turn % 4]
        source, size = dice.randint(1, most + 1), dice.randint(1, min(most, resize.LARGEST) + 1)
        if turn % 5 == 0:
            size = min(resize.LARGEST, 2 * source)
        pixels = dice.randint(0, 256, source)
        for rows in (True, False):
            table = taps.linear(source, size, rows=rows)
            (left, share), (right, rest) = resize._taps(paddle.to_tensor([source], dtype="int32"), size, rows=rows)
            # What lies beyond the border has another number there, and the same pixel or no weight.
            wanted = pixels[table.index] * table.weight
            got = np.stack([pixels[left.numpy()] * share.numpy(), pixels[right.numpy()] * rest.numpy()], 1)
            assert np.array_equal(got.sum(1), wanted.sum(1)), (source, size, rows)
            assert rows or np.array_equal(got, wanted), (source, size)


def test_what_a_graph_cannot_do_is_refused() -> None:
    import paddle

    size = paddle.to_tensor([50], dtype="int32")
    with pytest.raises(UsageError, match="any size is to be resized to 1024 pixels"):
        resize._taps(size, resize.LARGEST + 1, rows=True)


def test_a_wrong_weight_would_show() -> None:
    """The hashes tell a table whose weights are one unit off from the right one."""
    before, after = SIZES[0]
    across, down = taps.linear(before[1], after[1], rows=False), taps.linear(before[0], after[0], rows=True)
    pixels = picture(*before).astype(np.int64)

    def made(change: int) -> np.ndarray:
        shares = across.weight + np.array([change, -change])
        wide = sum(pixels[:, across.index[:, tap]] * shares[:, tap, None] for tap in range(2)) // 16
        parts = [wide[down.index[:, tap]] * down.weight[:, tap, None, None] // 65536 for tap in range(2)]
        return ((parts[0] + parts[1] + 2) // 4).astype(np.uint8)

    assert digest(made(0)) == HASHES[key("linear", before, after)]
    assert digest(made(1)) != HASHES[key("linear", before, after)]
