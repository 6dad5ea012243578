"""Sixty ordinary mistakes, a row each: what is wrong, the command, its exit code, and a part of what is said.

Each starts from the sound files below. How the advice is followed stands in no row, but for the few where a hint is
about the machine: the test takes it from the message itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MODEL = """import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.last = paddle.nn.Linear(4, 3)

    def forward(self, x):
        return self.last(x)


def net(width=4):
    return Net()
"""
SPEC = """name: net
version: '1.0'
model: m:net
weights: factory
inputs:
  x: {shape: [b, 4], dtype: float32}
dims:
  b: {min: 1, typical: 2, max: 3}
formats: [pir]
engines: [jit_load]
"""
CHECK = ("check", "s.yaml")
#: A program is converted, though no trace is made: the cheapest command that takes a model with its inputs.
CONVERT = ("convert", "m:net", "--input", "x=float32[b,4]", "--dim", "b=1..3", "--formats", "pir", "--out", "out")


@dataclass(frozen=True)
class Mistake:
    """What a user does wrong; `swap` is a text of the spec and what stands in its place, `files` what else is there."""

    name: str
    code: int
    says: str
    swap: tuple[str, str] = ("", "")
    command: tuple[str, ...] = CHECK
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    before: Callable[[Path], object] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cure: Callable[[Path], object] | None = None
    cured_env: Mapping[str, str] = field(default_factory=dict)


def _spec(name: str, old: str, new: str, says: str) -> Mistake:
    return Mistake(name, 2, says, (old, new))


def _line(command: str) -> tuple[str, ...]:
    return tuple(command.split())


def _weights(name: str, says: str) -> Mistake:
    """A checkpoint of another kind; the right one lies beside it."""
    content = b'{"base_code": {}}'
    return Mistake(f"checkpoint: {name}", 2, says, ("weights: factory", f"checkpoint: {name}"), files={name: content})


TYPING = (
    _spec("a version that YAML takes for a number", "'1.0'", "1.10", "1.10 is a number, and text is needed"),
    _spec("a version of one digit", "'1.0'", "2", "2 is a number, and text is needed"),
    _spec("an empty version", "'1.0'", "''", "is not a name of letters"),
    _spec("dots in place of the colon", "m:net", "m.net", "is not module:attribute"),
    _spec("a path in place of the module", "m:net", "m.py:net", "no module 'm.py'"),
    _spec("a slash before the factory", "m:net", "m/net", "is not module:attribute"),
    _spec("a module whose name is near", "m:net", "mm:net", "no module 'mm'"),
    _spec("a factory whose name is near", "m:net", "m:nett", "m has no 'nett'"),
    _spec("a key whose name is near", "weights:", "wieghts:", "unknown key 'wieghts'"),
    _spec("a key of an input that is near", "dtype:", "dtpe:", "unknown key 'inputs.x.dtpe'"),
    _spec("a key of a dim that is near", "typical:", "typcal:", "unknown key 'dims.b.typcal'"),
    _spec("a format whose name is near", "[pir]", "[pirr]", "'pirr' is none of pir, pdmodel, onnx"),
    _spec("an engine whose name is near", "[jit_load]", "[jit_lod]", "unknown engine 'jit_lod'"),
    _spec("a dim whose name is near", "[b, 4]", "[bb, 4]", "dim 'bb' is used in inputs but not described"),
    _spec("a name with a blank", "name: net", "name: my net", "is not a name of letters"),
    _spec("values whose name is near", "dtype: float32", "dtype: float32, values: nrmal", "did you mean normal?"),
    Mistake("a verb whose name is near", 2, "No such command 'chek'", command=_line("chek s.yaml")),
    Mistake("an option whose name is near", 2, "No such option: --jso", command=_line("check s.yaml --jso")),
    Mistake("a spec whose name is near", 2, "no such", command=_line("check ss.yaml")),
    Mistake("a module on the command line", 2, "no such file or folder", command=_line("check m.net")),
    Mistake("a reference on the command line", 2, "no module 'mm'", command=_line("check mm:net")),
    Mistake(
        "an override whose key is near", 2, "unknown key 'sed'", command=_line("convert s.yaml --set sed=3 --out o")
    ),
    Mistake("a rule that is not there", 2, "no finding has the code 'EX999'", command=_line("explain EX999")),
    Mistake("a rule by its number", 2, "no finding has the code '101'", command=_line("explain 101")),
)
SHAPES = (
    _spec("a dtype of Python", "float32", "float", "'float' is none of float16, float32"),
    _spec("a dtype of C", "float32", "double", "'double' is none of float16, float32"),
    _spec("a size in quotes", "[b, 4]", "[b, '4']", "'4' is not a number"),
    _spec("a negative size", "min: 1", "min: -1", "-1 is out of bounds"),
    _spec("a dim without a typical size", ", typical: 2", "", "dims.b.typical is missing"),
    _spec("a dim without a largest size", ", max: 3", "", "dims.b.max is missing"),
    _spec("a typical size beyond the largest", "typical: 2", "typical: 9", "typical (9) is not between"),
    _spec("a smallest size beyond the largest", "min: 1, typical: 2", "min: 5, typical: 5", "min (5) is greater"),
    _spec("a size that is a word", "min: 1", "min: one", "'one' is text, and a whole number is needed"),
    _spec("a dim that is not described", "dims:\n  b: {min: 1, typical: 2, max: 3}\n", "", "dim 'b' is used in inputs"),
    _spec("a dim that nothing uses", "dims:\n", "dims:\n  h: {min: 1, typical: 2, max: 3}\n", "dim 'h' is described"),
    _spec("a format that is no list", "[pir]", "pir", "'pir' is text, and a list is needed"),
    _spec("no format", "[pir]", "[]", "formats is empty"),
    _spec("an engine twice", "[jit_load]", "[jit_load, jit_load]", "engines names something twice"),
    _spec(
        "a seed that is a word", "weights:", "seed: seven\nweights:", "'seven' is text, and a whole number is needed"
    ),
    _spec("a seed below zero", "weights:", "seed: -1\nweights:", "-1 is out of bounds"),
    _spec("a budget beyond all bounds", "weights:", "budget: 400\nweights:", "it has to be at most 64"),
    _spec("a device in capitals", "weights:", "device: CPU\nweights:", "is not auto, cpu, gpu or gpu:N"),
    _spec("a flag that is a word", "float32}", "float32, finite: yes}", "'yes' is neither true nor false"),
    _spec(
        "an output called as an input", "weights:", "outputs: [x]\nweights:", "the name of an input and of an output"
    ),
    _spec("a dim written with a dash", "b: {min: 1", "b-b: {min: 1", "is not a name of letters"),
    Mistake("a range with a dash", 2, "is not name=min..max", command=(*CONVERT[:5], "b=1-3", *CONVERT[6:])),
    Mistake("a range from above", 2, "is greater than max", command=(*CONVERT[:5], "b=3..1", *CONVERT[6:])),
    Mistake("an input in parentheses", 2, "is not name=dtype", command=(*CONVERT[:3], "x:float32(b,4)", *CONVERT[4:])),
)
FILES = (
    _weights("net.pdopt", "holds the state of an optimizer"),
    _weights("net.pdiparams", "holds the parameters of an exported program"),
    _weights("net.json", "is an exported program, and no checkpoint"),
    _weights("net.pth", "is a checkpoint of another framework"),
    _spec("checkpoint without its suffix", "weights: factory", "checkpoint: net", "no such checkpoint"),
    _spec("checkpoint whose name is near", "weights: factory", "checkpoint: nett.pdparams", "no such checkpoint"),
    _spec("a checkpoint as weights", "weights: factory", "weights: net.pdparams", "a file of trained ones"),
    _spec("both kinds of weights", "weights: factory", "weights: factory\ncheckpoint: net.pdparams", "drop one"),
    _spec("no weights", "weights: factory\n", "", "nothing says which weights are exported"),
    _spec("no name", "name: net\n", "", "name is missing"),
    Mistake(
        "a folder of specs",
        2,
        "is a folder, with a spec in it",
        command=_line("release specs"),
        files={"specs/s.yaml": SPEC},
    ),
)


def re_encoded(folder: Path, encoding: str) -> None:
    """Save the spec in an encoding, as an old editor does; with a comment that needs one."""
    text = (folder / "s.yaml").read_text(encoding="utf-8")
    (folder / "s.yaml").write_bytes(f"{text}# größe 模型\n".encode(encoding, errors="replace"))


def as_utf8(encoding: str) -> Callable[[Path], object]:
    """Return what saves the spec as UTF-8."""
    return lambda folder: (folder / "s.yaml").write_text(
        (folder / "s.yaml").read_bytes().decode(encoding), encoding="utf-8"
    )


def _encoded(encoding: str) -> Mistake:
    before: Callable[[Path], object] = lambda folder: re_encoded(folder, encoding)  # noqa: E731 - it is a field
    return Mistake(f"a spec in {encoding}", 2, "not UTF-8 at byte", before=before, cure=as_utf8(encoding))


def _mended(name: str, old: str, new: str, says: str) -> Mistake:
    """A spec that is no YAML: what the advice names is the difference to the sound one."""
    return Mistake(name, 2, says, (old, new), cure=lambda folder: (folder / "s.yaml").write_text(SPEC))


def unwritable(folder: Path) -> None:
    """Make a home that is a file, in which root cannot write either."""
    (folder / "home").write_text("")


ENCODINGS: tuple[Mistake, ...] = (
    _spec("a name in Chinese", "name: net", "name: 模型 net", "is not a name of letters"),
    _spec("a key twice", "weights: factory\n", "weights: factory\nname: net\n", "'name' is given twice"),
    *map(_encoded, ("latin-1", "utf-16", "gb18030")),
    _mended("a tab before a key", "  x: {", "\tx: {", "write blanks in place of the tab"),
    _mended("a list that is not closed", "[pir]", "[pir", "close the list with ]"),
    _mended("a mapping that is not closed", "float32}", "float32", "close the mapping with }"),
    _mended("a quote that is not closed", "'1.0'", "'1.0", "not valid YAML"),
)


PLACES = (
    Mistake(
        "a home that cannot be written",
        3,
        "files in ~/.cache, which cannot be written",
        command=_line("convert s.yaml --out out"),
        before=unwritable,
        env={"HOME": "home"},
        cured_env={"HOME": os.environ.get("HOME", "/root")},
    ),
)
MISTAKES = (*TYPING, *SHAPES, *FILES, *ENCODINGS, *PLACES)
