"""The environment, examined: can this machine do what a spec asks for that says nothing special?

Every check says what was found and, where something is lacking, the cure. Nothing is installed or changed.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from exporter import __version__
from exporter.base import machine
from exporter.base.distribution import NAME, how_to_install
from exporter.base.registry import Registry
from exporter.engines.base import Availability, missing
from exporter.engines.child import ProbeAnswer, ProbeRequest
from exporter.engines.child import probe as probe_engines
from exporter.engines.device import nvidia_here, parse_device
from exporter.engines.probe import availability
from exporter.process.job import job
from exporter.process.workers import Limits
from exporter.spec.model import Spec

#: Below it (bytes), a release may fail for want of room: a child that holds Paddle takes 0.3 to 0.6 GB.
LITTLE = 2 << 30
_CONVERTER = "paddle2onnx"
#: The verbs that write artifacts; the runtime image has none of them, and so no need of a converter.
_WRITERS = {"convert", "gate", "release"}


class State(str, Enum):
    """`lacking` makes the environment unfit; `absent` is optional and not here; a `note` is good to know."""

    OK = "ok"
    LACKING = "lacking"
    ABSENT = "absent"
    NOTE = "note"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what, what was found, and the cure where it is not as it should be."""

    what: str
    state: State
    found: str
    cure: str = ""


@dataclass(frozen=True)
class Machine:
    """What the machine is, as :mod:`exporter.base.machine` says; without GPUs it has no `driver`."""

    cpu: machine.Cpu
    memory: Mapping[str, int]
    disk: machine.Disk
    system: str
    gpus: tuple[Mapping[str, str], ...] = ()
    driver: str = ""

    @classmethod
    def here(cls) -> Machine:
        """Return what this machine is, with the disk of the working folder."""
        about = (machine.cpu(), machine.memory(), machine.disk(Path.cwd()), platform.platform())
        gpus = tuple(machine.gpus())
        return cls(*about, gpus, machine.driver() if gpus else "")

    def to_json(self) -> dict[str, object]:
        """Return the object under `machine` that `doctor --json` prints."""
        about: dict[str, object] = {"cpu": self.cpu, "memory": self.memory, "disk": self.disk, "system": self.system}
        return {**about, "gpus": list(self.gpus), "driver": self.driver} if self.gpus else about


@dataclass(frozen=True)
class Diagnosis:
    """All checks, and what the machine is."""

    checks: tuple[Check, ...]
    machine: Machine

    @property
    def ready(self) -> bool:
        """True where nothing is lacking."""
        return all(one.state is not State.LACKING for one in self.checks)

    @property
    def cure(self) -> str:
        """What to do about the first thing that is lacking; empty where nothing is."""
        return next((check.cure for check in self.checks if check.state is State.LACKING), "")

    def to_json(self) -> dict[str, object]:
        """The object that `doctor --json` prints."""
        checks = [asdict(check) for check in self.checks]
        return {"ready": self.ready, "checks": checks, "machine": self.machine.to_json()}


def examine(device: str, limits: Limits) -> Diagnosis:
    """Look at Python, the packages, every engine on the device, and the machine.

    With `auto` the CPU is what must work; where there is a GPU, it is told what works there too.

    Raises:
        UsageError: `device` is none.
    """
    kind, gpu = parse_device(device)
    checks = [*_python(), *_packages(), *_engines(gpu if kind == "gpu" else "cpu", limits)]
    if kind == "auto" and nvidia_here():
        checks += [_optional(one) for one in _engines(gpu, limits)]
    about = Machine.here()
    return Diagnosis((*checks, *_capacity(about), *_hazards()), about)


def _python() -> Iterator[Check]:
    found = f"{platform.python_version()}, {sys.executable}"
    try:
        wanted = metadata(NAME)["Requires-Python"]
    except PackageNotFoundError:
        yield Check("python", State.OK, found)
        cure = "install exporter with scripts/install"
        yield Check("exporter", State.NOTE, "run from its source, so that no version can be held against a range", cure)
        return
    fits = SpecifierSet(wanted).contains(platform.python_version())
    cure = "" if fits else f"use a Python of {wanted}: scripts/install --python PATH"
    yield Check("python", State.OK if fits else State.LACKING, found, cure)
    yield Check("exporter", State.OK, __version__)


def _packages() -> Iterator[Check]:
    """Every package that is declared, in the range that is declared; what only training needs is optional."""
    extra = "gpu" if _version("paddlepaddle-gpu") else "cpu"
    try:
        declared = [Requirement(line) for line in requires(NAME) or ()]
    except PackageNotFoundError:
        return
    for need in declared:
        groups = [
            one
            for one in ("", extra, "convert", "paddle2onnx", "sign", "train")
            if not need.marker or need.marker.evaluate({"extra": one})
        ]
        if not groups:
            continue
        on_gpu = f"{need.name}-gpu"  # the same package, built for CUDA: it serves the CPU, too
        name = on_gpu if _version(need.name) is None and _version(on_gpu) else need.name
        found = _version(name)
        if found and need.specifier.contains(found, prereleases=True):
            yield Check(f"package {name}", State.OK, found)
        else:
            said = f"{found}, not {need.specifier}" if found else "not installed"
            optional = {"paddle2onnx", "sign", "train"} | (set() if _writes() else {"convert"})
            state = State.ABSENT if set(groups) <= optional else State.LACKING
            cure = f"scripts/install, or pip install '{name}{need.specifier}'"
            yield Check(f"package {name}", state, said, cure)


def _engines(device: str, limits: Limits) -> list[Check]:
    """Every engine on the device, and the second writer of ONNX; those that a plain spec names must be there."""
    needed = {*Spec.model_fields["engines"].default, "eager", "static"}
    names = [*Registry[Any]("exporter.engines", "engine").names(), _CONVERTER]
    answers = availability(names, device, limits, probe)
    checks = []
    for name in sorted(names, key=lambda one: (one not in needed, one)):
        answer = answers[name]
        what = "converter paddle2onnx" if name == _CONVERTER else f"engine {name} on {device}"
        if answer.available:
            beside = "".join(f", {library} {version}" for library, version in sorted(answer.libraries.items()))
            checks.append(Check(what, State.OK, f"{answer.version}{beside}"))
        else:
            state = State.LACKING if name in needed else State.ABSENT
            checks.append(Check(what, state, answer.why_not, answer.cure))
    return checks


def _writes() -> bool:
    """Whether this installation has a verb that writes artifacts."""
    return bool(_WRITERS & set(Registry[Any]("exporter.cli", "verb").names()))


def _optional(check: Check) -> Check:
    return Check(check.what, State.ABSENT, check.found, check.cure) if check.state is State.LACKING else check


@job
def probe(request: ProbeRequest) -> ProbeAnswer:
    """Return what :func:`exporter.engines.child.probe` says of the engines, and whether paddle2onnx imports."""
    engines = tuple(name for name in request.engines if name != _CONVERTER)
    answers = dict(probe_engines(ProbeRequest(engines, request.device)).engines)
    if _CONVERTER in request.engines:
        lacks = missing(_CONVERTER, how_to_install(_CONVERTER))
        answers[_CONVERTER] = lacks or Availability(version=_version(_CONVERTER) or "")
    return ProbeAnswer(answers)


def _capacity(about: Machine) -> Iterator[Check]:
    cpu, memory, disk = about.cpu, about.memory, about.disk
    able = ", ".join(cpu["abilities"]) or "none of " + ", ".join(machine.ABILITIES)
    yield Check("cpu", State.NOTE, f"{cpu['model']}, {cpu['cores']} cores; {able}")
    for gpu in about.gpus:
        said = f"{gpu['name']}, {gpu['memory']}, compute capability {gpu['compute_capability']}"
        yield Check("gpu", State.NOTE, f"{said}; driver {about.driver}")
    said = f"{_giga(memory['available'])} of {_giga(memory['total'])} free"
    cure = "close other programs: a child that holds Paddle takes up to 0.6 GB, a large model more"
    yield Check("memory", State.NOTE, said, cure if memory["available"] < LITTLE else "")
    said = f"{_giga(disk['free'])} of {_giga(disk['total'])} free in {disk['path']}"
    if not disk["writable"]:
        yield Check(
            "disk", State.LACKING, f"{disk['path']} cannot be written to", "run from another folder, or use --out"
        )
    else:
        yield Check("disk", State.NOTE, said, "free some room" if disk["free"] < LITTLE else "")


def _hazards() -> Iterator[Check]:
    """What works, and may yet surprise."""
    if _version("paddlepaddle") and _version("paddlepaddle-gpu"):
        cure = "uninstall both, then run scripts/install"
        yield Check(
            "two Paddles", State.LACKING, "paddlepaddle and paddlepaddle-gpu overwrite each other's files", cure
        )
    if found := _version("polygraphy"):
        said = (
            f"polygraphy {found} makes paddle2onnx pip-install packages while it converts; exporter switches that off"
        )
        yield Check("polygraphy", State.NOTE, said, "export POLYGRAPHY_AUTOINSTALL_DEPS=0 for scripts of your own")
    if shutil.which("exporter") is None:
        beside = Path(sys.executable).with_name("exporter")
        cure = f"call {beside}, or put its folder on PATH" if beside.is_file() else "install it with scripts/install"
        yield Check("command", State.NOTE, "`exporter` is not on PATH", cure)
    said = "in a shell `export train` is the builtin: it does nothing and exits 0"
    yield Check("export", State.NOTE, said, "call exporter, or `env export`")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _giga(count: int) -> str:
    return f"{count / 2**30:.1f} GB"


def as_text(found: Diagnosis) -> str:
    """The same for a person: what is lacking last, since that is what is read."""
    order = [State.OK, State.ABSENT, State.NOTE, State.LACKING]
    lines = []
    for one in sorted(found.checks, key=lambda check: order.index(check.state)):
        plain = re.sub(r"[^ -~\u00a0-\uffff]", "?", one.found)
        lines.append(f"{one.state.value:8} {one.what}: {plain}")
        if one.cure:
            lines.append(f"         cure: {one.cure}")
    count = sum(one.state is State.LACKING for one in found.checks)
    lines.append("ready" if not count else f"not ready: {count} of {len(found.checks)} checks found something lacking")
    return "\n".join(lines) + "\n"
