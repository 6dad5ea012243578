"""Two gates share a cache and one is killed: neither it, when it is started again, nor the other says what is wrong."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command import COMMAND, PATIENCE, contents, environment, exporter
from tests.gate.reuse.test_release import MODEL, project

#: In place of the last line of `forward`: a program that the check refuses.
SOUND = "return self.last(paddle.nn.functional.relu(self.first(x)))"
UNSOUND = "import random; return self.last(self.first(x)) * random.random()"


def gate(work: Path) -> subprocess.Popen[str]:
    command = [*COMMAND, "gate", "--cache", "../cache"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=work, env=environment(), text=True, **pipes)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err, err
    return process.returncode, out


def changed(work: Path, number: int, *, sound: bool) -> None:
    (work / "net/helping.py").write_text(f"def factor():\n    return {number + 1} / 64\n")
    (work / "net/depending.py").write_text(MODEL if sound else MODEL.replace(SOUND, UNSOUND))


def assert_no_wrong_verdict(place: Path, times: int, seed: int) -> None:
    generator = random.Random(seed)
    works = [project(place / name) for name in ("one", "two")]
    began = time.monotonic()
    assert ended(gate(works[0]))[0] == 0
    whole = time.monotonic() - began
    for number in range(times):
        sound = number % 3 != 1
        for work in works:
            changed(work, number, sound=sound)
        killed, other = map(gate, works)
        time.sleep(generator.uniform(0, 1.5 * whole))
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=PATIENCE)
        code, out = ended(other)
        again, _ = ended(gate(works[0]))
        assert (code, again) == ((0, 0) if sound else (1, 1)), (number, out)
        if sound:
            bundles = [work / f"artifacts/net/{'candidate' if number or work == works[0] else 1}" for work in works]
            assert contents(bundles[0]) == contents(bundles[1]), number
            done = exporter("verify", bundles[0].relative_to(works[0]), "--source", ".", cwd=works[0])
            assert done.code == 0, (number, done.out + done.err)


def test_one_of_two_gates_is_killed_a_few_times(tmp_path: Path) -> None:
    assert_no_wrong_verdict(tmp_path, 2, 1)


@pytest.mark.slow
def test_one_of_two_gates_is_killed_thirty_times(tmp_path: Path) -> None:
    assert_no_wrong_verdict(tmp_path, 30, random.SystemRandom().randrange(10**6))
