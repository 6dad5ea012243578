"""Real defects of stock engines and converters, each found by the gate: `python -m evals.finds.gate NAME`.

The network is exported and verified as a user would, by the command line, and this ends as the gate does. Where a
converter is to be judged, its own file takes the place of ours in the bundle, which is sealed again. Without a name,
it lists what there is.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from evals.finds.gate.catalogue import FINDS
from evals.finds.gate.show import bundle_of, verified


def main() -> int:
    """Export, verify and print; the exit code is the gate's."""
    parser = argparse.ArgumentParser(prog="python -m evals.finds.gate", description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=sorted(FINDS))
    parser.add_argument("--json", action="store_true", help="print parity.json")
    options = parser.parse_args()
    if options.name is None:
        for name, find in FINDS.items():
            print(f"{name:<12} {find.what}")
        return 0
    with tempfile.TemporaryDirectory(prefix="finds-") as place:
        done = verified(bundle_of(FINDS[options.name], Path(place) / options.name), FINDS[options.name], options.json)
    sys.stderr.write(done.err)
    sys.stdout.write(done.out)
    return done.code


if __name__ == "__main__":
    sys.exit(main())
