"""Networks of the zoo as released bundles: small ones of vision, and those of text, speech and decoding."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import yaml

from evals.elsewhere.bundles import exporter
from evals.zoo.calibrated import KEPT
from evals.zoo.exported import Wish, spec_of
from evals.zoo.models import networks
from evals.zoo.network import Network
from exporter.process.workers import Setting

VISION = (
    *("LeNet", "resnet18", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large"),
    *("squeezenet1_0", "squeezenet1_1", "googlenet", "densenet121", "inception_v3"),
    *("shufflenet_v2_x0_25", "shufflenet_v2_swish"),
)


def chosen() -> list[Network]:
    """The twenty networks, small ones first."""
    vision = networks("vision")
    return [*networks("sequence").values(), *(vision[name] for name in VISION)]


def bundle_of(network: Network, place: Path) -> tuple[Path | None, str]:
    """The network's bundle, released unless that was done before; or None, and why it was not."""
    os.environ[KEPT] = str(place / "calibrated")
    (place / "calibrated").mkdir(parents=True, exist_ok=True)
    bundle = place / "artifacts" / network.key / "1.0.0"
    if not bundle.is_dir():
        wish = Wish(formats=("onnx",), engines=("onnxruntime",), calibrated=True)
        spec = spec_of(network, wish, Setting()).model_dump(mode="json", exclude_defaults=True)
        path = place / f"{network.key}.yaml"
        path.write_text(yaml.safe_dump({**spec, "version": "1.0.0"}, sort_keys=False), encoding="utf-8")
        code, report, said = exporter("release", path.name, "-q", cwd=place)
        if code:
            sys.stderr.write(said[-2000:])
            return None, (report or {}).get("error", {}).get("what", f"exit code {code}")
    return bundle, ""
