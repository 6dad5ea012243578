"""The contract of an engine, checked in one child: importing Paddle for each check would take most of the time."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from exporter.base.errors import ExporterError
from exporter.base.registry import Registry
from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session
from exporter.engines.session import started
from exporter.process.job import job
from tests.contract.exact import Array, draw, expected
from tests.faults import truncate

ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")


@dataclasses.dataclass(frozen=True)
class Devices:
    """The devices to ask each engine about."""

    devices: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Probes:
    """What each engine says of each device."""

    engines: Mapping[str, Mapping[str, Availability]]


@dataclasses.dataclass(frozen=True)
class Contract:
    """One engine on one device, with an artifact that it runs."""

    engine: str
    device: str
    artifact: Runnable


@dataclasses.dataclass(frozen=True)
class Checks:
    """Each check by name with `ok` or what was wrong."""

    checks: Mapping[str, str]


@job
def probes(request: Devices) -> Probes:
    """What each engine says of each device."""
    return Probes(
        {name: {device: engine.probe(device) for device in request.devices} for name, engine in ENGINES.all()}
    )


@job
def contract(request: Contract) -> Checks:
    """Each check by name with `ok` or what was wrong."""
    open_it = Opener(ENGINES[request.engine], request.device)
    artifact, answers = request.artifact, {}
    with open_it(artifact) as session:
        for check in (*WITH_SESSION, *(() if artifact.source else WITH_FILES)):
            try:
                check(session, open_it, artifact)
                answers[check.__name__] = "ok"
            except AssertionError as error:
                answers[check.__name__] = str(error) or "an assertion failed"
    return Checks(answers)


@dataclasses.dataclass(frozen=True)
class Opener:
    """Opens artifacts with one engine, on one device."""

    engine: Engine
    device: str

    def __call__(self, artifact: Runnable) -> AbstractContextManager[Session]:
        return started(self.engine, artifact, self.device)


# ---- with a session ------------------------------------------------------------------------------------------------


def exact_at_every_size(session: Session, open_it: Opener, artifact: Runnable) -> None:
    for seed, (batch, rows) in enumerate([(2, 3), (5, 1), (1, 1), (2, 3)]):
        same(session.run(inputs := draw(batch, rows, seed)), expected(inputs))


def inputs_go_by_name(session: Session, open_it: Opener, artifact: Runnable) -> None:
    inputs = draw(2, 3)
    same(session.run(dict(reversed(inputs.items()))), expected(inputs))


def outputs_are_the_files(session: Session, open_it: Opener, artifact: Runnable) -> None:
    assert sorted(session.run(draw(2, 3))) == sorted(artifact.outputs)


def other_inputs_are_refused(session: Session, open_it: Opener, artifact: Runnable) -> None:
    good = draw(2, 3)
    short = {name: value for name, value in good.items() if name != "right"}
    wrong: dict[str, dict[str, Array]] = {
        "one is missing": short,
        "none": {},
        "one too many": {**good, "more": good["left"]},
        "another name": {**short, "Right": good["right"]},
        "float64": {**good, "left": good["left"].astype("float64")},
        "float16": {**good, "left": good["left"].astype("float16")},
        "integers": {**good, "left": good["left"].astype("int64")},
        "int32": {**good, "flags": good["flags"].astype("int32")},
        "another rank": {**good, "left": good["left"].ravel()},
        "another fixed size": {**good, "left": good["left"][:, :2]},
    }
    for what, inputs in wrong.items():
        with refusing(what):
            session.run(inputs)
        same(session.run(good), expected(good))  # and the session is as good as before


def any_memory_will_do(session: Session, open_it: Opener, artifact: Runnable) -> None:
    inputs = draw(4, 6)
    odd = {name: np.asfortranarray(value)[::2] for name, value in inputs.items()}
    for value in odd.values():
        value.setflags(write=False)
    before = {name: value.copy() for name, value in odd.items()}
    same(session.run(odd), expected(before))
    same(odd, before)


def results_are_kept(session: Session, open_it: Opener, artifact: Runnable) -> None:
    """A result is not overwritten by the next run."""
    first, second = draw(2, 3, 1), draw(2, 3, 2)
    kept = session.run(first)
    session.run(second)
    same(kept, expected(first))


def no_rows_are_refused(session: Session, open_it: Opener, artifact: Runnable) -> None:
    """An empty batch kills some engines; here it harms nothing."""
    for inputs in (draw(0, 3), draw(2, 0)):
        with refusing("an empty batch"):
            session.run(inputs)
    same(session.run(draw(2, 3)), expected(draw(2, 3)))


def two_sessions_at_once(session: Session, open_it: Opener, artifact: Runnable) -> None:
    first, second = draw(2, 3, 1), draw(3, 2, 2)
    with open_it(artifact) as other:
        for _ in range(2):
            same(session.run(first), expected(first))
            same(other.run(second), expected(second))
    same(session.run(first), expected(first))


def threads_are_as_asked(session: Session, open_it: Opener, artifact: Runnable) -> None:
    inputs = draw(2, 3)
    for threads in (2, 1):
        with open_it(dataclasses.replace(artifact, threads=threads)) as other:
            settings = other.settings
            assert settings.asked["threads"] == settings.effective["threads"] == threads, settings
            same(other.run(inputs), expected(inputs))


def it_says_what_computes(session: Session, open_it: Opener, artifact: Runnable) -> None:
    assert session.provider
    assert not session.settings.unmet(), session.settings
    assert set(session.settings.asked) <= set(session.settings.effective)


def names_are_never_shifted(session: Session, open_it: Opener, artifact: Runnable) -> None:
    """Where fewer outputs are expected than there are, no value comes under the name of another."""
    fewer = dataclasses.replace(artifact, outputs=artifact.outputs[1:])
    with contextlib.suppress(EngineRefused), open_it(fewer) as other:
        found, wanted = other.run(draw(2, 3)), expected(draw(2, 3))
        same(found, {name: wanted[name] for name in found})


# ---- with files ----------------------------------------------------------------------------------------------------


def damaged_files_are_refused(session: Session, open_it: Opener, artifact: Runnable) -> None:
    assert artifact.folder
    names = sorted(path.name for path in artifact.folder.iterdir())
    assert artifact.model in names
    for name in names:
        for what, damage in DAMAGE.items():
            with tempfile.TemporaryDirectory() as place:
                copy = Path(shutil.copytree(artifact.folder, Path(place) / "copy"))
                damage(copy / name)
                with (
                    refusing(f"{name}: {what}"),
                    open_it(dataclasses.replace(artifact, folder=copy)) as broken,
                ):
                    broken.run(draw(2, 3))


def no_folder_is_refused(session: Session, open_it: Opener, artifact: Runnable) -> None:
    with refusing("no folder"), open_it(dataclasses.replace(artifact, folder=Path("/nonexistent"))):
        pass


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "half": truncate,
    "one byte short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "not a model": lambda path: path.write_bytes(b"\x00\x01 what is this \xff" * 40),
}
WITH_SESSION = (
    exact_at_every_size,
    inputs_go_by_name,
    outputs_are_the_files,
    other_inputs_are_refused,
    any_memory_will_do,
    results_are_kept,
    two_sessions_at_once,
    threads_are_as_asked,
    it_says_what_computes,
    names_are_never_shifted,
    no_rows_are_refused,
)
WITH_FILES = (damaged_files_are_refused, no_folder_is_refused)


@contextlib.contextmanager
def refusing(what: str) -> Iterator[None]:
    """The body must end in a refusal of the engine, or of ours for a user's file; nothing else may come out."""
    try:
        yield
    except (EngineRefused, ExporterError) as error:
        assert str(error).strip(), f"{what}: refused without a word"
        return
    raise AssertionError(f"{what}: was taken")


def same(found: dict[str, Array], wanted: dict[str, Array]) -> None:
    assert sorted(found) == sorted(wanted), f"{sorted(found)} came, not {sorted(wanted)}"
    for name, value in wanted.items():
        assert found[name].dtype == value.dtype, f"{name} is {found[name].dtype}, not {value.dtype}"
        assert found[name].shape == value.shape, f"{name} is {found[name].shape}, not {value.shape}"
        assert np.array_equal(found[name], value), f"{name} is wrong"
