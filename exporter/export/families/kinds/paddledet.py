"""PaddleDetection: `ppdet.engine.Trainer(config, mode="test").export()`, as its tools/export_model.py."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from exporter.export.families.base import Family
from exporter.steps.families.kinds.paddledet import plugin as STEPS

if TYPE_CHECKING:
    import paddle


class PaddleDetection(Family):
    """Non-maximum suppression is in the artifact unless the configuration's `export` says otherwise."""

    package = "ppdet"
    configs = "configs"
    settings = "infer_cfg.yml"
    values: ClassVar[Mapping[str, str]] = STEPS.values

    def export(self, config: Path, weights: Path | None, into: Path) -> None:
        from ppdet.core.workspace import load_config
        from ppdet.engine import Trainer

        settings = load_config(str(config))
        settings["use_gpu"], settings["norm_type"] = False, "bn"  # synchronised batch norms run on GPUs alone
        trainer = Trainer(settings, mode="test")
        if weights is not None:
            trainer.load_weights(str(weights))
        trainer.export(str(into))

    def unpacked(self, layer: paddle.nn.Layer, unread: Mapping[str, paddle.static.InputSpec]) -> paddle.nn.Layer:
        from paddle import nn

        class Detector(nn.Layer):  # type: ignore[misc]
            """Not every network reads the last two inputs; what no output depends on is ones where forward asks."""

            def __init__(self) -> None:
                super().__init__()
                self.layer = layer

            def forward(self, image: Any, scale_factor: Any = None, im_shape: Any = None) -> Any:
                inputs = {"image": image, "scale_factor": scale_factor, "im_shape": im_shape}
                tensors = {name: value for name, value in inputs.items() if value is not None}
                return self.layer(tensors | {name: _ones(spec) for name, spec in unread.items() if name not in tensors})

        return Detector()


def _ones(spec: paddle.static.InputSpec) -> paddle.Tensor:
    import paddle

    return paddle.ones([1 if size is None or size < 0 else size for size in spec.shape], spec.dtype)


plugin: Family = PaddleDetection()
