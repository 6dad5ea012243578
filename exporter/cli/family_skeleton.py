"""A first spec for a configuration of a family: what its steps say of the inputs is in it, the rest is marked.

The configuration alone is read: no code of the family runs, and Paddle is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.cli.skeleton import refuse_places, write
from exporter.cli.yaml_names import yaml_text
from exporter.export.families.given import Asked, config_of
from exporter.spec.beside import Opened, Told, told_of
from exporter.spec.source import DIMS
from exporter.steps.chain import Chain, Declared, read_chain
from exporter.steps.configuration import configuration
from exporter.steps.deployed import Deployed
from exporter.steps.families.base import FamilySteps
from exporter.steps.kinds.beside import Beside
from exporter.steps.kinds.channels import Channels
from exporter.steps.kinds.decode import Decode
from exporter.steps.kinds.gray import Gray
from exporter.steps.settle import FAMILIES, of_configuration


@dataclass(frozen=True)
class StartedFromFamily:
    """The files that were written, the names of the inputs, what was guessed, and the steps that were not read."""

    written: tuple[Path, ...]
    inputs: tuple[str, ...]
    guessed: tuple[str, ...]
    unread: tuple[str, ...]


@dataclass(frozen=True)
class _Read:
    """What a configuration says: the part that was read and its chain; and why a side has no steps."""

    source: str
    chain: Chain
    answers: bool
    unread: tuple[str, ...]


def start_from_family(name: str, source: str, repo: Path | None, folder: Path) -> StartedFromFamily:
    """Write `specs/NAME.yaml` below the folder, and `.gitignore` if there is none.

    Raises:
        UsageError: the name has another form, a file is there already; there is no such family or configuration, or it
            cannot be read.
    """
    path = folder / "specs" / f"{name}.yaml"
    refuse_places(name, [path])
    family, asked = source.partition(":")[0], Asked(source, repo=repo)
    config = config_of(asked)
    steps, read = FAMILIES[family], _read(family, config)
    inputs = _inputs(steps, read.chain)
    deployed = told_of(Deployed(config, {}, read.chain), inputs, DIMS)
    if read.chain and inputs[0].key not in deployed.values:  # nothing scales the bytes of a picture
        deployed = replace(deployed, values={**deployed.values, inputs[0].key: "uniform(0,255)"})
    inputs = [_fixed(opened, deployed) for opened in inputs]
    guessed = [dim for dim in _dims(inputs) if dim not in deployed.dims]
    guessed += [f"values of {opened.key}" for opened in inputs[:1] if opened.key not in deployed.values]
    guessed += [f"whether the net reads {opened.key}" for opened in inputs[1:]]
    model = {"family": family, "config": str(config), **({"repo": str(repo.absolute())} if repo else {})}
    text = _text((name, source), model, (inputs, deployed), read)
    written = write({path: text}, folder)
    return StartedFromFamily(written, tuple(opened.key for opened in inputs), tuple(guessed), read.unread)


def _read(family: str, config: Path) -> _Read:
    """The first part whose steps are known; without one an empty chain, and why."""
    content, why = configuration(config), ""
    for part in FAMILIES[family].exported_parts(content):
        source = f"{family}:{config}#{part}"
        try:
            chain = read_chain(of_configuration(source, "before"))
        except UsageError as error:
            why = why or error.what
            continue
        try:
            return _Read(source, chain, answers=bool(of_configuration(source, "after")), unread=())
        except UsageError as error:
            return _Read(source, chain, answers=False, unread=(f"after the model: {error.what}",))
    return _Read("", (), answers=False, unread=(f"before the model: {why or 'it lists no operators'}",))


def _inputs(steps: FamilySteps, chain: Chain) -> list[Opened]:
    channels = 3
    for link in chain:
        if isinstance(link, Declared):
            if isinstance(link.step, Decode):
                channels = 1 if link.step.order == "gray" else 3
            elif isinstance(link.step, Gray):
                channels = link.step.channels
            elif isinstance(link.step, Channels):
                channels = len(link.step.order)
    picture = Opened(steps.picture, steps.picture, "float32", ("batch", channels, "height", "width"))
    tracked = any(isinstance(link, Declared) and getattr(link.step, "tracks", False) for link in chain)
    beside = [Opened(name, name, "float32", ("batch", 2)) for name in steps.beside if tracked or not chain]
    made = [_made(link.step) for link in chain if isinstance(link, Declared) and isinstance(link.step, Beside)]
    return [picture, *beside, *made]


def _made(step: Beside) -> Opened:
    """The input that a step puts beside the picture."""
    if step.what == "share":
        return Opened(step.name, step.name, "float32", ("batch",))
    if step.what == "count":
        return Opened(step.name, step.name, "int64", ("batch", step.size, *((1,) if step.column else ())))
    return Opened(step.name, step.name, "float32", ("batch", step.heads, step.size, step.size))


def _fixed(opened: Opened, deployed: Told) -> Opened:
    """The input with a number where a dim has one size alone."""
    single = {name: sizes["min"] for name, sizes in deployed.dims.items() if sizes["min"] == sizes["max"]}
    shape = [single.get(size, size) if isinstance(size, str) else size for size in opened.shape]
    return Opened(opened.name, opened.key, opened.dtype, shape)


def _dims(inputs: Sequence[Opened]) -> list[str]:
    return list(dict.fromkeys(size for opened in inputs for size in opened.shape if isinstance(size, str)))


def _text(names: tuple[str, str], model: Mapping[str, str], taken: tuple[Sequence[Opened], Told], read: _Read) -> str:
    """A valid spec; what is a guess says so."""
    (name, source), (inputs, deployed) = names, taken
    return "\n".join(
        [
            f"# What is exported, and what is promised of it. `exporter release specs/{name}.yaml` does the whole way.",
            f"name: {yaml_text(name)}",
            "# version: 1.0.0              # else it comes from the content",
            "",
            "model: exporter.export.families.factory:build   # the layer that the family's own export saves",
            "args:",
            *(f"  {key}: {yaml_text(value)}" for key, value in model.items()),
            "weights: factory              # untrained. Of trained ones, first:",
            f"#   exporter convert --from {source} --weights FILE.pdparams",
            "# and then, instead, the file that it keeps beside the artifacts: checkpoint: FILE.safetensors",
            "",
            "inputs:   # the steps of the configuration say sizes and values",
            *(f"  {line}" for line in _input_lines(inputs, deployed)),
            "dims:",
            *(f"  {line}" for line in _dim_lines(inputs, deployed)),
            "",
            "formats: [pir, pdmodel, onnx]",
            "engines: [jit_load, paddle_inference, onnxruntime]",
            *_pipeline(read),
            "",
        ]
    )


def _input_lines(inputs: Sequence[Opened], deployed: Told) -> Iterator[str]:
    for number, opened in enumerate(inputs):
        usual = (
            "uniform(0,1)" if len(opened.shape) == 1 else "normal" if opened.real else f"integers(0,{opened.shape[1]})"
        )
        values = deployed.values.get(opened.key) or usual
        mark = "" if opened.key in deployed.values else "   # GUESSED: the values"
        mark = "   # GUESSED: leave it out where the net does not read it" if number else mark
        shape = ", ".join(map(str, opened.shape))
        yield f'{yaml_text(opened.key)}: {{dtype: {opened.dtype}, shape: [{shape}], values: "{values}"}}{mark}'


def _dim_lines(inputs: Sequence[Opened], deployed: Told) -> Iterator[str]:
    for dim in _dims(inputs):
        sizes = ", ".join(f"{key}: {size}" for key, size in (deployed.dims.get(dim) or DIMS[dim]).items())
        yield f"{dim}: {{{sizes}}}{'' if dim in deployed.dims else '   # GUESSED'}"


def _pipeline(read: _Read) -> Iterator[str]:
    """The steps around the model, which wait for samples; or why there are none."""
    for why in read.unread:
        yield f"# Not read, {why}"
    if not read.source:
        return
    yield "# The steps around the model are proven once pictures lie in samples/ and these lines are no comments. As"
    yield "# deployment's name the inference.yml or infer_cfg.yml that `exporter convert --from` writes: FAMILY:FILE."
    yield "# pipeline:"
    yield "#   samples: [samples/*.png]"
    for side in ("preprocess", "postprocess") if read.answers else ("preprocess",):
        yield f"#   {side}: {{training: {yaml_text(read.source)}, deployment: {yaml_text(read.source)}}}"
