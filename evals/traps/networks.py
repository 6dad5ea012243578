"""What `check` says of real networks: `python -m evals.traps.networks [--families vision,clas,seg,det]`.

Networks that export with parity must be without an error: those of `paddle.vision.models`, and those of PaddleClas
that `python -m evals.zoo` releases. `--parity FILE` takes that program's results and counts only networks that passed
there. Of PaddleSeg and PaddleDetection all files are read, losses and samplers too, which nobody exports: each error is
shown, to be looked at. Nothing is imported; with `--probe` the named networks are exported as well.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from evals.zoo.families.clas import smallest
from exporter.base.diagnostics import Severity
from exporter.check.domain.values import Extent
from exporter.check.inputs import Input
from exporter.check.run import Examination, examine
from exporter.check.settings import Settings
from exporter.check.targets import Target

FOLDERS = {
    "vision": ("paddle", "vision/models"),
    "clas": ("paddleclas", "ppcls/arch"),
    "seg": ("paddleseg", "models"),
    "det": ("ppdet", "modeling"),
}
#: Families in which every network is exported as it stands, so that no error may be found.
DEPLOYED = ("vision", "clas")
IMAGE = (Input("x", (Extent.DYNAMIC, 3, 224, 224), "float32"),)


def sources(family: str) -> list[Path]:
    """The files of a family; none where its package is not installed."""
    package, inner = FOLDERS[family]
    spec = find_spec(package)
    places = (spec.submodule_search_locations or []) if spec else []
    return [file for place in places for file in sorted(Path(place, inner).rglob("*.py"))]


def builders(family: str) -> dict[str, Path]:
    """The factories of whole networks, by name, with their files."""
    pattern = (
        re.compile(r"^def (\w+)\(\s*pretrained", re.M) if family == "vision" else re.compile(r"^def (\w+)\(", re.M)
    )
    found = {name: file for file in sources(family) for name in pattern.findall(file.read_text(encoding="utf-8"))}
    wanted = found.keys() if family == "vision" else smallest()
    return {name: file for name, file in found.items() if name in wanted}


def show(name: str, examination: Examination) -> int:
    """Print a line for a network or family, and its errors; how many there are."""
    errors = [each for each in examination.findings if each.severity is Severity.ERROR]
    others = len(examination.findings) - len(errors)
    proved = f", probed {examination.probed}" if examination.probed else ""
    print(f"{name:44} {examination.layers:4} layers, {len(errors)} errors, {others} other findings{proved}", flush=True)
    for each in errors:
        print(f"    {each.location}: {each.code} {each.message}")
    return len(errors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", default="vision,clas")
    parser.add_argument("--parity", type=Path, help="results of `python -m evals.zoo --json`")
    parser.add_argument("--probe", default="", help="names of networks to export too, with commas")
    options = parser.parse_args()
    rows = json.loads(options.parity.read_text()) if options.parity else []
    passed = {row["name"] for row in rows if row["formats"]["pir"]["word"] == "passed"} if rows else None
    wrong = judged = 0
    for family in options.families.split(","):
        if not sources(family):
            print(f"{family}: {FOLDERS[family][0]} is not installed")
            continue
        if family not in DEPLOYED:
            show(family, examine([Target(file, named=False) for file in sources(family)]))
            continue
        for name, file in builders(family).items():
            if passed is not None and name not in passed:
                continue
            seconds = 120.0 if name in options.probe.split(",") else 0
            examination = examine([Target(file, name, IMAGE)], Settings(), seconds)
            judged += 1
            wrong += bool(show(f"{family}:{name}", examination))
    print(f"{judged} networks, {wrong} with an error")
    return 1 if wrong or not judged else 0


if __name__ == "__main__":
    sys.exit(main())
