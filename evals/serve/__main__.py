"""Hand a bundle over to a server, start it as operations do, and show that it keeps its limits.

    python -m evals.serve [BUNDLE] [--target http_service] [--clients 64] [--seconds 60] [--out FILE.json]

The environment is built by pip of the folder's requirements.txt, once. Exit 0: all of it held; 1: something did not.
`--start COMMAND --cwd DIR` tries another server ({port} is its port) on the same bundle.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from evals.serve import drain, load, malformed
from evals.serve.goldens import Goldens
from evals.serve.service import START, environment, started
from tests.command import COMMAND, STORED


def handed_over(bundle: Path, target: str, out: Path) -> Path:
    """The folder that `exporter handoff` writes."""
    command = [*COMMAND, "handoff", str(bundle), "--to", target, "--out", str(out), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=out.parent)
    return out


def versions(bin_folder: Path) -> dict[str, str]:
    """The packages that matter, as the environment has them."""
    command = [str(bin_folder / "python"), "-m", "pip", "list", "--format", "json"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    wanted = ("aiohttp", "kserve", "mlserver", "numpy", "onnxruntime", "uvicorn")
    return {one["name"]: one["version"] for one in listed if one["name"] in wanted}


def main() -> int:
    parser = argparse.ArgumentParser(description="Show that a server keeps its limits.")
    parser.add_argument("bundle", nargs="?", type=Path, default=STORED)
    parser.add_argument("--target", choices=sorted(START), default="http_service")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--start", help="the command of another server; its first word is a program of an environment")
    parser.add_argument("--cwd", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    goldens = Goldens(asked.bundle)
    with tempfile.TemporaryDirectory(prefix="serve-") as name:
        place = Path(name)
        if asked.start:
            folder, command = asked.cwd, shlex.split(asked.start)
            bin_folder = Path(command[0]).parent
        else:
            folder = handed_over(asked.bundle.resolve(), asked.target, place / "folder")
            command, bin_folder = START[asked.target], environment(folder / "requirements.txt")
        told: dict[str, Any] = {
            "bundle": f"{goldens.manifest.name} {goldens.manifest.version}, {len(goldens.cases)} cases",
            "server": asked.start or asked.target,
            "versions": versions(bin_folder),
            "python": platform.python_version(),
        }
        with started(folder, command, bin_folder, place / "log") as service:
            told["malformed"] = (wrong := malformed.run(service, goldens)).told()
            told["load"] = (busy := load.run(service, goldens, asked.clients, asked.seconds)).told()
            told["drain"] = (stopped := drain.run(service, goldens, asked.clients)).told()
    held = {"malformed": wrong.passed, "load": busy.passed, "drain": stopped.passed}
    told["load"] |= {"clients": asked.clients, "seconds": round(busy.seconds, 1), "distinct_answers": goldens.distinct}
    text = json.dumps({**told, "held": held}, indent=2)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n")
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
