"""Run the commands on one hostile bundle, and judge what came of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evals.hostile.aims import CAUGHT, MISSED, NO_AIM, NOT_TRIED, Made, Told, told_in
from evals.hostile.bases import Base
from evals.hostile.harmless import why_harmful
from evals.hostile.kinds import Wanted
from exporter.base.errors import ExitCode
from tests.command import COMMAND, environment

#: Seconds of processor time, and bytes of resident memory of any one process, that a command may take. Where engines
#: run, the seconds are counted beyond those that the sound bundle takes.
MOST_SECONDS, MOST_BYTES = 5.0, 700 << 20
#: Seconds of the clock after which a run is ended; the machine may be busy with much else.
PATIENCE = 400.0
#: Exit codes that a stranger's bundle may end in; 2 only where there is no bundle at all.
CODES = (0, 1, 3, 5)


@dataclass
class Result:
    """What became of one bundle; `against` says what must not be.

    `aim` is what has to catch it, `fate` one of the words of :mod:`evals.hostile.aims`, and `why` what stopped it
    before that was tried, or what it passed with.
    """

    number: int
    kind: str
    base: str
    seed: int
    said: str = ""
    codes: dict[str, int] = field(default_factory=dict)
    processor: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, int] = field(default_factory=dict)
    message: str = ""
    aim: str = ""
    fate: str = ""
    why: str = ""
    against: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """One line of the file of results."""
        return asdict(self)


class Warm:
    """The warmed process (:mod:`evals.hostile.warm`), as a runner of commands on bundles below `place`."""

    def __init__(self, place: Path) -> None:
        command, env = [sys.executable, "-m", "evals.hostile.warm"], {**os.environ, "TMPDIR": str(place / "tmp")}
        self.place = place
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.sound: dict[str, float] = {}

    def heat(self, sound: Sequence[Base]) -> None:
        """Start the servers of all engines, and measure what the sound bundles take."""
        for base in sound:
            self.emptied()
            self.run({"heat": os.fspath(base.folder)})
        for base in sound:
            self.emptied()
            shutil.copytree(base.folder, self.place / "work/bundle")
            result = Result(-1, "sound", base.name, 0)
            _command("verify", self, result)
            assert result.codes["verify"] == 0, result
            self.sound[base.name] = result.processor["verify"]

    def emptied(self) -> None:
        """Make the folders of a run anew."""
        shutil.rmtree(self.place, ignore_errors=True)
        for name in ("work", "tmp"):
            (self.place / name).mkdir(parents=True)

    def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Run one command line in a fork."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End it, and its servers."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def run(wanted: Wanted, base: Base, warm: Warm) -> Result:
    """Make the bundle, verify and inspect it, and judge that."""
    result, place = Result(wanted.number, wanted.kind, wanted.base, wanted.seed), warm.place
    warm.emptied()
    bundle, outside = place / "work/bundle", place / "outside"
    made = wanted.make(base, bundle, outside)
    result.said, result.aim = made.said, made.aim.name
    told = Told()
    before = listing(place / "work")
    for verb in ("verify", "inspect"):
        _command(verb, warm, result)
        told = told_in(place / "out") if verb == "verify" else told
        if outside.exists():
            result.against.append(f"{verb}: code of the bundle was run: {outside.read_text(errors='replace')[:80]}")
        if (left := listing(place / "work")) != before:
            result.against.append(f"{verb}: it wrote into the working folder: {sorted(set(left) ^ set(before))[:3]}")
        if left := [path.name for path in (place / "tmp").iterdir()]:
            result.against.append(f"{verb}: it left {left[:3]} in the temporary folder")
    result.message = told.first[:200]
    result.fate, result.why = _fate(made, told, result.codes["verify"], base, bundle)
    if result.fate == NO_AIM and result.why:
        result.against.append(f"it passes, although {result.why}")
    return result


def _fate(made: Made, told: Told, code: int, base: Base, bundle: Path) -> tuple[str, str]:
    """Whether it was caught by what it aims at; else why not.

    What passes has not been tried where it computes the same, and differs in nothing that anything could compute.
    """
    if code != 0:
        if not made.aim.at_a_proof:
            return NO_AIM, ""
        return (CAUGHT, "") if told.caught(made.aim) else (NOT_TRIED, told.stopped_by)
    why = "it is wrong in any case" if made.wrong else why_harmful(base, bundle)
    if not made.aim.at_a_proof:
        return NO_AIM, why
    return (MISSED, why) if why else (NOT_TRIED, "passes, and does no harm")


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """Every entry below a folder, with its size and the time of its last change."""
    found = []
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *files)):
            about = path.lstat()
            found.append((os.fspath(path), about.st_size, about.st_mtime_ns))
        if len(found) > 500 or len(place) > 3000:
            break
    return found


def _command(verb: str, warm: Warm, result: Result) -> None:
    place = warm.place
    out, err = place / "out", place / "err"
    arguments = [verb, "bundle", "--json", *(["--quiet", "--jobs", "2"] if verb == "verify" else [])]
    job = {"arguments": arguments, "cwd": str(place / "work"), "out": str(out), "err": str(err)}
    answer = warm.run({**job, "seconds": PATIENCE})
    result.codes[verb], result.processor[verb] = answer["code"], round(answer["processor"], 2)
    result.megabytes[verb] = max(answer["main"], answer["jobs"]) >> 20
    beyond = warm.sound.get(result.base, 1e9) if answer["code"] != ExitCode.BUNDLE else 0.0
    result.against += [
        f"{verb}: {what}" for what in _judged(answer, MOST_SECONDS + beyond, place / "work/bundle", (out, err))
    ]


def _judged(answer: Mapping[str, Any], seconds: float, bundle: Path, streams: Sequence[Path]) -> list[str]:
    code, found = answer["code"], []
    out, err = (path.read_bytes()[: 1 << 20] for path in streams)
    no_bundle = not (bundle / "manifest.json").exists() and not (bundle / "manifest.json").is_symlink()
    if code not in CODES and not (code == 2 and no_bundle):
        found.append(f"exit code {code}")
    if b"Traceback" in err + out.replace(b'"Traceback', b""):
        found.append("a traceback")
    if b"\x1b" in err + out or b"\xe2\x80\xae" in err + out:
        found.append("what takes a terminal over")
    if answer["hung"]:
        found.append("it hung")
    if answer["processor"] > seconds:
        found.append(f"{answer['processor']:.1f} s of processor time")
    if max(answer["main"], answer["jobs"]) > MOST_BYTES:
        found.append(f"{max(answer['main'], answer['jobs']) >> 20} MB")
    return found


def through_the_script(arguments: Sequence[str], cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The same by the real executable, in a process of its own."""
    command = [*COMMAND, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment(), capture_output=True, text=True, errors="replace", check=False, **options
    )
