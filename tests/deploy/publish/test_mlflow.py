"""A bundle in MLflow's registry, in a store of a file; skipped where its client is not installed."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from exporter.bundle.open import Bundle, open_bundle
from exporter.deploy.publish import base
from exporter.deploy.publish.base import example, lineage
from tests import faults
from tests.command import STORED, Done, environment, exporter

_HERE = all(importlib.util.find_spec(name) for name in ("mlflow", "sqlalchemy", "alembic"))
needs_mlflow = pytest.mark.skipif(not _HERE, reason="mlflow-skinny, sqlalchemy and alembic are not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of SQLAlchemy, in MLflow's own code
ABOUT = json.loads((STORED / "manifest.json").read_bytes())
STORE = "sqlite:///models.db"
_IMPATIENT = environment(MLFLOW_HTTP_REQUEST_MAX_RETRIES="0", MLFLOW_HTTP_REQUEST_TIMEOUT="5")
KNOWN = environment(MLFLOW_TRACKING_URI="")


def publish(bundle: Path, place: Path, *options: str) -> Done:
    return exporter("publish", bundle, "--to", "mlflow", "--store", STORE, *options, "--json", cwd=place, env=KNOWN)


def verify(reference: str, place: Path, *options: str) -> Done:
    return exporter("verify", reference, "--store", STORE, *options, cwd=place, env=KNOWN)


def client(place: Path) -> Any:
    from mlflow import MlflowClient

    store = f"sqlite:///{place}/models.db"
    return MlflowClient(tracking_uri=store, registry_uri=store)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one version that passed, under the alias `champion`; nobody writes into it."""
    place = tmp_path_factory.mktemp("store")
    done = publish(STORED, place, "--alias", "champion")
    assert done.code == 0, done.out + done.err
    return place


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    """A copy of the store, that a test may change; its artifacts lie where the first one's do, and are moved along."""
    place = Path(shutil.copytree(filled, tmp_path / "store"))
    import sqlite3

    with sqlite3.connect(place / "models.db") as database:
        database.execute("UPDATE runs SET artifact_uri = replace(artifact_uri, ?, ?)", (str(filled), str(place)))
        moved = "UPDATE experiments SET artifact_location = replace(artifact_location, ?, ?)"
        database.execute(moved, (str(filled), str(place)))
    database.close()
    return place


def artifacts(place: Path) -> Path:
    (model,) = place.glob("models-artifacts/*/artifacts/model")
    return model


def failed(to: Path, verdict: str = "failed") -> Path:
    """A bundle that did not pass, sealed in order."""
    copy = faults.copied(STORED, to)
    faults.reseal(copy, {**ABOUT, "verdict": verdict})
    return copy


@needs_mlflow
def test_the_bundle_is_whole_and_its_version_says_where_it_comes_from(filled: Path) -> None:
    import yaml

    version = client(filled).get_model_version_by_alias(ABOUT["name"], "champion")
    tags = {name.removeprefix("exporter."): value for name, value in version.tags.items()}
    assert (version.version, tags["digest"], tags["verdict"]) in [(n, ABOUT["digest"], "passed") for n in (1, "1")]
    assert tags["model"] == ABOUT["provenance"]["model"] and "training.recipe" not in tags, "nobody trained it"
    assert json.loads(tags["packages"]) == ABOUT["provenance"]["packages"]
    run = client(filled).get_run(version.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.metrics == ABOUT["provenance"].get("training", {}).get("metric", {})
    model = artifacts(filled)
    own = {path.relative_to(STORED).as_posix() for path in STORED.rglob("*") if path.is_file()}
    assert {
        path.relative_to(model / "bundle").as_posix() for path in (model / "bundle").rglob("*") if path.is_file()
    } == own
    shown = yaml.safe_load((model / "MLmodel").read_text())
    inputs, outputs = (json.loads(shown["signature"][side]) for side in ("inputs", "outputs"))
    assert [one["name"] for one in inputs] == [one["name"] for one in ABOUT["inputs"]]
    assert [one["name"] for one in outputs] == [one["name"] for one in ABOUT["outputs"]]
    assert inputs[0]["tensor-spec"]["shape"][0] == -1 and shown["flavors"]["exporter"]["digest"] == ABOUT["digest"]
    example = json.loads((model / shown["saved_input_example_info"]["artifact_path"]).read_bytes())["inputs"]
    assert set(example) == {one["name"] for one in ABOUT["inputs"]}
    assert len(next(iter(example.values()))) == 1, "the smallest case has one row"


@needs_mlflow
def test_what_is_published_twice_is_one_version(store: Path) -> None:
    done = publish(STORED, store, "--alias", "second")
    assert done.code == 0, done.err
    told = done.json()
    assert (told["new"], told["version"], told["alias"], told["reference"]) == (
        False,
        "1",
        "second",
        f"models:/{ABOUT['name']}@second",
    )
    assert len(client(store).search_model_versions(f"name='{ABOUT['name']}'")) == 1


@needs_mlflow
@pytest.mark.parametrize("reference", ["@champion", "/1"])
def test_what_the_registry_gives_is_proven_again(filled: Path, reference: str) -> None:
    before = sorted(filled.rglob("*"))
    done = verify(f"models:/{ABOUT['name']}{reference}", filled, "--engines", "onnxruntime", "--json")
    assert (done.code, done.json()["verdict"]) == (0, "partial"), done.out + done.err
    assert sorted(filled.rglob("*")) == before


@needs_mlflow
def test_no_alias_moves_to_a_bundle_that_did_not_pass(store: Path, tmp_path: Path) -> None:
    done = publish(failed(tmp_path / "failed"), store, "--alias", "champion")
    told = done.json()
    assert (done.code, told["version"], told["alias"], told["verdict"]) == (1, "2", None, "failed"), done.err
    assert "its verdict is failed" in told["stays"] and told["reference"] == f"models:/{ABOUT['name']}/2"
    assert str(client(store).get_model_version_by_alias(ABOUT["name"], "champion").version) == "1"


@needs_mlflow
def test_a_bundle_whose_report_contradicts_it_is_none_that_passed(store: Path, tmp_path: Path) -> None:
    copy = faults.copied(STORED, tmp_path / "copy")
    report = json.loads((copy / "parity.json").read_bytes())
    report["checks"][0]["outcome"] = "mismatch"
    (copy / "parity.json").write_text(json.dumps(report))
    faults.reseal(copy)
    done = publish(copy, store, "--alias", "champion")
    assert (done.code, done.json()["alias"]) == (1, None) and "parity.json" in done.json()["stays"], done.err


@needs_mlflow
def test_waivers_count_where_they_are_accepted(store: Path, tmp_path: Path) -> None:
    copy = failed(tmp_path / "waived", "passed_with_waivers")
    done = publish(copy, store, "--alias", "champion")
    assert (done.code, done.json()["stays"]) == (1, "it passed with waivers, which nobody here accepted"), done.err
    accepted = publish(copy, store, "--alias", "champion", "--accept-waivers")
    assert accepted.code == 1 and "parity.json" in accepted.json()["stays"], "its report says that it passed without"


@needs_mlflow
def test_a_name_of_its_own(store: Path) -> None:
    done = publish(STORED, store, "--name", "team.digits")
    assert (done.code, done.json()["reference"], done.json()["alias"]) == (0, "models:/team.digits/1", None), done.err


def test_the_lineage_is_what_the_manifest_says() -> None:
    bundle = open_bundle(STORED)
    trained = {
        "training": {"recipe": "recipes.digits:recipe", "seed": 3, "metric": {"accuracy": 0.5}},
        "weights": {"sha256": "ab", "checkpoint": "best.safetensors"},
        "commit": "cd",
    }
    about = bundle.manifest.model_copy(update={"provenance": {**ABOUT["provenance"], **trained}})
    told = lineage(Bundle(STORED, about))
    wanted = {"training.recipe": "recipes.digits:recipe", "training.seed": "3", "weights.sha256": "ab", "commit": "cd"}
    assert {key: told[key] for key in wanted} == wanted and told["digest"] == about.digest


def test_an_example_is_left_out_where_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = open_bundle(STORED)
    assert set(example(bundle) or {}) == {tensor.name for tensor in bundle.manifest.inputs}
    monkeypatch.setattr(base, "_MOST_NUMBERS", 3)
    assert example(bundle) is None


def _changed(bundle: Path) -> None:
    content = bytearray((bundle / "onnx/model.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (bundle / "onnx/model.onnx").write_bytes(content)


def _longer(bundle: Path) -> None:
    with (bundle / "onnx/model.onnx").open("ab") as stream:
        stream.write(b"more")


def _gone(bundle: Path) -> None:
    (bundle / "onnx/model.onnx").unlink()


def _other(bundle: Path) -> None:
    with (bundle / "report.html").open("a") as stream:
        stream.write("<!-- another one -->")
    faults.reseal(bundle)


@needs_mlflow
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (_changed, "onnx/model.onnx"),
        (_longer, "which its manifest does not say"),
        (_gone, "onnx/model.onnx is not there"),
        (_other, "and the registry says"),
    ],
    ids=["changed", "longer", "gone", "another bundle"],
)
def test_what_was_changed_in_the_store_is_not_believed(store: Path, fault: Any, said: str) -> None:
    fault(artifacts(store) / "bundle")
    done = verify(f"models:/{ABOUT['name']}@champion", store)
    assert (done.code, said in done.err) == (5, True), done.out + done.err


@needs_mlflow
def test_what_the_manifest_does_not_name_is_not_taken(store: Path) -> None:
    (artifacts(store) / "bundle/onnx/json.py").write_text("raise SystemExit(9)")
    done = verify(f"models:/{ABOUT['name']}@champion", store, "--engines", "onnxruntime")
    assert done.code == 0, done.out + done.err


@needs_mlflow
def test_a_version_of_another_tool_holds_no_bundle(store: Path) -> None:
    known = client(store)
    known.create_registered_model("foreign")
    known.create_model_version("foreign", (store / "elsewhere").as_uri())
    done = verify("models:/foreign/1", store)
    assert (done.code, "is no version that holds a bundle" in done.err) == (5, True), done.err


@needs_mlflow
@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("models:/nobody@champion", "no such name"),
        (f"models:/{ABOUT['name']}@nobody", "no such name"),
        (f"models:/{ABOUT['name']}/99", "no such name"),
    ],
)
def test_a_version_that_is_not_there(store: Path, reference: str, said: str) -> None:
    done = verify(reference, store)
    assert (done.code, said in done.err, "check the name" in done.err) == (2, True, True), done.err


@pytest.mark.parametrize("reference", ["models:/digits", "models:/digits@a@b", "models:/digits/latest"])
def test_what_is_no_reference_is_a_usage_error(tmp_path: Path, reference: str) -> None:
    done = verify(reference, tmp_path)
    assert (done.code, "names no version of a model" in done.err) == (2, True), done.err


def test_no_store_is_taken_that_nobody_named(tmp_path: Path) -> None:
    for words in (("publish", STORED, "--to", "mlflow"), ("verify", "models:/digits@champion")):
        done = exporter(*words, cwd=tmp_path, env=KNOWN)
        assert (done.code, "nothing says which store" in done.err) == (2, True), done.err
    assert not list(tmp_path.iterdir())


def test_a_registry_that_nobody_knows(tmp_path: Path) -> None:
    done = exporter("publish", STORED, "--to", "mlflo", cwd=tmp_path, env=KNOWN)
    assert (done.code, "did you mean 'mlflow'" in done.err) == (2, True), done.err


@pytest.mark.skipif(_HERE, reason="mlflow is installed")
def test_without_the_client_it_says_what_to_install(tmp_path: Path) -> None:
    done = publish(STORED, tmp_path)
    assert done.code == 3 and "mlflow is not installed" in done.json()["error"]["what"], done.out + done.err
    assert "mlflow-skinny" in done.json()["error"]["hint"] or "scripts/install" in done.json()["error"]["hint"]


@needs_mlflow
@pytest.mark.parametrize(("store", "code"), [("nowhere://x", 2), ("file:models", 2), ("http://127.0.0.1:9", 3)])
def test_a_store_that_is_none_and_one_that_refuses(tmp_path: Path, store: str, code: int) -> None:
    """MLflow opens its plain file store only where a variable allows it (3.17)."""
    done = exporter("publish", STORED, "--to", "mlflow", "--store", store, cwd=tmp_path, env=_IMPATIENT)
    assert done.code == code and "check " in done.err, done.out + done.err
