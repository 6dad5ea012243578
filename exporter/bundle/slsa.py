"""The provenance of a bundle as an in-toto statement: SLSA provenance v1 (https://slsa.dev/spec/v1.0/provenance).

The same inputs give the same bytes: it holds no times and no number of the run.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any

from exporter import __version__
from exporter.base.distribution import NAME
from exporter.base.git import State
from exporter.bundle.environment import Environment, digest_where_known
from exporter.bundle.manifest import Content, FileFacts

STATEMENT, PREDICATE = "https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"
#: What the build is, and who did it; both are names, and nothing lies behind them on a network.
BUILD_TYPE, BUILDER = "urn:exporter:build:v1", "urn:exporter:builder:local"


def provenance_statement(
    content: Content, files: Mapping[str, FileFacts], made_with: Environment, commit: State | None
) -> dict[str, Any]:
    """What made these files of a bundle: the spec, the checkpoint, data, code, packages and machine."""
    origin = content.provenance
    internal = {key: origin[key] for key in ("machine", "python", "training") if key in origin}
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": files[name].sha256}} for name in sorted(files)],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"spec": content.spec},
                "internalParameters": internal,
                "resolvedDependencies": [
                    *_inputs(content),
                    *_code(commit),
                    *(
                        {"name": name, "uri": f"file:{name}", **_sha256(made_with.sources[name])}
                        for name in made_with.sources
                    ),
                    *_packages(made_with),
                ],
            },
            "runDetails": {"builder": {"id": BUILDER, "version": {"exporter": __version__}}},
        },
    }


def _sha256(digest: str) -> dict[str, Mapping[str, str]]:
    return {"digest": {"sha256": digest}}


def _inputs(content: Content) -> Iterator[dict[str, Any]]:
    """The checkpoint, and the files of values and samples that the spec names, as far as they are at hand."""
    weights = content.provenance.get("weights", {})
    if "checkpoint" in weights:
        yield {"name": "checkpoint", "uri": f"file:{weights['checkpoint']}", **_sha256(weights["sha256"])}
    named = {f"input {name}": told.get("values", "") for name, told in content.spec.get("inputs", {}).items()}
    precisions = content.spec.get("precisions", {})
    if isinstance(precisions, dict):
        named |= {f"samples {name}": (told or {}).get("data") or "" for name, told in precisions.items()}
    for what, file in named.items():
        if file.endswith((".npy", ".safetensors")) and (digest := digest_where_known(file)):
            yield {"name": what, "uri": f"file:{file}", **_sha256(digest)}


def _code(commit: State | None) -> Iterator[dict[str, Any]]:
    if commit is not None:
        about = {"dirty": commit.dirty}
        yield {"name": "source repository", "digest": {"gitCommit": commit.commit}, "annotations": about}


def _packages(made_with: Environment) -> Iterator[dict[str, Any]]:
    """Python and each package, with the modules of it that were imported; of exporter all of them.

    Of Python's own library the version says all: which of it is loaded depends on what ran before in the same process.
    """
    yield {"name": "python", "uri": f"pkg:generic/python@{platform.python_version()}"}
    about = {"annotations": {"modules": dict(made_with.exporter)}}
    yield {"name": NAME, "uri": f"pkg:pypi/{NAME}@{__version__}", **about}
    for package in made_with.packages:
        if package.name == NAME:
            continue
        uri = f"pkg:pypi/{package.name}@{package.version}"
        modules = {"annotations": {"modules": dict(package.modules)}} if package.modules else {}
        yield {"name": package.name, "uri": uri, **modules}
