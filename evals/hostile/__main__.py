"""`python -m evals.hostile`: make hostile bundles, verify and inspect each, and judge what came of it.

    python -m evals.hostile --count 2000 --seed 1 --json hostile.jsonl --resume
    python -m evals.hostile --only 17 --seed 1 --keep /tmp/seventeen     # one of them again, and its folder

Each command runs in a fork of one process that has imported everything (:mod:`evals.hostile.warm`): the same code as
the script's. Exit codes: 0 nothing speaks against any of them and the proofs catch what aims at them, 1 something does
or they do not, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from evals.hostile.aims import MISSED
from evals.hostile.bases import bases
from evals.hostile.kinds import plan
from evals.hostile.run import Result, Warm, run
from evals.hostile.table import enough, table


def main() -> int:
    """Run what is asked for, print the table, and say by the exit code whether all is well."""
    parser = argparse.ArgumentParser(prog="python -m evals.hostile")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write a line for each bundle")
    parser.add_argument("--resume", action="store_true", help="leave out those that --json has")
    parser.add_argument("--only", type=int, action="append", help="only the bundles of these numbers")
    parser.add_argument("--part", default="1/1", help="every N-th of them, from the K-th on: K/N")
    parser.add_argument("--bases", type=Path, help="keep the sound bundles here, or take them from here")
    parser.add_argument("--keep", type=Path, help="the folder of the bundles; the last one stays")
    chosen = parser.parse_args()
    if chosen.resume and chosen.json is None:
        parser.error("--resume reads the file of --json: name it")
    with tempfile.TemporaryDirectory() as place:
        results = _run(chosen, Path(place))
    print(table(results))
    return int(any(result.against for result in results) or not enough(results))


def _run(chosen: argparse.Namespace, place: Path) -> list[Result]:
    results = _before(chosen.json) if chosen.resume else []
    done = {result.number for result in results if result.seed == chosen.seed}
    sound = {base.name: base for base in bases(chosen.bases or place / "bases")}
    wanted = [one for one in plan(chosen.count, chosen.seed, tuple(sound)) if one.number not in done]
    wanted = [one for one in wanted if not chosen.only or one.number in chosen.only]
    part, parts = map(int, chosen.part.split("/"))
    wanted = [one for one in wanted if one.number % parts == part - 1]
    place = chosen.keep or place / "bundle"
    warm, last = Warm(place), time.monotonic()
    try:
        warm.heat(tuple(sound.values()))
        for one in wanted:
            result = run(one, sound[one.base], warm)
            results.append(result)
            if chosen.json:
                with chosen.json.open("a") as stream:
                    stream.write(json.dumps(result.to_json()) + "\n")
            for what in (*result.against, *([f"missed: {result.why}"] if result.fate == MISSED else [])):
                print(f"{one.number} {one.base} {one.kind}: {result.said[:150]!r}: {what}", flush=True)
            if time.monotonic() - last > 60:
                last = time.monotonic()
                print(f"· {len(results)} of {chosen.count}", file=sys.stderr, flush=True)
    finally:
        warm.close()
    return results


def _before(path: Path) -> list[Result]:
    if not path.is_file():
        return []
    return [Result(**json.loads(line)) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    sys.exit(main())
