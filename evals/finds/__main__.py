"""Defects of stock tools, each a script that shows it: `python -m evals.finds NAME` runs it and prints the report.

Without a name, it lists what there is. The exit code of NAME is 0 while the defect shows, 1 once it is mended, and 3
where it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evals.finds.find import finds
from evals.finds.report import MEASURED, page, report, store, stored
from evals.finds.run import measure


def main() -> int:
    """Run one find, all of them, or none."""
    known = finds()
    parser = argparse.ArgumentParser(prog="python -m evals.finds", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="the finds to run; without one, they are listed")
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose packages are tried")
    parser.add_argument("--measure", action="store_true", help="run all finds, or those named, and note what they did")
    parser.add_argument("--tool", help="of one tool alone, such as paddle2onnx")
    parser.add_argument("--json", type=Path, default=MEASURED, metavar="FILE", help="where --measure notes it")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the page of what was measured")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"no such find: {', '.join(unknown)}")
    if options.write:
        options.write.write_text(page(known, stored(options.json)), encoding="utf-8")
        return 0
    chosen = [known[name] for name in options.names or known]
    chosen = [find for find in chosen if options.tool in (None, find.tool)]
    if options.measure:
        for find in chosen:
            row = measure(find, options.python)
            if row.outcome:
                store([row], options.json)
            print(f"{find.name:<36} {'shows' if row.shows else row.outcome or 'not installed'}", flush=True)
        return 0
    if not options.names:
        for find in chosen:
            print(f"{find.name:<36} {find.tool:<16} {find.kind:<21} {find.title}")
        return 0
    code = 0
    for find in chosen:
        row = measure(find, options.python)
        if not row.outcome:
            lacking = ", ".join(sorted(set(find.needs) - set(row.packages)))
            print(f"{find.name}: not installed: {lacking}", file=sys.stderr)
        else:
            print(report(find, row))
        code = max(code, row.code)
    return code


if __name__ == "__main__":
    sys.exit(main())
