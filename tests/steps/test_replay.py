"""Declared steps run anew; what a function gave comes from the record."""

from __future__ import annotations

from typing import Any

import numpy as np

from exporter.steps.base import VALUE, State
from exporter.steps.chain import read_chain
from exporter.steps.replay import Replayed, replay

FUNCTION = "no.such.module:function"
RAW: State = {VALUE: np.arange(6.0).reshape(1, 2, 3)}
GIVEN: State = {VALUE: np.ones((1, 2, 3))}


def shapes(replayed: Replayed) -> list[Any]:
    return [state[VALUE].shape for state in replayed.states]


def test_a_state_comes_after_every_step() -> None:
    replayed = replay(read_chain(["layout", "sigmoid"]), RAW)
    assert (shapes(replayed), replayed.error, replayed.stopped) == ([(1, 2, 3), (3, 1, 2), (3, 1, 2)], "", False)
    assert replayed.states[0] is RAW


def test_a_step_that_cannot_run_ends_it() -> None:
    crop = {"crop": {"height": 9, "width": 9}}
    replayed = replay(read_chain(["sigmoid", crop, "layout"]), RAW)
    assert (shapes(replayed), replayed.stopped) == ([(1, 2, 3)] * 2, False)
    assert replayed.error == "it cuts 9 x 9 pixels out of 1 x 2"


def test_what_a_function_gave_is_taken_and_the_steps_behind_it_run() -> None:
    chain = read_chain([FUNCTION, "layout"])
    replayed = replay(chain, RAW, [{}, GIVEN, {}])
    assert replayed.states[1] is GIVEN and shapes(replayed)[2] == (3, 1, 2) and not replayed.error
    assert replayed.states[2][VALUE].max() == 1
    assert replay(chain[:1], RAW, [{}, GIVEN]).states[1] is GIVEN


def test_a_function_of_which_nothing_was_recorded_stops_it() -> None:
    chain = read_chain(["sigmoid", FUNCTION, "layout"])
    stopped = f"nothing was recorded of {FUNCTION}"
    for recorded in ([], [{}, GIVEN], [{}, {}, {}, GIVEN]):
        replayed = replay(chain, RAW, recorded)
        assert (shapes(replayed), replayed.error, replayed.stopped) == ([(1, 2, 3)] * 2, stopped, True)


def test_it_begins_where_it_is_told_to() -> None:
    chain = read_chain([FUNCTION, "layout", "sigmoid"])
    replayed = replay(chain, GIVEN, [RAW], 1)
    assert replayed.states[0] is RAW and replayed.states[1] is GIVEN
    assert shapes(replayed) == [(1, 2, 3), (1, 2, 3), (3, 1, 2), (3, 1, 2)]
    assert len(replay(chain, GIVEN, [RAW, RAW, RAW, RAW], 3).states) == 4
