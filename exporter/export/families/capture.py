"""In a child: what a family's own export hands to `paddle.jit.save`, instead of what that would write."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base import tensors
from exporter.base.errors import UsageError
from exporter.paddle.programs import pir_programs
from exporter.paddle.static_function import take_back, unused_inputs

if TYPE_CHECKING:
    import paddle


@dataclass(frozen=True)
class Saved:
    """A layer, eager again, and the specs of its inputs as the family gave them.

    `unread` are those of a dict that no output depends on, which no format can hold; forward may ask for them still.
    """

    layer: paddle.nn.Layer
    specs: list[Any]
    unread: Mapping[str, paddle.static.InputSpec]


@contextlib.contextmanager
def capturing() -> Iterator[list[Saved]]:
    """Yield a list of what `paddle.jit.save` is called with; in here it writes nothing.

    `paddle.load` reads tensors alone: whatever else a file of weights holds is not unpickled.
    """
    import paddle

    saved: list[Saved] = []
    save, load = paddle.jit.save, paddle.load  # noqa: TID251 - to be replaced by what does not unpickle

    def taken(layer: Any, path: str, input_spec: Any = None, **_: Any) -> None:
        # `input_spec` is what PaddleDetection takes for the used inputs: of a program of PIR it finds none (3.3.1).
        del path, input_spec
        unused = unused_inputs(layer)
        specs = take_back(layer)
        named = [spec for spec in specs if isinstance(spec, dict)]
        unread = {name: spec for given in named for name, spec in given.items() if name in unused}
        saved.append(Saved(layer, [_without(spec, unread) for spec in specs], unread))

    def loaded(path: str, **_: Any) -> dict[str, paddle.Tensor]:
        return {name: paddle.to_tensor(value) for name, value in tensors.load(Path(path)).items()}

    paddle.jit.save, paddle.load = taken, loaded  # noqa: TID251
    try:
        with pir_programs():  # what a family traces on the way; a `.pdmodel` is written among legacy ones
            yield saved
    finally:
        paddle.jit.save, paddle.load = save, load  # noqa: TID251


def _without(spec: Any, unread: Collection[str]) -> Any:
    return {name: one for name, one in spec.items() if name not in unread} if isinstance(spec, dict) else spec


@contextlib.contextmanager
def working_in(folder: Path | None) -> Iterator[None]:
    """Work and import from a checkout: its configurations name files by paths from there."""
    before = Path.cwd()
    if folder is not None:
        sys.path.insert(0, str(folder))
        os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def whole_weights(where: str) -> Iterator[None]:
    """In here every state dict that a layer is given must hold all its tensors, in their shapes.

    Families give a file to a layer before they fuse it, and only warn of what does not fit.

    Raises:
        UsageError: a tensor is missing or has another shape; or no layer was given a state dict.
    """
    from paddle import nn

    names = ("set_state_dict", "set_dict", "load_dict")
    plain, calls = {name: getattr(nn.Layer, name) for name in names}, 0

    def given(layer: paddle.nn.Layer, *values: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        missing, unexpected = plain["set_state_dict"](layer, *values, **named)
        if missing:
            what = f"the weights lack {len(missing)} of the model's tensors, or have other shapes, as '{missing[0]}'"
            raise UsageError(what, where=where, hint="use weights that were trained by this configuration")
        return missing, unexpected

    for name in names:
        setattr(nn.Layer, name, given)
    try:
        yield
    finally:
        for name, method in plain.items():
            setattr(nn.Layer, name, method)
    if not calls:
        hint = "name weights that this version of the family can load, as its documentation has it"
        raise UsageError("the family's export loaded no weights", where=where, hint=hint)
