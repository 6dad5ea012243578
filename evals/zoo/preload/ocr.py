"""Imports what PaddleOCR's modules share, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import ocr

if ocr.builders():
    from ppocr.modeling import architectures  # noqa: F401
