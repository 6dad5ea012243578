"""The tables of docs/legacy.md: python evals/lower/pdmodel/legacy_table.py --cases sunk|further|kind [--way …].

Each case is a layer with one call. It is exported, loaded by the strict predictor, and judged on several draws as the
gate judges: against float64, with negative controls. A case that eager mode itself refuses does not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import legacy_further_cases
import legacy_kind_cases
import legacy_sunk_cases
from legacy_judge import WAYS, How, Outcome, run_cases
from packaging.version import Version


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", choices=("sunk", "further", "kind"), default="sunk")
    parser.add_argument("--way", choices=WAYS, default="ours")
    parser.add_argument("--target", type=Version, help="the oldest Paddle that has to load the files")
    parser.add_argument("--only", default="", help="APIs, separated by commas")
    parser.add_argument("--json", type=Path, help="write every outcome")
    parser.add_argument("--keep", type=Path, help="keep the files of the cases that passed, for other runtimes")
    options = parser.parse_args()
    tables = {"sunk": legacy_sunk_cases, "further": legacy_further_cases, "kind": legacy_kind_cases}
    cases = tables[options.cases].cases()
    if options.only:
        cases = [case for case in cases if case.api in options.only.split(",")]
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    outcomes = run_cases(cases, How(options.way, options.target), options.keep)
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in outcomes], indent=1))
    return report(outcomes, [case.api for case in cases])


def report(outcomes: list[Outcome], apis: list[str]) -> int:
    counted = [(api, one) for api, one in zip(apis, outcomes, strict=True) if one.stage != "eager"]
    for api in dict.fromkeys(apis):
        of_api = [one for name, one in counted if name == api]
        passed = sum(one.passed for one in of_api)
        print(f"{api:28} {passed}/{len(of_api)}")
    for _, one in counted:
        if not one.passed:
            print(f"MISS {one.name}: {one.stage}: {one.detail}")
    passed = sum(one.passed for _, one in counted)
    equal = sum(one.passed and one.equal for _, one in counted)
    stages = Counter(one.stage for one in outcomes)
    print(
        f"{passed}/{len(counted)} passed, {equal} of them bit for bit; {stages['eager']} more are refused by eager mode"
    )
    print(
        f"in {stages['constant']} eager's answer is one constant, or not finite, in every draw; the file's is the same"
    )
    return 0 if passed == len(counted) else 1


if __name__ == "__main__":
    sys.exit(main())
