"""A seeded sample of hostile bundles, run by the command line; the whole run is `python -m evals.hostile`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from evals.hostile.bases import Base
from evals.hostile.harmless import why_harmful
from evals.hostile.kinds import KINDS, plan
from evals.hostile.made import MADE
from evals.hostile.run import Warm, refused_early, run
from evals.hostile.seal import seal
from evals.hostile.watch import watched
from tests import command

STORED = Base("stored", command.STORED)
#: Of the sample, so many that engines run, each of which takes seconds.
WITH_ENGINES = 2


def test_a_sample_of_hostile_bundles(tmp_path: Path) -> None:
    warm, engines, against = Warm(), 0, []
    try:
        for wanted in plan(25, 7, ("stored",)):
            if not refused_early(wanted, STORED, tmp_path / "look"):
                engines += 1
                if engines == 1:
                    warm.heat((STORED,), tmp_path / "heat")
                if engines > WITH_ENGINES:
                    continue
            result = run(wanted, STORED, tmp_path / "run", warm)
            against += [f"{wanted.number} {wanted.kind}: {result.said}: {what}" for what in result.against]
    finally:
        warm.close()
    assert not against
    assert engines >= WITH_ENGINES


def test_the_plan_is_the_same_each_time_and_holds_every_kind_and_trick() -> None:
    names = ("plain", "low", "stored")
    whole = plan(1500, 1, names)
    assert whole == plan(1500, 1, names) != plan(1500, 2, names)
    assert {wanted.kind.partition(":")[0] for wanted in whole} == set(KINDS)
    assert {wanted.kind.partition(": ")[2] for wanted in whole} >= set(MADE)


def test_what_passes_and_differs_in_something_is_noticed(tmp_path: Path) -> None:
    """The judge of the harness itself: it must see a harm where there is one."""
    copy = Path(shutil.copytree(STORED.folder, tmp_path / "copy"))

    def changed(*keys: str, value: object) -> str:
        content = STORED.manifest
        inner: Any = content
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        seal(copy, content, files=False)
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
