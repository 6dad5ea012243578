"""Which names count as read behind an `if`: those are given by its branches, the others are not."""

from __future__ import annotations

import textwrap

import pytest
from paddle.jit.dy2static.transformers.utils import FunctionNameLivenessAnalysis
from paddle.utils import gast

from exporter.export.trace.fixes.kinds.unread_branch import unread

CASES = {
    "nothing reads it": ("""
        def forward(x, mask):
            if x > 0:
                mask = mask + 1
                y = x * mask
            return x
        """, {"mask", "y"}),
    "it is returned": ("""
        def forward(x):
            if x > 0:
                y = x
            else:
                y = -x
            return y
        """, set()),
    "it is added to": ("""
        def forward(x, total):
            if x > 0:
                total = x
            total += 1
        """, set()),
    "an element of it is set": ("""
        def forward(x, rows):
            if x > 0:
                rows = x * 2
            rows[0] = 1
        """, set()),
    "a lambda from before has it": ("""
        def forward(x, y):
            later = lambda: y
            if x > 0:
                y = x
            return later()
        """, set()),
    "a function within the branch has it": ("""
        def forward(x, y):
            if x > 0:
                y = x
                def later():
                    return y
            return later()
        """, set()),
    "it is of the module": ("""
        def forward(x):
            global count
            if x > 0:
                count = x
        """, set()),
    "the loop reads it in its next turn": ("""
        def forward(x, y):
            def while_body_0():
                nonlocal x, y
                x = x + y
                if x > 0:
                    y = x
            return x
        """, set()),
    "the branch reads it in the next turn of the loop": ("""
        def forward(x, y):
            def for_loop_body_0():
                nonlocal x, y
                if x > 0:
                    y = y + 1
                    x = x + y
            return x
        """, set()),
    "a later branch reads it": ("""
        def forward(x, y):
            if x > 0:
                y = x
            if x > 1:
                x = y
            return x
        """, set()),
    "a later branch sets it": ("""
        def forward(x, y):
            if x > 0:
                y = x
            if x > 1:
                y = 2
            return x
        """, {"y"}),
    "a branch around it reads it": ("""
        def forward(x, y, z):
            if z:
                x = 1
            else:
                x = z
            return x + y
        """, set()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_name_is_dropped_only_where_no_code_behind_reads_it(case: str) -> None:
    source, expected = CASES[case]
    root = gast.parse(textwrap.dedent(source))
    FunctionNameLivenessAnalysis(root)
    first = next(node for node in gast.walk(root) if isinstance(node, gast.If))
    assert unread(root, first) == expected
