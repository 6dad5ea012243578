"""The picture of own errors: the darkest box, the words beside the colours, the rows of a large graph, and the JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

from exporter.prove.judge.report import Report
from exporter.prove.verdict.blame import BEYOND, Blame, OperatorError, darkest, first_wrong
from exporter.report.explorer import THRESHOLDS, graph, node_data
from exporter.report.operators import MOST_ROWS, in_words, picture, rows_of
from tests.report.stored_reports import FORMS, REPORTS

ALLOWED = 16.0


def chain(count: int, wrong: int, own: float = 3e5) -> tuple[OperatorError, ...]:
    """Operators that follow one another, ten in each sublayer; from `wrong` on all that they hand on is off."""
    return tuple(
        OperatorError(
            str(at),
            "conv2d" if at % 2 else "relu",
            (f"%{at}",),
            (at - 1,) if at else (),
            own if at == wrong else 0.5,
            own if at >= wrong else 0.5,
            "1 x 8",
            f"layer{at // 40}.{at // 10}.conv{at % 10}",
            f"models/net.py:{10 + at}",
        )
        for at in range(count)
    )


def report_with(operators: tuple[OperatorError, ...]) -> Report:
    failed = REPORTS["failed"]()
    return replace(failed, blames=[replace(failed.blames[0], operators=operators), *failed.blames[1:]])


def page_of(operators: tuple[OperatorError, ...]) -> str:
    return FORMS["html"](report_with(operators))


def test_one_box_is_solid_and_it_is_the_one_that_errs_most_by_itself() -> None:
    page = page_of(chain(12, 5))
    (solid,) = re.findall(r'<g class="own solid"><title>([^<]*)</title>', page)
    assert solid == "conv2d (%5) of layer0.0.conv5, models/net.py:15: own error 300,000×, wrong first"
    assert page.count('class="own shade-0"') == 11
    assert "✗ wrong first" in page and page.count("hands on<") == 3 * 6, "in each box, its title, and the table"


def test_it_says_in_words_what_the_colours_show() -> None:
    said = in_words(chain(12, 5), ALLOWED)
    assert said == (
        "Wrong first: conv2d (%5) of layer0.0.conv5, models/net.py:15. Fed the right inputs it errs 300,000 times what "
        "eager float32 errs there. 1 of 12 operators errs by itself; 6 only hand on what came in wrong."
    )
    assert "beyond measure" in in_words(chain(12, 5, BEYOND), ALLOWED)
    assert in_words(chain(3, 9), ALLOWED).startswith("None of 3 operators that could be judged errs")


def test_the_first_wrong_operator_is_told_from_the_darkest() -> None:
    operators = [*chain(12, 5)]
    operators[3] = replace(operators[3], own=50.0)
    first, dark = first_wrong(operators, ALLOWED), darkest(operators)
    assert (first, dark) == (operators[3], operators[5])
    drawn = picture(operators, ALLOWED, "own")
    assert re.search(r'class="own shade-3">.*?✗ wrong first', drawn)
    assert re.search(r'class="own solid">(?:(?!</g>).)*✗ errs itself', drawn)


def test_what_could_not_be_judged_is_dashed_and_says_so() -> None:
    operators = [replace(operator, own=None, total=None) for operator in chain(3, 9)]
    assert picture(operators, ALLOWED, "own").count('class="own none"') == 3
    assert darkest(operators) is None


def test_a_large_graph_is_folded_by_sublayers_and_keeps_what_is_wrong_and_its_neighbours() -> None:
    operators = chain(400, 233)
    rows = rows_of(operators, ALLOWED)
    assert len(rows) <= MOST_ROWS
    assert [place for row in rows for place in row.places] == list(range(400)), "each in one row, in order"
    alone = [row.places[0] for row in rows if len(row.places) == 1]
    assert alone == [232, 233, 234]
    assert {row.name for row in rows if row.name} >= {"layer0.0", "layer9.39"}


def test_without_sublayers_what_is_far_is_folded_all_the_same() -> None:
    operators = tuple(replace(operator, sublayer="") for operator in chain(400, 233))
    assert [len(row.places) for row in rows_of(operators, ALLOWED)] == [232, 1, 1, 1, 165]


def test_the_page_of_a_network_of_five_thousand_operators_is_under_two_megabytes() -> None:
    page = page_of(chain(5000, 233))
    assert len(page.encode()) < 2_000_000 and "3,500 further operators not listed" in page.replace("3500", "3,500")


def test_names_that_hold_markup_stay_text() -> None:
    operators = list(chain(3, 1))
    evil = "<script>alert(1)</script>"
    operators[1] = replace(operators[1], kind=evil, sublayer=evil, line=evil, values=(evil,))
    page = page_of(tuple(operators))
    assert "<script>" not in page and evil in unescape(page)


def test_the_page_without_operators_is_as_it_was() -> None:
    assert 'id="own"' not in FORMS["html"](REPORTS["failed"]())


def blame_of(operators: tuple[OperatorError, ...]) -> Blame:
    return report_with(operators).blames[0]


def test_node_data_has_a_value_for_each_node_whose_error_is_known_and_the_colours() -> None:
    operators = chain(4, 2)
    operators = (*operators[:3], replace(operators[3], own=None))
    data = json.loads(node_data(blame_of(operators)))
    assert data["results"] == {"0": {"value": 0.5}, "1": {"value": 0.5}, "2": {"value": 300_000.0}}
    assert [one["value"] for one in data["thresholds"]] == [least for least, _, _ in THRESHOLDS]
    assert set(data) == {"results", "thresholds"}
    assert all(re.fullmatch("#[0-9a-f]{6}", one["bgColor"]) for one in data["thresholds"])


def test_the_graph_has_the_same_nodes_in_their_sublayers_with_their_lines() -> None:
    (told,) = json.loads(graph(blame_of(chain(4, 2))))
    assert told["id"] == "onnx" and [node["id"] for node in told["nodes"]] == ["0", "1", "2", "3"]
    node = told["nodes"][2]
    assert (node["label"], node["namespace"]) == ("relu", "layer0/0/conv2")
    assert node["incomingEdges"] == [{"sourceNodeId": "1", "sourceNodeOutputId": "0", "targetNodeInputId": "0"}]
    assert {"key": "line", "value": "models/net.py:12"} in node["attrs"]
    assert node["outputsMetadata"][0]["attrs"][0] == {"key": "__tensor_tag", "value": "%2"}
