"""The mark of tests that draw characters."""

from __future__ import annotations

import pytest

from recipes.ocr import lines

_HERE = all((lines.FONTS / path).is_file() for pair in lines.PAIRS for path in pair)
needs_fonts = pytest.mark.skipif(not _HERE, reason="apt-get install fonts-noto-cjk fonts-dejavu-core")
