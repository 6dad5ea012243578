"""What a program needs to replay the goldens without safetensors and JSON, and the script that judges its outputs.

`golden.safetensors` is the bundle's. `cases.txt` says for each case where in it each input lies; `cases.json` and
`judge.py` serve who judges. A program writes output N of case C as `C.N.npy`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.errors import ModelError, UsageError
from exporter.base.files import readable_json
from exporter.base.tensors import TensorMap
from exporter.bundle.layout import GOLDEN
from exporter.bundle.script import inlined
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.evidence import Ran, judge
from exporter.deploy.handoff.program import ProgramRequest, execute
from exporter.process.workers import SINGLE_THREAD, Limits, call

#: The dtypes that programs read and write, by the names that safetensors has for them.
_DTYPES = {
    **{"F32": "float32", "F64": "float64", "I64": "int64", "I32": "int32"},
    **{"I8": "int8", "U8": "uint8", "BOOL": "bool"},
}


def replay_files(chosen: Chosen, target: str) -> dict[str, bytes | Path]:
    """`golden.safetensors`, `cases.txt`, `cases.json` and `judge.py`.

    Raises:
        UsageError: an input or output has a dtype that a program cannot be given, or a name of several lines.
    """
    manifest = chosen.manifest
    for tensor in (*manifest.inputs, *manifest.outputs):
        if tensor.dtype not in _DTYPES.values():
            hint = "choose another target"
            raise UsageError(f"{tensor.name} is {tensor.dtype}, which is not replayed", where=target, hint=hint)
    names = [output.name for output in manifest.outputs]
    cases = [case.model_dump(mode="json") for case in manifest.cases]
    about = {"budget": manifest.budget, "outputs": names, "cases": cases}
    return {
        GOLDEN: chosen.bundle.folder / GOLDEN,
        "cases.txt": _cases(chosen, target).encode(),
        "cases.json": readable_json(about),
        "judge.py": inlined(Path(__file__).with_name("judge_template.py")).encode(),
    }


def _cases(chosen: Chosen, target: str) -> str:
    """A line an output, then for each case its number and a line an input: dtype, place in the file, sizes, name."""
    variant, golden = chosen.variant, chosen.bundle.folder / GOLDEN
    stored, start = _header(golden)
    lines = [f"output {number} {native}" for number, native in enumerate(variant.outputs)]
    for number, case in enumerate(chosen.bundle.goldens()):
        lines.append(f"case {number}")
        for tensor, native in zip(chosen.manifest.inputs, variant.inputs, strict=True):
            entry = stored[f"{case.recorded}/input/{tensor.name}"]
            first, end = entry["data_offsets"]
            sizes = " ".join(map(str, [len(entry["shape"]), *entry["shape"]]))
            lines.append(f"input {_DTYPES[entry['dtype']]} {start + first} {end - first} {sizes} {native}")
    if any("\n" in native for native in (*variant.inputs, *variant.outputs)):
        raise UsageError("a name has several lines", where=target, hint="choose another target")
    return "\n".join(lines) + "\n"


def _header(path: Path) -> tuple[Mapping[str, Any], int]:
    """The tensors of a safetensors file, and the byte at which their numbers begin; the bundle was opened before."""
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        return json.loads(stream.read(length)), 8 + length


def judged(chosen: Chosen, engine: str, outputs: Path, by: str) -> Ran:
    """Judge the `.npy` that a program left in a folder.

    Raises:
        ModelError: one is missing or no array, or is not what the bundle recorded.
    """
    names = [output.name for output in chosen.manifest.outputs]
    got: dict[str, TensorMap] = {}
    try:
        for number, case in enumerate(chosen.bundle.goldens()):
            paths = {name: outputs / f"{number}.{place}.npy" for place, name in enumerate(names)}
            got[case.name] = {name: np.load(path, allow_pickle=False) for name, path in paths.items()}  # noqa: TID251
    except (OSError, ValueError) as error:
        raise ModelError(f"{by} left no output: {error}", where=engine, hint="see exporter verify") from error
    return judge(chosen, engine, got, by)


def ran(command: Sequence[str], cwd: Path, limits: Limits, by: str, **environment: str) -> None:
    """Run a program in a child whose limits bind it too.

    Raises:
        ModelError: it ended in any other way than well.
        ExporterError: as :func:`exporter.process.workers.call`.
    """
    answer = call(execute, ProgramRequest(tuple(command), cwd, environment), limits, environment=SINGLE_THREAD)
    if answer.status:
        said = " | ".join((answer.errors or answer.output).strip().splitlines()[-3:]) or "no message"
        raise ModelError(f"{by} ended with code {answer.status}: {said}", where=by, hint="see exporter verify")
