"""`python -m tools.screenshots docs/images`: the page as a browser shows it, of three real runs of the digits.

Released and measured; with a fault planted in the graph of the ONNX file; and in int8 under a budget that it does not
keep. Each is taken at 1400 and 420 pixels, light and dark. It trains, releases and verifies, so it takes some minutes.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.command import ROOT, exporter
from tests.faults import copied, reseal
from tests.report import browser

#: Widths of the screen, and how much of the page is taken.
SIZES = {1400: 1900, 420: 4200}
#: The picture of README: the first screen of what passed.
FIRST, FIRST_HEIGHT = "report.png", 1100
#: Colours of a picture: the page has few, and a picture that is committed should be small.
COLOURS = 64


def working_folder(place: Path) -> Path:
    """A repository with the digits' recipe and specs."""
    for name in ("recipes", "specs"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    low = (place / "specs/digits-int8.yaml").read_text().replace("min_snr_db: 30", "min_snr_db: 60")
    (place / "specs/digits-int8.yaml").write_text(low)
    (place / ".gitignore").write_text("artifacts/\nruns/\n")
    who = ("-c", "user.name=digits", "-c", "user.email=digits@localhost", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "digits")):
        subprocess.run(["git", "-C", str(place), *command], check=True)
    return place


def plant(bundle: Path, to: Path) -> Path:
    """A copy whose second pooling takes the mean in the place of the largest value, sealed again."""
    import onnx

    copied(bundle, to)
    model = onnx.load(str(to / "onnx/model.onnx"))
    pools = [node for node in model.graph.node if node.op_type == "MaxPool"]
    pools[-1].op_type = "AveragePool"
    onnx.save(model, str(to / "onnx/model.onnx"))
    reseal(to)
    return to


def pages(work: Path) -> dict[str, Path]:
    """The three pages, by the name of their pictures."""
    _run(0, "release", "specs/digits.yaml", cwd=work)
    bundle = work / "artifacts/digits/1.0.0"
    _run(0, "verify", bundle, "--source", ".", "--page", "passed.html", "--bench", cwd=work)
    planted = plant(bundle, work.parent / "planted")
    _run(1, "verify", planted, "--source", ".", "--page", "fault.html", cwd=work)
    _run(1, "release", "specs/digits-int8.yaml", cwd=work)
    low = work / "artifacts/digits-int8/failed/report.html"
    return {"passed": work / "passed.html", "fault": work / "fault.html", "int8": low}


def _run(code: int, *command: Any, cwd: Path) -> None:
    done = exporter(*command, "--quiet", cwd=cwd)
    if done.code != code:
        raise SystemExit(f"{command[0]} exits {done.code}, not {code}:\n{done.out}{done.err}")


def small(png: bytes) -> bytes:
    """The same picture in few colours."""
    from PIL import Image

    shown = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    into = io.BytesIO()
    shown.save(into, "PNG", optimize=True)
    return into.getvalue()


def _write(into: Path, png: bytes) -> None:
    into.write_bytes(small(png))
    sys.stdout.write(f"{into} {into.stat().st_size:,} bytes\n")


def main(folder: Path) -> None:
    """Write all pictures."""
    if not browser.found():
        raise SystemExit(browser.WHY_NOT)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="screenshots-") as place, browser.browsing() as tab:
        for name, page in pages(working_folder(Path(place) / "work")).items():
            for width, height in SIZES.items():
                for dark in (False, True):
                    tab.open(page, width, dark=dark)
                    whole = tab.run("document.documentElement.scrollHeight")
                    into = folder / f"report-{name}-{width}-{'dark' if dark else 'light'}.png"
                    _write(into, tab.picture(min(height, whole)))
                    if (name, width, dark) == ("passed", 1400, False):
                        _write(folder / FIRST, tab.picture(FIRST_HEIGHT))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
