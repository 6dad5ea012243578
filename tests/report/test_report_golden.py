"""Every form of every stored report is as it was agreed; `python -m tests.report.stored_reports` writes them anew."""

from __future__ import annotations

import pytest

from tests.report.stored_reports import FORMS, GOLDEN, REPORTS, golden_path


@pytest.mark.parametrize("form", FORMS.names())
@pytest.mark.parametrize("name", REPORTS)
def test_a_form_is_as_agreed(name: str, form: str) -> None:
    expected = golden_path(name, form).read_text(encoding="utf-8")
    assert FORMS[form](REPORTS[name]()) == expected, "if this is meant: python -m tests.report.stored_reports, and look"


def test_no_golden_is_left_over() -> None:
    expected = {golden_path(name, form).name for name in REPORTS for form in FORMS.names()}
    assert {path.name for path in GOLDEN.iterdir()} == expected


def test_the_stored_reports_show_every_verdict_and_every_outcome() -> None:
    verdicts = [make().verdict for make in REPORTS.values()]
    assert {verdict.word for verdict in verdicts} == {"passed", "passed_with_waivers", "failed", "inconclusive"}
    assert all(any(verdict.counts[outcome] for verdict in verdicts) for outcome in verdicts[0].counts)
