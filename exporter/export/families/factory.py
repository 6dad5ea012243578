"""In a child: the layer that a family's own export would save; the factory of the specs of `convert --from`."""

from __future__ import annotations

import importlib.util
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from exporter.base.errors import EnvironmentLacks, ModelError, UsageError
from exporter.base.references import user_code
from exporter.base.registry import Registry
from exporter.export.families.base import Family
from exporter.export.families.capture import Saved, capturing, whole_weights, working_in
from exporter.export.trace.blame import blamed

if TYPE_CHECKING:
    import paddle

FAMILIES: Registry[Family] = Registry("exporter.export.families", "family")
#: Tried with Paddle 3.3.1: paddleclas 2.6.0, paddledet 2.6.0, paddleseg 2.8.0; those of paddleocr hold no networks.
_NO_WHEEL = "no wheel of the families exports with Paddle 3"


def build(family: str, config: str, repo: str | None = None) -> paddle.nn.Layer:
    """The layer of a configuration, with the weights that its code draws; its inputs are passed by position.

    Raises:
        EnvironmentLacks: the family's package, or one that it imports, is not installed.
        ModelError: its model cannot be called or traced: at the innermost line of the model, as Paddle says it.
        UsageError: other code of it fails, or saves something else than one layer.
    """
    with tempfile.TemporaryDirectory() as folder:
        saved = exported(family, Path(config), Path(repo) if repo else None, None, Path(folder))
    return flat(saved, FAMILIES[family])


def exported(family: str, config: Path, repo: Path | None, weights: Path | None, into: Path) -> Saved:
    """Run the family's export, whose files for its runtimes come to lie below `into`; raises as :func:`build`."""
    plugin, where = FAMILIES[family], f"{family}:{config}"
    strictly = whole_weights(str(weights)) if weights else nullcontext()
    with working_in(repo.resolve() if repo else None), capturing() as saved, strictly:
        _require(plugin, repo)
        try:
            with user_code(f"the export of {family} failed", where), _model_blamed(family):
                plugin.export(config, _linked(weights, into), into)
        except (UsageError, ModelError) as error:
            if lack := _missing(error, plugin, repo) or (_of_installed(error, plugin) if repo is None else None):
                raise lack from error
            raise
    if len(saved) != 1:
        what = f"the export of {family} saves {len(saved)} models, and one can be converted"
        raise UsageError(what, where=where, hint="name the configuration of a single network")
    return saved[0]


@contextmanager
def _model_blamed(family: str) -> Iterator[None]:
    """Take what a call of a layer raises in here, eager or traced, is the model's: the rest of the export ran well."""
    try:
        yield
    except Exception as error:
        if not any(_calls_a_layer(frame) for frame, _ in traceback.walk_tb(error.__traceback__)):
            raise
        with blamed(f"the export of {family}"):
            raise


def _calls_a_layer(frame: FrameType) -> bool:
    """Return whether a frame traces a function, or calls a layer."""
    path = frame.f_code.co_filename
    return "paddle/jit/dy2static/" in path or (
        path.endswith("paddle/nn/layer/layers.py") and "call" in frame.f_code.co_name
    )


def _linked(weights: Path | None, into: Path) -> Path | None:
    """The weights under the name that every family expects; what kind of file it is, its content says."""
    if weights is None:
        return None
    link = into / "weights.pdparams"
    link.symlink_to(weights.resolve())
    return link


def _require(family: Family, repo: Path | None) -> None:
    """Raises where the package cannot be imported."""
    if importlib.util.find_spec(family.package) is None:
        place = f"in {repo}" if repo else "installed"
        hint = f"name a checkout that holds the folder {family.package}: --repo DIR; {_NO_WHEEL}"
        raise EnvironmentLacks(f"no package '{family.package}' is {place}", where="--from", hint=hint)


def _of_installed(error: UsageError | ModelError, family: Family) -> EnvironmentLacks:
    """That an installed package fails: mostly an old wheel, made for another Paddle."""
    hint = f"name a checkout of it with --repo DIR; {_NO_WHEEL}"
    return EnvironmentLacks(f"the installed '{family.package}' fails: {error.what}", where=error.where, hint=hint)


def _missing(error: UsageError | ModelError, family: Family, repo: Path | None) -> EnvironmentLacks | None:
    """Name what a package of the family lacks, where that is why its code failed."""
    cause = error.__cause__
    if not isinstance(cause, ModuleNotFoundError) or not cause.name:
        return None
    if cause.name.partition(".")[0] == family.package:
        hint = f"name a newer checkout of it with --repo DIR; {_NO_WHEEL}"
        return EnvironmentLacks(f"this version has no '{cause.name}'", where=family.package, hint=hint)
    needed = repo / "requirements.txt" if repo else Path()
    hint = f"install what holds the module {cause.name}, as {family.package}'s requirements.txt says"
    if needed.is_file():
        hint = f"install what holds the module {cause.name}; pip install -r {needed} installs all it names"
    return EnvironmentLacks(f"it imports '{cause.name}', which is not installed", where=family.package, hint=hint)


def flat(saved: Saved, family: Family) -> paddle.nn.Layer:
    """The layer, or one around it where it takes its inputs in a dict.

    Raises:
        UsageError: it takes them in another way.
    """
    specs = saved.specs
    if len(specs) == 1 and isinstance(specs[0], dict):
        return family.unpacked(saved.layer, saved.unread)
    if any(isinstance(spec, (dict, list, tuple)) for spec in specs):
        raise UsageError(
            "the export gives forward lists of inputs, which a spec cannot name",
            hint="write a factory whose layer takes each input by itself, and convert that",
        )
    return saved.layer
