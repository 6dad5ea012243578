"""The command line as a user types it: in a process of its own, in a folder of the test's own."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.warm import Warm

ROOT = Path(__file__).parents[1]
#: The stored bundle of the manifest's present version: `python -m tools.stored_bundle`.
STORED = ROOT / "tests/data/bundles/v1"
#: The console script's own two lines, so that the tests need no installed script; its folder, where Python puts the
#: working folder, holds no module.
COMMAND = [sys.executable, "-c", "import sys; sys.path.remove(''); from exporter.cli import main; main()"]
#: Not a limit under test: a hang shall end the test and not the whole run. By the clock, so more than a machine that is
#: busy with twenty others needs (the longest command took 310 s at a load of 19 on two cores), and less than CI has.
PATIENCE = 1200


@dataclass(frozen=True)
class Done:
    """What became of one command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    """Ours, with nothing that colours or wraps the output; what is put on PYTHONPATH stands before what is there."""
    if "PYTHONPATH" in more and "PYTHONPATH" in os.environ:
        more["PYTHONPATH"] = os.pathsep.join((more["PYTHONPATH"], os.environ["PYTHONPATH"]))
    ours = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {**ours, "COLUMNS": "200", "NO_COLOR": "1", **more}


# What one test has released, another shall release again; the tests of the cache name one of their own.
os.environ["EXPORTER_NO_CACHE"] = "1"
_WARM = environment()


def exporter(
    *arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, alone: bool = False, **options: Any
) -> Done:
    """Run `exporter …`; whatever happens, no traceback may reach the user and no file may be left half written.

    In a fork of a process that has imported it (:mod:`tests.warm`); in a new process if `alone`, or with options or
    other variables.
    """
    done = None if alone or options else _in_a_fork(list(map(str, arguments)), cwd, env or environment())
    if done is None:
        ran = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=cwd,
            env=env or environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            **options,
        )
        done = Done(ran.returncode, ran.stdout, ran.stderr)
    assert "Traceback" not in done.err + done.out, done.err
    assert not leftovers(cwd), "something half written was left"
    return done


def _in_a_fork(arguments: list[str], cwd: Path, variables: dict[str, str]) -> Done | None:
    """None where another command runs there just now, or a test wants other variables."""
    if variables != _WARM:
        return None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _warm().run(arguments, cwd, out, err, PATIENCE)
        if code is None:
            return None
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode())
        return Done(code, *said)


@functools.cache
def _warm() -> Warm:
    warm = Warm(_WARM)
    atexit.register(warm.close)
    return warm


def refused(done: Done, code: int, *said: str) -> None:
    """A refusal says what, where and what to do, in as many words as `said`, and leaves with `code`."""
    assert done.code == code, (done.code, done.out, done.err)
    message = [line for line in done.err.splitlines() if not line.startswith("·")]
    assert message and message[0].startswith("error: "), done.err
    assert any(line.startswith("  try: ") for line in message), f"nothing to try: {done.err}"
    for text in said:
        assert text in "\n".join(message), f"{text!r} is not said: {done.err}"
    assert done.out == "", "an error is no result"


def leftovers(folder: Path) -> list[Path]:
    """Temporary siblings that a writer left behind."""
    return [path for path in folder.rglob(".tmp-*") if not path.is_symlink()]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes, to see that nothing was lost or added."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
