"""MLflow's model registry, by its client (`mlflow-skinny`, the extra `mlflow`).

A bundle becomes the artifacts `model/` of a run of its own: an `MLmodel` with the signature, an example of the inputs,
and the whole sealed folder `model/bundle`. The run has the metric of the training, the version the lineage as tags.
What comes back is believed by its seals alone: of the artifacts just those are taken that the manifest names.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.bounded_json import MOST_BYTES, read_bytes
from exporter.base.distribution import how_to_install
from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.base.files import readable_json, safe_relative
from exporter.base.tensors import TensorSpec
from exporter.base.words import plain
from exporter.bundle.manifest import NAME, SIGNATURE, parse
from exporter.bundle.open import Bundle
from exporter.deploy.publish.base import Published, Publisher, Target, example, lineage
from exporter.process.scratch import scratch

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

#: The experiment whose runs hold the bundles, the folder of a model in a run, and of the bundle in it.
_EXPERIMENT, _MODEL, _BUNDLE = "exporter", "model", "model/bundle"
_EXAMPLE = "input_example.json"
#: Before each of our tags.
_TAG = "exporter."
_REFERENCE = re.compile(r"models:/+(?P<name>[^/@:]+)(?:@(?P<alias>[^/@:]+)|/(?P<version>[0-9]+))")
_SOURCE = re.compile(r"runs:/(?P<run>[0-9a-f]{32})/" + _MODEL)
_STORE = "MLFLOW_TRACKING_URI"
_HINT = "do not use it; ask for a fresh one"
_WRITTEN = "give a version that `exporter publish` wrote"
#: What MLflow says of a name that it does not know or take; of an unknown alias it says the third.
_MISTAKEN = ("RESOURCE_DOES_NOT_EXIST", "NOT_FOUND", "INVALID_PARAMETER_VALUE", "BAD_REQUEST")


class Mlflow(Publisher):
    """A tracking server, or a database of its own (`sqlite:///mlflow.db`)."""

    scheme = "models:/"

    def publish(self, bundle: Bundle, target: Target, stays: str) -> Published:
        name, store = target.name or bundle.manifest.name, _store(target.store)
        with _client(store) as client:
            version = _same(client, name, bundle.manifest.digest)
            new = version is None
            number = str(version.version) if version is not None else _added(client, store, name, bundle)
            if target.alias and not stays:
                client.set_registered_model_alias(name, target.alias, number)
        reference = f"models:/{name}@{target.alias}" if target.alias and not stays else f"models:/{name}/{number}"
        about = bundle.manifest
        return Published(name, number, reference, about.digest, about.verdict, target.alias, new, stays)

    def fetch(self, reference: str, store: str, into: Path) -> None:
        match = _REFERENCE.fullmatch(reference)
        if match is None:
            hint = "write it as in models:/digits@champion, or models:/digits/3"
            raise UsageError("names no version of a model", where=reference, hint=hint)
        with _client(_store(store)) as client:
            name, alias = match["name"], match["alias"]
            version = (
                client.get_model_version_by_alias(name, alias)
                if alias
                else client.get_model_version(name, match["version"])
            )
            source = _SOURCE.fullmatch(str(version.source))
            digest = version.tags.get(f"{_TAG}digest")
            if source is None or digest is None:
                raise BundleError("is no version that holds a bundle", where=reference, hint=_WRITTEN)
            _download(client, source["run"], into, reference)
        if (came := parse(read_bytes(into / NAME), reference).digest) != digest:
            what = f"what came has the digest {came}, and the registry says {plain(digest)[:80]}"
            raise BundleError(what, where=reference, hint=_HINT)


def _store(store: str) -> str:
    """The store that is named, or that MLflow's own variable names; there is no other by default."""
    if named := store or os.environ.get(_STORE, ""):
        return named
    hint = f"give --store sqlite:///mlflow.db or the address of a server, or set {_STORE}"
    raise UsageError("nothing says which store of MLflow is meant", where="--store", hint=hint)


@contextmanager
def _client(store: str) -> Iterator[MlflowClient]:
    """The client of a store; what MLflow says against it is the user's mistake, or the environment's."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        what = f"{error.name} is not installed"
        raise EnvironmentLacks(what, where="mlflow", hint=how_to_install("mlflow")) from None
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)  # a new database tells every step of its making
    try:
        yield MlflowClient(tracking_uri=store, registry_uri=store)
    except ModuleNotFoundError as error:  # of a database, which the client alone cannot open
        what = f"{error.name} is not installed"
        raise EnvironmentLacks(what, where=store, hint=how_to_install("mlflow")) from None
    except MlflowException as error:
        words = plain(str(error))[:300]
        if error.error_code in _MISTAKEN:
            hint = "check the name, the version or alias, and --store"
            raise UsageError(
                f"MLflow does not take it, or knows no such name: {words}", where=store, hint=hint
            ) from error
        hint = f"check --store or {_STORE}, and that you may write there"
        raise EnvironmentLacks(f"the store refuses: {words}", where=store, hint=hint) from error


def _same(client: MlflowClient, name: str, digest: str) -> ModelVersion | None:
    """The version that holds just this bundle already."""
    quoted = name.replace("'", "")  # MLflow's filters know no escape; another name finds nothing
    versions = [listed for listed in client.search_model_versions(f"name='{quoted}'") if listed.name == name]
    return next((version for version in versions if version.tags.get(f"{_TAG}digest") == digest), None)


def _added(client: MlflowClient, store: str, name: str, bundle: Bundle) -> str:
    """Put the bundle into a run of its own, and make it a version; the run is marked failed where that breaks off."""
    tags = {f"{_TAG}{key}": value for key, value in lineage(bundle).items()}
    run = client.create_run(_experiment(client, store), tags=tags, run_name=f"{name} {bundle.manifest.version}")
    number, status = run.info.run_id, "FAILED"
    try:
        for metric, value in bundle.manifest.provenance.get("training", {}).get("metric", {}).items():
            client.log_metric(number, metric, value)
        with scratch() as place:
            _describe(bundle, number, place)
            client.log_artifacts(number, str(place), _MODEL)
        client.log_artifacts(number, str(bundle.folder.absolute()), _BUNDLE)
        if not any(model.name == name for model in client.search_registered_models(f"name='{name}'")):
            client.create_registered_model(name)
        version = client.create_model_version(name, f"runs:/{number}/{_MODEL}", run_id=number, tags=tags)
        status = "FINISHED"
    finally:
        client.set_terminated(number, status)
    return str(version.version)


def _experiment(client: MlflowClient, store: str) -> str:
    """The experiment; of a database in a file its artifacts lie beside that, and not wherever the command is run."""
    if (known := client.get_experiment_by_name(_EXPERIMENT)) is not None:
        return str(known.experiment_id)
    path = Path(store.removeprefix("sqlite:///")) if store.startswith("sqlite:///") else None
    beside = path.absolute().with_name(f"{path.stem}-artifacts").as_uri() if path is not None else None
    return str(client.create_experiment(_EXPERIMENT, artifact_location=beside))


def _describe(bundle: Bundle, run: str, into: Path) -> None:
    """Write what MLflow shows of a model: `MLmodel`, and the example where there is one."""
    import yaml

    about = bundle.manifest
    shown: dict[str, object] = {
        "artifact_path": _MODEL,
        "flavors": {
            "exporter": {
                "bundle": Path(_BUNDLE).name,
                "digest": about.digest,
                "verdict": about.verdict,
                "variants": list(about.variants),
            }
        },
        "model_uuid": uuid.uuid4().hex,
        "run_id": run,
        "signature": {
            "inputs": _signature([TensorSpec(tensor.name, tensor.dtype, tensor.shape) for tensor in about.inputs]),
            "outputs": _signature([TensorSpec(tensor.name, tensor.dtype, tensor.shape) for tensor in about.outputs]),
            "params": None,
        },
        "utc_time_created": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f"),
    }
    if (inputs := example(bundle)) is not None:
        (into / _EXAMPLE).write_bytes(readable_json({"inputs": inputs}))
        shown["saved_input_example_info"] = {"artifact_path": _EXAMPLE, "format": "tf-serving", "type": "ndarray"}
    (into / "MLmodel").write_text(yaml.safe_dump(shown), encoding="utf-8")


def _signature(tensors: list[TensorSpec]) -> str:
    """The tensors as MLflow's schema has them: a size that varies is -1."""
    return json.dumps(
        [
            {
                "name": tensor.name,
                "type": "tensor",
                "tensor-spec": {
                    "dtype": tensor.dtype,
                    "shape": [size if isinstance(size, int) else -1 for size in tensor.shape],
                },
            }
            for tensor in tensors
        ]
    )


def _download(client: MlflowClient, run: str, into: Path, reference: str) -> None:
    """Take the manifest, then what it names, each of the size that it says, and a signature."""
    held = dict(_listed(client, run, _BUNDLE))
    _take(client, run, held, (NAME, None), into, reference)
    manifest = parse(read_bytes(into / NAME), reference)
    for name in manifest.files:
        safe_relative(name, reference)
    for name, facts in manifest.files.items():
        _take(client, run, held, (name, facts.size), into, reference)
    if SIGNATURE in held:
        _take(client, run, held, (SIGNATURE, None), into, reference)


def _listed(client: MlflowClient, run: str, folder: str) -> Iterator[tuple[str, int | None]]:
    """The files below a folder by their names in the bundle, with the sizes that the store says."""
    for entry in client.list_artifacts(run, folder):
        if entry.is_dir:
            yield from _listed(client, run, entry.path)
        else:
            yield entry.path.removeprefix(f"{_BUNDLE}/"), entry.file_size


def _take(
    client: MlflowClient,
    run: str,
    held: Mapping[str, int | None],
    wanted: tuple[str, int | None],
    into: Path,
    reference: str,
) -> None:
    """Download one file; one of no known size may have as many bytes as a document of ours."""
    name, size = wanted
    stored = held.get(name)
    if name not in held:
        raise BundleError(f"{name} is not there", where=reference, hint=_HINT)
    if stored is not None and (stored > MOST_BYTES if size is None else stored != size):
        raise BundleError(f"{name} has {stored:,} bytes, which its manifest does not say", where=reference, hint=_HINT)
    with scratch() as place:
        came = Path(client.download_artifacts(run, f"{_BUNDLE}/{name}", str(place)))
        if came.is_symlink() or not came.resolve().is_relative_to(place.resolve()):
            raise BundleError(f"{name} is no plain file", where=reference, hint=_HINT)
        path = into.joinpath(*safe_relative(name, reference).parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(came, path)


plugin: Publisher = Mlflow()
