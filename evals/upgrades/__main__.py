"""What upgrades of the engines move: `python -m evals.upgrades docs/upgrades.md [--runtime LIST] [--folder DIR]`.

Ten small networks of different kinds (those of the drill) are released as a user would do it, and each bundle runs in
every version that is named, by `exporter diff BUNDLE --runtime`. The page's tables are written anew: a row for each
network and variant, and a row for whatever moved. `--folder` keeps the bundles, and uses those that are there;
environments are kept in the user's cache. A version that cannot be built here stands below the tables, by its name.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from evals.drill.score import NETWORKS, spec_of
from exporter.base.files import user_cache
from exporter.deploy.runtimes.environment import read_runtimes
from exporter.deploy.upgrade.compare import upgrade
from exporter.deploy.upgrade.result import CHANGED, NOT_RUN, SAME, WITHIN, Moved, Upgrade
from exporter.pipeline import release
from exporter.process.workers import Setting

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
#: Letters of a reason: an engine may quote the whole of its stack.
_LONGEST = 240
_NETWORKS = Path(__file__).parents[1] / "drill/networks.py"
VERSIONS = "paddle==3.0.0,3.1.1,3.2.2,3.3.1,onnxruntime==1.17.3,1.20.1,1.32.0"


def table(upgrades: dict[str, Upgrade]) -> str:
    """A row for each bundle and variant with a word for each newer version; then what moved, and what was not run."""
    versions = list(dict.fromkeys(step.runtime for found in upgrades.values() for step in found.steps if step.variants))
    words, moves, reasons = dict[tuple[str, str], dict[str, str]](), list[str](), dict[str, None]()
    for name, found in upgrades.items():
        for step in found.steps:
            reasons |= {f"- {step.runtime}: {step.why_not}": None} if step.why_not else {}
            for moved in step.variants:
                words.setdefault((name, moved.variant), {})[step.runtime] = moved.word
                moves += [_row(name, step.runtime, moved)] if moved.relative is not None else []
                reasons |= {f"- {name}, {moved.variant}: {moved.reason[:_LONGEST]}": None} if moved.reason else {}
    every = [word for row in words.values() for word in row.values()]
    told = ", ".join(f"{every.count(word)} {word}" for word in (SAME, WITHIN, CHANGED, NOT_RUN))
    lines = [f"{len(upgrades)} bundles; of {len(every)} rows {told}.", ""]
    lines += [f"| bundle | variant | {' | '.join(versions)} |", f"|:--|:--|{':--|' * len(versions)}"]
    for (name, variant), row in sorted(words.items()):
        lines.append(f"| {name} | {variant} | {' | '.join(row.get(version, '') for version in versions)} |")
    head = ["| bundle | variant | from | to | what moved | by how much | in which operator first |", f"|{':--|' * 7}"]
    return "\n".join([*lines, "", *head, *moves, "", "Not run:" if reasons else "", "", *reasons])


def _row(name: str, runtime: str, moved: Moved) -> str:
    much = f"{moved.relative:.1e} of `{moved.output}`, {moved.case}"
    if moved.before is not None and moved.ratio is not None:
        much += f"; error ratio {moved.before:.2g} to {moved.ratio:.2g}"
    cells = (name, moved.variant, moved.against, runtime, moved.word, much, moved.where.replace("|", "\\|"))
    return f"| {' | '.join(cells)} |"


def measured(networks: Sequence[str], runtimes: str, folder: Path) -> dict[str, Upgrade]:
    """Release each network unless its bundle is there, and run it in every version."""
    setting = Setting(say=lambda step: print(step, file=sys.stderr, flush=True))
    versions, cache = read_runtimes(runtimes), user_cache("runtimes")
    return {name: upgrade(_released(name, folder, setting), versions, cache, setting) for name in networks}


def _released(network: str, folder: Path, setting: Setting) -> Path:
    """The bundle of a network below `folder`, made where it is not there."""
    bundle = folder / "artifacts" / network / "1"
    if not bundle.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_NETWORKS, folder / "networks.py")
        here = Path.cwd()
        os.chdir(folder)
        try:
            report = release(spec_of(network), Path("artifacts"), setting).report
        finally:
            os.chdir(here)
        if report is None or not report.verdict.passed:
            raise SystemExit(f"{network} does not pass itself: see exporter release")
    return bundle


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, nargs="?", help="the page whose table is written anew; printed without")
    parser.add_argument("--runtime", default=VERSIONS, help="versions, as `exporter diff --runtime` takes them")
    parser.add_argument("--networks", default=",".join(NETWORKS), help="names, separated by commas")
    parser.add_argument("--folder", type=Path, help="where the bundles are kept")
    wish = parser.parse_args()
    with ExitStack() as stack:
        folder = wish.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upgrades = measured(wish.networks.split(","), wish.runtime, folder.resolve())
    text = table(upgrades)
    if wish.page is None:
        print(text)
    else:
        before, _, rest = wish.page.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        wish.page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    return 1 if any(found.word == CHANGED for found in upgrades.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
