"""What files and the spec tell without a child: inputs stored in files that do not fit, waivers that name nothing."""

from __future__ import annotations

import glob
import re
from pathlib import Path

from exporter.base.errors import BundleError, UsageError, did_you_mean
from exporter.base.tensors import npy_facts, shape_at, shapes
from exporter.export.sources.foreign import format_of, read_foreign
from exporter.prove.goldens.cases import plan_cases
from exporter.spec.model import Spec


def refuse_files(spec: Spec) -> None:
    """Make sure that each `.npy` file of an input, file of calibration samples and candidate is there and fits.

    Raises:
        UsageError: one is missing, unreadable, of another dtype, or too short for a case; a pattern names no file.
        BundleError: a candidate is damaged, or does more than compute.
    """
    for pattern in spec.depends:
        if not glob.glob(pattern, recursive=True):  # noqa: PTH207 - absolute ones too
            hint = "name files that the model or its data read, by paths as seen from the working folder"
            raise UsageError(f"'{pattern}' names no file", where="depends", hint=hint)
    for name, asked in spec.inputs.items():
        if asked.values.endswith(".npy"):
            _refuse_npy(spec, name, Path(asked.values))
    for name, settings in spec.precisions.items():
        if settings.data is not None:
            _refuse_samples(spec, name, Path(settings.data))
    for candidate in spec.candidates:
        foreign_format(spec, Path(candidate.file), "candidates")


def refuse_waivers(spec: Spec) -> None:
    """Make sure that each waiver names a variant that is released; raises UsageError.

    What a pattern leaves open, by `*`, `?` or `[`, is not judged.
    """
    variants = [name if precision == "fp32" else f"{name}-{precision}" for name, precision in spec.variants()]
    known = [*variants, "source", *(candidate.name for candidate in spec.candidates)]
    for waiver in spec.waivers:
        head, slash, _ = waiver.claim.partition("/")
        if slash and head not in known and not re.search(r"[*?\[]", head):
            raise UsageError(
                f"the waiver '{waiver.claim}' names no claim: there is no variant '{head}'",
                where="waivers",
                hint=did_you_mean(head, known),
            )


def foreign_format(spec: Spec, file: Path, where: str) -> str:
    """Read a file of another tool, before anything runs, and return its format; `where` is what names it.

    Its outputs are counted when it is judged, where the spec names none.

    Raises:
        UsageError: it is of no format that can be judged, or has other inputs or outputs than the model.
        BundleError: it is damaged, or does more than compute.
    """
    format = format_of(file, where)
    facts = read_foreign(file)
    for kind, theirs, ours in (("input", facts.inputs, spec.inputs), ("output", facts.outputs, spec.outputs)):
        if ours and len(theirs) != len(ours):
            what = f"it has {len(theirs)} {kind}s, and the model {len(ours)}"
            raise UsageError(what, where=str(file), hint="give a file that was made of this model")
    return format


def _refuse_npy(spec: Spec, name: str, path: Path) -> None:
    shape, dtype = npy_facts(path)
    wanted = spec.inputs[name]
    if dtype != wanted.dtype:
        raise UsageError(
            f"the file holds {dtype}, the input '{name}' is {wanted.dtype}",
            where=str(path),
            hint="store the values in the input's dtype",
        )
    for case in plan_cases(spec):
        needs = shape_at(wanted.shape, case.dims)
        if shape != needs and (len(shape) != len(needs) or shape[1:] != needs[1:] or shape[0] < needs[0]):
            raise UsageError(
                f"the file holds {list(shape)}, the case {case.name} needs {list(needs)} for '{name}'",
                where=str(path),
                hint="store at least as many rows as the largest case has",
            )


def _refuse_samples(spec: Spec, precision: str, path: Path) -> None:
    where = f"precisions.{precision}.data: {path}"
    if not path.is_file():
        raise UsageError("no such file of calibration samples", where=where, hint="check the path")
    try:
        held = shapes(path)
    except BundleError as error:  # no bundle here: the file is the user's
        raise UsageError(error.what, where=where, hint=error.hint) from error
    asked = spec.precisions[precision].samples
    for name in spec.inputs:
        if name not in held:
            raise UsageError(f"it has no rows for '{name}'", where=where, hint=did_you_mean(name, sorted(held)))
        count = held[name][0] if held[name] else 0
        if count < asked:
            raise UsageError(
                f"it has {count} rows for '{name}', and {asked} samples are asked for",
                where=where,
                hint="store more real rows, or ask for fewer `samples`",
            )
