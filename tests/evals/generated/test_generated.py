"""Generated networks are the same for the same number, run at every size, are shortened, and a sample of them holds."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from evals.generated.__main__ import groups
from evals.generated.build import GROUP, build, dims_of
from evals.generated.judged import ALARM, FAIR, HOLE, LIMIT, class_of, judge, kind_of, shrink
from evals.generated.network import Network, Step, read, together, whose
from evals.generated.statement import CannotFill, Filling, Known, chosen, statements
from evals.small.__main__ import Truth
from evals.small.catalogue import Input, SmallLayer
from evals.small.cells import Row

TABLE = {f"{statement.family}.{statement.name}": statement for statement in statements()}
#: Numbers whose networks are released in CI, those of a line together.
SAMPLE = ((0, 3, 5),)


def _step(
    name: str, line: str, reads: tuple[str, ...], defines: tuple[str, ...], changes: tuple[str, ...] = ()
) -> Step:
    return Step(name, (), (line,), reads, changes, defines)


CHAIN = Network(
    7,
    (Input("x1", "float32", ("b", 4), "normal"), Input("x2", "float32", ("b", 4), "normal")),
    {"b": (1, 3), "t": (2, 5)},
    (
        _step("first", "v1 = x1 * 2.0", ("x1",), ("v1",)),
        _step("second", "v2 = paddle.tanh(v1)", ("v1",), ("v2",)),
        _step("changing", "v1[:, 0] = 0.0", ("v1",), (), ("v1",)),
        _step("third", "v3 = v2 + x2", ("v2", "x2"), ("v3",)),
        _step("fourth", "v4 = v1 - 1.0", ("v1",), ("v4",)),
    ),
    ("v3", "v4"),
    "plain",
)


def test_the_table_has_three_hundred_statements_of_which_none_comes_twice() -> None:
    assert len(TABLE) == len(statements())
    assert len(TABLE) >= 300
    assert all(statement.lines for statement in statements())


def test_a_hole_takes_what_fits_it() -> None:
    values = {
        "x1": Known("float32", ((1, 4), (3, 4))),
        "x2": Known("float32", ((1, 4), (3, 4))),
        "x3": Known("int64", ((4,), (4,))),
    }
    statement = TABLE["binary.lerp"]
    names = chosen(statement.holes, values, random.Random(0))
    assert set(names.values()) == {"x1", "x2"}
    with pytest.raises(CannotFill):
        chosen(statement.holes, {"x3": values["x3"]}, random.Random(0))


def test_the_same_words_give_the_same_draw_and_a_size_that_varies_none() -> None:
    values = {"x1": Known("float32", ((1, 4), (3, 4)))}
    filling = Filling(values, {"x": "x1"}, random.Random(3), {})
    line = filling.fill("$r = $x * $(2..9) + $(2..9) - $(0.1..2.0); $s = $(a|b)")
    first, second = line.split(" * ")[1].split(" - ")[0].split(" + ")
    assert first == second
    assert line.startswith("v1 = x1 * ")
    assert "v2 = " in line
    assert filling.fill("$(x -1)") == "4"
    with pytest.raises(CannotFill):
        filling.fill("$(x 0)")


def test_nothing_chooses_among_equal_numbers() -> None:
    from evals.generated.build import _Builder, _Refused

    builder = _Builder(random.Random(0), dims_of(0))
    builder._begin()
    builder._take(_step("doubled", "v1 = paddle.concat([x1, x1], 0)", ("x1",), ("v1",)))
    builder._take(_step("sound", "v2, v3 = paddle.topk(x1, 1)", ("x1",), ("v2", "v3")))
    with pytest.raises(_Refused):
        builder._take(_step("tied", "v4, v5 = paddle.topk(v1, 1)", ("v1",), ("v4", "v5")))


@pytest.mark.parametrize("seed", range(8))
def test_a_number_gives_the_same_network_which_runs(seed: int) -> None:
    network = build(seed)
    assert network == build(seed)
    assert len(network.steps) >= 1
    assert network.outputs
    compile(network.layer().source, "net", "exec")
    assert set(network.layer().dims) == {
        size for tensor in network.inputs for size in tensor.shape if size in {"b", "t"}
    }


def test_networks_of_a_group_have_the_same_dims() -> None:
    whole = together([build(seed) for seed in range(3)])
    assert whole.source.count("class Net") == 4
    assert "class Net2(nn.Layer)" in whole.source
    assert all(tensor.name[:2] in {"n0", "n1", "n2"} for tensor in whole.inputs)
    compile(whole.source, "net", "exec")


def test_numbers_go_in_groups_of_the_same_dims_without_those_that_are_known() -> None:
    assert [*groups(GROUP - 2, 5, {GROUP})] == [[GROUP - 2, GROUP - 1], [GROUP + 1, GROUP + 2]]
    assert [*groups(0, 2 * GROUP, range(GROUP))] == [[*range(GROUP, 2 * GROUP)]]


def test_the_network_of_a_group_is_known_by_its_line_and_by_its_output() -> None:
    networks = [build(seed) for seed in range(3)]
    source = together(networks).source
    lines = source.splitlines()
    for number, network in enumerate(networks):
        line = 1 + next(at for at, text in enumerate(lines) if text.startswith(f"class Net{number}("))
        assert whose(f"g0to2.py:{line + 2}", networks, source) == network
    assert whose(f"g0to2.py:{len(lines)}", networks, source) is None
    owners = [whose(f"output_{number}", networks, source) for number in range(sum(len(n.outputs) for n in networks))]
    assert owners == [network for network in networks for _ in network.outputs]
    assert whose("output_99", networks, source) is None


def test_what_an_output_does_not_need_goes_and_what_changes_it_stays() -> None:
    left = CHAIN.with_outputs(["v4"])
    assert [step.statement for step in left.steps] == ["first", "changing", "fourth"]
    assert [tensor.name for tensor in left.inputs] == ["x1"]


def test_a_step_goes_with_what_reads_it() -> None:
    left = CHAIN.without(1)
    assert left is not None
    assert left.outputs == ("v4",)
    assert CHAIN.without(0) is None


def test_a_step_is_bypassed_by_what_it_read() -> None:
    left = CHAIN.bypassing(1, "v1")
    assert left is not None
    assert "v3 = v1 + x2" in left.layer().source
    assert CHAIN.bypassing(4, "x1") is None  # no layer returns its input


def test_the_shortest_network_that_fails_alike_is_found() -> None:
    def breaks(layer: SmallLayer) -> bool:
        return "paddle.tanh" in layer.source

    short = shrink(CHAIN, breaks)
    assert [step.statement for step in short.steps] in (["second"], ["first", "second"])
    assert "v4" not in short.layer().source


def test_what_fails_alike_is_of_one_kind() -> None:
    rows = [
        Row("generated", f"g{number}", "runs", "sound", 4, [f"g{number}.py:{number}: no size {number} of 'v{number}'"])
        for number in (3, 14)
    ]
    assert len({kind_of(row) for row in rows}) == 1
    assert class_of(rows[0]) == ALARM
    wrong = Row("generated", "g1", "runs", "sound", 0, files={"onnx/fp32": "off by 0.5 of 2"})
    assert class_of(wrong) == HOLE
    assert class_of(Row("generated", "g1", "runs", "TypeError: x", 4, ["refused"])) == LIMIT


def test_a_stored_network_is_read_back() -> None:
    from dataclasses import asdict

    assert read(asdict(CHAIN)) == CHAIN


@pytest.mark.parametrize("seeds", SAMPLE)
def test_a_sample_has_no_hole_and_no_alarm(seeds: tuple[int, ...], tmp_path: Path) -> None:
    networks = [build(seed) for seed in seeds]
    truth = Truth(tmp_path, 1)
    try:
        judged = [*judge(networks, tmp_path, truth)]
    finally:
        truth.close()
    assert [row.seed for row in judged] == [*seeds]
    assert not [row.kind for row in judged if row.bad]
    assert sum(row.verdict == FAIR for row in judged) >= len(judged) // 2


def test_a_nudge_that_moves_much_is_seen() -> None:
    from evals.generated.build import _moved

    value = np.array([1.0, 2.0], "float32")
    assert not _moved(value, value * np.float32(1 + 1e-6))
    assert _moved(value, value * np.float32(1.001))
    assert _moved(np.array([1]), np.array([2]))
    assert _moved(value, value[:1])
