"""PaddleSpeech's modules, imported without the clients, data sets and loggers that stand beside its networks.

`import paddlespeech` would load all of them: only the files of the networks are imported, each under its own name,
their packages without their `__init__`. Empty modules stand for what such a file imports and no network calls; one
import of `s2t/modules/ctc.py` would even install a package.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import logging
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals.zoo.checkouts import checkout
from evals.zoo.families.nlp import Empty

#: Loaded by the networks' files and called by none of their layers.
_UNUSED = frozenset(
    {
        "jsonlines",
        "librosa",
        "paddleaudio",
        "paddlespeech.s2t.decoders.ctcdecoder",
        "paddlespeech.s2t.utils.dynamic_pip_install",
        "paddlespeech.t2s.audio",
        "paddlespeech.t2s.models.vits.monotonic_align",
        "paddlespeech.utils.env",
        "ppdiffusers",
        "soundfile",
        "textgrid",
    }
)
#: Packages whose `__init__` names what other files take from it, and the file that holds those names.
_NAMED = {
    "paddlespeech.t2s.models.fastspeech2": "fastspeech2",
    "paddlespeech.t2s.models.hifigan": "hifigan",
    "paddlespeech.t2s.models.melgan": "melgan",
}
#: Packages that are run as they are: they give Paddle's tensors methods, which the networks call.
_WHOLE = frozenset({"paddlespeech.s2t"})


class _Packages(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the folders of the checkout as packages without an `__init__`, what no network calls as empty modules."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name in _REPLACED:
            return importlib.machinery.ModuleSpec(name, self)
        if any(name == unused or name.startswith(f"{unused}.") for unused in _UNUSED):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        folder = self.root.joinpath(*name.split("."))
        if name.partition(".")[0] != "paddlespeech" or name in _WHOLE or not folder.is_dir():
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        if spec.name in _REPLACED or spec.submodule_search_locations:
            return types.ModuleType(spec.name)
        return Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ in _REPLACED:
            module.__dict__.update(_REPLACED[module.__name__]())
        elif module.__name__ in _NAMED:
            file = importlib.import_module(f"{module.__name__}.{_NAMED[module.__name__]}")
            module.__dict__.update({name: value for name, value in vars(file).items() if not name.startswith("_")})


class _Log:
    """PaddleSpeech's own opens a file beside whatever is run, and a thread that a fork would lose."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name

    def getlog(self) -> logging.Logger:
        return logging.getLogger(self.name)


def _logging() -> dict[str, Any]:
    return {"Log": _Log}


def _aligned() -> dict[str, Any]:
    """Paddle's layers: PaddleSpeech's differ in first values, and pass by position what Paddle 3.3 takes by name."""
    from paddle import nn

    return {name: getattr(nn, name) for name in ("BatchNorm1D", "Conv1D", "Conv2D", "Embedding", "LayerNorm", "Linear")}


_REPLACED: dict[str, Callable[[], dict[str, Any]]] = {
    "paddlespeech.s2t.modules.align": _aligned,
    "paddlespeech.s2t.utils.log": _logging,
}


def module_of(name: str) -> Any:
    """The module `paddlespeech.NAME` of the checkout that is named."""
    root = checkout("speech", "paddlespeech/s2t")
    if root is None:
        raise ModuleNotFoundError(
            f"paddlespeech.{name}: no checkout of PaddleSpeech is named (--checkout speech=FOLDER)"
        )
    if not any(isinstance(finder, _Packages) for finder in sys.meta_path):
        _give_names()
        sys.meta_path.insert(0, _Packages(root))
    return importlib.import_module(f"paddlespeech.{name}")


def _give_names() -> None:
    """Give Paddle and SciPy what PaddleSpeech expects of them.

    Its `s2t` gives Paddle a `softmax` where Paddle has none, and Paddle 3.3 has one that does not take `axis`.
    `signal.kaiser` is `signal.windows.kaiser` since SciPy 1.13.
    """
    import paddle
    import scipy.signal

    paddle.softmax = paddle.nn.functional.softmax
    if not hasattr(scipy.signal, "kaiser"):
        scipy.signal.kaiser = scipy.signal.windows.kaiser
