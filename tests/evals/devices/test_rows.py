"""Rows of networks in runtimes: what an ending of `handoff` is called, whose fault it is, and the tables of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.devices.rows import read, reasons, row_of, table

PASSED = {"how": "MNN 3.6.1 on this CPU, fp32: 12 recorded cases, largest error ratio 1.2 of 4"}
WRONG = (
    "MNN 3.6.1 does not give what the bundle recorded (2 of 4): 6 results err in one direction. likely cause: lengths "
    "ignored: as if lengths were 7 in every row (explains 6 of 6 wrong answers: batch=1); its own "
    "error; GRU GRU.45 of GRU, operator 27 rnn: own error 1.4, inherited 7.7e-08"
)


def ended(what: str) -> dict[str, object]:
    return {"error": {"what": what, "exit": 4}}


@pytest.mark.parametrize(
    ("code", "content", "word", "by"),
    [
        (0, PASSED, "passed", ""),
        (0, {**PASSED, "partial": "only the sizes batch=1"}, "partial", ""),
        (4, ended("ncnn fails where it converts the model: ValueError: pnnx ended with 255"), "refused", "converter"),
        (4, ended("ncnn fails where it runs the model: ValueError: no layer"), "refused", "runtime"),
        (4, ended(WRONG), "failed", "runtime"),
        (4, ended("what MNN 3.6.1 gives cannot be judged (1 of 36): 76 dB; but the mean"), "inconclusive", "model"),
        (2, ended("litert makes no int8"), "refused", "exporter"),
        (3, ended("is not installed"), "not here", "exporter"),
    ],
)
def test_each_ending_has_a_word_and_whose_fault_it_is(code: int, content: object, word: str, by: str) -> None:
    row = row_of("net", "mnn", "fp32", code, content, "")
    assert (row["word"], row["by"]) == (word, by)


def test_an_ending_without_an_object_keeps_the_last_words() -> None:
    row = row_of("net", "mnn", "fp32", 70, None, "what was said last")
    assert (row["word"], row["why"]) == ("refused", "what was said last")


def test_the_tables_count_and_show_the_operator_that_errs() -> None:
    rows = [
        row_of("a", "mnn", "fp32", 0, PASSED, ""),
        row_of("b", "mnn", "fp32", 4, ended(WRONG), ""),
        row_of("a", "mnn", "fp16", 0, {"how": "MNN: 12 cases, signal-to-noise ratio 57 dB"}, ""),
    ]
    assert table(rows, ["mnn", "ncnn"]).splitlines() == [
        "| network | mnn | ncnn |",
        "| --- | --- | --- |",
        "| a | passed 1.2 |  |",
        "| b | failed |  |",
        "| **all 2** | 1 passed, 1 failed |  |",
    ]
    assert "| a | passed 57 dB |" in table(rows, ["mnn"], "fp16")
    shown = "GRU GRU.45 of GRU, operator 27 rnn errs by 1.4 itself; lengths ignored: as if lengths were 7 in every row"
    assert reasons(rows).splitlines()[2:] == [f"| mnn | b | failed | runtime | {shown} |"]


def test_rows_are_read_by_network_runtime_and_precision(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert read(path) == {}
    row = row_of("a", "mnn", "fp32", 0, PASSED, "")
    path.write_text(json.dumps(row) + "\n")
    assert read(path) == {("a", "mnn", "fp32"): row}
