"""How often a planted fault is localised: `python -m evals.root_cause.score [--faults N] [NET ...]`.

In each network and format, faults are planted one by one in the stored tensors of a sublayer that is known, the way
`tests/faults.py` does; the artifact then runs with its values put out, and the sublayer that is blamed is compared with
the one that holds the tensor. A fault whose effect is below what the claims resolve (error ratio at the output within
the budget) is no failed claim: it is counted apart, with how often it was found all the same.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from exporter.bundle.open import open_bundle
from exporter.bundle.subject import subject_of as in_bundle
from exporter.export.lower.stored import stored_tensors
from exporter.pipeline import release
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.root_cause.align import Shown, worst
from exporter.prove.root_cause.locate import locate
from exporter.prove.root_cause.program import program_values
from exporter.prove.root_cause.witness import Witness, observe
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Spec

ENGINES = {"pir": "jit_load", "pdmodel": "paddle_inference", "onnx": "onnxruntime"}
IMAGE = {"x": {"dtype": "float32", "shape": ["batch", 3, 64, 64]}}
BUDGET = 4.0
BATCH = {"min": 1, "typical": 2, "max": 3}
NETS: dict[str, dict[str, object]] = {
    "digits": {"inputs": {"image": {"dtype": "float32", "shape": ["batch", 1, 8, 8]}}},
    "resnet18": {"inputs": IMAGE},
    "mobilenet_v2": {"inputs": IMAGE},
    "encoder": {
        "inputs": {"features": {"dtype": "float32", "shape": ["batch", "seq", 24]}},
        "dims": {"batch": BATCH, "seq": {"min": 2, "typical": 6, "max": 9}},
    },
}
Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def _one_element(value: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    changed = value.copy()
    changed.flat[generator.integers(value.size)] *= 1.01
    return changed


def _rounded(value: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """To bfloat16 and back, by cutting the mantissa."""
    return (value.view("<u4") & np.uint32(0xFFFF0000)).view("<f4")


CHANGES: dict[str, Change] = {
    "zeroed": lambda value, _: np.zeros_like(value),
    "x 1.01": lambda value, _: value * np.float32(1.01),
    "x 1.001": lambda value, _: value * np.float32(1.001),
    "sign": lambda value, _: -value,
    "shuffled": lambda value, generator: generator.permutation(value.ravel()).reshape(value.shape),
    "bfloat16": _rounded,
    "one element + 1 %": _one_element,
}


@dataclass(frozen=True)
class Trial:
    """One fault and what became of it; `ratio` is the error ratio at the output."""

    net: str
    format: str
    fault: str
    planted: str
    ratio: float
    blamed: str

    @property
    def right(self) -> bool:
        """The sublayer that holds the fault is blamed, and where there is none, nothing is."""
        return self.planted == self.blamed

    @property
    def group(self) -> str:
        if not self.planted:
            return "clean"
        return "failed" if not self.ratio <= BUDGET else "within the budget"


def released(net: str, place: Path) -> tuple[Path, Spec]:
    """Release the network with its own random weights; whatever the verdict, the folder of the bundle."""
    spec = spec_of(net)
    product = release(spec, place, Setting())
    assert product.bundle is not None, product.findings
    return product.bundle.folder, spec


def spec_of(net: str) -> Spec:
    about = {"dims": {"batch": BATCH}, **NETS[net]}
    return Spec.model_validate(
        {
            "name": net,
            "version": "1",
            "model": f"tests.prove.root_cause.nets:{net}",
            "weights": "factory",
            **about,
            "device": "cpu",
        }
    )


def subject_of(bundle: Path, spec: Spec) -> Bench:
    return in_bundle(open_bundle(bundle), spec, "cpu").bench()


def trials(net: str, count: int, place: Path) -> Iterator[Trial]:
    """Plant `count` faults in each format of one network."""
    bundle, spec = released(net, place)
    bench = subject_of(bundle, spec)
    content = json.loads((bundle / "manifest.json").read_bytes())
    owners = {digest: name for name, digest in content["parameters"].items()}
    case = min((one for one in bench.cases if ":" not in one.name), key=lambda one: sum(one.dims.values())).name
    witness = observe(bench, case, _new(place / "witness"), Setting())
    for format, engine in ENGINES.items():
        run = Run(format, "fp32", engine)
        weights = bench.artifacts[format].weights
        owned = {name: owners[digest] for name, digest in weights.items() if digest in owners}
        generator = np.random.default_rng([count, len(format)])
        yield _judged(bench, run, case, witness, Trial(net, format, "no fault", "", 0.0, ""))
        for number in range(count):
            name = sorted(owned)[int(generator.integers(len(owned)))]
            fault = list(CHANGES)[number % len(CHANGES)]
            damaged = _new(place / "damaged")
            shutil.copytree(bundle, damaged, dirs_exist_ok=True)
            if plant(damaged, bench.artifacts[format].files, name, (CHANGES[fault], generator)):
                trial = Trial(net, format, fault, owned[name].rpartition(".")[0], 0.0, "")
                yield _judged(replace(bench, folder=damaged), run, case, witness, trial)


def _judged(bench: Bench, run: Run, case: str, witness: Witness, trial: Trial) -> Trial:
    values = program_values(bench, run, case, Setting())
    ratio = worst(Shown(witness.observed, values), witness.observed.calls[0].outputs)
    found, _ = locate(witness, values, bench.budget, folded=bench.folds(run.variant))
    blamed = ""
    if found is not None:
        blamed = witness.observed.calls[found.call].path + (" (own code)" if found.own else "")
    return replace(trial, ratio=ratio, blamed=blamed)


def plant(folder: Path, files: tuple[str, ...], name: str, change: tuple[Change, np.random.Generator]) -> bool:
    """Change one stored tensor; False where that changes nothing."""
    stored = stored_tensors(files, folder)
    weight, before = stored.weights[name], stored.array(name)
    if before.dtype != "<f4" or len(weight.pieces) != 1:
        return False
    after = change[0](before, change[1]).astype("<f4")
    if np.array_equal(before, after):
        return False
    path = folder / next(one for one in files if one.endswith((".pdiparams", ".onnx")))
    start, stop = weight.pieces[0]
    data = bytearray(path.read_bytes())
    data[start:stop] = np.ascontiguousarray(after).tobytes()
    path.write_bytes(data)
    return True


def _new(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nets", nargs="*", default=list(NETS))
    parser.add_argument("--faults", type=int, default=14, help="faults for each network and format")
    arguments = parser.parse_args()
    found: list[Trial] = []
    for net in arguments.nets:
        with tempfile.TemporaryDirectory() as place:
            for one in trials(net, arguments.faults, Path(place)):
                found.append(one)
                what = f"{one.fault} in {one.planted or 'nothing'}: {one.ratio:.3g}, blamed {one.blamed or 'nothing'}"
                print("ok " if one.right else "NOT", net, f"{one.format}: {what}", flush=True)
    for format in ENGINES:
        groups = {"clean": 0, "failed": 0, "within the budget": 0}
        right = dict(groups)
        for one in found:
            if one.format == format:
                groups[one.group] += 1
                right[one.group] += one.right
        print(f"{format}:", "; ".join(f"{group}: {right[group]} of {groups[group]} right" for group in groups))


if __name__ == "__main__":
    main()
