from __future__ import annotations

import sys

sys.exit(0)


def build() -> None: ...
