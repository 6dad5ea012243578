"""The order of bases is Python's own."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.check.run import check
from exporter.check.source.mro import linearized

#: Of each class the numbers of its bases, all smaller than its own.
HIERARCHIES = st.lists(st.lists(st.integers(0, 6), max_size=3, unique=True), min_size=2, max_size=7).map(
    lambda listed: [[base for base in bases if base < number] for number, bases in enumerate(listed)]
)


@settings(max_examples=200, deadline=None)
@given(HIERARCHIES)
def test_it_is_what_python_computes(hierarchy: list[list[int]]) -> None:
    made: list[type] = []
    for number, bases in enumerate(hierarchy):
        try:
            made.append(type(f"C{number}", tuple(made[base] for base in bases), {}))
        except TypeError:  # Python refuses it: each class once is all that is promised
            order = linearized(number, hierarchy.__getitem__)
            assert order[0] == number and len(order) == len(set(order))
            return
        assert [f"C{cls}" for cls in linearized(number, hierarchy.__getitem__)] == [
            cls.__name__ for cls in made[-1].__mro__ if cls is not object
        ]


def test_a_class_that_is_its_own_ancestor_is_named_once() -> None:
    assert linearized("a", lambda cls: {"a": ["b"], "b": ["a"]}[cls]) == ("a", "b")
    assert linearized("a", lambda cls: {"a": ["b", "c"], "b": ["c"], "c": ["b"]}[cls]) == ("a", "b", "c")


def test_a_long_chain_and_a_high_ladder_end() -> None:
    """A ladder has 2**60 ways to its last base."""
    assert linearized(0, lambda cls: [cls + 1] if cls < 3000 else []) == tuple(range(3001))
    order = linearized(0, lambda cls: [cls + 1, cls + 2] if cls < 60 else [])
    assert order == tuple(range(62))


def test_a_method_is_found_where_python_finds_it(tmp_path: Path) -> None:
    """In a diamond the nearer side of the other base comes before what both have in common."""
    net = tmp_path / "net.py"
    net.write_text(
        "import paddle\n\n\nclass Base(paddle.nn.Layer):\n    def head(self, x):\n        return x.tolist()\n\n\n"
        "class Left(Base):\n    pass\n\n\nclass Right(Base):\n    def head(self, x):\n        return x + 1.0\n\n\n"
        "class Net(Left, Right):\n    def forward(self, x):\n        return self.head(x * 2.0)\n\n\n"
        "def make():\n    return Net()\n"
    )
    assert not check([str(net)])
