"""Every architecture that PaddleClas 2.6.0 registers, as `ppcls.arch.backbone` lists them."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from evals.zoo.network import Network, Tensor

#: Source files whose architectures take no smaller picture than their own, most of it 224 pixels.
_WHOLE = (
    "alexnet cae cswin_transformer distilled_vision_transformer dsnet foundation_vit googlenet levit mixnet "
    "swin_transformer_v2 tnt uniformer vgg vgg_variant vision_transformer"
).split()
_SIZES = {"adaface_ir_net": 112, "mobilefacenet": 112, "mobilevit_v2": 256}

#: What a factory without a default takes.
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "WideResNet": {"depth": 16, "widen_factor": 2, "dropout": 0.0, "num_classes": 10}
}

#: What the package itself cannot build or run on Paddle 3.3.1 (CPU), by its source file.
BROKEN = {
    "swin_transformer_v2": "NameError: name 'output_dimensions' is not defined, in eager mode",
    "swin_transformer_variant": "ValueError: No available device found, in eager mode on a CPU",
    "cae": "KeyError: 'enable_linear_eval': built only by the configuration of a fine-tuning run",
}

#: Factories that fail by themselves: each looks for the address of weights that PaddleClas 2.6.0 does not list.
WITHOUT_ADDRESS = ("HRNet_W60_C", "SE_HRNet_W64_C")


def architectures() -> dict[str, Callable[[], Any]]:
    """Factories by name, in the order of the registry: the smaller ones of a source file come first."""
    import paddleclas

    sys.path.insert(0, str(Path(paddleclas.__file__).parent))
    from ppcls.arch import backbone
    from ppcls.utils import logger

    logger.init_logger()
    listed = {*backbone.__all__} - {*WITHOUT_ADDRESS}
    return {name: value for name, value in vars(backbone).items() if name in listed and source(value) not in BROKEN}


def source(factory: Callable[..., Any]) -> str:
    """The name of the file that defines it."""
    return factory.__module__.rpartition(".")[2]


def build(name: str) -> Any:
    """The layer with random weights: some factories download theirs unless told not to."""
    factory = architectures()[name]
    taken = inspect.signature(factory).parameters
    arguments = {"pretrained": False} if "pretrained" in taken else {}
    return factory(**arguments, **_ARGUMENTS.get(name, {}))


def smallest() -> set[str]:
    """The first architecture of each source file."""
    first: dict[str, str] = {}
    for name, factory in architectures().items():
        first.setdefault(source(factory), name)
    return set(first.values())


def height_and_width(name: str, factory: Callable[..., Any]) -> tuple[int, int]:
    """The smallest picture that the architecture takes."""
    file = source(factory)
    if file == "svtrnet":
        return 48, 320
    said = re.search(r"_(224|256|336|384)(_|$)", name)
    size = int(said[1]) if said else 224
    size = _SIZES.get(file, size if file in _WHOLE else 96)
    return size, size


#: With random weights eager RedNet is not finite, and rounding alone moves DSNet by more than a hundredth of its size.
_CALIBRATED = ("rednet", "dsnet")


def networks() -> list[Network]:
    """PaddleClas 2.6.0: all that it registers."""
    return [
        Network(
            "clas",
            name,
            partial(build, name),
            (Tensor(("batch", 3, *height_and_width(name, factory))),),
            calibrated=source(factory) in _CALIBRATED,
        )
        for name, factory in architectures().items()
    ]
