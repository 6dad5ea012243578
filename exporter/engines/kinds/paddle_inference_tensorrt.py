"""Paddle Inference with TensorRT, in float32 without TF32, on an NVIDIA GPU.

The predictor's own TensorRT takes `.pdmodel` only; for `.json` Paddle wants a converted model, which would be another
artifact than the one to prove (Paddle Inference documents, `GPUConfig`, 3.0). What TensorRT does not take, Paddle's
kernels run, all of it if need be, and nothing is said; so the program after Paddle's passes is read and must hold
TensorRT's operator.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.base.readers import read
from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session, Settings
from exporter.engines.paddle import PaddleEngine, border, probe_paddle
from exporter.engines.predictor import PredictorSession, predicting

_NO_GPU = "TensorRT runs on NVIDIA GPUs only"
_CURE = "install the TensorRT that this Paddle was built with (paddle.inference.get_trt_compile_version() names it)"
#: What the predictor calls the program that it saves after all passes (3.3.1), and the operator that runs TensorRT.
_OPTIMISED, _TAKEN = "_optimized.pdmodel", "tensorrt_engine"
#: Smaller pieces are not worth the way to TensorRT and back; Paddle's own default.
_SMALLEST = 3


class PaddleInferenceTensorRt(PaddleEngine):
    """The predictor with its parts compiled by TensorRT. Shapes are learnt while it runs (Paddle 2.5 and later)."""

    formats = ("pdmodel",)
    paddle_kernels = False

    def probe(self, device: str) -> Availability:
        if device == "cpu":
            return Availability(why_not=_NO_GPU, cure="verify with --device gpu, or leave this engine out")
        found = probe_paddle(device)
        if not found.available:
            return found
        from paddle import inference

        try:
            with border():
                built, here = inference.get_trt_compile_version(), inference.get_trt_runtime_version()
        except (EngineRefused, EnvironmentLacks) as error:
            return Availability(why_not=f"TensorRT cannot be loaded: {error}", cure=_CURE)
        if not any(built) or not any(here):
            return Availability(why_not=f"Paddle was built with TensorRT {built} and finds {here}", cure=_CURE)
        return replace(found, version=f"{found.version} with TensorRT {'.'.join(map(str, here))}")

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            place = Path(folder)
            with predicting(artifact, device, partial(_tensorrt, place=place), "TensorRT") as session:
                assert isinstance(session, PredictorSession)  # noqa: S101  # what `predicting` makes
                settings = session.settings
                session.settings = Settings(settings.asked, {**settings.effective, **placement(place)})
                yield session


def _tensorrt(config: Any, place: Path) -> dict[str, str | int | bool]:
    from paddle.inference import PrecisionType

    config.enable_tensorrt_engine(
        min_subgraph_size=_SMALLEST, precision_mode=PrecisionType.Float32, use_static=False, use_calib_mode=False
    )
    config.enable_tuned_tensorrt_dynamic_shape()
    keep_program(config, place)
    return {"ir_optim": True, "tensorrt": True}


def keep_program(config: Any, place: Path) -> None:
    """Have the predictor write the program that it will really run, after all passes."""
    config.enable_save_optim_model(True)
    config.set_optim_cache_dir(str(place))


def placement(place: Path) -> dict[str, str | int | bool]:
    """How many parts TensorRT took, and which operators Paddle's kernels run, by the program after all passes.

    Raises:
        EngineRefused: TensorRT took no part, or the predictor left no program that would say so.
    """
    try:
        operators = read(place / _OPTIMISED).operators
    except (BundleError, UsageError) as error:
        raise EngineRefused(
            f"the predictor left no program to read, so nothing says what TensorRT took: {error}"
        ) from error
    if not operators.get(_TAKEN):
        raise EngineRefused(f"TensorRT took no part of this model; Paddle's kernels would run {dict(operators)}")
    left = {name: count for name, count in sorted(operators.items()) if name not in (_TAKEN, "feed", "fetch")}
    return {"subgraphs": operators[_TAKEN], "left_to_paddle": ", ".join(f"{name} {n}" for name, n in left.items())}


plugin: Engine = PaddleInferenceTensorRt()
