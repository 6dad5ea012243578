"""PaddleX: the `inference.yml` beside a model, which has the form of the family that the model comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from exporter.steps.families.base import FamilySteps, Listed, Place, inside
from exporter.steps.families.kinds.paddleclas import plugin as paddleclas
from exporter.steps.families.kinds.paddledet import plugin as paddledet
from exporter.steps.families.kinds.paddleocr import READERS as OCR
from exporter.steps.families.kinds.paddleocr import plugin as paddleocr
from exporter.steps.families.kinds.paddleseg import plugin as paddleseg


class PaddleX(FamilySteps):
    """A file of PaddleOCR is told by its operators: PaddleClas and it call the list alike."""

    parts: ClassVar[Mapping[str, Sequence[str]]] = {
        "PreProcess": ("PreProcess", "transform_ops"),
        "Preprocess": ("Preprocess",),
        "Deploy": ("Deploy", "transforms"),
    }

    def read(self, content: Mapping[str, Any], part: str, place: Place) -> Listed:
        if part != "PreProcess":
            return (paddledet if part == "Preprocess" else paddleseg).read(content, part, place)
        listed = inside(content, *self.parts[part])
        names = {str(next(iter(one), "")) for one in listed or () if isinstance(one, Mapping)}
        own = {"RecResizeImg", "DetResizeForTest", "DetLabelEncode", "CTCLabelEncode", "MultiLabelEncode", "KeepKeys"}
        of_ocr = bool(names & own & set(OCR))
        return (paddleocr if of_ocr else paddleclas).read(content, part, place)


plugin: FamilySteps = PaddleX()
