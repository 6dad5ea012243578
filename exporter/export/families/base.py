"""The contract of a family: how its own export is called for a configuration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from exporter.base.errors import UsageError

if TYPE_CHECKING:
    import paddle


class Family(ABC):
    """`package` is what is imported; a checkout holds it in the folder `inside`, and its configurations in `configs`.

    `settings` is the file that the family's runtimes read beside a model. `values` are the spec's, for inputs that are
    no pictures.
    """

    package: ClassVar[str]
    inside: ClassVar[str] = "."
    configs: ClassVar[str]
    settings: ClassVar[str]
    values: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def export(self, config: Path, weights: Path | None, into: Path) -> None:
        """In a child: export by the family's code, which calls `paddle.jit.save` and writes `settings` below `into`.

        The file of weights is called `*.pdparams`. Nothing is downloaded: pretrained weights that a configuration names
        are left out.
        """

    def unpacked(self, layer: paddle.nn.Layer, unread: Mapping[str, paddle.static.InputSpec]) -> paddle.nn.Layer:
        """A layer around one that takes its inputs in a dict, which takes each of those that are read by itself.

        Raises:
            UsageError: the family has no such layers.
        """
        del layer, unread
        raise UsageError(
            "the export gives forward a dict of inputs, which a spec cannot name",
            hint="write a factory whose layer takes each input by itself, and convert that",
        )
