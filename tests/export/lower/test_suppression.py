"""Suppression of boxes of several classes in ONNX, row by row as in Paddle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import paddle
import pytest

from exporter.base.tensors import Array, TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace

CLASSES, PLACES = 3, 40
INPUTS = (
    TensorSpec("boxes", "float32", ("batch", PLACES, 4)),
    TensorSpec("scores", "float32", ("batch", CLASSES, PLACES)),
)


class Suppression(paddle.nn.Layer):
    """`limits` are score_threshold, nms_top_k, keep_top_k, nms_threshold, normalized, nms_eta, background_label."""

    def __init__(self, limits: tuple[Any, ...]) -> None:
        super().__init__()
        self.limits = limits

    def forward(self, boxes: Any, scores: Any) -> Any:
        return paddle._C_ops.multiclass_nms3(boxes, scores, None, *self.limits)


def drawn(batch: int, seed: int) -> tuple[Array, Array]:
    """Boxes that overlap, and scores of few values, so that many are equal."""
    generator = np.random.default_rng(seed)
    corners = generator.uniform(0, 20, [batch, PLACES, 2])
    boxes = np.concatenate([corners, corners + generator.uniform(2, 12, corners.shape)], -1)
    return boxes.astype("float32"), (generator.integers(0, 20, [batch, CLASSES, PLACES]) / 20).astype("float32")


def written(layer: Suppression, inputs: tuple[TensorSpec, ...], folder: Path) -> onnxruntime.InferenceSession:
    layer.eval()
    (folder / "pir").mkdir()
    (folder / "onnx").mkdir()
    with pir_format.session(None):
        pir_format.write(trace(layer, inputs, None, {}), None, folder / "pir", Wish())
    onnx_format.write(None, folder / "pir", folder / "onnx", Wish(inputs=inputs))
    return onnxruntime.InferenceSession(folder / "onnx/model.onnx", providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(
    "limits",
    [
        (0.1, 10, 7, 0.4, True, 1.0, -1),
        (0.1, -1, -1, 0.5, True, 1.0, 0),
        (0.3, 1000, 5, 0.3, False, 1.0, 1),
        (0.99, 10, 7, 0.4, True, 1.0, -1),
    ],
    ids=["the best of each class", "all, without a background", "boxes of pixels", "none"],
)
def test_rows_places_and_counts_are_paddles(limits: tuple[Any, ...], tmp_path: Path) -> None:
    layer = Suppression(limits)
    session = written(layer, INPUTS, tmp_path)
    rows = 0
    for batch in (1, 3):
        for seed in range(3):
            boxes, scores = drawn(batch, seed)
            expected = [one.numpy() for one in layer(paddle.to_tensor(boxes), paddle.to_tensor(scores))]
            found = session.run(None, {"boxes": boxes, "scores": scores})
            for want, got in zip(expected, found, strict=True):
                assert (want.dtype, want.shape) == (got.dtype, got.shape)
                np.testing.assert_array_equal(got, want)
            rows += len(expected[0])
    assert (rows > 0) == (limits[0] < 0.9)


@pytest.mark.parametrize("normalized", [True, False])
def test_boxes_that_clipping_turns_round_have_no_area(normalized: bool, tmp_path: Path) -> None:
    """`yolo_box` clips the end of a box and not its beginning: one beyond the picture ends before it begins."""
    layer = Suppression((0.1, -1, -1, 0.3, normalized, 1.0, -1))
    session = written(layer, INPUTS, tmp_path)
    backwards = 0
    for seed in range(4):
        boxes, scores = drawn(2, seed)
        boxes[..., 2:] = np.minimum(boxes[..., 2:], [15.0, 13.0])
        backwards += int((boxes[..., 2:] < boxes[..., :2]).any(-1).sum())
        expected = layer(paddle.to_tensor(boxes), paddle.to_tensor(scores))
        for want, got in zip(expected, session.run(None, {"boxes": boxes, "scores": scores}), strict=True):
            np.testing.assert_array_equal(got, want.numpy())
    assert backwards > 20


@pytest.mark.parametrize("normalized", [True, False])
def test_of_boxes_without_area_that_touch_the_best_stays(normalized: bool, tmp_path: Path) -> None:
    """Their overlap is 0 / 0 in Paddle. Boxes beyond a picture are clipped to its edge: lines or points."""
    layer = Suppression((0.1, 30, -1, 0.3, normalized, 1.0, -1))
    session = written(layer, INPUTS, tmp_path)
    rows, without = 0, 0
    for seed in range(4):
        boxes, _ = drawn(2, seed)
        boxes = np.clip(boxes, 0, [[6.0, 8.0, 6.0, 8.0]]).astype("float32")
        boxes[:, 30:33, 2] = boxes[:, 30:33, 0] - 2.0
        scores = np.random.default_rng(seed).permutation(2 * CLASSES * PLACES).reshape(2, CLASSES, PLACES)
        scores = (scores / scores.size).astype("float32")
        expected = layer(paddle.to_tensor(boxes), paddle.to_tensor(scores))
        for want, got in zip(expected, session.run(None, {"boxes": boxes, "scores": scores}), strict=True):
            np.testing.assert_array_equal(got, want.numpy())
        rows += len(expected[0])
        without += int((boxes[..., 2:] <= boxes[..., :2]).any(-1).sum())
    assert without > 100 and rows > 50


class RegionSuppression(Suppression):
    def forward(self, boxes: Any, scores: Any, counts: Any) -> Any:
        return paddle._C_ops.multiclass_nms3(boxes, scores, counts, *self.limits)


@pytest.mark.parametrize(
    "limits",
    [(0.1, 6, 7, 0.4, True, 1.0, -1), (0.3, -1, 5, 0.3, False, 1.0, 2), (0.1, -1, -1, 0.5, True, 1.0, 0)],
    ids=["the best of each class", "boxes of pixels", "all, without a background"],
)
def test_a_box_of_each_class_in_regions(limits: tuple[Any, ...], tmp_path: Path) -> None:
    """An R-CNN's second stage: how many regions an image has is data."""
    inputs = (
        TensorSpec("boxes", "float32", ("regions", CLASSES, 4)),
        TensorSpec("scores", "float32", ("regions", CLASSES)),
        TensorSpec("counts", "int32", ("batch",)),
    )
    layer = RegionSuppression(limits)
    session = written(layer, inputs, tmp_path)
    for counts in ([30], [12, 0, 25]):
        boxes = np.concatenate([drawn(1, seed)[0][:, : sum(counts)] for seed in range(CLASSES)]).transpose(1, 0, 2)
        scores = np.random.default_rng(9).permutation(boxes[..., 0].size).reshape(boxes.shape[:2]) / boxes[..., 0].size
        feed = {
            "boxes": np.ascontiguousarray(boxes),
            "scores": scores.astype("float32"),
            "counts": np.array(counts, "int32"),
        }
        expected = [value.numpy() for value in layer(*map(paddle.to_tensor, feed.values()))]
        assert len(expected[0]) > 0
        for want, got in zip(expected, session.run(None, feed), strict=True):
            assert (want.dtype, want.shape) == (got.dtype, got.shape)
            np.testing.assert_array_equal(got, want)


class MatrixSuppression(Suppression):
    """`limits`: score_threshold, nms_top_k, keep_top_k, post_threshold, use_gaussian, sigma, background, normalized."""

    def forward(self, boxes: Any, scores: Any) -> Any:
        return paddle._C_ops.matrix_nms(boxes, scores, *self.limits)


@pytest.mark.parametrize(
    "limits",
    [
        (0.3, 10, 7, 0.2, False, 2.0, -1, True),
        (0.1, -1, -1, 0.3, True, 2.0, 0, True),
        (0.6, 1000, 500, 0.1, False, 2.0, 1, False),
        (0.01, 5, -1, 0.01, True, 0.5, 2, False),
        (0.999, 10, 7, 0.1, False, 2.0, -1, True),
    ],
    ids=["the best of each class", "gaussian", "boxes of pixels", "gaussian, boxes of pixels", "none"],
)
@pytest.mark.parametrize("sizes", [("batch", CLASSES, PLACES), ("batch", "classes", "places")], ids=["known", "vary"])
def test_matrix_suppression_is_paddles(sizes: tuple[Any, ...], limits: tuple[Any, ...], tmp_path: Path) -> None:
    layer = MatrixSuppression(limits)
    layer.eval()
    (tmp_path / "pir").mkdir()
    (tmp_path / "onnx").mkdir()
    inputs = TensorSpec("boxes", "float32", (sizes[0], sizes[2], 4)), TensorSpec("scores", "float32", sizes)
    with pir_format.session(None):
        pir_format.write(trace(layer, inputs, None, {}), None, tmp_path / "pir", Wish())
    onnx_format.write(None, tmp_path / "pir", tmp_path / "onnx", Wish(inputs=inputs))
    session = onnxruntime.InferenceSession(tmp_path / "onnx/model.onnx", providers=["CPUExecutionProvider"])
    rows = 0
    for seed, batch in enumerate((1, 3, 2, 1)):
        boxes, _ = drawn(batch, seed)
        boxes[:, 3] = boxes[:, 30]  # the same place, one after the other
        boxes[:, 8, 2] = boxes[:, 8, 0] - 1.0
        boxes[:, 9:11] = boxes[:, :1, [0, 1, 0, 1]]
        scores = np.random.default_rng(seed).uniform(0, 0.99, [batch, CLASSES, PLACES]).astype("float32")
        expected = [one.numpy() for one in layer(paddle.to_tensor(boxes), paddle.to_tensor(scores))]
        found = session.run(None, {"boxes": boxes, "scores": scores})
        for want, got in zip(expected, found, strict=True):
            assert (want.dtype, want.shape) == (got.dtype, got.shape)
            np.testing.assert_allclose(got, want, rtol=4e-6, atol=1e-6)
        rows += len(expected[0])
    assert (rows > 0) == (limits[0] < 0.9)
