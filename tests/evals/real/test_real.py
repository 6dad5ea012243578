"""The judgements are sound as data, and the sample is drawn as it is said to be."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from evals.real import judgements
from evals.real.judgements import Judged, Judgement
from evals.real.sample import Found, Place, draw, findings, fresh
from evals.real.sources import Source, fetch, sources

FOUND = [Found(Place("net-1.0", "net.py", line, "EX113"), line % 2 == 0, "message") for line in range(200)]


def test_the_judgements_are_as_they_would_be_written_and_of_pinned_packages() -> None:
    judged = judgements.read()
    assert judgements.written(judged) == judgements.FILE.read_text()
    assert {each.place.package for each in judged} <= {source.label for source in sources()}
    assert len({(each.seed, each.place) for each in judged}) == len(judged)


def test_a_sample_holds_errors_only_and_is_another_for_each_seed() -> None:
    first, again, other = draw(FOUND, 1), draw(reversed(FOUND), 1), draw(FOUND, 2)
    assert first == again != other
    assert len(first) == 60 and all(each.error for each in first)
    assert len(draw(FOUND[:10], 1)) == 5
    assert len(draw(FOUND, 1, most=3)) == 3
    assert not draw([Found(Place("net-1.0", "net.py", 1, "EX001"), True, "message")], 1)


def test_fresh_is_what_was_judged_in_no_version_and_one_of_several_copies() -> None:
    seen = Found(Place("net-2.0", "src/net.py", 7, "EX113"), True, "message", "np.sort(x)")
    copies = [Found(Place("net-2.0", f"{at}/heads/box.py", at, "EX114"), True, "message", "min(x)") for at in (1, 2)]
    other = Found(Place("net-2.0", "1/heads/box.py", 9, "EX114"), True, "message", "max(x)")
    mild = Found(Place("net-2.0", "a.py", 1, "EX114"), False, "message", "x")
    left = fresh([seen, *copies, other, mild], [Place("net-1.0", "old/src/net.py", 5, "EX113")])
    assert sorted(finding.line for finding in left) == ["max(x)", "min(x)"]


def test_a_judgement_without_a_reason_is_refused(tmp_path: Path) -> None:
    entry = Judged(1, FOUND[0].place, Judgement.FALSE, " ")
    (tmp_path / "judged.jsonl").write_text(judgements.written([entry]))
    with pytest.raises(ValueError, match="without a reason"):
        judgements.read(tmp_path / "judged.jsonl")


def test_what_became_of_judged_places_is_counted() -> None:
    judged = [Judged(1, each.place, Judgement.FALSE, "why") for each in FOUND[:3]]
    gone = Judged(1, Place("net-1.0", "net.py", 999, "EX113"), Judgement.RIGHT, "why")
    counted = judgements.since([*judged, gone], FOUND)
    assert counted[Judgement.FALSE] == {"error": 2, "warning": 1}
    assert counted[Judgement.RIGHT] == {"silent": 1}


def test_findings_are_told_by_package_and_file(tmp_path: Path) -> None:
    source = Source("net", "1.0", "net")
    file = source.root(tmp_path) / "net" / "part.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "import numpy\nimport paddle\n\nclass Net(paddle.nn.Layer):\n"
        "    def forward(self, x):\n        return numpy.hstack([x * 2.0, x])\n"
    )
    assert [each.place for each in findings(source, tmp_path)] == [Place("net-1.0", "net/part.py", 6, "EX113")]


def test_a_wheel_other_than_the_pinned_one_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wheels").mkdir()
    with zipfile.ZipFile(tmp_path / "wheels" / "net-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("net/__init__.py", "")
    monkeypatch.setattr("evals.real.sources.subprocess.run", lambda *_, **__: type("Done", (), {"stderr": ""})())
    assert fetch(Source("net", "1.0", "net", sha256="0" * 64), tmp_path).startswith("not fetched")
    assert not (tmp_path / "net-1.0").exists()
