"""In a child: what a family's own export hands to `paddle.jit.save`, instead of what that would write."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter import tensors
from exporter.errors import UsageError
from exporter.paddle.programs import pir_programs
from exporter.paddle.static_function import take_back, unused_inputs

if TYPE_CHECKING:
    import paddle


@dataclass(frozen=True)
class Saved:
    """A layer, eager again, and the specs of its inputs as the family gave them."""

    layer: paddle.nn.Layer
    specs: list[Any]


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
        saved.append(Saved(layer, [_without(spec, unused) for spec in specs]))

    def loaded(path: str, **_: Any) -> dict[str, paddle.Tensor]:
        return {name: paddle.to_tensor(value) for name, value in tensors.load(Path(path)).items()}

    paddle.jit.save, paddle.load = taken, loaded  # noqa: TID251
    try:
        with pir_programs():  # what a family traces on the way; a `.pdmodel` is written among legacy ones
            yield saved
    finally:
        paddle.jit.save, paddle.load = save, load  # noqa: TID251


def _without(spec: Any, unused: set[str]) -> Any:
    """Inputs in a dict that nothing reads are left out: no format can hold them."""
    return {name: one for name, one in spec.items() if name not in unused} if isinstance(spec, dict) else spec


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


def refuse_partial(layer: paddle.nn.Layer, given: Mapping[str, Any], where: str) -> None:
    """Refuse weights that a family's loader, which only warns, has taken in part.

    A layer that was fused for inference has tensors that no checkpoint holds, and is let through.

    Raises:
        UsageError: the layer has a tensor that the file has not.
    """
    fused = ("is_repped", "convert_to_deploy", "re_parameterize", "rep")
    if any(hasattr(sublayer, name) for sublayer in layer.sublayers() for name in fused):
        return
    lacks = [name for name in layer.state_dict() if not any(f".{name}".endswith(f".{own}") for own in given)]
    if lacks:
        what = f"the weights lack {len(lacks)} of the model's tensors, as '{lacks[0]}'"
        raise UsageError(what, where=where, hint="use weights that were trained by this configuration")
