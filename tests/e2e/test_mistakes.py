"""What a beginner does wrong: one sentence and one edit, and the edit that the message asks for is enough."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from exporter.base.errors import ExitCode
from tests.command import COMMAND, Done, environment, exporter, leftovers, refused
from tests.e2e.mistakes import MISTAKES, MODEL, SPEC, Mistake

#: How many edits one mistake may ask for: the second is about what the first has brought to light.
EDITS = 2


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A checkpoint of the model."""
    import numpy as np
    from safetensors.numpy import save

    return save({"last.weight": np.ones((4, 3), "float32"), "last.bias": np.zeros(3, "float32")})


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "_"))
def test_the_advice_is_enough(mistake: Mistake, tmp_path: Path, state: bytes) -> None:
    (tmp_path / "m.py").write_text(MODEL)
    old, new = mistake.swap
    assert old in SPEC and (not old or SPEC.count(old) == 1 or old in ("weights:", "dims:\n"))
    spec = tmp_path / "s.yaml"
    spec.write_text(SPEC.replace(old, new, 1) if old else SPEC)
    for name, content in mistake.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "net.safetensors").write_bytes(state)
    if mistake.before is not None:
        mistake.before(tmp_path)
    command = list(mistake.command)
    done = ran(command, tmp_path, mistake.env)
    refused(done, mistake.code, mistake.says)
    assert len(message(done)) <= 2 and "run.py" not in done.err, "one sentence and one advice"
    if mistake.cured_env or mistake.cure:
        if mistake.cure:
            mistake.cure(tmp_path)
        assert ran(command, tmp_path, mistake.cured_env).code == 0
        return
    for _ in range(EDITS):
        command = follow(done, command, spec)
        done = ran(command, tmp_path, {})
        if done.code == 0:
            return
    pytest.fail(f"{command} after the edits:\n{spec.read_text()}\n{done.err}{done.out}")


def ran(command: list[str], folder: Path, variables: dict[str, str] | object) -> Done:
    more = {name: str(folder / value) for name, value in dict(variables).items()}  # type: ignore[call-overload]
    return exporter(*command, cwd=folder, env=environment(**more)) if more else exporter(*command, cwd=folder)


def message(done: Done) -> list[str]:
    """What is said, and what to try."""
    return [line for line in done.err.splitlines() if not line.startswith("·")]


def follow(done: Done, command: list[str], spec: Path) -> list[str]:
    """Do what the advice says to the spec or to the command line, and return the command to run then."""
    said, hint = message(done)[0], message(done)[-1].removeprefix("  try: ")
    place = re.match(r"error: s\.yaml:(\d+):(\d+): ", said)
    lines = spec.read_text().splitlines(keepends=True)
    hint = hint.partition("; ")[0]
    if hint.startswith("exporter "):
        return shlex.split(hint.partition(", ")[0])[1:]
    if entry := re.fullmatch(r"add (\w+): (.*) under (\w+)", hint):
        at = next(at for at, line in enumerate(lines) if line.startswith(f"{entry[3]}:"))
        lines.insert(at + 1, f"  {entry[1]}: {entry[2]}\n")
    elif added := re.fullmatch(r"add (\w+: .*)", hint):
        row = int(place[1]) - 1 if place else 0
        inside = "{" in lines[row] and not added[1].startswith(("name", "dims", "weights"))
        lines[row] = lines[row].replace("{", f"{{{added[1]}, ", 1) if inside else f"{added[1]}\n{lines[row]}"
    elif written := re.fullmatch(r"write (\w+): (.*)", hint):
        value = r"(?:\[[^\]]*\]|\{[^}]*\}|'[^']*'|[^,}\n]*)"
        row = int(place[1]) - 1 if place else 0
        rows = [row, *range(len(lines))] if place and written[1] in lines[row] else range(len(lines))
        at = next(at for at in rows if re.search(rf"\b{written[1]}:", lines[at]))
        lines[at] = re.sub(rf"\b{written[1]}: {value}", f"{written[1]}: {written[2]}", lines[at], count=1)
    elif changed := re.fullmatch(r"write (.*), in place of (.*)", hint):
        assert place
        lines[int(place[1]) - 1] = lines[int(place[1]) - 1].replace(changed[2], changed[1], 1)
    elif renamed := re.fullmatch(r"rename it to (.*)", hint):
        assert place
        row = int(place[1]) - 1
        lines[row] = (
            re.sub(r"^(\s*)[^:]+: [^{\n]*", rf"\g<1>{renamed[1]}", lines[row])
            if ": " in renamed[1]
            else re.sub(r"^(\s*)[^:]+:", rf"\g<1>{renamed[1]}:", lines[row])
        )
    elif removed := re.match(r"remove (\w+)(?: from \w+)?$|leave one out: the first is in line (\d+)", hint):
        at = (
            int(removed[2]) - 1
            if removed[2]
            else next(at for at, line in enumerate(lines) if re.match(rf"\s*{removed[1]}:", line))
        )
        del lines[at]
    else:
        near = re.match(r"(?:did you mean|give) '([^']+)'|write (\S.*)", hint)
        assert near, hint
        right, wrong = near[1] or near[2].removeprefix("exporter "), mistaken(said)
        if any(wrong in word for word in command):
            return [word.replace(wrong, right) for word in command]
        word = rf"(?<![\w.]){re.escape(wrong)}(?![\w.])"
        rows = [at for at, line in enumerate(lines) if re.search(word, line)]
        row = int(place[1]) - 1 if place and int(place[1]) - 1 in rows else None
        row = next((at for at in rows if lines[at].startswith("checkpoint")), rows[0]) if row is None else row
        lines[row] = re.sub(word, right, lines[row], count=1)
    spec.write_text("".join(lines))
    return command


def mistaken(said: str) -> str:
    """The word that the message is about: the last key of a quoted place, an option, or where it begins."""
    said = re.sub(r"^error: (?:s\.yaml:\d+:\d+: )?(?:exporter[\w ]*: )?", "", said)
    if option := re.match(r"No such option: (--[\w-]+)", said):
        return option[1]
    if quoted := re.search(
        r"(?:unknown key|unknown engine|has no|No such command|dim|the code|no module|^\S+: )[^']*'([^']+)'", said
    ):
        reference = re.match(r"(\w[\w.]*:\w+): no ", said)
        return reference[1] if reference else quoted[1].rpartition(".")[2] if "unknown key" in said else quoted[1]
    return said.partition(": ")[0].rpartition(" ")[2]


def sound(folder: Path) -> Path:
    (folder / "m.py").write_text(MODEL)
    (folder / "s.yaml").write_text(SPEC)
    return folder


def test_two_at_once_into_one_place_both_end_and_leave_a_whole_bundle(tmp_path: Path) -> None:
    command = [*COMMAND, "convert", "s.yaml", "--out", "out", "-q"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, cwd=sound(tmp_path), env=environment(), **pipes) for _ in range(2)]  # type: ignore[call-overload]
    for process in both:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0 or "  try: " in said, said
    assert any(process.returncode == 0 for process in both)
    assert exporter("inspect", bundle(tmp_path), cwd=tmp_path).code == 0 and not leftovers(tmp_path)


def bundle(folder: Path) -> Path:
    return next((folder / "out").rglob("manifest.json")).parent


def test_one_that_is_interrupted_says_to_run_it_again_which_passes(tmp_path: Path) -> None:
    command = ["convert", "s.yaml", "--out", "out"]
    started = [*COMMAND, *command]
    pipe = subprocess.PIPE
    with subprocess.Popen(started, cwd=sound(tmp_path), env=environment(), stderr=pipe, text=True) as process:
        assert process.stderr
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == ExitCode.INTERRUPTED, rest
    assert first.startswith("·") and "error: interrupted" in rest and "try: the same command again" in rest
    assert exporter(*command, cwd=tmp_path).code == 0


def test_without_a_terminal_or_any_stream_it_ends_as_with_one(tmp_path: Path) -> None:
    command = shlex.join([*COMMAND, "check", "s.yaml", "--no-probe"])
    for streams, code in (("<&- >&- 2>&-", 0), ("</dev/null >/dev/null 2>&1", 0), (">/dev/full", 3)):
        done = subprocess.run(
            ["bash", "-c", f"{command} {streams}"], cwd=sound(tmp_path), env=environment(), check=False
        )
        assert done.returncode == code, streams


@pytest.mark.parametrize("command", [("check", "--help"), ("release", "--help"), ("convert", "s.yaml", "--out", "out")])
def test_a_terminal_of_80_columns_holds_each_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    variables = {name: value for name, value in environment().items() if name != "COLUMNS"}
    shown = b""
    with subprocess.Popen([*COMMAND, *command], cwd=sound(tmp_path), env=variables, stdout=theirs, stderr=theirs):
        os.close(theirs)
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(ours, 1 << 16):
                shown += part
    os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    lines = [line for whole in plain.splitlines() for line in whole.split("\r")]
    assert len(lines) > 1 and not [line for line in lines if len(line) > 80]
