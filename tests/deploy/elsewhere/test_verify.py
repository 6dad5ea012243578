"""`exporter verify BUNDLE --answers DIR --engine TEXT`: what passes, what does not, and how the report says it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from exporter.base.tensors import load_npy
from tests.command import STORED, Done, exporter, refused


def verify(answers: Path, *options: str, engine: str = "rknn 2.5 on RK3588") -> Done:
    return exporter("verify", STORED, "--answers", answers, "--engine", engine, *options, cwd=answers.parent)


def change(answers: Path, **about: object) -> None:
    """Say something else in answers.json; None takes the key out."""
    path = answers / "answers.json"
    said = {**json.loads(path.read_text()), **about}
    path.write_text(json.dumps({key: value for key, value in said.items() if value is not None}))


def test_right_answers_pass_and_the_report_says_whose_they_are(answers: Path) -> None:
    change(answers, device="RK3588", who="alice", when="2026-11-20")
    done = verify(answers)
    assert done.code == 0, done.out + done.err
    assert "PASSED: 12 of 12 claims hold" in done.out
    assert "measured elsewhere on RK3588" in done.out
    note = next(line for line in done.out.splitlines() if "by alice, 2026-11-20; sha256 of the answers " in line)
    assert "onnx/rknn 2.5 on RK3588: measured elsewhere, onnxruntime " in note


def test_the_object_on_stdout_is_that_of_every_verdict(answers: Path) -> None:
    told = verify(answers, "--json").json()
    assert (told["verdict"], told["planned"], told["counts"]["match"]) == ("passed", 12, 12)
    assert {check["provider"] for check in told["checks"]} == {"measured elsewhere"}
    assert {check["engine"] for check in told["checks"]} == {"rknn 2.5 on RK3588"}
    assert {check["kind"] for check in told["checks"]} == {"outputs", "pooled_bias"}


def test_the_digest_of_the_answers_is_that_of_their_bytes(answers: Path) -> None:
    def digest() -> str:
        return str(next(note for note in verify(answers, "--json").json()["notes"] if "sha256 of the answers" in note))

    before = digest()
    assert digest() == before
    value = load_npy(answers / "0.0.npy")
    np.save(answers / "0.0.npy", np.nextafter(value, np.float32(9)))
    assert digest() != before


def test_bare_numbers_count_as_much(answers: Path) -> None:
    for path in sorted(answers.glob("*.npy")):
        load_npy(path).tofile(path.with_suffix(".bin"))
        path.unlink()
    assert verify(answers, "--json").json()["verdict"] == "passed"


def test_a_missing_answer_is_never_a_pass(answers: Path) -> None:
    (answers / "9.0.npy").unlink()
    done = verify(answers, "--json")
    told = done.json()
    missing = [check["reason"] for check in told["checks"] if check["outcome"] == "missing"]
    assert (done.code, told["verdict"]) == (1, "failed")
    assert missing[0] == "9.0.npy (or .bin) is missing"
    assert told["blame"][0]["reason"].startswith("likely cause: missing:")


def test_whoever_judges_says_which_cases_count(answers: Path) -> None:
    for path in answers.glob("*.npy"):
        if path.name not in ("0.0.npy", "2.0.npy", "4.0.npy"):
            path.unlink()
    assert verify(answers).code == 1
    few = verify(answers, "--cases", "3", "--json")
    assert (few.code, few.json()["verdict"]) == (0, "partial"), few.out
    assert "partial: only 3 of its cases; a verdict on that is none on the rest" in few.json()["notes"]


def test_wrong_answers_fail_and_the_cause_is_named(answers: Path) -> None:
    for path in answers.glob("*.npy"):
        np.save(path, np.roll(load_npy(path), 1, 1))
    done = verify(answers)
    assert done.code == 1
    assert "likely cause: off by one: it is moved by one place along axis 1" in done.out
    assert "  try: " in done.err


def test_a_low_precision_is_judged_by_its_budget(answers: Path) -> None:
    for path in answers.glob("*.npy"):
        np.save(path, load_npy(path).astype("float16").astype("float32"))
    change(answers, precision="fp16")
    failed = verify(answers, "--json").json()
    assert failed["verdict"] == "failed"
    assert failed["blame"][0]["reason"].startswith("likely cause: reduced precision:")
    assert any("--precision fp16" in note for note in failed["notes"])
    passed = verify(answers, "--precision", "fp16", "--json").json()
    assert passed["verdict"] == "passed"
    kinds = {(check["kind"], check["precision"]) for check in passed["checks"]}
    assert kinds == {("outputs", "fp16"), ("snr_db", "fp16")}


def test_a_budget_of_low_precision_can_be_broken(answers: Path) -> None:
    draw = np.random.default_rng(0)
    for path in answers.glob("*.npy"):
        value = load_npy(path)
        np.save(path, (value * (1 + 0.05 * draw.standard_normal(value.shape))).astype("float32"))
    done = verify(answers, "--precision", "fp16", "--json")
    broken = [check for check in done.json()["checks"] if check["outcome"] == "mismatch"]
    assert (done.code, broken[0]["kind"]) == (1, "snr_db") and "dB, at least 40 promised" in broken[0]["reason"]


def test_outputs_under_other_names_do_not_pass(answers: Path) -> None:
    change(answers, outputs=["output_0"])
    told = verify(answers, "--json").json()
    assert told["verdict"] == "failed"
    assert told["blame"][0]["reason"].startswith("likely cause: renamed: scores came under the name output_0")


def test_an_output_that_nobody_promised_does_not_pass(answers: Path) -> None:
    shutil.copy(answers / "0.0.npy", answers / "0.1.npy")
    told = verify(answers, "--json").json()
    assert any("outputs came that nobody promised" in check["reason"] for check in told["checks"])


def test_answers_to_cases_that_were_not_asked_are_told(answers: Path) -> None:
    shutil.copy(answers / "0.0.npy", answers / "99.0.npy")
    told = verify(answers, "--json").json()
    assert told["verdict"] == "passed"
    assert "answers came to cases that were not asked for: 99" in told["notes"]


def test_the_answers_of_another_bundle_are_refused(answers: Path) -> None:
    change(answers, bundle="0" * 64)
    refused(verify(answers), 2, "answers the kit of another bundle")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--precision", "fp8"], "'fp8' is no precision"),
        (["--engines", "onnxruntime"], "--answers and --engine go together"),
        (["--variant", "onxx"], "no variant 'onxx'"),
        (["--dim", "batch=99"], "no recorded case has these sizes"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(options: list[str], said: str, answers: Path) -> None:
    refused(verify(answers, *options), 2, said)


def test_both_options_are_needed(answers: Path) -> None:
    refused(
        exporter("verify", STORED, "--answers", answers, cwd=answers.parent), 2, "--answers and --engine go together"
    )
    refused(verify(answers, engine="a\x1b[2J"), 2, "is no name of an engine")


def test_the_page_says_it_too(answers: Path) -> None:
    done = verify(answers, "--page", "page.html")
    assert done.code == 0, done.err
    assert "measured elsewhere" in (answers.parent / "page.html").read_text()
