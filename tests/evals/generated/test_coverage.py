"""What a program meets of the operators is counted by what an output depends on, and the table of facts names them."""

from __future__ import annotations

from evals.generated.coverage import Met, Possible, Row, known, met, plain, possible, rows, summary
from exporter.base.readers.program import Block, Operator, TensorType, Value

FACTS = Possible({}, {}, {"where": 1}, frozenset())
FLOAT, BOOL, COMPLEX = (TensorType(dtype, (-1, 4)) for dtype in ("float32", "bool", "complex64"))


def _block(*operators: tuple[str, tuple[int, ...], tuple[Value, ...]]) -> Block:
    numbered = enumerate(operators)
    return Block((), tuple(Operator(name, at, reads, gives, {}) for at, (name, reads, gives) in numbered))


def _gives(number: int, kind: TensorType | tuple[TensorType, ...] = FLOAT) -> tuple[Value, ...]:
    return (Value(number, kind),)


def test_an_operator_is_met_by_dtype_rank_and_place_and_not_where_nothing_needs_it() -> None:
    block = _block(
        ("data", (), _gives(1)),
        ("relu", (1,), _gives(2)),
        ("exp", (2,), _gives(3)),
        ("full", (), _gives(4, TensorType("float64", ()))),
        ("tanh", (2,), _gives(5)),
        ("fetch", (5,), _gives(6)),
    )
    assert met(block, FACTS) == {
        Met("relu", "float32", 2, varies=True, place="first"),
        Met("tanh", "float32", 2, varies=True, place="last"),
    }


def test_a_list_is_what_its_members_are() -> None:
    block = _block(
        ("data", (), _gives(1)),
        ("sin_", (1,), _gives(2)),
        ("builtin.combine", (1, 2), _gives(3, (FLOAT, FLOAT))),
        ("concat", (3,), _gives(4, TensorType("float32", (3, 8)))),
        ("fetch", (4,), _gives(5)),
    )
    places = {kind.place for kind in met(block, FACTS) if kind.operator == "concat"}
    assert places == {"first", "last"}
    assert {kind.operator for kind in met(block, FACTS)} == {"sin", "concat"}


def test_the_operand_that_chooses_the_kernel_counts() -> None:
    block = _block(
        ("data", (), _gives(1, BOOL)),
        ("data", (), _gives(2)),
        ("where", (1, 2, 2), _gives(3)),
        ("fetch", (3,), _gives(4)),
    )
    assert {kind.dtype for kind in met(block, FACTS)} == {"float32"}
    assert {kind.dtype for kind in met(block, Possible({}, {}, {}, frozenset()))} == {"bool"}


def test_an_operator_of_complex_values_is_another() -> None:
    block = _block(
        ("data", (), _gives(1)),
        ("complex", (1, 1), _gives(2, COMPLEX)),
        ("abs", (2,), _gives(3)),
        ("fetch", (3,), _gives(4)),
    )
    assert {kind.operator for kind in met(block, FACTS)} == {"complex", "abs of complex"}
    assert {"abs", "abs of complex", "complex"} <= {*known()}


def test_the_facts_are_of_operators_that_a_writer_knows() -> None:
    facts, names = possible(), known()
    named = {*facts.never, *facts.ranks, *facts.chosen, *facts.alone}
    assert not named - {*names}
    assert all(set(ranks) <= set(range(6)) for ranks in facts.ranks.values())
    assert len(facts.never) < len(names) / 20
    assert plain("relu_") == "relu"


def test_a_share_is_of_what_can_be_met() -> None:
    every = [Row(0, [Met(name, "float32", 2, varies=True, place="inner") for name in known()])]
    lines, share = summary(every)
    assert share == 1
    assert "not met: none" in lines
    lines, share = summary([Row(0, [Met("relu", "float32", 2, varies=True, place="inner")]), Row(1, [], "no program")])
    assert share < 0.01
    assert lines[0] == "2 networks, 1 with a program"


def test_a_network_is_traced_by_its_number() -> None:
    (row,) = rows([1])
    assert row.seed == 1
    assert row.met and not row.why_not
    assert {kind.place for kind in row.met} >= {"last"}
