"""Paddle Inference with oneDNN's int8 kernels, for a quantised `.pdmodel`: `enable_mkldnn_int8` and nothing else.

The switch alone proves nothing: without scales in the program every kernel stays float32, in silence (3.3.1). So the
program that the predictor made of the file is asked which of its operators compute in int8.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exporter.engines.base import Availability, Engine, Runnable, Session, Settings
from exporter.engines.paddle import PaddleEngine, probe_paddle
from exporter.engines.predictor import PredictorSession, predicting

#: What the predictor calls the program that it saves after all passes (3.3.1).
_OPTIMISED = "_optimized.pdmodel"


class PaddleInferenceInt8(PaddleEngine):
    """The predictor as operations switch it to int8 on a CPU."""

    formats = ("pdmodel",)
    precisions = ("int8",)
    paddle_kernels = False

    def probe(self, device: str) -> Availability:
        if device != "cpu":
            return Availability(why_not="oneDNN computes on CPUs", cure="verify with --device cpu")
        return probe_paddle(device)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:

            def switch(config: Any) -> dict[str, str | int | bool]:
                config.enable_mkldnn()
                config.enable_mkldnn_int8()
                config.enable_save_optim_model(True)
                config.set_optim_cache_dir(folder)
                return {"onednn": True, "ir_optim": True, "int8": True}

            with predicting(artifact, device, switch, "int8") as session:
                count = _in_int8(Path(folder) / _OPTIMISED)
                settings = session.settings
                effective = {**settings.effective, "int8": count > 0, "int8_operators": count}
                assert isinstance(session, PredictorSession)  # noqa: S101  # what `predicting` makes
                session.settings = Settings(settings.asked, effective)
                session.provider = f"oneDNN int8, {count} operators"
                yield session


def _in_int8(optimised: Path) -> int:
    """How many operators with weights the predictor computes in int8; none, where it left no program to read."""
    from exporter.paddle.private import core

    if not optimised.is_file():
        return 0
    program = core.ProgramDesc(optimised.read_bytes())  # kept: its blocks die with it
    block = program.block(0)
    operators = [block.op(index) for index in range(block.op_size())]
    asked = [one for one in operators if one.has_attr("mkldnn_data_type")]
    return sum(one.attr("mkldnn_data_type") == "int8" for one in asked)


plugin: Engine = PaddleInferenceInt8()
