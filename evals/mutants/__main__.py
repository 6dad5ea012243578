"""`python -m evals.mutants`: plant faults in the proof's rooms and see whether their tests notice.

    python -m evals.mutants                          # all rooms: processor hours
    python -m evals.mutants --rooms verdict,judge    # some
    python -m evals.mutants --only exporter/base/numbers/norms.py:40-62
    python -m evals.mutants --since 16fb587          # of lines that this commit does not hold
    python -m evals.mutants --json out.json --resume # go on where a run stopped; what survived runs again

Exit codes: 0 all killed or explained, 1 some survived, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from evals.mutants.equivalent import explained
from evals.mutants.report import table, write
from evals.mutants.rooms import ROOMS
from evals.mutants.runner import Options, Plan, run


def main() -> int:
    """Run, print, and say by the exit code whether all is well."""
    parser = argparse.ArgumentParser(prog="python -m evals.mutants")
    parser.add_argument("--rooms", default=",".join(ROOMS), help=f"some of {','.join(ROOMS)}")
    parser.add_argument("--only", default="", help="FILE, FILE:LINE or FILE:FIRST-LAST: only the mutants there")
    parser.add_argument("--since", default="", metavar="COMMIT", help="only the mutants of lines that it does not hold")
    parser.add_argument("--json", type=Path, help="write every mutant and what became of it")
    parser.add_argument("--resume", action="store_true", help="believe what --json says of unchanged files")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at once (2)")
    parser.add_argument("--quick", type=float, default=0.0, help="leave out tests that take more seconds than this")
    parser.add_argument("--tests", default="", help="run these files or folders instead of the rooms' own")
    parser.add_argument("--sample", type=int, default=1, help="every n-th mutant only")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    chosen = parser.parse_args()
    rooms = chosen.rooms.split(",")
    if unknown := set(rooms) - set(ROOMS):
        parser.error(f"no such room: {', '.join(sorted(unknown))}")
    if chosen.resume and chosen.json is None:
        parser.error("--resume reads the file of --json: name it")
    tests = tuple(filter(None, chosen.tests.split(",")))
    wanted = {name: replace(ROOMS[name], tests=tests or ROOMS[name].tests) for name in rooms}
    plan = Plan.of(wanted, chosen.only, chosen.sample, since=chosen.since)
    if chosen.list:
        for mutant in plan.mutants:
            print(mutant.id)
        return 0
    options = Options(chosen.jobs, chosen.quick, chosen.json, chosen.resume)
    equivalents = explained()
    results = run(plan, options, equivalents)
    if chosen.json:
        write(chosen.json, results)
    print(table(plan, results))
    whole = not chosen.only and not chosen.since and chosen.sample == 1  # of a part nobody knows what is no more
    stale = equivalents.stale({mutant.key for mutant in plan.mutants}, plan.files) if whole else []
    for name in stale:
        print(f"explained, and there is no such mutant: {name}")
    return int(bool(stale) or any(result.against or result.killed_yet_explained for result in results))


if __name__ == "__main__":
    sys.exit(main())
