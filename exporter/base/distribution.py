"""The name under which exporter is installed, and the commands that install what an installation lacks.

The import name and the command are `exporter`; on the package index that name belongs to somebody else. So no hint says
`pip install 'exporter[…]'`: each names the packages themselves, as our own metadata declares them.
"""

from __future__ import annotations

from collections.abc import Iterator

NAME = "paddle-exporter"
_SCRIPT = "scripts/install"


def requirements(extra: str) -> tuple[str, ...]:
    """What an extra adds, as pip takes it: `openvino==2026.*`; nothing where exporter is not installed.

    Raises:
        ValueError: the installed exporter has no such extra.
    """
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        declared = metadata(NAME)
    except PackageNotFoundError:
        return ()
    if extra not in (declared.get_all("Provides-Extra") or ()):
        raise ValueError(f"{NAME} has no extra '{extra}'")
    return tuple(_added_by(extra, declared.get_all("Requires-Dist") or ()))


def _added_by(extra: str, declared: list[str] | tuple[str, ...]) -> Iterator[str]:
    from packaging.requirements import Requirement

    for line in declared:
        need = Requirement(line)
        if need.marker and need.marker.evaluate({"extra": extra}) and not need.marker.evaluate({"extra": ""}):
            yield f"{need.name}{need.specifier}"


def how_to_install(extra: str) -> str:
    """The command that adds an extra to this installation: `scripts/install` is for a checkout, pip for the rest.

    `paddle2onnx` goes in without the dependencies that it declares: as it is called here it imports none of them, one
    (onnxoptimizer 0.3.13) has no wheel for Python 3.12, and another holds onnx at 1.17.
    """
    if not (wanted := requirements(extra)):
        return _SCRIPT
    alone = "--no-deps " if extra == "paddle2onnx" else ""
    command = f"pip install {alone}{' '.join(map(_quoted, wanted))}"
    return f"{_SCRIPT}, or {command}" if extra in ("compare", "convert", "cpu", "paddle2onnx", "train") else command


def _quoted(requirement: str) -> str:
    return requirement if requirement.replace("-", "").replace("_", "").isalnum() else f"'{requirement}'"
