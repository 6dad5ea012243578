"""What the steps give, against numbers that the families' own code gave for the same lists and pictures.

`python -m evals.steps.own_code paddledet=… paddleocr=… --record tests/data/steps/own_code.json` wrote them with OpenCV
4.10.0.84 and Pillow 13.0, of PaddleDetection 666f597 and PaddleOCR 3.1.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest

from evals.steps.own_code import KEPT, cases, drawn, ours, pictures


class Drawn(TypedDict):
    """The shape of an array, and some of its numbers."""

    shape: list[int]
    numbers: list[float]


RECORDED: dict[str, list[list[Drawn]]] = json.loads(
    (Path(__file__).parents[1] / "data/steps/own_code.json").read_text()
)


@pytest.mark.parametrize("family", RECORDED)
def test_the_steps_give_the_numbers_of_the_familys_own_code(family: str, tmp_path: Path) -> None:
    files = list(pictures(tmp_path))[: len(KEPT)]
    compared = [case for case in cases(family) if "operators" in case]
    assert len(compared) == len(RECORDED[family]) and len(compared) > 10
    for case, recorded in zip(compared, RECORDED[family], strict=True):
        for path, theirs in zip(files, recorded, strict=True):
            given = drawn(ours(family, case, path, pillow=13))
            assert given["shape"] == theirs["shape"], case
            np.testing.assert_allclose(given["numbers"], theirs["numbers"], rtol=1e-5, atol=1e-5, err_msg=str(case))
