"""`exporter --help` against the bare imports of what it is made of: python benchmarks/startup.py [RUNS]."""

from __future__ import annotations

import sys
from pathlib import Path

from _compare import compare, report

LIMIT = 1.5


def main() -> int:
    """Measure; exit 1 if the limit is exceeded."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    exporter = str(Path(sys.executable).with_name("exporter"))
    ours, theirs = compare([exporter, "--help"], [[sys.executable, "-c", "import typer, rich.console"]], runs)
    return 0 if report("exporter --help", ours, theirs, LIMIT) else 1


if __name__ == "__main__":
    sys.exit(main())
