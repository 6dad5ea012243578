"""The forms of findings: golden text, and what the formats' own readers say."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.registry import Registry
from exporter.check.forms.base import Form
from exporter.check.run import Examination

FORMS: Registry[Form] = Registry("exporter.check.forms", "format")
#: As published by OASIS with the standard (errata 01), unchanged.
SCHEMA = Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json"
FOUND = Examination(
    (
        Diagnostic("EX001", Severity.ERROR, Location("bad,file:1.py"), "not UTF-8 at byte 4", "save it", True),
        Diagnostic("EX101", Severity.ERROR, Location("net.py", 6, 20), "drawn <once>\n& 100%", "use \x1b paddle"),
        Diagnostic("EX105", Severity.WARNING, Location("net.py", 7, 9), "the input `x` is returned", "clone it"),
        Diagnostic("EX103", Severity.INFO, Location("net.py", 8, 1), "kept", "make it anew", True),
    ),
    files=2,
    layers=1,
)
NOTHING = Examination((), files=3, layers=5)


@pytest.mark.parametrize("name", FORMS.names())
@pytest.mark.parametrize("examination", [FOUND, NOTHING], ids=["found", "nothing"])
def test_every_form_ends_its_last_line_and_gives_the_same_twice(name: str, examination: Examination) -> None:
    text = FORMS[name](examination, False)
    assert text == FORMS[name](examination, False)
    assert text.endswith("\n") or (name == "github" and text == "")
    assert "\x1b" not in text.replace("use \x1b paddle", "")


def test_text_says_how_much_was_checked() -> None:
    assert FORMS["text"](NOTHING, False) == "No findings (5 layers in 3 files checked).\n"
    text = FORMS["text"](FOUND, False)
    assert text.endswith("2 errors, 1 warning, 1 info (1 layer in 2 files checked).\n")
    assert "(shown by a run)" in text
    assert "\x1b[1;31merror[EX101]\x1b[0m" in FORMS["text"](FOUND, True)


def test_json_keeps_everything() -> None:
    content = json.loads(FORMS["json"](FOUND, False))
    assert [each["code"] for each in content["findings"]] == ["EX001", "EX101", "EX105", "EX103"]
    assert content["findings"][1]["message"] == "drawn <once>\n& 100%"


def test_github_escapes_what_would_end_a_command() -> None:
    lines = FORMS["github"](FOUND, False).splitlines()
    assert lines[0] == "::error file=bad%2Cfile%3A1.py,title=EX001::not UTF-8 at byte 4. save it"
    assert lines[1].startswith("::error file=net.py,line=6,col=20,title=EX101::drawn <once>%0A& 100%25. ")
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::warning", "::notice"]


def test_junit_is_xml_whose_failures_are_the_errors() -> None:
    root = ElementTree.fromstring(FORMS["junit"](FOUND, False))
    assert len(root.findall(".//failure")) == 2
    assert root.get("tests") == "4"
    assert root.findall(".//failure")[1].get("message") == "drawn <once>\n& 100%"
    assert ElementTree.fromstring(FORMS["junit"](NOTHING, False)).get("tests") == "0"


@pytest.mark.parametrize("examination", [FOUND, NOTHING], ids=["found", "nothing"])
def test_sarif_is_valid_by_the_official_schema(examination: Examination) -> None:
    import jsonschema

    log = json.loads(FORMS["sarif"](examination, False))
    jsonschema.validate(log, json.loads(SCHEMA.read_text()))
    run = log["runs"][0]
    assert [each["ruleId"] for each in run["results"]] == [each.code for each in examination.findings]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_the_schema_refuses_what_is_no_sarif() -> None:
    import jsonschema

    log = json.loads(FORMS["sarif"](FOUND, False))
    log["runs"][0]["results"][0]["level"] = "loud"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, json.loads(SCHEMA.read_text()))
