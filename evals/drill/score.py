"""How strong the gate is: `python -m evals.drill.score [--networks A,B] [--faults N] [--json F] [--resume]`.

Releases networks of different kinds, plants faults in every format of each, and adds up what `exporter drill` says.
Exits 1 where less than 99 % of the faults that do harm are caught by all proofs together, or less than 95 % by what
came out alone: without the proofs by parameters and by bits.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from exporter.base.files import write_json
from exporter.bundle.drill.run import Wish, drill
from exporter.pipeline import release
from exporter.process.forks import stop_servers
from exporter.process.workers import Setting
from exporter.spec.model import Spec
from exporter.spec.read import read_spec
from tests.described import about

ROOT = Path(__file__).parents[2]
ALL, OUTSIDE = 0.99, 0.95
#: Of one group: planted, caught, harmless; and without the proofs by parameters and by bits: caught, harmless.
Row = tuple[int, int, int, int, int]


_SEQUENCES = "batch=1..3..5 seq=2..5..9"
NETWORKS: dict[str, dict[str, Any]] = {
    "transformer": about("ids=int64[batch,seq]: integers(0,50)", _SEQUENCES),
    "lstm": about("x=float32[batch,7,6]"),
    "lengths": about("x=float32[batch,7,5]; lengths=int64[batch]: integers(1,8)"),
    # No engine runs the legacy program of this one (Paddle 3.3.1), and its release says so.
    "branches": about("x=float32[batch,6]", formats=["pir", "onnx"]),
    "tiny": about("x=float32[batch,3,16,16]"),
    "mobilenet": about("x=float32[batch,3,32,32]"),
    "segments": about("x=float32[batch,3,16,16]"),
    "residual": about("x=float32[batch,3,16,16]"),
    "detector": about("x=float32[batch,3,16,16]"),
    "text": about("ids=int64[batch,seq]: integers(0,40)", _SEQUENCES),
}
TRAINED = "digits"


def spec_of(network: str) -> Spec:
    """The spec of a network, whose module is a copy of networks.py in the folder of work."""
    if network == TRAINED:
        return read_spec(Path("specs/digits.yaml"))
    described = {"name": network, "version": "1", "model": f"networks:{network}", "weights": "factory"}
    return Spec.model_validate({"device": "cpu", **described, **NETWORKS[network]})


def drilled(network: str, faults: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Release one network and drill it: what `exporter drill --json` prints, and the CPU seconds it took."""
    setting = Setting(say=lambda step: say(f"{network}: {step}"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    product = release(spec_of(network), Path("artifacts"), setting)
    if product.report is None or product.bundle is None or not product.report.verdict.passed:
        raise SystemExit(f"{network} does not pass itself: see exporter release")

    def verify(folder: Path, engines: tuple[str, ...]) -> str:
        raise AssertionError(f"nothing is sent through verify: {folder} {engines}")

    told = drill(product.bundle.folder, Wish(faults, seed=0, code=Path.cwd()), setting, verify).to_json()
    stop_servers()  # what their children took is counted when they have ended
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told["asked"] = faults
    told["cpu_seconds"] = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
    return told


@contextlib.contextmanager
def _working_folder() -> Iterator[None]:
    """A folder with the networks, a recipe and its spec, as a user has them."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="drill-") as place:
        shutil.copy(Path(__file__).with_name("networks.py"), place)
        for name in ("recipes", "specs"):
            shutil.copytree(ROOT / name, Path(place, name), ignore=shutil.ignore_patterns("__pycache__"))
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(here)


def row(faults: Sequence[dict[str, Any]]) -> Row:
    """Count one group of faults."""
    fates, outside = (Counter(one[key] for one in faults) for key in ("fate", "fate_from_outside"))
    return len(faults), fates["caught"], fates["equivalent"], outside["caught"], outside["equivalent"]


def _share(caught: int, planted: int, equivalent: int) -> float:
    return caught / (planted - equivalent) if planted > equivalent else 1.0


def table(results: dict[str, dict[str, Any]]) -> str:
    """A row for each network, each kind of fault and each proof, and the two shares that count."""
    every = [fault for one in results.values() for fault in one["faults"]]
    kinds = dict.fromkeys(sorted(_kind(one) for one in every))
    groups = {name: one["faults"] for name, one in results.items()}
    groups |= {kind: [one for one in every if _kind(one) == kind] for kind in kinds}
    lines = ["| | planted | equivalent | caught | from outside |", "| --- | --- | --- | --- | --- |"]
    for name, faults in {**groups, "all": every}.items():
        planted, caught, equal, outside, equal_outside = row(faults)
        shares = _share(caught, planted, equal), _share(outside, planted, equal_outside)
        lines.append(
            f"| {name} | {planted} | {equal} | {caught} ({shares[0]:.1%}) | {outside} of {planted - equal_outside} "
            f"({shares[1]:.1%}) |"
        )
    proofs = Counter(proof for one in every for proof in one["proofs"])
    alone = Counter(next(iter(one["proofs"])) for one in every if len(one["proofs"]) == 1)
    lines += ["", "| proof | saw | alone |", "| --- | --- | --- |"]
    lines += [f"| {proof} | {count} | {alone[proof]} |" for proof, count in sorted(proofs.items())]
    lines += ["", *(f"- {name}: {word}" for name, one in results.items() for word in _words(one))]
    return "\n".join([*lines, f"CPU: {sum(one['cpu_seconds'] for one in results.values()) / 60:.1f} minutes", ""])


def _kind(fault: dict[str, Any]) -> str:
    return ": ".join(fault["fault"].split(": ")[:2])


def _words(told: dict[str, Any]) -> Iterator[str]:
    for one in told["faults"]:
        if one["fate_from_outside"] == "survived":
            how = f"seen only by {', '.join(one['proofs'])}" if one["proofs"] else "SURVIVED"
            effect = one["why_not"] or f"a true effect of {one['effect']} e_ref"
            yield f"{one['variant']} {one['fault']}: {how}; an error ratio of {one['error_ratio']:.3g}, {effect}"
    yield from (f"note: {note}" for note in told["notes"])


def strong(results: dict[str, dict[str, Any]]) -> bool:
    """Whether both shares are reached over all networks, by faults that do harm."""
    planted, caught, equal, outside, equal_outside = row([one for told in results.values() for one in told["faults"]])
    harm = planted > equal_outside
    return harm and _share(caught, planted, equal) >= ALL and _share(outside, planted, equal_outside) >= OUTSIDE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join([TRAINED, *NETWORKS]), help="names, separated by commas")
    parser.add_argument("--faults", type=int, default=75, help="for each network, over its formats")
    parser.add_argument("--json", type=Path, help="write the results here, network by network")
    parser.add_argument("--resume", action="store_true", help="leave out the networks that this file holds already")
    wish = parser.parse_args()
    target = wish.json.resolve() if wish.json else None
    networks = wish.networks.split(",")
    if unknown := [name for name in networks if name not in (TRAINED, *NETWORKS)]:
        parser.error(f"no network '{unknown[0]}'; there are {', '.join((TRAINED, *NETWORKS))}")
    known = json.loads(target.read_bytes()) if target and wish.resume and target.is_file() else {}
    results: dict[str, dict[str, Any]] = {name: one for name, one in known.items() if one["asked"] == wish.faults}
    with _working_folder():
        for network in networks:
            if network not in results:
                results[network] = drilled(network, wish.faults, lambda step: print(step, file=sys.stderr, flush=True))
                if target:
                    write_json(target, results)
    results = {name: results[name] for name in (TRAINED, *NETWORKS) if name in results}
    print(table(results))
    return 0 if strong(results) else 1


if __name__ == "__main__":
    sys.exit(main())
