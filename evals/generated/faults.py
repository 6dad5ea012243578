"""Faults planted in released generated networks: `python -m evals.generated.faults --count 500 --json rows.jsonl`.

Each network that passes its release gets one fault in each of its formats, of the graph or of a stored tensor, by
`exporter drill`'s kinds in turn; the bundle is sealed again and verified as `exporter verify --source` does. Whether a
fault has an effect is not asked of the exporter: stock Paddle or ONNX Runtime runs the faulty file on inputs that the
exporter never saw, and its answers are held against eager's by the rule of `evals.small`. Two shares count over the
faults with an effect: those that are not passed, and those at whose failure the operator with the largest own error is
the one that holds the fault. With `--json` each row is written as it comes, and the next call goes on. Exit 1 below
99 % or 95 %.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evals.generated.__main__ import generated, groups
from evals.generated.network import Network
from evals.root_cause.picture import holders
from evals.small.__main__ import Truth
from evals.small.catalogue import SmallLayer
from exporter import pipeline
from exporter.bundle.drill.fault import Fault, candidates
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Unplantable
from exporter.bundle.drill.run import Room, Wish
from exporter.bundle.open import Bundle, open_bundle
from exporter.process.workers import Setting
from exporter.prove.judge.report import Report
from exporter.prove.proofs.base import Narrowing
from exporter.prove.verdict.blame import darkest
from exporter.prove.verdict.claim import OUTPUTS, Outcome
from exporter.prove.verdict.plan import ENGINES
from tests.command import exporter

CAUGHT, NAMED = 0.99, 0.95
_FAMILIES = ("graph", "parameters")
#: Between the tensors of a fault that exchanges two.
_AND = " | "
_HOLDS = (Outcome.MATCH, Outcome.WAIVED)


@dataclass
class Row:
    """What came of one fault; without a variant, why the network has none.

    `effect`: `none`, or how its answers differ from eager's. `by`: the kinds of claims that failed. `dark`: the
    operator with the largest own error, and `named`: whether it holds the fault; `looked`: whether a failed run has a
    picture.
    """

    seed: int
    variant: str = ""
    fault: str = ""
    effect: str = ""
    verdict: str = ""
    by: list[str] = field(default_factory=list)
    looked: bool = False
    dark: str = ""
    named: bool = False
    seconds: float = 0.0

    @property
    def harmful(self) -> bool:
        """Say whether the fault changes what the file computes."""
        return bool(self.variant) and self.effect != "none"

    @property
    def caught(self) -> bool:
        """Say whether the file did not pass; `partial` is a pass of the engines that run its format."""
        return self.verdict not in ("passed", "partial")


def faults_of(network: Network, folder: Path, truth: Truth) -> Iterator[Row]:
    """Release a network, plant a fault in each of its formats, and judge each."""
    layer = network.layer()
    layer.write(folder)
    done = exporter("release", f"{layer.name}.yaml", "--out", "out", "--no-cache", "--quiet", "--json", cwd=folder)
    if done.code:
        yield Row(network.seed, verdict=f"its release ends with {done.code}")
        return
    bundle = open_bundle(folder / str(done.json()["bundle"]))
    for variant in bundle.manifest.variants:
        fault, held = chosen(bundle, variant, network.seed)
        if fault is None:
            yield Row(network.seed, verdict="no fault fits")
        else:
            yield judged(bundle, layer, (fault, held), truth, folder)


def chosen(bundle: Bundle, variant: str, seed: int) -> tuple[Fault | None, tuple[str, ...]]:
    """A fault of a kind that is drawn, and the values that hold it; None where nothing can be planted."""
    material = _material(bundle, variant)
    by_kind: dict[str, list[Fault]] = {}
    for fault in candidates(material, variant, seed):
        if fault.family in _FAMILIES:
            by_kind.setdefault(f"{fault.family} {fault.kind}", []).append(fault)
    kinds = sorted(by_kind)
    random.Random(f"{seed} {variant}").shuffle(kinds)
    for fault in (fault for kind in kinds for fault in by_kind[kind]):
        try:
            fault.plant(material)
        except Unplantable:
            continue
        return fault, _held(material, fault)
    return None, ()


def _material(bundle: Bundle, variant: str) -> Material:
    artifact = bundle.manifest.variants[variant].artifact()
    return Material(artifact, bundle.folder, dict(artifact.origins))


def _held(material: Material, fault: Fault) -> tuple[str, ...]:
    """The tensors that a fault of parameters changes; else what the operator at its site puts out."""
    if fault.family == "parameters":
        return tuple(name for name in material.parameters if name in fault.site.split(_AND))
    site = fault.site
    named = [node for node in material.program.nodes() if site == node.site or site.startswith(f"{node.site} ")]
    return max(named, key=lambda node: len(node.site)).outputs


def judged(
    bundle: Bundle, layer: SmallLayer, planted: tuple[Fault, tuple[str, ...]], truth: Truth, folder: Path
) -> Row:
    """Plant a fault in a copy, ask stock Paddle for its effect, and `verify` for its verdict."""
    fault, held = planted
    begun, row = time.monotonic(), Row(int(layer.name[1:]), fault.variant, str(fault))
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        copy = Path(place) / "bundle"
        copy.mkdir()
        Room(bundle, fault.variant, Wish(1, fault.seed, code=folder), Setting()).plant_into(fault, copy)
        answer = truth.of(layer, "", str(copy), fault.variant)
        row.effect = "none" if answer == "right" else answer
        report = pipeline.verify(copy, Setting(), _engines(bundle, fault.variant), "cpu", pipeline.Blaming(), folder)
    row.verdict = report.verdict.word
    failed = [claim for claim in report.verdict.plan if report.verdict.of(claim).outcome not in _HOLDS]
    row.by = sorted({claim.kind for claim in failed})
    if OUTPUTS in row.by:
        _name(row, report, _material(bundle, fault.variant), held)
    row.seconds = round(time.monotonic() - begun, 1)
    return row


def _engines(bundle: Bundle, variant: str) -> Narrowing:
    """The engines of the spec that run a variant: the copy holds no other."""
    format = bundle.manifest.variants[variant].format
    return Narrowing(tuple(name for name in bundle.manifest.spec["engines"] if ENGINES[name].runs(format, "fp32")))


def _name(row: Row, report: Report, material: Material, held: Sequence[str]) -> None:
    """Say which operator is the darkest of the picture, and whether it is the one that holds the fault."""
    for blame in report.blames:
        dark = darkest(blame.operators)
        if dark is None:
            continue
        row.looked = True
        # A constant has no error of its own: the operator that reads it has.
        shown = {value for operator in blame.operators if operator.own is not None for value in operator.values}
        row.dark = f"{dark.kind} {dark.own:.3g} {dark.line}".strip()
        row.named = bool(holders(material, held, shown) & {*dark.values})
        return
    row.dark = next((blame.reason for blame in report.blames), "no blame")


def report_of(rows: Sequence[Row]) -> tuple[list[str], bool]:
    """Lines to print, and whether both shares are reached."""
    harmful = [row for row in rows if row.harmful]
    caught = [row for row in harmful if row.caught]
    shown = [row for row in caught if OUTPUTS in row.by and row.looked]
    named = [row for row in shown if row.named]
    blind = Counter(row.dark.partition(" (")[0] for row in caught if not row.looked)
    without = Counter(row.verdict for row in rows if not row.variant)
    lines = [
        f"{len({row.seed for row in rows})} networks, {sum(bool(row.variant) for row in rows)} faults, "
        f"{len(harmful)} with an effect; without a fault: {dict(without)}",
        f"caught: {len(caught)} of {len(harmful)}{_share(len(caught), len(harmful))}",
        f"operator named: {len(named)} of {len(shown)}{_share(len(named), len(shown))} that have a picture; "
        f"{sum(blind.values())} have none",
    ]
    lines += [f"NO PICTURE {count}: {why or 'no run failed'}" for why, count in blind.items()]
    lines += [f"MISSED {row.seed} {row.variant} {row.fault}: {row.effect}" for row in harmful if not row.caught]
    lines += [f"NOT NAMED {row.seed} {row.variant} {row.fault}: {row.dark}" for row in shown if not row.named]
    reached = len(caught) >= CAUGHT * len(harmful) and len(named) >= NAMED * len(shown)
    return lines, bool(harmful) and reached


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""


def main() -> int:
    """Release, plant, judge, and print both shares."""
    parser = argparse.ArgumentParser(prog="python -m evals.generated.faults", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the number of the first network")
    parser.add_argument("--count", type=int, default=500, help="so many networks")
    parser.add_argument("--minutes", type=float, default=0, help="end after so many minutes")
    parser.add_argument("--json", type=Path, help="add the rows here, and leave out networks that it holds")
    wish = parser.parse_args()
    os.environ["EXPORTER_NO_CACHE"] = "1"
    stored = wish.json.read_text().splitlines() if wish.json and wish.json.is_file() else []
    rows, begun = [Row(**json.loads(line)) for line in stored], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        folder = Path(place)
        truth = Truth(folder, 1)
        for seeds in groups(wish.first, wish.count, {row.seed for row in rows}):
            late = wish.minutes and time.monotonic() - begun > 60 * wish.minutes
            for network in [] if late else generated(seeds):
                if wish.minutes and time.monotonic() - begun > 60 * wish.minutes:
                    break
                for row in faults_of(network, folder, truth):
                    rows.append(row)
                    print(row, file=sys.stderr, flush=True)
                    if wish.json:
                        with wish.json.open("a") as file:
                            print(json.dumps(asdict(row)), file=file)
        truth.close()
    lines, holds = report_of(rows)
    print("\n".join(lines))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
