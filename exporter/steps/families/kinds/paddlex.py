"""PaddleX: the `inference.yml` beside a model, which has the form of the family that the model comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from exporter.steps.configuration import Configuration
from exporter.steps.families.base import Entries, FamilySteps, Place, Reader, inside
from exporter.steps.families.kinds.paddleclas import READERS as CLAS
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

    def before(self, content: Configuration, part: str, place: Place) -> Entries:
        return self.family(content, part).before(content, part, place)

    def after(self, content: Configuration, part: str, place: Place) -> Entries:
        return self.family(content, part).after(content, part, place)

    def readers_of(self, content: Configuration, part: str) -> Mapping[str, Reader]:
        return self.family(content, part).readers_of(content, part)

    def family(self, content: Configuration, part: str) -> FamilySteps:
        """The family whose form a part of a file has."""
        if part != "PreProcess":
            return paddledet if part == "Preprocess" else paddleseg
        listed = inside(content, *self.parts[part])
        names = {str(next(iter(one), "")) for one in listed or () if isinstance(one, Mapping)}
        own = {*(set(OCR) - set(CLAS)), "KeepKeys"}
        return paddleocr if names & own else paddleclas


plugin: FamilySteps = PaddleX()
