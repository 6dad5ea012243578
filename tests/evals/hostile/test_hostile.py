"""A seeded sample of hostile bundles, run by the command line; the whole run is `python -m evals.hostile`."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals.hostile.aims import CAUGHT, MISSED, NOT_TRIED, Told, claims, reader
from evals.hostile.bases import Base
from evals.hostile.harmless import why_harmful
from evals.hostile.kinds import KINDS, Wanted, plan
from evals.hostile.made import MADE
from evals.hostile.run import Result, Warm, run
from evals.hostile.seal import report_again, seal
from evals.hostile.table import enough, share, table
from evals.hostile.watch import watched
from exporter.bundle.layout import REPORT
from exporter.bundle.open import open_bundle
from tests import command

STORED = Base("stored", command.STORED)
NAMES = ("whole", "plain", "tagged", "low", "stored")
#: Kinds of bundles that are refused before any engine starts, and some that each a proof has to catch.
REFUSED = ("damaged", "text", "stated: beside", "stated: schema", "manifest", "golden")
PROVEN = ("wrong graph", "fault", "goldens: inputs", "steps")


def test_a_sample_of_hostile_bundles(tmp_path: Path) -> None:
    warm, results = Warm(tmp_path / "run"), []
    try:
        warm.heat((STORED,))
        for number, kind in enumerate((*REFUSED, *PROVEN)):
            results.append(run(Wanted(number, kind, "stored", 7), STORED, warm))
    finally:
        warm.close()
    assert not [(one.number, one.kind, one.said, one.against) for one in results if one.against]
    assert not [(one.kind, one.said, one.why) for one in results if one.fate == MISSED]
    assert {one.kind for one in results if one.fate == CAUGHT} >= set(PROVEN)


def test_the_plan_is_the_same_each_time_and_holds_every_kind_and_trick() -> None:
    whole = plan(2000, 1, NAMES)
    assert whole == plan(2000, 1, NAMES) != plan(2000, 2, NAMES)
    assert {wanted.kind.partition(": ")[0] for wanted in whole} == {kind.partition(": ")[0] for kind in KINDS}
    assert {wanted.kind for wanted in whole} >= set(KINDS) - {"by hand"}
    tricks = [wanted.kind.partition(": ")[2] for wanted in whole if wanted.kind.startswith("by hand")]
    assert set(tricks) == set(MADE)
    assert all(wanted.base in (KINDS[wanted.kind][2] or NAMES) for wanted in whole if wanted.kind in KINDS)


def test_what_is_sealed_again_states_what_it_is(tmp_path: Path) -> None:
    """A bundle that was only sealed again is sound, and its report that of its release: so nothing else is refused."""
    copy = Path(shutil.copytree(STORED.folder, tmp_path / "copy"))
    before = _by_claim(copy)
    report_again(copy, STORED.manifest)
    assert _by_claim(copy) == before
    content = STORED.manifest
    *rest, last = content["cases"]
    content |= {"cases": rest, "left_out": content["left_out"] | {last["name"]: "it tells nothing"}}
    seal(copy, content)
    open_bundle(copy)
    gone = {key for key in before if key[4] == last["name"]}
    assert gone and set(_by_claim(copy)) == set(before) - gone


def _by_claim(bundle: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    keys = ("kind", "format", "precision", "engine", "case", "output")
    report = json.loads((bundle / REPORT).read_bytes())
    assert report["planned"] == len(report["checks"])
    return {tuple(check[key] for key in keys): check for check in report["checks"]}


def test_a_bundle_is_tried_only_by_what_it_aims_at() -> None:
    told = Told({"outputs": "error ratio 900"}, "", ["its parity.json is not the report of such a release"])
    assert told.caught(claims("outputs", "agreement")) and not told.caught(claims("weights"))
    assert told.caught(reader("report", r"parity\.json")) and not told.caught(reader("documents", "contradicts"))
    assert told.stopped_by == "claims: outputs"
    refused = Told(refusal="manifest.json: its version is 'x', and 'c0123' is that of its spec")
    assert refused.stopped_by == "manifest.json: its version is …, and … is that of its spec"
    assert not refused.caught(claims("outputs"))


def test_the_share_is_of_what_was_tried() -> None:
    fates = [CAUGHT] * 99 + [NOT_TRIED] * 50
    results = [Result(at, "fault", "plain", 1, codes={"verify": 1}, fate=fate) for at, fate in enumerate(fates)]
    for result in results:
        result.processor, result.megabytes = {"verify": 1.0}, {"verify": 100}
    assert share(results) == 1 and enough(results)
    results += [replace(results[0], number=200 + at, fate=MISSED, aim="weights") for at in range(2)]
    assert not enough(results)
    assert "caught by what they aim at: 99 of 101, 98.02%" in table(results)


def test_what_passes_and_differs_in_something_is_noticed(tmp_path: Path) -> None:
    """The judge of the harness itself: it must see a harm where there is one."""
    copy = Path(shutil.copytree(STORED.folder, tmp_path / "copy"))

    def changed(*keys: str, value: object) -> str:
        content = STORED.manifest
        inner: Any = content
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        seal(copy, content, keep=("files",))
        return why_harmful(STORED, copy)

    assert changed("version", value="2") == ""
    assert "cases" in changed("cases", value=STORED.manifest["cases"][:1])
    assert "dims" in changed("dims", "batch", "max", value=7)


@pytest.mark.slow
@pytest.mark.parametrize("traced", [False, True], ids=["hooked", "traced"])
def test_nothing_is_read_written_or_started_outside(tmp_path: Path, traced: bool) -> None:
    for wanted in plan(6, 11, ("stored",)):
        _, found = watched(wanted, STORED, tmp_path / "run", traced=traced)
        assert not found, wanted
