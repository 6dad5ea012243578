"""Steps that need no file besides themselves: what a configuration or a dictionary says takes the place of its name.

So the spec in a bundle holds every step in full, and the bundle is verified where those files are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from exporter.base.errors import UsageError, did_you_mean, did_you_mean_file
from exporter.base.registry import Registry
from exporter.steps.chain import Declared, read_chain, with_options
from exporter.steps.configuration import configuration
from exporter.steps.families.base import FamilySteps, Place, inside

FAMILIES: Registry[FamilySteps] = Registry("exporter.steps.families", "family of configuration files")
#: How the steps of a configuration are named: `paddleclas:config.yaml`, `paddleclas:config.yaml#Eval`.
NAMED = re.compile(r"^([a-z]\w*):([^#]+)(?:#(\w+))?$")

Side = Literal["before", "after"]


def settled(given: str | Sequence[Any], side: Side, where: str) -> list[Any]:
    """The plain data of steps, each in full; `side` says whether those before or after the model are meant.

    Raises:
        UsageError: a file is not there, or names what no step is known for; or a step is wrong.
    """
    data = of_configuration(given, side) if isinstance(given, str) else given
    return [_filled(link).data() if isinstance(link, Declared) else link.data() for link in read_chain(data, where)]


def _filled(link: Declared) -> Declared:
    """The step with the words of the files that its options name."""
    for option in link.step.files:
        named = getattr(link.step, option)
        if isinstance(named, str):
            words = Place(Path(named), f"{link.name}: {option}").lines(named)
            link = with_options(link, **{option: words})
    return link


def of_configuration(text: str, side: Side) -> list[Any]:
    """The steps that `FAMILY:FILE#PART` names.

    Raises:
        UsageError: no such family, file or part; or it lists what no step is known for.
    """
    match = NAMED.match(text)
    if not match:
        raise UsageError(
            f"'{text}' is not FAMILY:FILE", where="pipeline", hint="write paddleclas:config.yaml, or a list of steps"
        )
    family, named, part = match.groups()
    path = Path(named)
    if not path.is_file():
        raise UsageError("no such configuration", where=named, hint=did_you_mean_file(path, "check the path", "*.y*ml"))
    reader, content = FAMILIES[family], configuration(path)
    there = [name for name, keys in reader.parts.items() if isinstance(inside(content, *keys), list)]
    if not there or (part and part not in there):
        hint = did_you_mean(part or "", there or reader.parts, "name one of its parts behind #: {}")
        raise UsageError(f"it has no list of operators{f' in {part}' if part else ''}", where=named, hint=hint)
    read = reader.before if side == "before" else reader.after
    try:
        return read(content, part or there[0], Place(path, named))
    except (TypeError, ValueError, OverflowError) as error:  # `topk: abc`
        what = f"an option of what stands {side} the model is missing or wrong: {error}"
        raise UsageError(what, where=named, hint="correct the option") from error
