"""Change a project of ten specs a hundred times, and ask each time which releases would be reused or are untouched.

    python -m evals.reuse [--seed N] [--json FILE]

The project is released once. Then one change after the other is made and taken back; behind each the kept releases are
looked for, and `gate --base` is asked. Exit code 1 where one that matters to a spec is reused or untouched, or more
than a tenth of those that cannot matter run again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from evals.reuse.changes import Change, that_cannot, that_matter
from evals.reuse.project import git, lay, write_package
from exporter.base.git import Base
from exporter.gate.reuse.packages import packages as installed
from exporter.gate.reuse.records import Kept
from exporter.gate.reuse.release import Releases
from exporter.gate.reuse.store import Store
from exporter.gate.touched import touched
from exporter.spec.read import read_spec

#: The share of the changes that cannot matter of which some spec may run again.
MOST_AGAIN = 0.1
Row = dict[str, str | list[str]]


def main() -> int:
    """Print a row for each kind, and each change that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        rows = _rows(Path(place).resolve(), random.Random(options.seed))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    wrong = [row for row in rows if row["wrong"]]
    kinds = Counter(str(row["kind"]) for row in rows)
    for kind, count in kinds.items():
        bad = sum(row["kind"] == kind for row in wrong)
        print(f"{kind:32}{count:4} changes, {bad} wrong")
    for row in rows:
        for text in (*row["wrong"], *row["again"]):
            print(f"  {row['kind']}, {row['about']}: {text}")
    idle = [row for row in rows if not row["matters"]]
    again = sum(bool(row["again"]) for row in idle)
    print(f"{len(rows) - len(idle)} changes that matter: {len(wrong)} reused or untouched")
    print(f"{len(idle)} changes that cannot matter: {again} run again")
    return int(bool(wrong) or again > MOST_AGAIN * len(idle))


def _rows(place: Path, rng: random.Random) -> list[Row]:
    root, packages, cache = place / "work", place / "packages", place / "cache"
    root.mkdir()
    names = lay(root, packages)
    paths = (str(root), str(packages), *filter(None, [os.environ.get("PYTHONPATH")]))
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.path[:0] = [str(root), str(packages)]
    command = [sys.executable, "-m", "exporter", "gate", "--cache", str(cache), "--quiet"]
    os.chdir(root)
    for _ in range(2):  # behind the first there is the run of a training
        subprocess.run(command, check=True, stdout=sys.stderr)
    changes = [*that_matter(root, packages, rng), *that_cannot(root, rng)]
    rows = [_row(change, names, root, packages, cache) for change in changes]
    os.chdir("/")
    return rows


def _row(change: Change, names: tuple[str, ...], root: Path, packages: Path, cache: Path) -> Row:
    before, made = dict(os.environ), (root / "made/table.txt").read_text()
    change.make()
    installed.cache_clear()
    kept = {name: _kept(name, cache) for name in names}
    base = {spec.path.stem: spec.why for spec in touched(_specs(names), Base("main~0", "--base"), ())}
    wrong = [f"{name} is reused" for name in change.specs if not kept[name]]
    if change.seen_by_git:
        wrong += [f"{name} is untouched" for name in change.specs if not base[name]]
    idle = [name for name in names if name not in change.specs] if not change.specs else []
    again = sorted({why for name in idle for why in (kept[name], base[name]) if why})
    _take_back(root, packages, before, made)
    return {
        "kind": change.kind,
        "about": change.about,
        "matters": list(change.specs),
        "wrong": wrong,
        "again": again,
    }


def _specs(names: tuple[str, ...]) -> list[Path]:
    return [Path("specs", f"{name}.yaml") for name in names]


def _kept(name: str, cache: Path) -> str:
    """Why a release would be made anew; empty where the one that is kept would be reused."""
    spec = read_spec(Path("specs", f"{name}.yaml"), ()).model_dump(mode="json")
    found = Releases(Store(cache)).find(spec, Path("artifacts"), lambda _: None)
    return "" if isinstance(found, Kept) else found


def _take_back(root: Path, packages: Path, before: dict[str, str], made: str) -> None:
    os.environ.clear()
    os.environ.update(before)
    git(root, "checkout", "-q", "--", ".")
    git(root / "lib", "checkout", "-q", "--", ".")
    git(root, "clean", "-q", "-fd")
    (root / "made/table.txt").write_text(made)
    write_package(packages, 1)


if __name__ == "__main__":
    sys.exit(main())
