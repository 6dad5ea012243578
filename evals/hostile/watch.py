"""What a command touches, seen from outside: by Python's audit hooks in every process, and by the system's calls.

    python -m evals.hostile.watch --count 30 --traced 8 --seed 1     # by the real executable

A process of the command may read its own installation, the bundle and what the system offers to every program; it
writes into its folder for temporary files alone, and starts nothing but Python and the tools that tell of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from evals.hostile.bases import Base, bases
from evals.hostile.kinds import Wanted, plan
from tests.command import COMMAND, ROOT, environment

#: A line for each event that reads, writes or starts something, in every process of the command.
_HOOK = """
import json, os, sys
_NAMES = ("open", "exec", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.remove", "os.rename",
          "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "socket.connect", "socket.bind")
_OF_FOLDERS = ("os.remove", "os.mkdir", "os.rmdir")
_log = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def _whole(path, arguments):
    # A relative path is relative to the folder of a descriptor, or to the working folder of the process.
    if not isinstance(path, (str, bytes, os.PathLike)) or os.path.isabs(path) or os.fsdecode(path).startswith("<"):
        return path
    folder = arguments[-1] if arguments else -1
    base = os.readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder > 2 else os.getcwd()
    return os.path.normpath(os.path.join(base, os.fsdecode(path)))
def _hook(event, arguments):
    if event in _NAMES:
        told = getattr(arguments[0], "co_filename", arguments[0])
        if event in ("os.rename", "os.link", "os.symlink"):
            told = _whole(arguments[1], arguments[2:])  # what comes to lie somewhere
        elif event in _OF_FOLDERS or event == "open":
            told = _whole(told, arguments if event in _OF_FOLDERS else ())
        if event == "open" and arguments[1] is None and told != arguments[0] and not os.path.lexists(told):
            return  # below a descriptor that the event does not tell; strace does
        flags = arguments[2] if event == "open" else 0
        os.write(_log, (json.dumps([event, repr(told) if not isinstance(told, str) else told, flags]) + "\\n").encode())
sys.addaudithook(_hook)
"""
#: The file of a bundle that checks it without us.
SCRIPT = "verify.py"
#: What the system offers to every program, for reading; and what may be written to.
_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib64", "/bin", "/opt")
_SINKS = ("/dev/null", "/dev/tty", "/dev/shm", "/proc/self")
#: Paddle makes these when it is imported, whoever imports it.
_CACHES = (f"{Path.home()}/.cache/paddle/",)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_TOOLS = {"nvidia-smi", "uname", "lscpu", "ldconfig", "gcc", "cc", "sh", "which"}
_CALL = re.compile(r'^\\d+ +(\\w+)\\((?:AT_FDCWD, |\\d+[^,]*, )?"((?:[^"\\\\]|\\\\.)*)"(.*)\\) += (-?\\d+)')
_CHANGES = ("rename", "unlink", "mkdir", "rmdir", "symlink", "link", "creat", "truncate", "chmod", "chown", "mknod")


class Place:
    """The folders of one run: the bundle in its working folder, the temporary folder, and the log."""

    def __init__(self, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        self.work, self.temporary, self.log = place / "work", place / "tmp", place / "log"
        self.hook, self.outside = place / "hook", place / "outside"
        for folder in (self.work, self.temporary, self.hook):
            folder.mkdir(parents=True)
        (self.hook / "sitecustomize.py").write_text(_HOOK)

    def may_read(self, path: str) -> bool:
        """Whether a process of the command may open this."""
        own = [self.work / "bundle", self.temporary, self.hook, self.log, ROOT / "exporter", ROOT / "tests"]
        own += [Path(sys.prefix), Path(sys.base_prefix), *(Path(entry) for entry in sys.path if entry)]
        inside = path.startswith("<") or any(Path(path).is_relative_to(place) for place in (*own, *map(Path, _SYSTEM)))
        return inside and (not path.startswith(str(self.work)) or path.startswith(str(self.work / "bundle")))

    def may_write(self, path: str) -> bool:
        """Whether it may change this."""
        return path.startswith((str(self.temporary), str(self.log), *_SINKS, *_CACHES))


def run(verb: str, place: Place, prefix: list[str]) -> tuple[int, list[str]]:
    """Run a verb of the executable on the bundle of a place, or its own script; the exit code, and what is wrong."""
    env = environment(PYTHONPATH=str(place.hook), TMPDIR=str(place.temporary), WATCHED=str(place.log))
    command = [*COMMAND, verb, "bundle", "--json", *(["--quiet"] if verb == "verify" else [])]
    if verb == SCRIPT:
        command = [sys.executable, f"bundle/{SCRIPT}", "--timeout", "30"]
    done = subprocess.run(
        [*prefix, *command], cwd=place.work, env=env, capture_output=True, text=True, errors="replace", check=False
    )
    return done.returncode, ["a traceback"] if "Traceback" in done.stderr else []


def events(place: Place) -> Iterator[str]:
    """What the hooks have seen that may not be."""
    for line in place.log.read_text(errors="replace").splitlines():
        event, told, flags = json.loads(line)
        path = told if told.startswith(("/", "<")) else os.path.normpath(place.work / told)
        if event == "open" and told.isdigit():  # a descriptor
            continue
        if event == "open" and isinstance(flags, int) and flags & _WRITES:
            if not place.may_write(path):
                yield f"{event} for writing: {told}"
        elif event in ("open", "exec"):
            if not place.may_read(path) and (event == "open" or told.startswith(str(place.work))):
                yield f"{event}: {told}"
        elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"):
            if Path(told).name not in _TOOLS and not Path(told).name.startswith("python"):
                yield f"{event}: {told}"
        elif not event.startswith("socket") and not place.may_write(path):
            yield f"{event}: {told}"


def calls(place: Place, trace: Path) -> Iterator[str]:
    """What the system's calls have done that may not be."""
    for line in trace.read_text(errors="replace").splitlines():
        if (found := _CALL.match(line)) is None or found[4] == "-1":
            continue
        name, told, rest = found[1], found[2], found[3]
        path = told if told.startswith("/") else os.path.normpath(place.work / told)
        if name == "execve":
            if Path(told).name not in _TOOLS and not Path(told).name.startswith("python"):
                yield f"execve: {told}"
        elif name.startswith("open") and re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", rest):
            if not place.may_write(path):
                yield f"{name} for writing: {told}"
        elif name.startswith("open"):
            if path.startswith(str(place.work)) and not place.may_read(path) and path != str(place.work):
                yield f"{name}: {told}"
        elif name.startswith(_CHANGES) and not place.may_write(path):
            yield f"{name}: {told}"


def _is_the_sound_one(bundle: Path, base: Base) -> bool:
    """Whether the script of a hostile bundle is still ours: another one does what it likes."""
    path = bundle / SCRIPT
    sound = not path.is_symlink() and path.is_file()
    return sound and path.read_bytes() == (base.folder / SCRIPT).read_bytes()


def watched(wanted: Wanted, base: Base, folder: Path, *, traced: bool) -> tuple[dict[str, int], list[str]]:
    """The exit codes of `verify`, `inspect` and the bundle's script, and what they did that may not be."""
    found, codes = [], {}
    for verb in ("verify", "inspect", SCRIPT):
        place = Place(folder)
        wanted.make(base, place.work / "bundle", place.outside)
        if verb == SCRIPT and not _is_the_sound_one(place.work / "bundle", base):
            continue
        trace = folder / "trace"
        prefix = ["strace", "-f", "-qq", "-e", "trace=%file,%process", "-o", str(trace)] if traced else []
        codes[verb], wrong = run(verb, place, prefix)
        found += [f"{verb}: {what}" for what in wrong]
        found += [f"{verb}: {what}" for what in (calls(place, trace) if traced else events(place))]
        found += [f"{verb}: its code was run"] if place.outside.exists() else []
    return codes, sorted(set(found))


def main() -> int:
    """Watch a sample; print what may not be."""
    parser = argparse.ArgumentParser(prog="python -m evals.hostile.watch")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--traced", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bases", type=Path)
    chosen = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        sound = {base.name: base for base in bases(chosen.bases or Path(place) / "bases")}
        sample = plan(2000, chosen.seed, tuple(sound))[: chosen.count + chosen.traced]
        for at, wanted in enumerate(sample):
            traced = at >= chosen.count
            codes, found = watched(wanted, sound[wanted.base], Path(place) / "run", traced=traced)
            bad += bool(found)
            how = "traced" if traced else "hooked"
            print(f"{how} {wanted.number} {wanted.base} {wanted.kind} {codes} {found[:6]}", flush=True)
    print(f"{len(sample)} watched, {bad} of them did what may not be")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
