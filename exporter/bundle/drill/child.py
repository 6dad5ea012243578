"""The child's side of a drill: choose faults, run an engine on many faulty artifacts, measure a fault's true effect.

One child examines many faults, since importing an engine costs more than running it. What it finds is written fault by
fault, so that a crash costs only the fault that caused it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from exporter.base.errors import EnvironmentLacks
from exporter.base.files import write_json
from exporter.base.numbers.golden import GoldenCase, GoldenOutput, may_be_partial
from exporter.base.numbers.norms import error
from exporter.base.numbers.pooled import Pooled, draws
from exporter.base.registry import Registry
from exporter.base.tensors import Array, TensorMap, load
from exporter.bundle.drill.exact import WAYS, open_exact, widen
from exporter.bundle.drill.fault import candidates
from exporter.bundle.drill.inside import Inside
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Unplantable
from exporter.bundle.drill.requests import (
    SOUND,
    ChooseAnswer,
    ChooseRequest,
    Chosen,
    ExamineAnswer,
    ExamineRequest,
    Finding,
    MeasureAnswer,
    MeasureRequest,
    PlantRequest,
    Subject,
)
from exporter.bundle.drill.result import INSIDE
from exporter.engines.base import Engine, EngineRefused
from exporter.engines.job import runnable
from exporter.engines.session import started
from exporter.process.job import job, to_json
from exporter.process.workers import doing
from exporter.prove.compare.golden import read_goldens
from exporter.prove.compare.outputs import compare_case, evidence_of
from exporter.prove.proofs.kinds.interface import prove_declared
from exporter.prove.proofs.kinds.weights import prove_unchanged
from exporter.prove.root_cause.locate import is_narrow
from exporter.prove.verdict.claim import Evidence, Outcome

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")
#: How near the float64 run of the sound artifact must come to the truth, as a share of e_ref, to measure with it.
_TRUE = 0.25
#: The same for an artifact whose layers were folded into each other: its weights were rounded once more on the way.
_TRUE_FOLDED = 1.0
#: What stands in the place of a case for what all of them show at once.
TOGETHER = "together"


@job
def choose(request: ChooseRequest) -> ChooseAnswer:
    """Plant faults on trial until there are enough; return them, and what the proofs that only read see."""
    material = _material(request.subject)
    chosen, seen = list[Chosen](), {""}
    for fault in candidates(material, request.subject.variant, request.seed):
        if len(chosen) == request.faults:
            break
        doing(f"planting {fault}")
        try:
            fault.plant(material)
        except Unplantable:
            continue
        mark = material.fingerprint()
        if mark not in seen:
            seen.add(mark)
            chosen.append(Chosen(fault, _read_only(material, request)))
    return ChooseAnswer(tuple(chosen))


@job
def examine(request: ExamineRequest) -> ExamineAnswer:
    """Run one engine on every fault, and write a :class:`Finding` of each; return what holds without any fault.

    Raises:
        EnvironmentLacks: the engine is not here.
    """
    engine, device = _ENGINES[request.engine], request.device
    doing(f"{request.engine}: starting")
    probed = engine.probe(device)
    if not probed.available:
        raise EnvironmentLacks(probed.why_not, where=f"engine {request.engine}", hint=probed.cure)
    subject = request.subject
    material, bench, inside = _material(subject), _Bench(subject), Inside(subject, device, engine)

    doing(f"{request.engine}: the sound artifact")
    with _written(material) as place:
        sound = bench.judge(engine, device, place)
        alarm = inside.begin(place)
    (request.into / SOUND).touch()
    holds = {claim: evidence for claim, evidence in sound.items() if evidence.outcome is Outcome.MATCH}
    for number, fault in request.faults.items():
        doing(f"{request.engine}: {fault}")
        fault.plant(material)
        with _written(material) as place:
            proofs, worst = _seen(bench.judge(engine, device, place), holds, engine.paddle_kernels)
            if not set(proofs) - INSIDE and is_narrow(worst) and (sublayer := inside.look(place)):
                proofs["sublayers"] = sublayer
        _leave(request.into, number, Finding(proofs, worst))
    failed = [(claim, evidence) for claim, evidence in sound.items() if claim not in holds]
    doubts = tuple(f"{case}/{output}: {evidence.reason}" for (case, output), evidence in failed)
    return ExamineAnswer(len(holds), doubts, alarm)


@job
def measure(request: MeasureRequest) -> MeasureAnswer:
    """Run the sound and each faulty artifact in float64, and write how far the outputs move, in units of e_ref.

    Returns why nothing could be measured, if that is so.
    """
    material, bench = _material(request.subject), _Bench(request.subject)
    doing("float64: the sound artifact")
    way, sound, doubt = bench.true_way(material)
    if doubt:
        return MeasureAnswer(doubt)
    (request.into / SOUND).touch()
    for number, fault in request.faults.items():
        doing(f"float64: {fault}")
        fault.plant(material)
        _leave(request.into, number, bench.effect(material, way, sound))
    return MeasureAnswer("")


@job
def plant_into(request: PlantRequest) -> None:
    """Write the files of an artifact with one fault."""
    material = _material(request.subject)
    request.fault.plant(material)
    with _written(material) as place:
        for name in material.artifact.files:
            target = request.into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((place / name).read_bytes())


def _leave(into: Path, number: int, finding: Finding) -> None:
    write_json(into / f"{number}.json", to_json(Finding, finding))


class _Bench:
    """The cases with their inputs, and how they are run."""

    def __init__(self, subject: Subject) -> None:
        self._artifact, self._budget = subject.artifact, subject.budget
        recorded = read_goldens(subject.golden, [case.model_dump() for case in subject.cases])
        self.cases: tuple[GoldenCase, ...] = (*recorded, recorded[0].again())  # as `verify` has them
        tensors = load(subject.golden)
        names = self._artifact.inputs
        self._inputs = {
            case.name: {name: tensors[f"{case.recorded}/input/{name}"] for name in names} for case in self.cases
        }
        outputs = self.cases[0].outputs
        self._draws = draws(self.cases)
        self._others = {name: [case.outputs[name] for case in self.cases] for name in outputs}

    def judge(self, engine: Engine, device: str, place: Path) -> dict[tuple[str, str], Evidence]:
        """Judge every output of every case as `verify` does."""
        judged, together = {}, Pooled(self._draws)
        try:
            with started(engine, runnable(self._artifact, place), device) as session:
                for case in self.cases:
                    try:
                        got = session.run(self._inputs[case.name])
                    except EngineRefused as refusal:
                        fate = Evidence(Outcome.CRASHED, f"the engine refused it: {refusal}", stage="run")
                        judged.update({(case.name, name): fate for name in case.outputs})
                        continue
                    together.add(case.name, got)
                    for name, one in compare_case(case, got, self._budget, self._others).items():
                        judged[case.name, name] = one
            judged.update({(TOGETHER, name): evidence_of(one) for name, one in together.judge(self._budget).items()})
        except EngineRefused as refusal:
            fate = Evidence(Outcome.CRASHED, f"does not load: {refusal}", stage="load")
            judged = {(case.name, name): fate for case in self.cases for name in case.outputs}
        return judged

    def true_way(self, material: Material) -> tuple[str, dict[str, TensorMap], str]:
        """Find a way to run the sound artifact in float64 that gives the truth: the way, its outputs, or the doubts."""
        doubts = []
        for way in WAYS.get(self._artifact.format, ()):
            try:
                sound = dict(self._exact(material, way))
            except EngineRefused as refusal:
                doubts.append(f"{way} does not run it in float64: {refusal}")
                continue
            expected = ((case.name, one) for case in self._answered() for one in case.outputs.values())
            away = max(_distance(one, one.truth, sound[case].get(one.name)) for case, one in expected)
            if away <= (_TRUE_FOLDED if self._artifact.details.get("folded") else _TRUE):
                return way, sound, ""
            doubts.append(f"{way} in float64 is {away:.2g} times e_ref away from the truth")
        return "", {}, "; ".join(doubts)

    def _exact(self, material: Material, way: str) -> Iterator[tuple[str, TensorMap]]:
        """Run every case that has an answer in all rows in float64, the smallest first."""
        with _written(material) as place, tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            widen(self._artifact, place, Path(folder))
            with open_exact(runnable(self._artifact, Path(folder)), way) as session:
                for case in sorted(self._answered(), key=self._size):
                    yield case.name, session.run({name: _wide(one) for name, one in self._inputs[case.name].items()})

    def effect(self, material: Material, way: str, sound: Mapping[str, TensorMap]) -> Finding:
        """Return how far a fault moves the outputs at most, in units of e_ref; stops at the first case beyond it."""
        outputs = {case.name: case.outputs.values() for case in self.cases}
        worst = 0.0
        try:
            for case, got in self._exact(material, way):
                distances = [_distance(one, sound[case][one.name], got.get(one.name)) for one in outputs[case]]
                worst = max(worst, *distances)
                if worst > 1:
                    break
        except EngineRefused as refusal:
            return Finding(why_not=f"float64 does not run: {refusal}")
        # JSON has no infinity, and beyond this the number tells nothing more.
        return Finding(effect=min(worst, 1e300))

    def _answered(self) -> list[GoldenCase]:
        """The cases in which every row has an answer: of others float64 need not give what was recorded."""
        return [case for case in self.cases if not may_be_partial(case.name)]

    def _size(self, case: GoldenCase) -> int:
        return sum(value.nbytes for value in self._inputs[case.name].values())


def _material(subject: Subject) -> Material:
    older = {}
    if subject.older:
        tensors = load(subject.older.path)
        older = {name: tensors[key] for name, key in subject.older.tensors.items()}
    return Material(subject.artifact, subject.folder, subject.layer, older, subject.batch)


@contextmanager
def _written(material: Material) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="exporter-") as place:
        material.write(Path(place))
        yield Path(place)


def _read_only(material: Material, request: ChooseRequest) -> dict[str, str]:
    """Return what the proofs by declaration and by parameters find wrong; the latter only where it is to be asked."""
    with _written(material) as place:
        proofs = {"declared": prove_declared(material.artifact, place, request.spec, request.outputs)}
        if request.ask_parameters:
            proofs["parameters"] = prove_unchanged(material.artifact, place)
    return {proof: evidence.reason for proof, evidence in proofs.items() if evidence.outcome is not Outcome.MATCH}


def _seen(
    judged: Mapping[tuple[str, str], Evidence], holds: Mapping[tuple[str, str], Evidence], paddle_kernels: bool
) -> tuple[dict[str, str], float]:
    """Which proofs see a fault in claims that hold without it, each with its first reason; the worst error ratio."""
    proofs, worst = dict[str, str](), 0.0
    for (case, output), sound in holds.items():
        found = judged.get((case, output)) or Evidence(Outcome.MISSING, "it came to no run")
        worst = max(worst, found.metrics.get("error_ratio", 0.0))
        if found.outcome is not Outcome.MATCH and not (case == TOGETHER and found.outcome is Outcome.MISSING):
            proofs.setdefault(_proof(found), f"{case}/{output}: {found.reason}")
        if paddle_kernels and sound.bit_equal and found.metrics and not found.bit_equal:
            proofs.setdefault("bits", f"{case}/{output}: bits differ from eager's")
    return proofs, min(worst, 1e300)


def _proof(found: Evidence) -> str:
    if found.outcome in (Outcome.CRASHED, Outcome.TIMED_OUT):
        return "crash"
    if "error_ratio" in found.metrics:
        return "error ratio"
    if "combined_ratio" in found.metrics:
        return "together"
    # With metrics the values were compared; without, they were not finite if it had come to their number.
    return "integers" if found.metrics else "finiteness" if found.elements else "interface"


def _distance(expected: GoldenOutput, one: Array, other: Array | None) -> float:
    """How far two values of an output are apart, in units of eager's own error; infinite where they cannot be alike."""
    if other is None:
        return float("inf")
    if expected.index is not None:  # the truth is a sample already, what was run is whole
        whole = expected.shape
        one, other = (two.ravel()[expected.index] if two.shape == whole else two for two in (one, other))
    if one.shape != other.shape:
        return float("inf")
    if expected.exact:
        return 0.0 if (one == other).all() else float("inf")
    apart = [_share(part, ref) for part, ref in zip(error(one, other), expected.e_ref, strict=True)]
    return max(float("inf") if np.isnan(one) else one for one in apart)


def _share(part: float, ref: float) -> float:
    if ref:
        return part / ref
    return float("inf") if part else 0.0


def _wide(value: Array) -> Array:
    return value.astype("float64") if value.dtype.kind == "f" else value
