"""Programs and parameters that were changed: bytes, operators that do more than compute, graphs without end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

from evals.hostile.structure import mutate, mutate_text
from exporter.base.readers.wire import root

#: Bytes at the ends of what numbers can be, in protobuf and in JSON.
ENDS = (b"\xff" * 9 + b"\x01", b"\x80" * 5 + b"\x01", bytes(8), b"\xff" * 8, b"NaN", b"-1", b"9" * 30, b"", b"null")
#: An operator of each Paddle program that writes, prints, calls Python, or runs a program of its own.
OPERATORS = ("save_combine", "save", "print", "py_func", "run_program", "load_combine", "read_file", "pylayer")
DOMAINS = (("Shell", ""), ("EPContext", "com.microsoft"), ("PyOp", "ai.onnx.contrib"), ("Relu", "a.stranger"))


def varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def bent(path: Path, random: Random) -> str:
    """Flip bits, cut, double or replace a piece, somewhere."""
    content = bytearray(path.read_bytes())
    start = random.randrange(len(content) + 1)
    stop = min(len(content), start + random.choice((1, 2, 4, 16, 64, len(content))))
    way = random.choice(("flip", "flip", "cut", "double", "end", "swap"))
    if way == "flip":
        for _ in range(random.choice((1, 1, 2, 8))):
            bit = random.randrange(len(content) * 8)
            content[bit // 8] ^= 1 << bit % 8
    elif way == "cut":
        del content[start:stop]
    elif way == "double":
        content[start:start] = content[start:stop]
    elif way == "end":
        content[start : start + 4] = random.choice(ENDS)
    else:
        other = random.randrange(len(content) + 1)
        content[start:stop] = content[other : other + stop - start]
    path.write_bytes(bytes(content))
    return f"{path.name}: {way} at {start}"


def restructured(path: Path, random: Random) -> str:
    """A PIR program of another structure."""
    program = json.loads(path.read_bytes())
    if random.random() < 0.2:
        text, said = mutate_text(program, random)
        path.write_bytes(text)
    else:
        said = mutate(program, random)
        path.write_bytes(json.dumps(program).encode("utf-8", "surrogatepass"))
    return f"{path.name}: {said}"


def pir_operator(path: Path, random: Random) -> str:
    """An operator of a PIR program is called otherwise."""
    program = json.loads(path.read_bytes())
    operators = program["program"]["regions"][0]["blocks"][0]["ops"]
    kind = random.choice((*(f"1.{name}" for name in OPERATORS), "3.custom", "2.while", "0.call", "x", "1.", ""))
    random.choice(operators)["#"] = kind
    path.write_bytes(json.dumps(program).encode())
    return f"{path.name}: an operator is {kind!r}"


def pdmodel_operator(path: Path, random: Random, writes: Path) -> str:
    """A further operator at the end of a ProgramDesc, which would write to a file or run something."""
    kind = random.choice(OPERATORS)
    attribute = field(4, field(1, b"file_path") + varint(2 << 3) + varint(2) + field(5, os.fsencode(writes)))
    taken = field(1, field(1, b"X") + field(2, b"x"))
    _insert(path, 1, field(4, taken + field(3, kind.encode()) + attribute))
    return f"{path.name}: the operator {kind}"


def onnx_operator(path: Path, random: Random) -> str:
    """A further node in an ONNX graph, of a kind or a domain that nobody has listed."""
    kind, domain = random.choice(DOMAINS)
    _insert(path, 7, field(1, field(2, b"nobody reads it") + field(4, kind.encode()) + field(7, domain.encode())))
    return f"{path.name}: the operator {domain}.{kind}"


def onnx_outside(path: Path, random: Random) -> str:
    """An initializer whose numbers lie in another file."""
    place = random.choice(("../secret", "/etc/passwd", "model.onnx", "/proc/kmsg", "weights.bin"))
    entry = field(13, field(1, b"location") + field(2, place.encode()))
    tensor = b"\x08\x04\x10\x01" + field(8, b"outside") + entry + b"\x70\x01"
    _insert(path, 7, field(5, tensor))
    return f"{path.name}: a tensor lies in {place}"


def without_end(path: Path, random: Random) -> str:
    """An ONNX graph of a million nodes, of attributes, or of graphs in graphs."""
    way = random.choice(("nodes", "graphs", "deep", "values", "names"))
    if way == "nodes":
        more = field(1, field(4, b"Relu")) * 1_100_000
    elif way == "graphs":
        more = field(1, field(4, b"If") + field(5, field(6, b"")) * 700_000)
    elif way == "values":
        more = field(11, b"") * 1_500_000
    elif way == "names":
        more = field(1, field(4, b"x" * (20 << 20)))
    else:
        more = b""
        for _ in range(5000):
            more = field(1, field(4, b"If") + field(5, field(6, more)))
    _insert(path, 7, more)
    return f"{path.name}: {way} without end"


def tensor_changed(path: Path, random: Random) -> str:
    """Numbers of the parameters, by bytes that hold some."""
    content = bytearray(path.read_bytes())
    way = random.choice(("zero", "noise", "nan", "step"))
    size = random.choice((4, 16, 64))
    start = random.randrange(max(1, len(content) - size))
    new = {"zero": bytes(size), "nan": b"\x00\x00\xc0\x7f" * (size // 4), "noise": random.randbytes(size)}
    content[start : start + size] = new.get(way, bytes(b ^ 1 for b in content[start : start + size]))
    path.write_bytes(bytes(content))
    return f"{path.name}: {way} over {size} bytes at {start}"


def _insert(path: Path, number: int, more: bytes) -> None:
    """Put a field at the end of the first message with this number at the top."""
    content = path.read_bytes()
    part = next(part for part in root(content, str(path)) if part.number == number)
    head = content[: part.start]
    length = varint(part.stop - part.start)
    assert head.endswith(length)
    whole = content[part.start : part.stop] + more
    path.write_bytes(head[: -len(length)] + varint(len(whole)) + whole + content[part.stop :])


def program_of(folder: Path, random: Random) -> Path:
    """The file of some variant that holds a program."""
    found = [path for suffix in ("*.onnx", "*.pdmodel", "pir*/*.json") for path in folder.rglob(suffix)]
    return random.choice(sorted(found))


def first(folder: Path, pattern: str, random: Random) -> Path | None:
    """Some file of a pattern, where the bundle holds one."""
    found = sorted(folder.rglob(pattern))
    return random.choice(found) if found else None
