"""Lower to every format that a spec asks for, each in a child of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from exporter.errors import ChildCrashed, ChildFailed, ModelError
from exporter.lower.base import Artifact, Format
from exporter.registry import Registry
from exporter.spec.model import Spec
from exporter.tensors import TensorSpec
from exporter.workers import SINGLE_THREAD, Json, Setting, call

FORMATS: Registry[Format] = Registry("exporter.lower", "format")


@dataclass(frozen=True)
class Conversion:
    """What came of one layer: its artifacts, its outputs (−1 where a size varies), the digests of its tensors."""

    artifacts: tuple[Artifact, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: Mapping[str, str]

    @property
    def output_names(self) -> list[str]:
        """The outputs' names, in the order that `forward` returns them."""
        return [one.name for one in self.outputs]


def convert_all(spec: Spec, checkpoint: Path | None, into: Path, setting: Setting) -> Conversion:
    """Write `into/<variant>/` for each format.

    Raises:
        UsageError: the factory, the checkpoint or the inputs are wrong.
        ModelError: a format cannot hold the model, or its child crashed or ran out of time; it names the format.
    """
    answers: dict[str, Json] = {}
    for name in _in_order(spec.formats):
        setting.say(f"writing {name}")
        folder = into / name
        folder.mkdir()
        after = FORMATS[name].after
        known = answers.get(after) if after else None
        request = _request(spec, checkpoint, name, folder)
        if known:
            held = list(known["parameters"].values())
            names = [one["name"] for one in known["outputs"]]
            request = {**request, "source": str(into / str(after)), "outputs": names, "held": held}
        answers[name] = _lower(name, request, setting)
    traced = [answer for answer in answers.values() if answer["parameters"] is not None]
    _same_parameters(traced, spec.model)
    outputs = tuple(TensorSpec(one["name"], one["dtype"], tuple(one["shape"])) for one in traced[0]["outputs"])
    artifacts = tuple(artifact_from_json(answers[name]["artifact"]) for name in spec.formats)
    return Conversion(artifacts, outputs, traced[0]["parameters"])


def fixed_dims(spec: Spec) -> dict[str, int]:
    """Named dims that never vary: they are written as numbers."""
    return {name: dim.min for name, dim in spec.dims.items() if dim.min == dim.max}


def oldest_paddle(targets: Sequence[str]) -> str | None:
    """The oldest Paddle Inference among targets such as `paddle_inference>=2.6`; None where none is named."""
    wanted = [Requirement(target) for target in targets]
    versions = [one.version for need in wanted if need.name == "paddle_inference" for one in need.specifier]
    return min(versions, key=Version, default=None)


def artifact_from_json(value: Mapping[str, Any]) -> Artifact:
    """An artifact out of a child's answer or a manifest."""
    return Artifact(
        value["format"],
        value["precision"],
        tuple(value["files"]),
        tuple(value["inputs"]),
        tuple(value["outputs"]),
        tuple(value["native_outputs"]),
        value["details"],
        value["weights"],
    )


def _in_order(formats: tuple[str, ...]) -> list[str]:
    """Those that others are made from come first."""
    return sorted(formats, key=lambda name: FORMATS[name].after is not None)


def _request(spec: Spec, checkpoint: Path | None, name: str, folder: Path) -> Json:
    return {
        "format": name,
        "into": str(folder),
        "source": None,
        "model": spec.model,
        "checkpoint": str(checkpoint) if checkpoint else None,
        "seed": spec.seed,
        "inputs": [{"name": one.name, "dtype": one.dtype, "shape": list(one.shape)} for one in spec.input_specs()],
        "outputs": list(spec.outputs) if spec.outputs else None,
        "fixed": fixed_dims(spec),
        "opset": spec.opset,
        "held": [],
        "target": oldest_paddle(spec.targets),
    }


def _lower(name: str, request: Json, setting: Setting) -> Json:
    environment = {**SINGLE_THREAD, **FORMATS[name].environment}
    try:
        return call(
            "exporter.lower._child:export", request, setting.limits, environment=environment, on_event=setting.on_event
        )
    except ChildFailed as error:
        raise type(error)(
            f"{name}: {error.what}{_last_words(error)}",
            where=error.where,
            hint=f"{error.hint}, or leave this format out",
            details=error.details,
        ) from error
    except ModelError as error:
        raise ModelError(f"{name}: {error.what}", where=error.where, hint=error.hint) from error


def _last_words(error: ChildFailed) -> str:
    """What a library said before it took the process down: the last line of its own, not of the crash report's."""
    if not isinstance(error, ChildCrashed):
        return ""
    own, _, _ = error.details.partition("Fatal Python error")
    lines = [line.strip() for line in own.splitlines() if line.strip() and "Warning" not in line]
    telling = [
        line for line in lines if re.search(r"error|fail|unsupported|not support|terminate|what\(\)|assert", line, re.I)
    ]
    return f"; it said: {(telling or lines)[-1][:300]}" if lines else ""


def _same_parameters(traced: list[Json], model: str) -> None:
    for answer in traced[1:]:
        if answer["parameters"] != traced[0]["parameters"]:
            raise ModelError(
                "the factory gave other weights each time it was called",
                where=model,
                hint="give the weights as a checkpoint, or seed the factory's own random generators",
            )
