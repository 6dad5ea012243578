"""Which inputs of real numbers act as masks: read from a program of each format."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.export.lower.base import Artifact
from exporter.prove.goldens.masks import masks_in, program_of
from tests.command import exporter

SHAPES = ("--input", "x=float32[batch,seq,8]", "--input", "mask=float32[batch,seq]", "--dim", "batch=1..5")
USES = {"condition": True, "bias": True, "factor": True, "pixels": False}


@pytest.mark.parametrize("how", USES)
def test_what_a_mask_meets_tells_it_from_pixels(workplace: Path, how: str) -> None:
    """In the files of all formats; and the release of what masks by -inf fails at a row of zeros."""
    uniform = ("--values", "mask=uniform(0,1)", "--dim", "seq=8..24/8", "--set", f"args.how={how}")
    done = exporter("convert", "models.rows:Soft", *SHAPES, *uniform, "--out", "made", "--json", cwd=workplace)
    assert done.code == 0, done.out + done.err
    programs = [workplace / "made" / path for path in ("pir/model.json", "pdmodel/model.pdmodel", "onnx/model.onnx")]
    expected = ("mask",) if USES[how] else ()
    assert [masks_in(path, ["x", "mask"], ["mask"]) for path in programs] == [expected] * 3
    assert [masks_in(path, ["x", "mask"], ["x"]) for path in programs] == [()] * 3
    if how in ("condition", "pixels"):
        verified = exporter("verify", "made", "--source", ".", "--engines", "onnxruntime", "--json", cwd=workplace)
        checks = [check for check in verified.json()["checks"] if ":rows_of_mask" in check["case"]]
        assert {check["outcome"] for check in checks} == ({"match", "mismatch"} if USES[how] else set())


def test_the_program_that_says_most_is_read(tmp_path: Path) -> None:
    def made(format: str, precision: str = "fp32") -> Artifact:
        return Artifact(format, precision, (f"{format}/model.{format}",), ("x",), ("y",), ("y",))

    found = program_of(tmp_path, [made("onnx", "int8"), made("pdmodel"), made("onnx")])
    assert found == tmp_path / "onnx/model.onnx"
    assert program_of(tmp_path, [made("onnx", "int8"), made("other")]) is None
