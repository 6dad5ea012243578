"""Every loop comes to its end, whatever it changes from turn to turn."""

from __future__ import annotations

import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from exporter.check.run import examine

LOOPS = ("for _ in range(9):", "for _ in range(self.n):", "while n < 40:", "while i < y.mean():", "for row in y:")
#: No list comes to hold itself: such a model is not followed to its end, loop or none.
STATEMENTS = (
    *("a = b", "b = c", "c = y", "a, b, c = b, c, a", "a = [a, y]", "a = (b, a)", "a = {'in': a}", "n += 1"),
    *("k = k + 'x'", "k = f'{k}{n}'", "d[k] = y", "d['one'] = a", "d = {'in': d}", "d.update({k: b})", "d = dict(d)"),
    *("kept.append(a)", "kept.insert(0, y)", "kept.insert(0, n)", "kept = [kept]", "kept = kept + [y]", "kept.pop()"),
    *("same = kept", "same = [*kept]", "same.extend([y, b])", "for one in kept:\n    same.append(y)", "del d[k]"),
    *("f = lambda z, f=f: f(z)", "f = self.fc", "y = f(y)", "y = y.unsqueeze(0)", "y = paddle.concat([y, x])"),
    *("o = Node(o)", "o.inner = Node(y)", "o = o.inner", "self.s = (self.s, y)", "self.s = None", "b = self.s"),
    *("if a is None:\n    a = b\nelse:\n    b = None", "if n > 3:\n    c = [y]", "b = a or c", "n = n * -1.5"),
    *("while c is None:\n    c = a\n    kept.append(c)", "i = i + 1"),
)
BODIES = st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4)
MODEL = """
import paddle


class Node:
    def __init__(self, inner):
        self.inner = inner


class Net(paddle.nn.Layer):
    def __init__(self, n=5):
        super().__init__()
        self.n, self.s = n, None
        self.fc = paddle.nn.Linear(8, 8)

    def forward(self, x):
        a = b = c = o = None
        y, f, k, n, i = self.fc(x), paddle.tanh, "k", 0, paddle.zeros([1])
        kept, d = [], {{}}
        same = kept
{loop}
        return y


def make():
    return Net()


SPECS = [{{"name": "x", "shape": [None, 8], "dtype": "float32"}}]
"""


def _loop(head: str, body: list[str], inner: list[str]) -> str:
    return "\n".join([head, *(textwrap.indent(line, "    ") for line in (*body, *inner))])


@given(st.sampled_from(LOOPS), st.sampled_from(LOOPS), BODIES, BODIES)
def test_a_loop_in_a_loop_ends(outer: str, inner: str, body: list[str], deep: list[str]) -> None:
    loop = _loop(outer, body, [_loop(inner, deep, [])])
    with TemporaryDirectory() as folder:
        file = Path(folder, "net.py")
        file.write_text(MODEL.format(loop=textwrap.indent(loop, " " * 8)))
        found = examine([str(file)])
    assert found.layers == 1
    assert "EX003" not in {finding.code for finding in found.findings}, loop
