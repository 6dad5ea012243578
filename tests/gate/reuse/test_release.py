"""A release that was kept is believed only where nothing changed that it depends on; through the command line once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base import machine
from exporter.base.errors import UsageError
from exporter.base.files import sha256_file
from exporter.base.tensors import save
from exporter.base.watch import Seen
from exporter.gate.reuse import identity, packages
from exporter.gate.reuse import release as cache_release
from exporter.gate.reuse.records import Kept
from exporter.gate.reuse.release import Releases, releases
from exporter.gate.reuse.store import Store
from exporter.gate.told import results_of
from exporter.process.memo import Question, in_force
from exporter.spec.model import Spec
from exporter.spec.read import read_spec
from tests.command import contents, environment, exporter, refused
from tests.described import small
from tests.e2e.test_family_steps import line

CACHE = "exporter/releases"
#: A layer that depends on more than its file: a helper, files, a folder, what is not there, a variable.
MODEL = """
import json, os
from pathlib import Path
import paddle
from net.helping import factor
from safetensors.numpy import load_file

HERE = Path("depends")

class Net(paddle.nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.first, self.last = paddle.nn.Linear(4, width), paddle.nn.Linear(width, 3)

    def forward(self, x):
        return self.last(paddle.nn.functional.relu(self.first(x)))

def build():
    scale = json.loads((HERE / "scale.json").read_text())
    width = 4 if os.path.exists(HERE / "override.json") else int(os.environ.get("NET_WIDTH", "8"))
    net = Net(width)
    parts = len(os.listdir(HERE / "parts")) if (HERE / "marker").exists() else 0
    weights = load_file(HERE / "weights.safetensors")["w"][:, :width]
    net.first.weight.set_value(paddle.to_tensor(weights * scale * factor() * parts))
    return net
"""


def project(place: Path) -> Path:
    (place / "net").mkdir(parents=True)
    (place / "net/__init__.py").write_text("")
    (place / "net/depending.py").write_text(MODEL)
    (place / "net/helping.py").write_text("def factor():\n    return 0.5\n")
    (place / "net/unused.py").write_text("")
    (place / "depends/parts").mkdir(parents=True)
    (place / "depends/parts/one").write_text("")
    (place / "depends/scale.json").write_text("2.0")
    (place / "depends/marker").write_text("")
    save(place / "depends/weights.safetensors", {"w": np.ones((4, 8), "float32")})
    (place / "specs").mkdir()
    write_spec(place)
    return place


def write_spec(place: Path, **keys: Any) -> None:
    content = small("net.depending:build", name="net", weights="factory", **keys)
    (place / "specs/net.yaml").write_text(json.dumps(content))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds `work`, in which the spec was released twice, and the cache, the user's own."""
    place = tmp_path_factory.mktemp("kept")
    work = project(place / "work")
    first = exporter("gate", cwd=work, env=environment(XDG_CACHE_HOME=str(place), EXPORTER_NO_CACHE=""))
    assert first.code == 0 and "it was not released before" in first.err and "verifying pir by jit_load" in first.err
    again = exporter("gate", "--cache", place / CACHE, "--junit", "junit.xml", cwd=work)
    assert again.code == 0 and "net has not changed since it was released" in again.err
    assert "verifying" not in again.err and again.out == first.out
    junit = (work / "junit.xml").read_text()
    assert 'name="pir/jit_load" time="0.000"' in junit and "reused" in junit, "the report is there as well"
    (work / "junit.xml").unlink()
    return place


@dataclass
class Place:
    """A copy of it, of the test's own."""

    work: Path
    known: Releases

    def spec(self) -> Spec:
        return read_spec(self.work / "specs/net.yaml", ())

    def find(self, known: Releases | None = None) -> Kept | str:
        return (known or self.known).find(self.spec().model_dump(mode="json"), Path("artifacts"), lambda _: None)

    @property
    def bundle(self) -> Path:
        return self.work / "artifacts/net/1"


@pytest.fixture
def place(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    shutil.copytree(released, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path / "work")
    known = releases(tmp_path / CACHE)
    assert known is not None
    yield Place(tmp_path / "work", known)


def test_a_release_with_another_budget_alone_runs_no_child_and_gives_the_bytes_of_a_new_one(place: Place) -> None:
    changed = ("release", "specs/net.yaml", "--set", "budget=5")
    kept = exporter(*changed, "--cache", place.known.store.folder, "--why", "--out", "kept", cwd=place.work)
    steps = [line for line in kept.err.splitlines() if line.endswith(": reused")]
    assert kept.code == 0 and "net: the release: made, since `budget` of the spec changed" in kept.err
    assert len(steps) >= 8 and "· net: pir by jit_load: reused" in steps and kept.err.count(": made, since") == 1
    anew = exporter(*changed, "--out", "anew", cwd=place.work)
    assert anew.code == 0 and contents(place.work / "kept") == contents(place.work / "anew")


def test_where_nothing_changed_nothing_heavy_is_imported(place: Place) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "exporter", "gate", "--cache", place.known.store.folder]
    command += ["--annotations", "github", "--code-quality", "quality.json"]
    done = subprocess.run(command, cwd=place.work, env=environment(), capture_output=True, text=True, check=True)
    assert "has not changed since it was released" in done.stderr and "passed" in done.stdout
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "exporter" in imported and not imported & {"numpy", "pydantic", "yaml", "rich", "psutil", "paddle"}


def test_a_spec_is_read_again_where_it_its_overrides_or_our_code_changed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, reads = place.work / "specs/net.yaml", list[Spec]()

    def read(*settings: str) -> Any:
        def now() -> Spec:
            reads.append(read_spec(path, settings))
            return reads[-1]

        return place.known.read(path, settings, now)

    assert read() == read() == place.spec().model_dump(mode="json") and len(reads) == 1
    assert read("budget=5")["budget"] == 5 and read("budget=6")["budget"] == 6 and len(reads) == 3
    write_spec(place.work, budget=3)
    assert read()["budget"] == 3 and read("budget=6")["budget"] == 6 and len(reads) == 5
    monkeypatch.setattr(cache_release, "code_digest", lambda: "0" * 64)
    assert read()["budget"] == 3 and len(reads) == 6
    path.unlink()
    with pytest.raises(UsageError, match="no such spec"):
        read()


@pytest.mark.slow
def test_another_content_under_a_released_version_is_refused_and_a_gate_lays_it_beside(place: Place) -> None:
    (place.work / "net/helping.py").write_text("def factor():\n    return 0.25\n")
    before, cached = contents(place.bundle), ("--cache", place.known.store.folder)
    done = exporter("release", "specs/net.yaml", *cached, cwd=place.work)
    refused(done, 2, "artifacts/net/1", "released before, and its weights differ", "--force")
    for _ in range(2):
        gated = exporter("gate", *cached, cwd=place.work)
        assert gated.code == 0 and "in artifacts/net/candidate, beside a release of this version" in gated.out
    assert "net has not changed since it was released" in gated.err, "the second time"
    assert contents(place.bundle) == before and (place.work / "artifacts/net/candidate/manifest.json").is_file()
    refused(exporter("release", "specs/net.yaml", *cached, cwd=place.work), 2, "--force")
    forced = exporter("release", "specs/net.yaml", "--force", *cached, cwd=place.work)
    assert forced.code == 0 and contents(place.bundle) == contents(place.work / "artifacts/net/candidate")


def test_why_needs_a_cache_to_tell_of(place: Place) -> None:
    refused(exporter("release", "specs/net.yaml", "--why", "--no-cache", cwd=place.work), 2, "--why", "--no-cache")


def test_where_nothing_changed_it_is_found_from_another_checkout_too(place: Place) -> None:
    found = place.find()
    assert isinstance(found, Kept) and found.bundle == Path("artifacts/net/1")
    manifest = json.loads((place.bundle / "manifest.json").read_bytes())
    assert (found.digest, found.word) == (manifest["digest"], manifest["verdict"])
    results = results_of(found.told)
    told = json.loads((place.bundle / "parity.json").read_bytes())
    assert results.report.verdict.word == told["verdict"] and len(results.report.verdict.plan) == told["planned"]
    assert results.report.digest == found.digest and results.measured is None and results.findings == ()


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "the model": (lambda work: append(work / "net/depending.py"), "net/depending.py changed"),
    "a helper": (lambda work: append(work / "net/helping.py"), "net/helping.py changed"),
    "the package": (lambda work: append(work / "net/__init__.py"), "net/__init__.py changed"),
    "a helper that is gone": (lambda work: (work / "net/helping.py").unlink(), "net/helping.py is gone"),
    "a file that it opens": (lambda work: (work / "depends/scale.json").write_text("3.0"), "scale.json changed"),
    "one bit of weights": (lambda work: flip(work / "depends/weights.safetensors"), "weights.safetensors changed"),
    "a folder that it lists": (lambda work: (work / "depends/parts/two").write_text(""), "depends/parts/two changed"),
    "a file that was not there": (
        lambda work: (work / "depends/override.json").write_text(""),
        "override.json changed",
    ),
    "what it asks for": (lambda work: (work / "depends/marker").unlink(), "depends/marker is gone"),
    "what nobody is known to read": (lambda work: (work / "table.bin").write_text(""), "table.bin changed"),
    "a link": (lambda work: (work / "depends/current").symlink_to("parts"), "depends/current changed"),
    "settings of the project": (lambda work: (work / "pyproject.toml").write_text(""), "pyproject.toml changed"),
    "a module in the place of another": (
        lambda work: (work / "safetensors.py").write_text(""),
        "safetensors.py changed",
    ),
    "the spec's budget": (lambda work: write_spec(work, budget=3), "`budget` of the spec changed"),
    "the spec's sizes": (
        lambda work: write_spec(work, dims={"batch": {"min": 1, "typical": 2, "max": 5}}),
        "`dims` of the spec changed",
    ),
    "one bit of the bundle": (lambda work: flip(work / "artifacts/net/1/pir/model.json"), "another bundle lies in"),
    "a file more in the bundle": (
        lambda work: (work / "artifacts/net/1/more").write_text(""),
        "another bundle lies in",
    ),
}


def passed(place: Place) -> Kept:
    """Stand for what a release gave."""
    return Kept(place.bundle, "d", "passed", "PASSED", told=None)


def sees(seen: Seen) -> None:
    """Stand for a child of the release that is being made."""
    memo = in_force()
    assert memo is not None
    memo.answer(Question("a:b", {}, {}, None), lambda: ({}, seen))


def append(path: Path) -> None:
    path.write_text(path.read_text() + "\n# more\n")


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed_and_named(place: Place, what: str) -> None:
    change, said = CHANGES[what]
    change(place.work)
    found = place.find()
    assert isinstance(found, str) and said in found


@pytest.mark.parametrize(
    "name", ["net/unused.py", "README.md", "specs/other.yaml", "runs/other/log", "artifacts/other/1/x"]
)
def test_what_it_does_not_depend_on_may_change(place: Place, name: str) -> None:
    (place.work / name).parent.mkdir(parents=True, exist_ok=True)
    (place.work / name).write_text("changed")
    assert isinstance(place.find(), Kept)


@pytest.mark.parametrize(("name", "value"), [("NET_WIDTH", "6"), ("FLAGS_use_mkldnn", "1"), ("NOBODY_READS_IT", "1")])
def test_a_variable_is_noticed_whoever_reads_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("GITHUB_RUN_ID", "1")
    monkeypatch.setenv("HF_TOKEN", "a secret")
    assert isinstance(place.find(), Kept)
    monkeypatch.setenv(name, value)
    found = place.find()
    assert isinstance(found, str) and name in found and value in found


def test_a_value_that_may_be_a_secret_is_kept_as_a_digest(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LICENCE", "a long value, with words")
    assert identity.identity("cpu")["variable"]["LICENCE"].startswith("sha256 ")  # type: ignore[index]


def test_files_that_git_ignores_count_where_they_are_opened(place: Place) -> None:
    subprocess.run(["git", "init", "-q"], cwd=place.work, check=True)
    (place.work / ".gitignore").write_text("*.log\ndepends/scale.json\n")
    known = Releases(Store(place.work.parent / "other"))
    with known.releasing(place.spec(), Path("artifacts"), ()) as keep:
        sees(Seen(read={str(place.work / "depends/scale.json")}))
        keep(passed(place))
    (place.work / "some.log").write_text("1")
    assert isinstance(place.find(known), Kept)
    (place.work / "depends/scale.json").write_text("5")
    assert place.find(known) == "depends/scale.json changed"


def released_again(place: Place, seen: Seen) -> Releases:
    """Keep the release once more, in a cache of its own, as one whose child has told of this."""
    known = Releases(Store(place.work.parent / "other"))
    with known.releasing(place.spec(), Path("artifacts"), ()) as keep:
        sees(Seen.of(json.loads(json.dumps(seen.content()))))
        keep(passed(place))
    return known


@pytest.mark.parametrize("name", [b"caf\xe9 100%.bin", "図%41.bin".encode()])
@pytest.mark.parametrize("inside", [True, False])
def test_files_with_names_of_any_bytes_are_noticed(place: Place, name: bytes, inside: bool) -> None:
    path = (place.work if inside else place.work.parent) / os.fsdecode(name)
    path.write_text("1")
    known = released_again(place, Seen(read={str(path)}))
    assert isinstance(place.find(known), Kept)
    path.write_text("2")
    found = place.find(Releases(known.store))
    assert isinstance(found, str) and found.endswith(f"{path.name} changed")


def test_a_file_that_was_looked_for_and_comes_is_noticed(place: Place) -> None:
    path = place.work.parent / "override.json"
    known = released_again(place, Seen(read={str(path)}))
    assert isinstance(place.find(known), Kept)
    path.write_text("{}")
    assert place.find(known) == f"{path} changed"


def test_what_the_files_of_a_pipeline_name_is_noticed(place: Place) -> None:
    """A dictionary and what a configuration is based on, none of which the spec names, outside of the project."""
    shared = place.work.parent / "shared"
    shared.mkdir()
    files = {
        "net.yml": '_BASE_: "[base].yml"\n',
        "[base].yml": json.dumps(line("words.txt", space=True)),
        "words.txt": "a\n",
    }
    for name, text in files.items():
        (shared / name).write_text(text)
    chains = dict.fromkeys(("training", "deployment"), f"paddleocr:{shared}/net.yml#Eval")
    write_spec(place.work, pipeline={"samples": ["*.png"], "preprocess": chains, "postprocess": chains})
    known = released_again(place, Seen())
    for name, text in files.items():
        assert isinstance(place.find(known), Kept)
        (shared / name).write_text(f"{text}\n")
        assert place.find(known) == f"{shared / name} changed"
        (shared / name).write_text(text)


def test_what_the_main_process_reads_for_a_release_is_noticed(place: Place) -> None:
    path, known = place.work.parent / "more.txt", Releases(Store(place.work.parent / "other"))
    path.write_text("1")
    with known.releasing(place.spec(), Path("artifacts"), ()) as keep:
        assert path.read_text() == "1"
        keep(passed(place))
    assert isinstance(place.find(known), Kept)
    path.write_text("2")
    assert place.find(known) == f"{path} changed"


def test_a_cache_that_is_named_by_a_way_up_is_no_file_that_a_release_reads(place: Place) -> None:
    known = releases(Path("../work/../other"))
    assert known is not None and known.store.folder == place.work.parent / "other"


def test_another_version_cpu_or_code_of_ours_is_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    known = identity.packages()
    numpy = f"numpy {np.__version__}"
    assert len(known[numpy]) == 64
    for owner, name, value, said in (
        (identity, "packages", {**known, numpy: "1"}, f"package {numpy} is 1, and was"),
        (identity, "packages", {**known, "more": "1"}, "package more is 1, and was not there"),
        (identity, "code_digest", "0" * 64, "exporter is another one"),
        (machine, "cpu", {**machine.cpu(), "abilities": ["avx512f"]}, "the CPU is another one"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(owner, name, lambda value=value: value)
            found = place.find()
            assert isinstance(found, str) and said in found
    assert isinstance(place.find(), Kept)


def test_what_an_import_adds_to_the_path_is_no_other_environment(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As setuptools does, when something imports it."""
    (tmp_path / "vendored/more-1.0.dist-info").mkdir(parents=True)
    packages.packages.cache_clear()
    monkeypatch.syspath_prepend(tmp_path / "vendored")
    assert isinstance(place.find(), Kept)


def test_one_flipped_bit_of_the_cache_is_not_believed(place: Place) -> None:
    for path in place.known.store.folder.glob("records/*/*.json"):
        flip(path)
    assert place.find() == "it was not released before"


def test_a_bundle_that_is_gone_is_laid_there_again_whole_or_not_at_all(place: Place) -> None:
    before = {path.name: path.read_bytes() for path in place.bundle.rglob("*") if path.is_file()}
    shutil.rmtree(place.bundle)
    assert isinstance(place.find(), Kept)
    assert {path.name: path.read_bytes() for path in place.bundle.rglob("*") if path.is_file()} == before
    shutil.rmtree(place.bundle)
    flip(max((place.known.store.folder / "objects").glob("*/*"), key=lambda path: path.stat().st_size))
    found = place.find()
    assert isinstance(found, str) and "no longer holds it" in found
    assert not place.bundle.exists() and not list(place.bundle.parent.glob(".*"))


def test_a_record_of_another_make_is_no_hit(place: Place) -> None:
    store, (record,) = place.known.store, place.known.store.records(key_of(place))
    key = key_of(place)
    for name in record:
        shutil.rmtree(store.folder / "records" / key)
        store.put(key, {"objects": {}} | {key: value for key, value in record.items() if key != name}, [])
        found = place.find()
        assert not isinstance(found, Kept), name


def test_a_key_that_an_older_exporter_did_not_know_is_none_that_changed(place: Place) -> None:
    store, (record,) = place.known.store, place.known.store.records(key_of(place))
    key = key_of(place)
    older = {name: value for name, value in record["spec"].items() if name != "determinism"}
    assert len(older) < len(record["spec"])
    shutil.rmtree(store.folder / "records" / key)
    store.put(key, {"objects": {}} | record | {"spec": older}, [])
    found = place.find()
    assert isinstance(found, Kept) or "of the spec" not in found


def key_of(place: Place) -> str:
    """The key of the one record that names a bundle; the others are answers of children."""
    folder = place.known.store.folder / "records"
    (key,) = (key for key in os.listdir(folder) for one in place.known.store.records(key) if "digest" in one)  # noqa: PTH208
    return key


def test_what_changed_while_it_was_released_is_not_kept(place: Place) -> None:
    """Nobody knows whether the old or the new content was read."""
    known = Releases(Store(place.work.parent / "other"))
    product = passed(place)

    def release(change: bool) -> None:
        with known.releasing(place.spec(), Path("artifacts"), ()) as keep:
            if change:
                (place.work / "depends/scale.json").write_text("4.0")
            keep(product)

    release(change=True)
    assert place.find(known) == "it was not released before"
    release(change=False)
    assert isinstance(place.find(known), Kept)


def test_whom_the_specs_depends_answers_for_is_told(place: Place) -> None:
    told, said = list[str](), list[str]()
    known = Releases(Store(place.work.parent / "other"), lambda step: told.append(str(step)))
    product = passed(place)
    for keys in ({}, {"depends": ["depends/marker"]}):
        write_spec(place.work, **keys)
        with known.releasing(place.spec(), Path("artifacts"), ()) as keep:
            sees(Seen(hidden={"the process cat"}))
            keep(product)
        known.find(place.spec().model_dump(mode="json"), Path("artifacts"), said.append)
    answers = "its `depends` answers for what the process cat may have read"
    assert "net: the release: not kept, since nobody sees" in told[0] and "not released before" in told[1]
    assert told[2:] == [f"net: the release: {word}, since {answers}" for word in ("kept", "reused")]
    assert said[-1] == f"net has not changed since it was released; {answers}"


def test_waivers_are_judged_by_the_day(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from exporter.gate.reuse import release

    waiver = {"claim": "onnx/*", "reason": "a known defect", "until": "2099-01-01"}
    write_spec(place.work, waivers=[waiver])
    known = Releases(Store(place.work.parent / "other"))
    with known.releasing(place.spec(), Path("artifacts"), ()) as keep:
        keep(Kept(place.bundle, "d", "passed_with_waivers", "PASSED", told=None))
    assert isinstance(place.find(known), Kept)
    monkeypatch.setattr(release, "_today", lambda: "2098-12-31")
    assert place.find(known) == "its waivers are judged by the day"


def test_a_release_that_fails_leaves_the_cache_within_its_size_too(tmp_path: Path) -> None:
    """Its steps are kept all the same, for the next attempt."""
    known = Releases(Store(tmp_path / "cache", most=3000))
    spec = Spec.model_validate(small("models.net:Net", weights="factory"))
    for number in range(5):
        file = tmp_path / f"{number}.bin"
        file.write_bytes(bytes([number]) * 1000)
        with pytest.raises(UsageError), known.releasing(spec, tmp_path / "artifacts", ()):
            known.store.put(str(number), {"objects": {file.name: sha256_file(file)}}, [file])
            raise UsageError("it is wrong", hint="mend it")
    left = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert left and sum(path.stat().st_size for path in left) <= 3000
