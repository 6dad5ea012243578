"""What an artifact computes in another version of its engine: its outputs, or every value inside."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import EnvironmentLacks, ModelError
from exporter.base.files import write_json
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, load_npy, recorded_inputs
from exporter.base.words import plain
from exporter.bundle.script import verify_script
from exporter.deploy.elsewhere.kit import npy_bytes
from exporter.deploy.runtimes.environment import PACKAGES, Runtime
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Setting
from exporter.prove.harness import Bench
from exporter.prove.root_cause.program import tap_of

_SCRIPT = Path(__file__).with_name("script.py")
#: Seconds of the clock beyond the limit of a child, for an import on a busy machine.
_GRACE = 60.0
_OTHER = "name another version, or see exporter verify BUNDLE --runtime, which judges each by itself"


@dataclass(frozen=True)
class Place:
    """A version of an engine, and the Python of the environment that has it."""

    runtime: Runtime
    python: Path


def engine_of(package: str, precision: str) -> str:
    """The engine of verify.py that runs a variant of this precision in that package."""
    engine = PACKAGES[package].engine
    return f"{engine}_int8" if package == "paddle" and precision == "int8" else engine


def outputs_in(place: Place, bench: Bench, variant: str, setting: Setting) -> list[dict[str, Array]]:
    """The outputs of every case, in the order of the bench, by the bundle's names.

    Raises:
        EnvironmentLacks: that version cannot run this variant.
        ModelError: its process ended badly.
    """
    artifact = bench.artifacts[variant]
    files = [bench.folder / name for name in artifact.files]
    results = _run(place, bench, (variant, files), bench.cases, setting)
    ours = dict(zip(artifact.outputs, bench.outputs, strict=True))
    return [{ours.get(name, name): value for name, value in result.items()} for result in results]


def values_in(place: Place, bench: Bench, variant: str, case: GoldenCase, setting: Setting) -> dict[str, Array]:
    """Every value inside that the variant computes in one case, by the file's own names.

    Raises:
        UsageError: nothing shows the values of this format.
        EnvironmentLacks, ModelError: as :func:`outputs_in`.
    """
    artifact = bench.artifacts[variant]
    with scratch() as folder:
        tapped = folder / variant  # by the name of its folder verify.py knows int8
        tapped.mkdir()
        tap_of(artifact.format)((bench.folder / artifact.main).parent, tapped)
        files = [tapped / Path(name).name for name in artifact.files]
        (values,) = _run(place, bench, (variant, files), [case], setting)
    return values


def _run(
    place: Place, bench: Bench, what: tuple[str, Sequence[Path]], cases: Sequence[GoldenCase], setting: Setting
) -> list[dict[str, Array]]:
    variant, files = what
    artifact = bench.artifacts[variant]
    with scratch() as folder:
        inputs, into = folder / "given", folder / "outputs"
        inputs.mkdir()
        into.mkdir()
        for number, case in enumerate(cases):
            recorded = recorded_inputs(bench.golden, case.recorded, bench.inputs)
            for at, name in enumerate(bench.inputs):
                (inputs / f"{number}.{at}.npy").write_bytes(npy_bytes(recorded[name]))
        (folder / "verify.py").write_text(verify_script(), encoding="utf-8")
        shutil.copyfile(_SCRIPT, folder / "script.py")
        request = {
            "engine": engine_of(place.runtime.package, artifact.precision),
            "files": [str(path.resolve()) for path in files],
            "names": list(artifact.inputs),
            "threads": [case.threads for case in cases],
            "given": str(inputs),
            "into": str(into),
        }
        write_json(folder / "request.json", request)
        _execute(place, folder, setting.limits.seconds + _GRACE)
        return _read(into, len(cases), place)


def _execute(place: Place, folder: Path, seconds: float) -> None:
    variables = {**SINGLE_THREAD, "PATH": f"{place.python.parent}:/usr/bin:/bin", "HOME": "/nonexistent"}
    try:
        done = subprocess.run(
            [str(place.python), "-I", str(folder / "script.py"), str(folder / "request.json")],
            cwd=folder,
            env={**variables, "TMPDIR": str(folder), "ORT_DISABLE_TELEMETRY": "1"},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        hint = "give more time with --timeout"
        raise ModelError(f"no answer within {seconds:g} s", where=str(place.runtime), hint=hint) from None
    if done.returncode or not (folder / "outputs/answer.json").is_file():
        last_words = (done.stderr.strip().splitlines() or ["no message"])[-1]
        what = f"its process ended with code {done.returncode}: {plain(last_words)[:300]}"
        raise ModelError(what, where=str(place.runtime), hint=_OTHER)


def _read(into: Path, count: int, place: Place) -> list[dict[str, Array]]:
    answer = json.loads((into / "answer.json").read_text(encoding="utf-8"))
    if answer["unusable"]:
        raise EnvironmentLacks(str(answer["unusable"]), where=str(place.runtime), hint=_OTHER)
    names = [list(enumerate(answer["names"][str(number)])) for number in range(count)]
    return [{str(name): load_npy(into / f"{number}.{at}.npy") for at, name in own} for number, own in enumerate(names)]
