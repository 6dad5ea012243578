"""Decide whether a server may compute the rows of several requests in one run: only where it was shown.

Two things have to show it. The graph: no operator takes values along the rows, and an operator that is not known does.
The runs: rows give the same beside whatever other rows. Whatever is missing (no such dim, no package, no cases of one
size that differ, a run that fails) leaves requests apart, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from exporter.base.errors import ExporterError
from exporter.base.numbers.golden import GoldenCase, may_be_partial, promised
from exporter.base.tensors import TensorMap, recorded_inputs, shape_at
from exporter.bundle.layout import GOLDEN
from exporter.bundle.open import recorded_spec
from exporter.deploy.handoff.base import Chosen, RowEvidence, Rows
from exporter.deploy.handoff.batch import batch_dim
from exporter.deploy.handoff.rows.companions import Companions, Ranges
from exporter.deploy.handoff.rows.graph import GraphRequest, follow_rows
from exporter.deploy.handoff.rows.runs import Rule, Subject, run_beside_others
from exporter.engines.job import EngineJob, runnable
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Setting, call
from exporter.prove.goldens.cases import declared_range
from exporter.prove.goldens.finish import DEPENDENT_ROWS

_ENGINE = "onnxruntime"
#: Sizes of the other dims at which rows are run, and the cases at each: more show hardly more, and take their time.
_MOST_SIZES, _MOST_SUBJECTS, _MOST_ROWS = 3, 2, 16
#: The numbers of rows for which the graph is followed: any two that differ.
_COUNTS = (2, 3)
_NO_DIM = (
    "no named dim begins at 1, leads every input and every output, in the file and in each recorded case, and stands "
    "nowhere else"
)


def decide(chosen: Chosen, setting: Setting) -> Rows:
    """Look whether the rows of a variant are independent."""
    if chosen.variant.format != "onnx":
        return Rows(False, f"only ONNX is looked at, and {chosen.name} is none")
    if noted := [note for note in chosen.manifest.notes if DEPENDENT_ROWS in note]:
        return Rows(False, f"the release saw that {noted[0]}")
    try:
        dim = batch_dim(chosen)
        if dim is None:
            return Rows(False, _NO_DIM)
        if chosen.manifest.dims[dim]["max"] < 2:
            return Rows(False, f"{dim} is 1 at most")
        return _by_graph(chosen, dim, setting) or _by_runs(chosen, dim, setting)
    except ExporterError as error:
        return Rows(False, f"it could not be looked at here: {error.what}")


def _by_graph(chosen: Chosen, dim: str, setting: Setting) -> Rows | None:
    """Return why the graph does not keep rows apart; None where it does."""
    (model,) = (path for name, path in chosen.files().items() if name.endswith(".onnx"))
    answer = call(
        follow_rows, GraphRequest(model.resolve(), _shapes(chosen, dim)), setting.limits, environment=SINGLE_THREAD
    )
    if answer.unread:
        return Rows(False, answer.unread)
    names = dict(zip(chosen.variant.outputs, (output.name for output in chosen.manifest.outputs), strict=True))
    if lost := [name for native, name in names.items() if native not in answer.mixes]:
        return Rows(False, f"the file has no output {lost[0]}")
    mixes = {names[native]: why for native, why in answer.mixes.items() if why and native in names}
    return Rows(False, _first_of(mixes)) if mixes else None


def _first_of(mixes: Mapping[str, str]) -> str:
    name, why = next(iter(mixes.items()))
    return f"a row of {name} may follow from other rows of its run: {why}"


def _shapes(chosen: Chosen, dim: str) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the inputs' shapes for both numbers of rows; other dims have a size that is not 1, if they may."""
    manifest = chosen.manifest
    sizes = {
        name: size if (size := about.get("typical", 1)) > 1 else about["max"] for name, about in manifest.dims.items()
    }
    shapes = {}
    for tensor, native in zip(manifest.inputs, chosen.variant.inputs, strict=True):
        both = [shape_at(tensor.shape, {**sizes, dim: count}) for count in _COUNTS]
        shapes[native] = (both[0], both[1])
    return shapes


def _by_runs(chosen: Chosen, dim: str, setting: Setting) -> Rows:
    manifest, variant = chosen.manifest, chosen.variant
    goldens, most = chosen.bundle.goldens(), manifest.dims[dim]["max"]
    subjects = _subjects(chosen, goldens, dim)
    if not subjects:
        return Rows(False, f"no recorded case has fewer than {most} rows and, at its sizes, other cases beside it")
    outputs = dict(zip(variant.outputs, (output.name for output in manifest.outputs), strict=True))
    rule = Rule(manifest.budget if variant.precision == "fp32" else None, goldens, outputs)
    artifact = runnable(variant.artifact(), chosen.bundle.folder.resolve())
    with scratch() as place:
        job = EngineJob(_ENGINE, artifact, place, ())
        shown = run_beside_others(subjects, most, rule, job, place, setting)
    if shown.against:
        return Rows(False, f"in ONNX Runtime {shown.version} {shown.against}")
    kinds = dict.fromkeys(kind for subject in subjects for kind in subject.beside.kinds())
    names = tuple(subject.golden.name for subject in subjects)
    evidence = RowEvidence(f"ONNX Runtime {shown.version}", names, tuple(kinds), shown.sizes, shown.runs)
    why = (
        f"no operator takes values along {dim}, and in {shown.runs} runs of {shown.sizes[0]} to {shown.sizes[-1]} rows "
        f"in {evidence.engine} each row gave the same bits whatever stood beside it, and what the bundle recorded"
    )
    return Rows(True, why, dim, most, evidence)


def _subjects(chosen: Chosen, goldens: Sequence[GoldenCase], dim: str) -> list[Subject]:
    """Return cases whose rows can be run beside rows of others: at the sizes of most cases first."""

    def sizes(case: GoldenCase) -> tuple[tuple[str, int], ...]:
        return tuple(sorted((name, size) for name, size in case.dims.items() if name != dim))

    recorded = [case for case in goldens if case.name == case.recorded and not may_be_partial(case.name)]
    groups = [list(group) for _, group in groupby(sorted(recorded, key=sizes), key=sizes)]
    subjects = []
    for group in sorted(groups, key=len, reverse=True)[:_MOST_SIZES]:
        subjects += _of_group(chosen, group, dim)
    return subjects


def _of_group(chosen: Chosen, group: Sequence[GoldenCase], dim: str) -> list[Subject]:
    golden, most = chosen.bundle.folder / GOLDEN, chosen.manifest.dims[dim]["max"]
    inputs = {case.name: _inputs(chosen, golden, case) for case in group}
    able = [case for case in group if promised(case.name) and case.dims[dim] < min(most, _MOST_ROWS + 1)]
    able = [case for case in able if not any(output.gate for output in case.outputs.values())]
    subjects = []
    for case in sorted(able, key=lambda case: (case.dims[dim] == 1, case.dims[dim]))[:_MOST_SUBJECTS]:
        others = [other for name, other in inputs.items() if name != case.name and _differ(other, inputs[case.name])]
        if others:
            subjects.append(Subject(case, inputs[case.name], Companions.of(others, _ranges(chosen, case))))
    return subjects


def _inputs(chosen: Chosen, golden: Path, case: GoldenCase) -> TensorMap:
    names = [tensor.name for tensor in chosen.manifest.inputs]
    values = recorded_inputs(golden, case.recorded, names)
    return {native: values[name] for name, native in zip(names, chosen.variant.inputs, strict=True)}


def _differ(left: TensorMap, right: TensorMap) -> bool:
    """Compare whether the first rows of two cases differ in some input."""
    return any(left[name][:1].tobytes() != right[name][:1].tobytes() for name in left)


def _ranges(chosen: Chosen, case: GoldenCase) -> Ranges:
    """Return the ranges of whole numbers that the spec declares, by the file's names."""
    declared = recorded_spec(chosen.manifest).inputs
    natives = zip(chosen.manifest.inputs, chosen.variant.inputs, strict=True)
    ranges = {
        native: declared_range(declared[tensor.name], case.dims)
        for tensor, native in natives
        if tensor.name in declared
    }
    return {native: bounds for native, bounds in ranges.items() if bounds is not None}


__all__ = ["SINGLE_THREAD", "decide"]
