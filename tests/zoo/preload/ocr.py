"""Imports what PaddleOCR's modules share, for a fork server (`tests.zoo.children`)."""

from tests.zoo import ocr

if ocr.checkout():
    ocr.builders()
    from ppocr.modeling import architectures  # noqa: F401
