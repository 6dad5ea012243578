"""`python -m exporter`: the command line, where no script is installed or another `exporter` is on the path."""

from __future__ import annotations

from exporter.cli import main

if __name__ == "__main__":
    main()
