"""Does the gate fail what is right? `python -m evals.clean [--json FILE] [--resume] [--networks A,B] [--files]`.

Each network is built with random weights, converted, and judged by the gate's own functions in every engine that runs
its files, at two levels of the CPU; one claim is one check, and each must match. Exits 1 where one is a mismatch or
crashed, or where more than one in a hundred could not be judged. A file of results can be continued with --resume.
With --files the `.json` of each network stands in the place of its layer, and has to equal what is made of it, too.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evals.clean.known import DEFECTS
from evals.clean.networks import NETWORKS
from exporter.base.files import write_json
from exporter.process.workers import SINGLE_THREAD

#: What takes the kernels to another level (measured, Paddle 3.3.1): MKL's own switch brings its AVX2 kernels on a CPU
#: that is not Intel's, where it otherwise takes SSE's; oneDNN's takes the default predictor and OpenVINO down to AVX
#: (at SSE41 OpenVINO 2026.4 does not compile a Transformer: its own code generator says 'bad combination'). ONNX
#: Runtime has no such switch.
LEVELS: Mapping[str, Mapping[str, str]] = {
    "high": {"MKL_DEBUG_CPU_TYPE": "5"},
    "low": {"ONEDNN_MAX_CPU_ISA": "AVX", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
}
#: Outcomes that mean that a sound file was not judged to be sound.
ALARMS = ("mismatch", "crashed", "missing")
UNDECIDED = ("inconclusive", "vacuous")
#: The share of checks that may be undecided.
MOST_UNDECIDED = 0.01


def checked(network: str, level: str, seeds: tuple[int, int], files: bool = False) -> dict[str, Any]:
    """One process: a network at a CPU level; what it answered, or how it ended.

    It is a fork of this one, which has imported the libraries and computed nothing: MKL and oneDNN read what level they
    are to take when they first compute.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="clean-") as place:
        out, log = Path(place, "rows.json"), Path(place, "log")
        pid = os.fork()
        if pid == 0:
            _become(network, level, (*seeds, files), out, log)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code or not out.is_file():
            said = (log.read_text(errors="replace").strip().splitlines() or ["no message"])[-1]
            answer: dict[str, Any] = {"seeds": [], "died": f"code {code}: {said}"}
        else:
            answer = json.loads(out.read_bytes())
    return {**answer, "asked": [*seeds, files] if files else [*seeds], "seconds": round(time.monotonic() - began, 1)}


def _warm() -> None:
    """Import what every child needs; nothing is computed, so nothing holds a thread or a level of the CPU yet."""
    os.environ |= {**SINGLE_THREAD, "POLYGRAPHY_AUTOINSTALL_DEPS": "0"}
    for name in ("paddle", "paddle2onnx", "onnx", "onnxruntime", "openvino", "evals.clean._child"):
        importlib.import_module(name)


def _become(network: str, level: str, asked: tuple[int, int, bool], out: Path, log: Path) -> None:
    """The child; never returns."""
    code = 1
    try:
        with log.open("wb") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        os.environ |= LEVELS[level]
        importlib.import_module("evals.clean._child").main(network, out, *asked)
        code = 0
    except BaseException:  # noqa: BLE001  # nothing may run on in the fork what the parent was doing
        traceback.print_exc()
    os._exit(code)


def tally(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """All outcomes added up; a defect that is known by name is counted by itself."""
    outcomes: Counter[str] = Counter()
    known: Counter[str] = Counter()
    alarms, undecided, died = [], [], []
    for key, result in results.items():
        network = key.partition("@")[0]
        if "died" in result:
            died.append(f"{key}: {result['died']}")
        for row in result["seeds"]:
            outcomes.update(row["outcomes"])
            for engine, claim, outcome, reason in row["not_matched"]:
                said = f"{key} weights {row['weights']}, {engine}, {claim}: {outcome}: {reason}"
                if (network, engine) in DEFECTS and outcome in ALARMS:
                    known[f"{network} in {engine}"] += 1
                    outcomes[outcome] -= 1
                elif outcome in ALARMS:
                    alarms.append(said)
                else:
                    undecided.append(said)
    return {"outcomes": +outcomes, "known": known, "alarms": alarms, "undecided": undecided, "died": died}


def lines(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What a reader wants to know of a run."""
    found = tally(results)
    networks = {key.partition("@")[0] for key in results}
    total = sum(found["outcomes"].values())
    seconds = sum(result["seconds"] for result in results.values())
    yield f"{total} checks over {len(networks)} networks and {len(LEVELS)} CPU levels in {seconds / 60:.1f} minutes"
    yield ", ".join(f"{count} {outcome}" for outcome, count in sorted(found["outcomes"].items()))
    for name, count in sorted(found["known"].items()):
        yield f"known defect: {name}, {count} checks: {DEFECTS[tuple(name.split(' in '))]}"  # type: ignore[index]
    refused = {f"{key.partition('@')[0]}, {name}: {why}" for key, result in results.items() for row in result["seeds"]
               for name, why in row["refused"].items()}  # fmt: skip
    yield from (f"not run: {said}" for said in sorted(refused))
    yield from (f"ALARM {said}" for said in found["alarms"])
    yield from (f"undecided: {said}" for said in found["undecided"])
    yield from (f"DIED {said}" for said in found["died"])
    yield from _ratios(results)
    moved = Counter(engine for engine in _moved_bits(results))
    yield "networks whose bits differ between the levels: " + ", ".join(f"{e} {n}" for e, n in sorted(moved.items()))
    yield ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES) + f", {platform.machine()}"


_PACKAGES = ("paddlepaddle", "onnxruntime", "openvino", "paddle2onnx", "numpy")


def _ratios(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """By engine and number of elements: the largest ratios, of checks that are no known defect."""
    for metric, allowed in (("ratios", 4.0), ("combined", 3.0)):
        by_engine: dict[str, list[float]] = {}
        for key, result in results.items():
            for row in result["seeds"]:
                for engine, numbers in row[metric].items():
                    if (key.partition("@")[0], engine) not in DEFECTS:
                        by_engine.setdefault(engine, []).extend(number for number, _ in numbers)
        for engine, numbers in sorted(by_engine.items()):
            ordered = sorted(numbers)
            parts = [ordered[min(int(len(ordered) * share), len(ordered) - 1)] for share in (0.5, 0.99, 0.999)]
            yield (
                f"{metric} of {engine}: {len(ordered)}; median {parts[0]:.3g}, 99 % {parts[1]:.3g}, 99.9 % "
                f"{parts[2]:.3g}, largest {ordered[-1]:.3g} of {allowed:g}"
            )


def _moved_bits(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    first, second = LEVELS
    for key, result in results.items():
        network, _, level = key.partition("@")
        beside = results.get(f"{network}@{second}", {"seeds": []})
        if level == first and result["seeds"] and beside["seeds"]:
            bits = result["seeds"][0]["bits"], beside["seeds"][0]["bits"]
            yield from (engine for engine in bits[0] if bits[0][engine] != bits[1].get(engine))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS), help="names, separated by commas")
    parser.add_argument("--weights", type=int, default=1, help="seeds of the weights of each network")
    parser.add_argument("--draws", type=int, default=1, help="seeds of the inputs for each of these")
    parser.add_argument("--json", type=Path, help="write the results here, network by network")
    parser.add_argument("--resume", action="store_true", help="leave out what this file holds already")
    parser.add_argument("--files", action="store_true", help="start from each network's .json")
    wish = parser.parse_args()
    networks = wish.networks.split(",")
    if unknown := [name for name in networks if name not in NETWORKS]:
        parser.error(f"no network '{unknown[0]}'; there are {', '.join(NETWORKS)}")
    seeds = (wish.weights, wish.draws)
    asked = [*seeds, True] if wish.files else [*seeds]
    known = json.loads(wish.json.read_bytes()) if wish.json and wish.resume and wish.json.is_file() else {}
    results = {key: result for key, result in known.items() if result["asked"] == asked and "died" not in result}
    if any(f"{network}@{level}" not in results for network in networks for level in LEVELS):
        _warm()
    for network in networks:
        for level in LEVELS:
            key = f"{network}@{level}"
            if key not in results:
                results[key] = checked(network, level, seeds, wish.files)
                counts = Counter(row["outcomes"].get("match", 0) for row in results[key]["seeds"])
                print(f"{key}: {sum(counts.elements())} matches", file=sys.stderr, flush=True)
                if wish.json:
                    write_json(wish.json, results)
    print("\n".join(lines(results)))
    found = tally(results)
    total = sum(found["outcomes"].values())
    undecided = len(found["undecided"]) > MOST_UNDECIDED * total
    return 1 if found["alarms"] or found["died"] or undecided or not total else 0


if __name__ == "__main__":
    sys.exit(main())
