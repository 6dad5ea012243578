"""The chain of detector, direction and reader, whoever runs the three models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import ndimage

from evals.sources.ppocr.lines import DIRECTION_SIZE, LINE_SIZE, Floats, Picture, line_input, page_input

#: Computes a model's output of its input.
Model = Callable[[Floats], Floats]
MODELS = {
    "det": "ch_PP-OCRv4_det_infer",
    "cls": "ch_ppocr_mobile_v2_cls_infer",
    "rec": "ch_PP-OCRv4_rec_infer",
}
#: PP-OCR's own: what is text, how sure a region has to be, how far it is widened, when a line is turned round.
TEXT, _SURE, _WIDENED, _TURNED = 0.3, 0.5, 1.6, 0.9


@dataclass(frozen=True)
class Read:
    """A line as it was read, top to bottom, with the least score of its letters."""

    text: str
    score: float


def characters(dictionary: Path) -> list[str]:
    """Return what each class of the reader means: a blank, the file's characters, a space."""
    return ["", *dictionary.read_text("utf-8").splitlines(), " "]


def read_page(page: Picture, models: Mapping[str, Model], classes: list[str]) -> list[Read]:
    """Find the lines of a page, turn those that stand on their head, and read each."""
    found = []
    for box in regions(models["det"](page_input(page))[0, 0]):
        line = page.crop(box)
        upside_down = models["cls"](line_input(line, *DIRECTION_SIZE))[0, 1] > _TURNED
        line = line.rotate(180) if upside_down else line
        height, least = LINE_SIZE
        width = max(least, -(-line.width * height // line.height))
        found.append(decoded(models["rec"](line_input(line, height, width + -width % 32))[0], classes))
    return found


def regions(scores: Floats) -> list[tuple[int, int, int, int]]:
    """Return the boxes of a detector's map, top to bottom: left, top, right, bottom; lines stand level here."""
    numbered, _ = ndimage.label(scores > TEXT, np.ones((3, 3)))
    boxes = []
    for number, place in enumerate(ndimage.find_objects(numbered), start=1):
        height, width = (axis.stop - axis.start for axis in place)
        if min(height, width) < 3 or scores[place][numbered[place] == number].mean() < _SURE:
            continue
        more = round(height * width * _WIDENED / (2 * (height + width)))
        rows, columns = place
        limits = (columns.start - more, rows.start - more, columns.stop + more, rows.stop + more)
        largest = (scores.shape[1], scores.shape[0]) * 2
        boxes.append(tuple(int(np.clip(limit, 0, most)) for limit, most in zip(limits, largest, strict=True)))
    return sorted(boxes, key=lambda box: (box[1], box[0]))


def decoded(scores: Floats, classes: list[str]) -> Read:
    """Return what a reader's scores [steps, classes] say, by CTC: repeats are one, blanks are none."""
    best = scores.argmax(1)
    places = [at for at, one in enumerate(best) if one and (not at or one != best[at - 1])]
    least = min((float(scores[at, best[at]]) for at in places), default=0.0)
    return Read("".join(classes[best[at]] for at in places), least)


def by_paddle(folder: Path) -> Model:
    """Return the model of a file as Paddle Inference runs it."""
    from paddle import inference

    config = inference.Config(str(folder / "inference.pdmodel"), str(folder / "inference.pdiparams"))
    config.disable_glog_info()
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    predictor = inference.create_predictor(config)

    def run(values: Floats) -> Floats:
        predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(values)
        predictor.run()
        output: Floats = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        return output

    return run


def by_onnxruntime(model: Path) -> Model:
    """Return the model of an ONNX file as ONNX Runtime runs it."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])

    def run(values: Floats) -> Floats:
        output: Floats = session.run(None, {session.get_inputs()[0].name: values})[0]
        return output

    return run
