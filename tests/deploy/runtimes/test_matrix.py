"""A bundle in other versions of the engines, by the command line; the real old ones are `slow`: they are downloaded."""

from __future__ import annotations

import json
import sys
import venv
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import ExitCode
from exporter.deploy.runtimes.matrix import FAILED, NOT_RUN, PASSED, Cell, Matrix, Row
from tests import faults
from tests.command import Done, environment, exporter

ONNX, PADDLE = f"onnxruntime=={version('onnxruntime')}", f"paddle=={version('paddlepaddle')}"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Environments of the versions that are installed here, which see this Python's packages: nothing is downloaded."""
    place = tmp_path_factory.mktemp("cache")
    tag = f"py{sys.version_info.major}.{sys.version_info.minor}"
    for runtime in (ONNX, PADDLE):
        home = place / "cache/exporter/runtimes" / f"{runtime.replace('==', '-')}-{tag}"
        venv.create(home, symlinks=True, with_pip=False)
        packages = next(path for path in map(Path, sys.path) if path.name == "site-packages")
        (home / f"lib/python{tag[2:]}/site-packages/here.pth").write_text(f"{packages}\n")
        (home / "runtime.json").write_text("{}")
    return place


def verify(bundle: Path, runtimes: str, cache: Path, *options: str) -> Done:
    return exporter(
        "verify",
        bundle,
        "--runtime",
        runtimes,
        *options,
        cwd=cache,
        env=environment(XDG_CACHE_HOME=str(cache / "cache")),
    )


def test_every_variant_in_the_engine_that_runs_it(bundle: Path, cache: Path) -> None:
    before = sorted(bundle.rglob("*"))
    done = verify(bundle, f"{ONNX},{PADDLE}", cache)
    assert done.code == 0, done.out + done.err
    rows = [line for line in done.out.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in rows[0].strip("|").split("|")] == ["runtime", "onnx", "pdmodel", "pir"]
    assert [cell.strip() for cell in rows[2].strip("|").split("|")] == [ONNX, "passed", "", ""]
    assert [cell.strip() for cell in rows[3].strip("|").split("|")] == [PADDLE, "", "passed", "passed"]
    assert done.out.splitlines()[-1] == "verdict: passed"
    assert sorted(bundle.rglob("*")) == before


def test_a_variant_that_computes_something_else_there_fails(bundle: Path, cache: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "copy")
    faults.scale_tensor(copy / "onnx/model.onnx")
    faults.reseal(copy)
    done = verify(copy, f"{ONNX},{PADDLE}", cache, "--json")
    told = done.json()
    assert (done.code, told["verdict"]) == (1, "failed")
    outcomes = {(row["runtime"], cell["variant"]): cell["outcome"] for row in told["runtimes"] for cell in row["cells"]}
    assert outcomes == {(ONNX, "onnx"): "failed", (PADDLE, "pdmodel"): "passed", (PADDLE, "pir"): "passed"}
    assert told["digest"] == json.loads((copy / "manifest.json").read_bytes())["digest"]


def test_a_script_that_is_not_ours_is_not_run(bundle: Path, cache: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "copy")
    ran = tmp_path / "ran"
    (copy / "verify.py").write_text(f"open({str(ran)!r}, 'w')\nprint('{{}}')\n")
    faults.reseal(copy)
    done = verify(copy, ONNX, cache)
    assert (done.code, "verify.py: is not the script" in done.err, ran.exists()) == (5, True, False), done.err


def test_a_runtime_that_cannot_be_built_is_no_pass(bundle: Path, cache: Path) -> None:
    nowhere = {"PIP_NO_INDEX": "1", "UV_NO_INDEX": "1", "PIP_FIND_LINKS": str(cache), "UV_FIND_LINKS": str(cache)}
    arguments = ("verify", bundle, "--runtime", f"{ONNX},onnxruntime==0.0.1")
    done = exporter(
        *arguments, cwd=cache, env=environment(XDG_CACHE_HOME=str(cache / "cache"), PATH="/usr/bin:/bin", **nowhere)
    )
    assert done.code == 3, done.out + done.err
    assert f"| {ONNX} | passed |" in done.out
    assert "- onnxruntime==0.0.1: its environment cannot be built: " in done.out
    assert done.out.splitlines()[-1] == "verdict: none"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--runtime", "torch==2"], "'torch' is no runtime"),
        (["--runtime", ONNX, "--engines", "onnxruntime"], "leave out --engines"),
        (["--runtime", ONNX, "--device", "cpu"], "leave out --engines"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(bundle: Path, options: list[str], said: str) -> None:
    done = exporter("verify", bundle, *options, cwd=bundle.parent)
    assert (done.code, said in done.err) == (2, True), done.err


def test_what_is_handed_over_says_where_it_was_verified(bundle: Path, cache: Path, tmp_path: Path) -> None:
    known = environment(XDG_CACHE_HOME=str(cache / "cache"))
    asked = ("handoff", bundle, "--to", "plain", "--runtime", ONNX, "--out")
    done = exporter(*asked, tmp_path / "there", cwd=tmp_path, env=known)
    assert done.code == 0, done.err
    told = (tmp_path / "there/README.md").read_text()
    assert (
        f"## Runtimes in which the bundle was verified\n\n| runtime | onnx |\n|:--|:--|\n| {ONNX} | passed |\n" in told
    )
    copy = faults.copied(bundle, tmp_path / "copy")
    faults.scale_tensor(copy / "onnx/model.onnx")
    faults.reseal(copy)
    refused = exporter("handoff", copy, *asked[2:], tmp_path / "nowhere", cwd=tmp_path, env=known)
    assert (refused.code, (tmp_path / "nowhere").exists()) == (1, False), refused.err
    assert f"| {ONNX} | failed |" in refused.out


def row(*outcomes: str) -> Row:
    return Row("r==1", tuple(Cell(f"v{place}", outcome, "why") for place, outcome in enumerate(outcomes)))


@pytest.mark.parametrize(
    ("rows", "code", "word"),
    [
        ([row(PASSED)], 0, "passed"),
        ([row(PASSED, NOT_RUN)], 0, "partial"),
        ([row(NOT_RUN)], 3, "none"),
        ([row()], 3, "none"),
        ([row(PASSED), row(NOT_RUN)], 3, "none"),
        ([row(PASSED, FAILED)], 1, "failed"),
        ([row(FAILED), row(NOT_RUN)], 3, "failed"),
    ],
)
def test_the_word_and_the_exit_code(rows: list[Row], code: int, word: str) -> None:
    matrix = Matrix("net 1", "d", tuple(rows))
    assert (matrix.exit, matrix.word, matrix.to_json()["verdict"]) == (ExitCode(code), word, word)


def test_the_table_gives_the_reason_for_all_that_did_not_pass() -> None:
    rows = (row(PASSED, FAILED), Row("p==2", (Cell("v1", NOT_RUN, "too old"),)), Row("p==3", why_not="no wheel"))
    assert Matrix("net 1", "d", rows).markdown() == (
        "| runtime | v0 | v1 |\n"
        "|:--|:--|:--|\n"
        "| r==1 | passed | failed |\n"
        "| p==2 |  | not run |\n"
        "| p==3 |  |  |\n"
        "\n"
        "- p==3: no wheel\n"
        "- r==1, v1: why\n"
        "- p==2, v1: too old"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtimes", "not_run"),
    [
        ("onnxruntime==1.17.3,1.20.1", set[Any]()),
        ("paddle==2.6.2,3.0.0,3.1.1,3.3.1", {("paddle==2.6.2", "pir")}),
    ],
)
def test_old_runtimes_from_the_package_index(
    bundle: Path, tmp_path: Path, runtimes: str, not_run: set[tuple[str, str]]
) -> None:
    """Built here, and not a second time."""
    done = verify(bundle, runtimes, tmp_path, "--json")
    told = done.json()
    outcomes = {(one["runtime"], cell["variant"]): cell["outcome"] for one in told["runtimes"] for cell in one["cells"]}
    print(json.dumps(told, indent=1))
    assert len(told["runtimes"]) == runtimes.count(",") + 1 and done.code == 0, done.err
    assert {place for place, outcome in outcomes.items() if outcome != "passed"} == not_run
    assert "building" in done.err and "building" not in verify(bundle, runtimes, tmp_path).err
