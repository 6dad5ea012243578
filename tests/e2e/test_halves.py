"""float16 at the border of a layer, through the command line: sound files pass in every format, wrong ones fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import Done, environment, exporter
from tests.vacuity.test_through_the_command_line import MISTREATING

H = ("--input", "h=float16[batch,4]")
MIXED = ("--input", "a=float32[batch,4]", "--input", "d=float64[batch,4]", *H)


def converted(model: str, inputs: tuple[str, ...], place: Path) -> None:
    made = ("convert", f"models.halves:{model}", *inputs, "--dim", "batch=1..3", "--formats", "pir,pdmodel,onnx")
    done = exporter(*made, "--out", "out", "--json", cwd=place)
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize(("model", "inputs"), [("Elementwise", H), ("Mixed", MIXED)])
def test_a_sound_layer_passes_in_every_format(model: str, inputs: tuple[str, ...], workplace: Path) -> None:
    converted(model, inputs, workplace)
    done = exporter("verify", "out", "--source", ".", "--json", cwd=workplace)
    assert (done.code, {one["outcome"] for one in done.json()["checks"]}) == (0, {"match"}), done.err


def judged(way: str, place: Path) -> Done:
    env = environment(PYTHONPATH=str(MISTREATING), EXPORTER_TEST_MISTREAT=way)
    return exporter("verify", "out", "--engines", "onnxruntime", "--source", ".", "--json", cwd=place, env=env)


def test_an_answer_that_is_a_step_off_fails(workplace: Path) -> None:
    converted("Doubled", H, workplace)
    sound = judged("nothing", workplace)
    assert sound.code == 0 and sound.json()["verdict"] == "partial", sound.err
    for way in ("a thousandth more", "one step up", "another sign"):
        done = judged(way, workplace)
        numbers = [one for one in done.json()["checks"] if one["engine"] == "onnxruntime" and one["kind"] == "outputs"]
        assert done.code == 1 and {one["outcome"] for one in numbers} == {"mismatch"}, way
