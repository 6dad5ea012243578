"""Which value of one program stands for which of another."""

from __future__ import annotations

from dataclasses import replace

from exporter.base.readers.program import Block, Operator, TensorType, Value
from exporter.prove.root_cause.own.errors import makers, worst
from exporter.prove.root_cause.own.match import aligned, counterparts
from exporter.prove.root_cause.own.sound import sublayer_paths

F = TensorType("float32", (2,))


def op(name: str, index: int, reads: tuple[int, ...], gives: int) -> Operator:
    attributes = {"name": "y", "col": 0} if name == "fetch" else {}
    return Operator(name, index, reads, (Value(gives, F),), attributes)


SOUND = (
    op("data", 0, (), 1),
    op("conv2d", 1, (1,), 2),
    op("relu", 2, (2,), 3),
    op("pool2d", 3, (3,), 4),
    op("fetch", 4, (4,), 5),
)


def test_operators_of_one_name_stand_for_each_other() -> None:
    file = tuple(op(one.name, one.index, tuple(n + 10 for n in one.operands), one.results[0].id + 10) for one in SOUND)
    assert counterparts(SOUND, file) == {12: 2, 13: 3, 14: 4, 15: 5}


def test_what_was_put_in_gives_what_its_reader_should_read() -> None:
    file = (*SOUND[:2], op("cast", 2, (2,), 8), op("relu", 3, (8,), 3), *SOUND[3:])
    assert counterparts(SOUND, file) == {2: 2, 8: 2, 3: 3, 4: 4, 5: 5}


def test_another_operator_in_the_place_of_one_is_its_partner() -> None:
    file = (*SOUND[:2], op("relu6", 2, (2,), 9), op("pool2d", 3, (9,), 4), SOUND[4])
    assert counterparts(SOUND, file)[9] == 3


def test_an_operator_that_writes_in_place_is_the_one_that_does_not() -> None:
    file = (*SOUND[:2], op("relu_", 2, (2,), 3), *SOUND[3:])
    assert counterparts(SOUND, file)[3] == 3


def test_runs_of_other_names_are_paired_where_they_are_as_long() -> None:
    assert list(aligned(["a", "b", "c", "d"], ["a", "x", "y", "d"])) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert list(aligned(["a", "b", "d"], ["a", "x", "y", "d"])) == [(0, 0), (2, 3)]


def test_edges_lead_through_values_that_are_not_shown() -> None:
    behind = {"inner": ("first", "second"), "loop": ("loop",)}
    assert makers(("inner", "third", "loop"), behind, {"first": 0, "third": 2}) == (0, 2)


def test_of_unknown_ratios_nothing_is_the_worst() -> None:
    assert worst([None, 2.0, 1.0]) == 2.0 and worst([None]) is None


def test_a_sublayer_is_where_its_parameters_are_held() -> None:
    def within(layer: str, index: int, reads: tuple[int, ...]) -> Operator:
        return replace(op("conv2d", index, reads, 10 + index), layer=f"/{layer}/")

    parameters = [
        Operator("parameter", 0, (), (Value(at, F),), {"name": name}) for at, name in enumerate(("a", "b", "c"), 1)
    ]
    held = {"a": "body.0.conv1.weight", "b": "body.0.conv2.weight", "c": "head.0.weight"}
    calls = (
        within("Sequential/Block/Conv2D", 1, (1,)),
        within("Sequential/Block/ReLU", 2, (11,)),
        within("Sequential/Block/Conv2D_1", 3, (12, 2)),
        within("Sequential_1/Linear", 4, (3,)),
        within("Sequential_1/Softmax", 5, (14,)),
        within("Plain", 6, (15,)),
    )
    assert sublayer_paths(Block((), (*parameters, *calls)), held) == {
        "Sequential/Block/Conv2D": "body.0.conv1",
        "Sequential/Block/ReLU": "body.0.ReLU",
        "Sequential/Block/Conv2D_1": "body.0.conv2",
        "Sequential_1/Linear": "head.0",
        "Sequential_1/Softmax": "head.Softmax",
        "Plain": "Plain",
    }
