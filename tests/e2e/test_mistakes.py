"""What a beginner does wrong: one sentence and one edit, and the edit that the message asks for is enough."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command import Done, environment, exporter, refused
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
    if mistake.cured_env:
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
