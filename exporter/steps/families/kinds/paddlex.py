"""PaddleX: the `inference.yml` beside a model, which has the form of the family that the model comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from exporter.steps.families.base import FamilySteps, Listed, Place, Reader, inside
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
        return self.family(content, part).read(content, part, place)

    def readers_of(self, content: Mapping[str, Any], part: str) -> Mapping[str, Reader]:
        return self.family(content, part).readers

    def family(self, content: Mapping[str, Any], part: str) -> FamilySteps:
        """The family whose form a part of a file has."""
        if part != "PreProcess":
            return paddledet if part == "Preprocess" else paddleseg
        listed = inside(content, *self.parts[part])
        names = {str(next(iter(one), "")) for one in listed or () if isinstance(one, Mapping)}
        own = {"RecResizeImg", "DetResizeForTest", "DetLabelEncode", "CTCLabelEncode", "MultiLabelEncode", "KeepKeys"}
        of_ocr = bool(names & own & set(OCR))
        return paddleocr if of_ocr else paddleclas


plugin: FamilySteps = PaddleX()
