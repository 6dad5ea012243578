"""Whether values, sizes or nothing of the inputs has a say in a condition, statement by statement."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

import pytest

from exporter.prove.goldens.branches import Function, functions
from exporter.prove.goldens.influence import NOTHING, SIZE, VALUE, Followed, Influence

#: What of a tensor no value and no size decides.
FIXED = "dtype ndim dim ndimension rank place stop_gradient name persistable type is_leaf".split()


def level(folder: Path, body: str, asked: str, others: str = "") -> int:
    """What decides `if asked` at the end of a `forward` with this body, whose lines call all `others`."""
    body = textwrap.indent(f"{body}\nif {asked}:\n    last = 1\n", "    ")
    text = f"{others}\ndef forward(self, x, flag=None):\n{body}"
    path = folder / "net.py"
    path.write_text(text)
    found = [*functions(str(path)).values()]
    forward = next(function for function in found if function.node.name == "forward" and not function.method)
    rest = frozenset(function for function in found if function is not forward)
    calls: dict[int, frozenset[Function]] = dict.fromkeys(range(text.count("\n") + 1), rest)
    followed = [Followed(forward, {"math": math}, frozenset({"x"}), calls)]
    followed += [Followed(function, {"math": math}) for function in rest]
    return Influence(followed).of(forward.branches[-1].node)


@pytest.mark.parametrize(
    ("asked", "by"),
    [
        ("self.width > 3", NOTHING),
        ("flag is None", NOTHING),
        ("x.shape[0] > 3", SIZE),
        ("x.size > 3", SIZE),
        ("x.numel() > 3", SIZE),
        ("x.element_size() > 3", SIZE),
        ("len(x) > 3", SIZE),
        ("len(x.shape) > 3", NOTHING),
        ("x.sum() > 3", VALUE),
        ("x is None", NOTHING),
        ("isinstance(x, list)", NOTHING),
        ("hasattr(x, 'sum')", NOTHING),
        ("callable(x)", NOTHING),
        ("issubclass(x, list)", NOTHING),
        ("id(x) == 3", NOTHING),
        ("x.sum() > 3 and self.on", VALUE),
        ("self.on or x.shape[0] > 3", SIZE),
        ("(n := x.shape[0]) and n > 3", SIZE),
        ("[part for part in x if part > 3]", VALUE),
        ("[1 for part in self.parts if x.sum() > 3]", VALUE),
        ("[1 for part in x.shape]", SIZE),
        ("{1: part for part in x}", VALUE),
        ("(3 if x.sum() > 0 else 4) > 3", VALUE),
        ("(3 if self.on else 4) > 3", NOTHING),
        ("(3 if x.sum() > 0 else None) is None", VALUE),
        ("(None if x.sum() > 0 else 4) is None", VALUE),
        ("(3 if x.sum() > 0 else 4) is None", NOTHING),
        ("lambda: x", NOTHING),
        ("'a' in self.kept == x.sum()", VALUE),
        ("x.sum() in self.kept", VALUE),
        ("x is None == x.sum()", VALUE),
        *((f"x.{name} == 3", NOTHING) for name in FIXED),
        ("x.kept > 3", VALUE),
        ("type(x) is list", NOTHING),
        ("self.len() > 3", NOTHING),
        *((f"x.{name}() == 3", NOTHING) for name in ("dim", "ndimension", "rank", "type")),
    ],
)
def test_an_expression(asked: str, by: int, tmp_path: Path) -> None:
    assert level(tmp_path, "pass", asked) == by


@pytest.mark.parametrize(
    ("body", "asked", "by"),
    [
        ("n = x.shape[0]", "n > 3", SIZE),
        ("n, m = x.sum(), 3", "n > 3", VALUE),
        ("n, m = x.sum(), 3", "m > 3", NOTHING),
        ("n, m = pair(x.sum())", "m > 3", VALUE),
        ("n = (x.sum(), 3)", "n", VALUE),
        ("n: int = x.shape[0]", "n > 3", SIZE),
        ("n: int", "n > 3", NOTHING),
        ("n: int = None\nif x.sum() > 3:\n    n = 3", "n is None", VALUE),
        ("n = 1\nn += x.shape[0]", "n > 3", SIZE),
        ("n = 1\nif x.sum() > 0:\n    n = 2", "n > 3", VALUE),
        ("if x.sum() > 0:\n    n = 2\nelse:\n    m = 3", "m > 3", VALUE),
        ("if self.on:\n    n = 2\nelse:\n    m = x.shape[0]", "m > 3", SIZE),
        ("n = 1\nwhile x.sum() > n:\n    n = n + 1", "n > 3", VALUE),
        ("for part in x:\n    n = part", "n > 3", VALUE),
        ("n = 0\nfor part in x.split(3):\n    n = n + 1", "n > 3", SIZE),
        ("for at in range(x.shape[0]):\n    n = at", "n > 3", SIZE),
        ("n = 0\nfor at in range(int(x.sum())):\n    n = 1", "n > 3", VALUE),
        ("for at in self.parts:\n    n = 1\nelse:\n    n = x.sum()", "n > 3", VALUE),
        ("try:\n    n = self.table[x.shape[0]]\nexcept KeyError:\n    m = 0", "m > 3", SIZE),
        ("try:\n    n = x.sum()\nexcept KeyError:\n    pass", "n > 3", VALUE),
        ("try:\n    pass\nexcept KeyError:\n    n = x.sum()", "n > 3", VALUE),
        ("(n := x.sum())", "n > 3", VALUE),
        ("n: int\nif x.sum() > 3:\n    n = 3", "n is None", NOTHING),
        ("n = None\nif x.sum() > 0:\n    n = x", "n.ndim == 3", VALUE),
        ("try:\n    pass\nexcept KeyError:\n    pass\nelse:\n    n = x.sum()", "n > 3", VALUE),
        ("try:\n    pass\nfinally:\n    n = x.sum()", "n > 3", VALUE),
        ("match x.sum():\n    case [n, *rest]:\n        m = 3", "n > 3", VALUE),
        ("match x.shape:\n    case [n, *rest]:\n        m = 3", "rest", SIZE),
        ("match x.sum():\n    case 3:\n        m = 3", "m > 3", VALUE),
        ("with self.opened(x.sum()) as n:\n    m = x.shape[0]", "n > 3", VALUE),
        ("with self.opened(x.sum()) as n:\n    m = x.shape[0]", "m > 3", SIZE),
        ("self.kept = x.sum()", "self.kept > 3", VALUE),
        ("kept = {}\nkept['a'] = x.sum()", "kept['a'] > 3", VALUE),
        ("kept = {}\nif x.sum() > 0:\n    kept['a'] = 3", "'a' in kept", VALUE),
        ("kept = {}\nkept['a'] = x.sum()", "'a' in kept", NOTHING),
        ("first, *rest = x.sum()", "rest", VALUE),
        ("n = None\nif x.sum() > 0:\n    n = 3", "n is None", VALUE),
        ("n = 1\nif x.sum() > 0:\n    n = 3", "n is None", NOTHING),
        ("n = None\nif x.sum() > 0:\n    n = 3", "(n or 3) is None", VALUE),
        ("with self.opened(x.sum()):\n    m = x.shape[0]", "m > 3", SIZE),
        ("if x.sum() > 0:\n    if self.on:\n        n = 3", "n > 3", VALUE),
        ("if x.sum() > 0:\n    pass\nn = 3", "n > 3", NOTHING),
        ("def inner():\n    return 3", "inner() > 3", NOTHING),
        ("class Inner:\n    n = x", "flag", NOTHING),
        ("n = math.sqrt(x.sum())", "n > 3", VALUE),
        ("m = math.floor(3)\nmath.update(x.sum())", "math.pi > 3", NOTHING),
        *(
            (f"kept = self.made()\nkept.{name}(x.sum())", "kept", VALUE)
            for name in ("append", "extend", "insert", "add", "update", "setdefault")
        ),
        ("kept = self.made()\nkept.index(x.sum())", "kept", NOTHING),
    ],
)
def test_a_statement(body: str, asked: str, by: int, tmp_path: Path) -> None:
    assert level(tmp_path, body, asked) == by


@pytest.mark.parametrize(
    ("others", "body", "asked", "by"),
    [
        ("def other(a, b=3):\n    return b", "n = other(x, 3)", "n > 3", NOTHING),
        ("def other(a, b=3):\n    return a", "n = other(x, 3)", "n > 3", VALUE),
        ("def other(a, b=3):\n    return b", "n = other(3, b=x.shape[0])", "n > 3", SIZE),
        ("def other(*rest):\n    return rest", "n = other(3, x)", "n > 3", VALUE),
        ("def other(a, *, b=3):\n    return b", "n = other(3, **x)", "n > 3", VALUE),
        ("def other(**named):\n    return named", "n = other(b=x)", "n > 3", VALUE),
        ("def other(a, b):\n    return b", "n = other(3, *x)", "n > 3", VALUE),
        ("def other(a, b):\n    return a", "n = other(3, *x)", "n > 3", NOTHING),
        ("def other(a):\n    if a.sum() > 0:\n        return 3\n    return None", "n = other(x)", "n is None", VALUE),
        ("def other(a):\n    return 3", "n = other(x)", "n > 3", NOTHING),
        ("def another(a):\n    return 3", "n = self.layer(x)", "n > 3", VALUE),
        ("class Sub:\n    def forward(self, a):\n        return a", "n = self.layer(x.shape[0])", "n > 3", SIZE),
        ("class Sub:\n    def other(self):\n        return self", "n = x.other()", "n > 3", VALUE),
        ("def other(a, b):\n    return b", "n = other(x, *[3])", "n > 3", NOTHING),
        ("def other(a, b=3):\n    return a", "n = other(3, b=x)", "n > 3", NOTHING),
        ("def size(a):\n    return a", "n = size(x.sum())", "n > 3", VALUE),
        ("def other():\n    global kept\n    kept = 3", "other()", "kept > 3", NOTHING),
        ("def other(a):\n    global kept\n    kept = a", "other(x)", "kept > 3", VALUE),
        ("def other(a):\n    kept = a", "other(x)", "kept > 3", NOTHING),
    ],
)
def test_what_a_function_that_ran_makes_of_it(others: str, body: str, asked: str, by: int, tmp_path: Path) -> None:
    assert level(tmp_path, body, asked, others) == by


def test_a_call_may_go_on_over_lines(tmp_path: Path) -> None:
    """Python tells of any of them that a function was called from it."""
    path = tmp_path / "net.py"
    path.write_text(
        "def other(a):\n    return 3\n\ndef forward(x):\n    n = other(\n        x)\n    if n:\n        y = 1\n"
    )
    other, forward = functions(str(path)).values()
    for line in (5, 6):
        followed = [Followed(forward, {}, frozenset({"x"}), {line: {other}}), Followed(other, {})]
        assert Influence(followed).of(forward.branches[0].node) == NOTHING
    alone = [Followed(forward, {}, frozenset({"x"}), {7: {other}}), Followed(other, {})]
    assert Influence(alone).of(forward.branches[0].node) == VALUE
