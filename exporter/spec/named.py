"""What the texts of a spec name: files, patterns of files, code. A key's type says so, by one of `Names`.

:func:`named` finds them by the types, so that whoever asks what a spec depends on knows each key that is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Annotated, Any, get_args

from pydantic import BaseModel, Field


class Names(Enum):
    """What a text may name, as metadata of its type: `Annotated[str, Names.FILE]`.

    `FILE` is a path, or a word that is none. `STEPS` are plain data whose texts may each be a file, `FAMILY:FILE` or
    `module:function`.
    """

    FILE = "file"
    PATTERN = "pattern"
    CODE = "code"
    STEPS = "steps"


Pattern = Annotated[str, Field(min_length=1), Names.PATTERN]


def named(model: BaseModel) -> Iterator[tuple[Names, str]]:
    """Each text that names something, and what; also those of the models inside."""
    for name, field in type(model).model_fields.items():
        kinds = kinds_of((*field.metadata, field.annotation))
        for leaf in leaves(getattr(model, name)):
            if isinstance(leaf, BaseModel):
                yield from named(leaf)
            elif isinstance(leaf, str):
                yield from ((kind, leaf) for kind in kinds)


def kinds_of(types: tuple[Any, ...]) -> tuple[Names, ...]:
    """The marks among types and inside them."""
    inside = [kind for one in types if not isinstance(one, Names) for kind in kinds_of(get_args(one))]
    return tuple(dict.fromkeys([*(one for one in types if isinstance(one, Names)), *inside]))


def leaves(value: Any) -> Iterator[Any]:
    """Yield what stands in plain data, keys too."""
    if isinstance(value, Mapping):
        for pair in value.items():
            yield from (leaf for half in pair for leaf in leaves(half))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from leaves(member)
    else:
        yield value


def known_target(text: str) -> str:
    """Return the text of a target as it is.

    Raises:
        ValueError: it has another form than `name>=version`.
    """
    from packaging.requirements import InvalidRequirement, Requirement  # few specs name one, and it takes 40 ms

    try:
        Requirement(text)
    except InvalidRequirement as error:
        raise ValueError(f"'{text}' is no target such as paddle_inference>=2.6") from error
    return text
