"""Which lines a model's cases reach, what inputs can decide, and what the search for the rest costs."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from exporter.prove.goldens.coverage import SIZE, VALUE, Coverage, TooLong

HEAD = "import numpy as np\n"


class Value:
    """Stands for a tensor: sizes, and a number to decide by. What it is called with is the same for the flow."""

    def __init__(self, number: float, *shape: int) -> None:
        self.number, self.shape = number, list(shape)
        self.ndim, self.dtype = len(shape), "float32"

    def sum(self) -> float:
        return self.number

    def __mul__(self, by: float) -> Value:
        return Value(self.number * by, *self.shape)


def module(tmp_path: Path, text: str) -> ModuleType:
    path = tmp_path / f"net_{len(list(tmp_path.iterdir()))}_of_{tmp_path.name}.py"
    path.write_text(HEAD + textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = made
    spec.loader.exec_module(made)
    return made


def watched(net: Any, *cases: Value, sizes: Sequence[range] = ()) -> Coverage:
    """What a coverage of these cases, one after the other, has seen."""
    coverage = Coverage(net, ("x",), sizes)
    for case in cases:
        with coverage.watching():
            net.forward(case)
    return coverage


def missing(tmp_path: Path, text: str, *cases: Value) -> list[tuple[str, int]]:
    """The text of each line that is named after these cases, and what decides it."""
    made = module(tmp_path, text)
    coverage = watched(made.Net(), *(cases or (Value(1.0, 2, 4), Value(2.0, 3, 4))))
    lines = Path(str(made.__file__)).read_text().splitlines()
    return [(lines[left.line - 1].strip(), left.by) for left in coverage.unreached()]


FORWARDS: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "the value of an input": ("if x.sum() > 5:\n    x = x * 9", [("x = x * 9", VALUE)]),
    "a value, by way of a name": ("s = x.sum()\nif s > 5:\n    x = x * 9", [("x = x * 9", VALUE)]),
    "what a value decided": (
        "flag = False\nif x.sum() > 5:\n    flag = True\nif flag:\n    x = x * 9",
        [("flag = True", VALUE), ("x = x * 9", VALUE)],
    ),
    "a condition that always holds": ("if x.sum() > -5:\n    x = x * 9", [("if x.sum() > -5:", VALUE)]),
    "an else": ("if x.sum() > -5:\n    y = 1\nelse:\n    y = 9", [("y = 9", VALUE)]),
    "a loop": ("while x.sum() > 5:\n    x = x * 0.5", [("x = x * 0.5", VALUE)]),
    "a loop over a number from a tensor": ("for i in range(int(x.sum()) - 2):\n    y = i", [("y = i", VALUE)]),
    "a helper": ("x = helper(x.sum(), x)", [("return x * 9", VALUE)]),
    "a method that takes a flag": ("x = self.part(x, x.sum() > 5)", [("return x * 7", VALUE)]),
    "a sublayer that takes a flag": ("x = self.layers[0](x, x.sum() > 5)", [("return x * 8", VALUE)]),
    "what an earlier call left": ("self.count = x.sum()\nif self.count > 5:\n    x = x * 9", [("x = x * 9", VALUE)]),
    "None by a value": (
        "y = None if x.sum() > 5 else x\nif y is None:\n    y = x * 9",
        [("y = None if x.sum() > 5 else x", VALUE), ("y = x * 9", VALUE)],
    ),
    "an exception": ("try:\n    y = x * 1\nexcept RuntimeError:\n    y = 9", []),
    "an exception by a value": ("try:\n    y = x.sum()\nexcept RuntimeError:\n    y = 9", [("y = 9", VALUE)]),
    "a size that varies": ("if x.shape[0] > 5:\n    x = x * 9", [("x = x * 9", SIZE)]),
    "a size that varies, by way of names": ("b, w = x.shape\nif b * w > 50:\n    x = x * 9", [("x = x * 9", SIZE)]),
    "a size that is always the same": ("b, w = x.shape\nif w != 4:\n    x = x * 9", []),
    "the rank and the dtype": (
        "if x.ndim == 5 or len(x.shape) == 5 or x.dtype == 'float16':\n    x = x * 9",
        [],
    ),
    "its type": ("if isinstance(x, (list, tuple)):\n    x = x[0]", []),
    "whether an input is there": ("if x is None:\n    x = 9", []),
    "an argument with a default": ("if mask is not None:\n    x = x * 9", []),
    "a default that is given": ("if more:\n    x = x * 9", []),
    "training": ("if self.training:\n    x = x * 9", []),
    "training, and a value": ("if self.training and x.sum() > 0:\n    x = x * 9", []),
    "a type, and a value": ("if isinstance(x, dict) and x['a'].sum() > 5:\n    x = x['a']", []),
    "a word of the configuration, and a value": ("if self.mode == 'b' and x.sum() > 5:\n    x = x * 9", []),
    "its own word, and a value": ("if self.mode == 'a' and x.sum() > 5:\n    x = x * 9", [("x = x * 9", VALUE)]),
    "an argument left out, and a value": ("if mask is not None and x.sum() > 5:\n    x = x * 9", []),
    "not training, and a value": ("if not self.training and x.sum() > 5:\n    x = x * 9", [("x = x * 9", VALUE)]),
    "the keys of a dict": ("y = {'a': x}\nif 'b' in y.keys():\n    x = x * 9", []),
    "a key that a value decides": (
        "y = {'a': x}\nif x.sum() > 5:\n    y['b'] = x\nif 'b' in y:\n    x = x * 9",
        [("y['b'] = x", VALUE), ("x = x * 9", VALUE)],
    ),
    "configuration, or a value": ("if self.always or x.sum() > 5:\n    y = 1\nelse:\n    y = 9", []),
    "configuration": ("if self.mode == 'b' or SETTING or self.layers[0].wide:\n    x = x * 9", []),
    "an attribute that a value changed": (
        "for part in self.layers:\n    if part.kind == 'conv':\n        x = x * 9",
        [],
    ),
    "a method with a flag of the configuration": ("x = self.part(x, self.training)", []),
    "a sublayer with a flag of the configuration": ("x = self.layers[0](x, flag=self.training)", []),
    "inside what configuration leaves out": ("if SETTING:\n    if x.sum() > 5:\n        x = x * 9", []),
    "numpy's functions": ("y = np.maximum(x.sum(), 1)\nif y > 50:\n    x = x * 9", [("x = x * 9", VALUE)]),
    "a library's answer without inputs": ("if np.get_printoptions()['precision'] == 99:\n    x = x * 9", []),
    "a list that grew with values": (
        "seen = []\nif x.sum() > 5:\n    seen.append(x)\nif len(seen) > 0:\n    x = x * 9",
        [("seen.append(x)", VALUE), ("x = x * 9", VALUE)],
    ),
    "a function inside": (
        "def inner(y):\n    if y > 5:\n        return 9\n    return y\nx = x * inner(x.sum())",
        [("return 9", VALUE)],
    ),
    "a match": (
        "match int(x.sum()):\n    case 1 | 2:\n        y = 1\n    case _:\n        y = 9",
        [("y = 9", VALUE)],
    ),
}

NET = """
SETTING = 0

def helper(score, x):
    if score > 5:
        return x * 9
    return x

class Part:
    wide = False
    kind = "linear"
    training = False

    def forward(self, x, flag=False):
        if flag:
            return x * 8
        return x

    __call__ = forward

class Net:
    def __init__(self):
        self.training, self.mode, self.layers, self.always = False, "a", [Part()], True

    def part(self, x, flag):
        if flag:
            return x * 7
        return x

    def forward(self, x, mask=None, more=()):
"""


QUESTIONS: dict[str, tuple[str, list[str]]] = {
    "a table": ("y = x * TABLE.get(x.shape[0], 1)", ["entry 37 of `TABLE`"]),
    "a table in a helper": ("y = x * looked_up(x.shape[0])", ["entry 37 of `TABLE`"]),
    "a table of the layer": ("y = x * self.table.get(x.shape[0] // 1, 1)", ["entry 37 of `self.table`"]),
    "a table of the class": (
        "k = self.TABLE[x.shape[0]] if x.shape[0] in self.TABLE else 1",
        ["`x.shape[0] in self.TABLE` is True in no case", "entry 37 of `self.TABLE`"],
    ),
    "sizes as a key": ("y = {(37, 4): 3}.get((x.shape[0], x.shape[1]), 1)", ["entry (37, 4)"]),
    "a set": (
        "y = 3 if x.shape[0] in {37, 370} else 1",
        ["`x.shape[0] in {37, 370}` is True in no case", "entry 37 of `{37, 370}`"],
    ),
    "an entry that no dim promises": ("y = x * {370: 3}.get(x.shape[0], 1)", []),
    "a size that is always the same": ("y = x * TABLE.get(x.shape[1], 1)", []),
    "a table that forward fills": ("n = x.shape[0]\nk = self.kept.get(n)\nif k is None:\n    self.kept[n] = k = n", []),
    "an except on its line": (
        "try: k = {1: 5, 2: 5, 3: 5}[x.shape[0]]\nexcept KeyError: k = 1",
        ["entry 1", "reached"],
    ),
    "an else of a try": (
        "k, n = 1, x.shape[0] + 9\ntry:\n    k = TABLE[n]\nexcept KeyError:\n    pass\nelse:\n    k = 2",
        ["entry 37", "reached"],
    ),
    "a set of sizes": ("y = x * len({37, x.shape[0]})", ["`37 == x.shape[0]` is True in no case"]),
    "a set of a list": ("y = x * len(set([37, x.shape[0]]))", ["`37 == x.shape[0]` is True in no case"]),
    "the keys of a list": ("y = x * len(dict.fromkeys([37, x.shape[0]]))", ["`37 == x.shape[0]` is True"]),
    "sizes that may be the same": (
        "n = x.shape[0]\nm = 37 + 0 * n\ny = x * len({n, m})",
        ["`n == m` is True in no case"],
    ),
    "a set that loses a size": ("s = {37}\ns.discard(x.shape[0])\ny = x * len(s)", ["entry 37 of `s`"]),
    "what two sets that are written out share": ("y = x * len({37} & {x.shape[0]})", ["entry 37 of `{37}`"]),
    "what two sets share": ("y = x * len({x.shape[0]} & TABLE.keys())", ["entry 37 of `TABLE.keys()`"]),
    "a conditional expression": ("y = 3 if x.shape[0] == LIMIT else 1", ["`x.shape[0] == LIMIT` is True in no case"]),
    "a conditional expression that configuration settles": ("y = 3 if LIMIT and x.shape[0] == 5 else 1", []),
    "an if on its line": ("n = x.shape[0]\nif n < 37: x = x * 3", ["`n < 37` is False in no case"]),
    "a match on its line": ("match x.shape[0]:\n    case 37: k = 3\n    case _: k = 1", ["entry 37 of `{37}`"]),
}
TABLES = """
TABLE, LIMIT = {37: 3}, 37

def looked_up(n):
    return TABLE.get(n, 1)

class Net:
    TABLE = {37: 3}

    def __init__(self):
        self.table, self.kept = {37: 3}, {}

    def forward(self, x):
"""


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_within_a_line_that_no_case_gave_is_named_until_one_does(name: str, tmp_path: Path) -> None:
    """A table that is asked for a size is baked into the program as the trace found it: 37 has to be run."""
    body, says = QUESTIONS[name]
    net = module(tmp_path, TABLES + textwrap.indent(body, " " * 8) + "\n        return x").Net()
    coverage = watched(net, Value(1.0, 2, 4), Value(1.0, 3, 4), sizes=[range(1, 65)])
    left = coverage.unreached()
    assert len(left) == len(says) and all(what in one.what for one, what in zip(left, says, strict=True)), left
    assert all(one.by == SIZE for one in left)
    for rows in (37, 1, 28):
        with coverage.watching():
            net.forward(Value(1.0, rows, 4))
    assert coverage.unreached() == []


#: Conditions within a line that are more than whole numbers, names and sizes, or that a value decides.
SIDES: dict[str, tuple[str, int]] = {
    "y = 3 if x.sum() > 5 else 1": ("x.sum() > 5", VALUE),
    "y = max(2, 3 if x.sum() > 5 else 1)": ("x.sum() > 5", VALUE),
    "y = (-1\n     if x.sum() > 5\n     else x.number)": ("x.sum() > 5", VALUE),
    "y = 1\nif x.sum() > 5: y = 3": ("x.sum() > 5", VALUE),
    "y = 1\nif x.sum() > 5: y = 3\nelse: y = 2": ("x.sum() > 5", VALUE),
    "y = 3 if 36 < x.shape[0] < 99 else 1": ("36 < x.shape[0] < 99", SIZE),
    "y = 3 if x.shape[0] > 36.5 else 1": ("x.shape[0] > 36.5", SIZE),
    "y = 3 if x.shape[0] / 2 > 18 else 1": ("x.shape[0] / 2 > 18", SIZE),
    "s = list(x.shape)\ny = 3 if s[0] in (37, 38) else 1": ("s[0] in (37, 38)", SIZE),
    "y = 3 if len(range(x.shape[0])) > 36 else 1": ("len(range(x.shape[0])) > 36", SIZE),
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not say where in a line an instruction stands")
@pytest.mark.parametrize("body", SIDES)
def test_a_side_within_a_line_that_no_case_took_is_named_until_one_does(body: str, tmp_path: Path) -> None:
    condition, by = SIDES[body]
    net = module(tmp_path, NET + textwrap.indent(body, " " * 8) + "\n        return x").Net()
    coverage = watched(net, Value(1.0, 2, 4), Value(2.0, 3, 4), sizes=[range(1, 65)])
    (left,) = coverage.unreached()
    assert left.by == by and left.what.startswith(f"`{condition}` is True in no case")
    with coverage.watching():
        net.forward(Value(9.0, 37, 4))
    assert coverage.unreached() == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not say where in a line an instruction stands")
@pytest.mark.parametrize("body", ["y = 3 if x.sum() > -5 else 1", "y = 1\nif x.sum() > -5: y = 3"])
def test_a_side_that_is_always_taken_is_named(body: str, tmp_path: Path) -> None:
    net = module(tmp_path, NET + textwrap.indent(body, " " * 8) + "\n        return x").Net()
    coverage = watched(net, Value(1.0, 2, 4), Value(2.0, 2, 4))
    assert [left.what[:34] for left in coverage.unreached()] == ["`x.sum() > -5` is False in no case"]


@pytest.mark.parametrize(
    "body",
    ["y = 3 if self.training else 1", "y = 3 if x.shape[1] > 36.5 else 1", "y = 1 if mask is None else x.sum()",
     "y = 3 if self.training and x.sum() > 5 else 1", "y = 3 if isinstance(x, dict) else 1"],
)  # fmt: skip
def test_a_side_that_no_input_decides_is_not_named(body: str, tmp_path: Path) -> None:
    assert missing(tmp_path, NET + textwrap.indent(body, " " * 8) + "\n        return x") == []


@pytest.mark.parametrize("condition", ["x.shape[0] == x.shape[1]", "h == w", "h % w == 0"])
@pytest.mark.parametrize("form", ["if {}:\n    x = x * 3", "y = 3 if {} else 1"])
def test_sizes_that_are_compared_with_each_other_are_worth_a_try(condition: str, form: str, tmp_path: Path) -> None:
    """Both vary: that one of them becomes what the other is, no number in the condition says."""
    body = textwrap.indent(f"h, w = x.shape\n{form.format(condition)}\nreturn x", " " * 8)
    net = module(tmp_path, NET + body).Net()
    coverage = watched(net, Value(1.0, 8, 24), Value(1.0, 7, 30), sizes=[range(1, 65), range(1, 65)])
    (left,) = coverage.unreached()
    assert left.by == SIZE and {8, 24} <= set(left.numbers)


@pytest.mark.parametrize("name", FORWARDS)
def test_what_is_named_is_what_an_input_can_decide(name: str, tmp_path: Path) -> None:
    body, named = FORWARDS[name]
    assert missing(tmp_path, NET + textwrap.indent(body, " " * 8) + "\n        return x") == named


def test_what_was_reached_in_some_case_is_not_named(tmp_path: Path) -> None:
    text = NET + "        if x.sum() > 5:\n            x = x * 9\n        return x"
    assert missing(tmp_path, text, Value(1.0, 2), Value(6.0, 2)) == []


def test_a_forward_that_does_not_end_is_left_after_so_many_lines(tmp_path: Path) -> None:
    net = module(tmp_path, "class Net:\n    def forward(self, x):\n        while x.number:\n            pass").Net()
    coverage = Coverage(net, ("x",))
    before = sys.gettrace()
    with pytest.raises(TooLong), coverage.watching(1000):
        net.forward(SimpleNamespace(number=1))
    assert sys.gettrace() is before


def test_files_beside_are_neither_read_nor_traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As PaddleOCR's 56 modules beside a model: imported, and of no interest."""
    for number in range(50):
        module(tmp_path, f"def unused_{number}(x):\n    return x\n" * 40)
    read: list[Any] = []
    plain = Path.read_bytes

    def reading(path: Path) -> bytes:
        read.append(path)
        return plain(path)

    monkeypatch.setattr(Path, "read_bytes", reading)
    assert missing(tmp_path, NET + "        if x.sum() > 5:\n            x = x * 9\n        return x")
    assert len([path for path in read if path.parent == tmp_path]) == 1
