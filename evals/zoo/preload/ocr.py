"""Imports what PaddleOCR's modules share, for a fork server (`evals.zoo.children`)."""

from evals.zoo import ocr

if ocr.checkout():
    ocr.builders()
    from ppocr.modeling import architectures  # noqa: F401
