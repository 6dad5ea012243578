"""What consumers are said not to take of sound networks: `python -m evals.targets [--engines PYTHON] [--keep DIR]`.

Forty networks that convert and run are held against the limits of all consumers. A finding of level error where the
engine loads the model and is right is false; that is looked at for the engines of the Python that is named. Where an
engine does not run a model, or is wrong, and nothing was found, the limits miss something, which is told. Exits with 1
where a finding is false, or a network does not convert.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from evals.targets.networks import specs
from evals.targets.writing import WriteRequest, write
from exporter.base.errors import ExporterError
from exporter.engines.consumers.base import consumers
from exporter.engines.consumers.check import Finding, check
from exporter.engines.consumers.program import program_of
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, call


def written(place: Path) -> Iterator[tuple[str, Path]]:
    """Each network that is written, with its folder; those that are there already are not written again."""
    for name, spec in specs().items():
        folder = place / name.replace(" ", "_")
        if not (folder / "outputs.npz").exists():
            try:
                call(write, WriteRequest(spec, folder), Limits(), environment=SINGLE_THREAD, imports=PADDLE)
            except ExporterError as error:
                print(f"{name}: not converted: {error}", flush=True)
                continue
        yield name, folder


def errors_of(folder: Path, versions: dict[str, str]) -> dict[str, list[Finding]]:
    """What stands in the way of each consumer, by its name."""
    program = program_of({"onnx": folder / "model.onnx", "pir": folder / "pir/model.json"})
    found: dict[str, list[Finding]] = defaultdict(list)
    for name, consumer in consumers().items():
        if program.formats & set(consumer.formats):
            target = f"{name}=={versions[name]}" if name in versions else name
            found[name] += [finding for finding in check(program, [target]) if finding.is_error]
    return found


def run(place: Path, engines: str) -> int:
    """Print the tables; return the exit code."""
    folders = dict(written(place))
    versions = _versions(engines) if engines else {}
    found = {name: errors_of(folder, versions) for name, folder in folders.items()}
    told: dict[tuple[str, str], str] = {}
    if engines:
        script = Path(__file__).with_name("engines.py")
        done = subprocess.run([engines, str(script), str(place)], capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            told[row["network"], row["engine"]] = row["said"]
    print("| consumer | networks with an error | what it says | run here | right | false |")
    print("| --- | --- | --- | --- | --- | --- |")
    false = 0
    for consumer in consumers():
        refused = {name: found[name][consumer] for name in found if found[name].get(consumer)}
        ran = {name: told.get((folder.name, consumer), "") for name, folder in folders.items()}
        right = {name for name, said in ran.items() if said == "right"}
        wrong = sorted(right & set(refused))
        false += len(wrong)
        kinds = Counter(finding.limit.kind for findings in refused.values() for finding in findings)
        what = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items())) or "-"
        counts = (len([said for said in ran.values() if said]), len(right)) if any(ran.values()) else ("no", "-")
        print(f"| {consumer} | {len(refused)} of {len(folders)} | {what} | {counts[0]} | {counts[1]} | {len(wrong)} |")
        for name in wrong:
            print(f"  false: {consumer}: {name}: {refused[name][0]}")
    for (network, engine), said in sorted(told.items()):
        if said != "right":
            name = next(name for name, folder in folders.items() if folder.name == network)
            seen = "found" if found[name].get(engine) else "not found"
            print(f"  {engine}: {name}: {said} ({seen})")
    print(f"\n{len(folders)} networks, {false} false findings")
    return int(false > 0 or len(folders) < len(specs()))


def _versions(engines: str) -> dict[str, str]:
    ask = "import cv2,MNN,openvino,json;print(json.dumps({'opencv-dnn':cv2.__version__,'mnn':MNN.version()}))"
    done = subprocess.run([engines, "-c", ask], capture_output=True, text=True, check=False)
    return dict(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else {}


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m evals.targets", description=__doc__)
    parser.add_argument("--engines", default="", help="a Python that has opencv, onnxruntime, MNN and openvino")
    parser.add_argument("--keep", type=Path, help="where the networks are kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = options.keep or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        return run(folder.resolve(), options.engines)


if __name__ == "__main__":
    sys.exit(main())
