"""Weights into which writers fold what follows a convolution are proven by content: kinds × groups × norms × biases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import exporter

SIZES = {1: "7", 2: "5,4", 3: "4,3,4"}


def checks(model: str, sizes: str, place: Path) -> list[dict[str, str]]:
    done = exporter(
        *("convert", f"models.convolved:{model}", "--input", f"x=float32[batch,8,{sizes}]", "--dim", "batch=1..3"),
        *("--formats", "pir,onnx", "--out", f"out-{model}", "--json"),
        cwd=place,
    )
    assert done.code == 0, done.out + done.err
    verified = exporter("verify", f"out-{model}", "--source", ".", "--json", cwd=place)
    found = verified.json()["checks"]
    failing = [one for one in found if one["outcome"] != "match"]
    assert (verified.code, failing) == (0, []), verified.err
    return [one for one in found if one["kind"] == "weights" and one["format"] == "onnx"]


@pytest.mark.parametrize(
    "model",
    [
        "deconv2",
        *(
            pytest.param(f"{kind}{dims}", marks=pytest.mark.slow)
            for kind, dims in [("conv", 1), ("conv", 2), ("conv", 3), ("deconv", 1), ("deconv", 3)]
        ),
    ],
)
def test_a_file_with_folded_norms_and_biases_passes(model: str, workplace: Path) -> None:
    (weights,) = checks(model, SIZES[int(model[-1])], workplace)
    if not model.endswith("1"):  # in one dimension nothing is folded: the convolution stands between two reshapes
        assert "folded out of trained ones, computed again" in weights["reason"]


def test_a_weight_that_the_graph_computes_is_no_wrong_fold(workplace: Path) -> None:
    (weights,) = checks("computed", "5,4", workplace)
    assert "folded out of trained ones, not computed again" in weights["reason"]
