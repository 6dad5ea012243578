"""In a child: what :class:`exporter.spec.recipe.training.Training` asks for, put on a layer and its optimizer."""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exporter.base.errors import UsageError, did_you_mean
from exporter.spec.recipe.training import Training

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array, TensorMap


def prepare_layer(layer: paddle.nn.Layer, options: Training, where: str) -> None:
    """Freeze, recompute and trace as asked; before the optimizer is made.

    Raises:
        UsageError: a name matches nothing, or everything is frozen.
    """
    for pattern in options.freeze:
        _freeze(layer, pattern, where)
    if options.freeze and all(parameter.stop_gradient for parameter in layer.parameters()):
        raise UsageError("every parameter is frozen", where=where, hint="leave some out of training.freeze")
    sublayers = dict(layer.named_sublayers())
    for name in options.recompute:
        if name not in sublayers:
            what = f"training.recompute names '{name}', which is no sublayer"
            raise UsageError(what, where=where, hint=did_you_mean(name, sorted(sublayers)))
        recompute(sublayers[name])
    if options.to_static:
        from paddle.jit import to_static

        to_static(layer, full_graph=True)


def _freeze(layer: paddle.nn.Layer, pattern: str, where: str) -> None:
    from paddle import nn

    parameters = dict(layer.named_parameters())
    names = [name for name in parameters if fnmatch.fnmatchcase(name, pattern)]
    if not names:
        what = f"training.freeze has '{pattern}', which no parameter matches"
        raise UsageError(what, where=where, hint=did_you_mean(pattern, sorted(parameters)))
    for name in names:
        parameters[name].stop_gradient = True
    for sublayer in layer.sublayers(include_self=True):
        norm = isinstance(sublayer, (nn.BatchNorm1D, nn.BatchNorm2D, nn.BatchNorm3D, nn.BatchNorm, nn.SyncBatchNorm))
        if norm and all(parameter.stop_gradient for parameter in sublayer.parameters(include_sublayers=False)):
            sublayer._use_global_stats = True  # what its argument sets, read at every call (nn/layer/norm.py, 3.0-3.3)


def recompute(sublayer: paddle.nn.Layer) -> None:
    """Let a sublayer keep no activations in training, and compute them again for its gradient.

    The second pass leaves what has no gradient as it was: the statistics of a batch norm move once.
    """
    from paddle.distributed.fleet.utils import recompute as again

    plain, passes = sublayer.forward, [0]

    # A batch norm's statistics are parameters without a gradient (nn/layer/norm.py).
    kept = [tensor for tensor in (*sublayer.parameters(), *sublayer.buffers()) if tensor.stop_gradient]

    def forward_once(*inputs: Any, **named: Any) -> Any:
        passes[0] += 1
        if passes[0] == 1:
            return plain(*inputs, **named)
        held = [tensor for tensor in kept if tensor._is_initialized()]  # a GRU's dropout state has no memory yet
        before = [tensor.clone() for tensor in held]
        made = plain(*inputs, **named)
        for tensor, value in zip(held, before, strict=True):
            tensor.set_value(value)
        return made

    def forward(*inputs: Any, **named: Any) -> Any:
        if not sublayer.training:
            return plain(*inputs, **named)
        passes[0] = 0
        # By hooks: the other way, a PyLayer, has no gradient where no input has one, as in a first layer.
        return again(forward_once, *inputs, use_reentrant=False, **named)

    sublayer.forward = forward


def prepare_optimizer(optimizer: paddle.optimizer.Optimizer, options: Training, where: str) -> None:
    """Clip and warm up as asked.

    Raises:
        UsageError: the optimizer clips already, or its rate goes by the loss.
    """
    from paddle import nn
    from paddle.optimizer.lr import LinearWarmup, ReduceOnPlateau

    if options.clip:
        if optimizer._grad_clip is not None:
            what = f"the optimizer clips already, by {type(optimizer._grad_clip).__name__}"
            raise UsageError(what, where=where, hint="leave out its grad_clip, or training.clip")
        kind, bound = options.clip
        clips = {"value": nn.ClipGradByValue, "norm": nn.ClipGradByNorm, "global_norm": nn.ClipGradByGlobalNorm}
        optimizer._grad_clip = clips[kind](bound)  # what its argument sets (optimizer.py, Paddle 3.0-3.3)
    if options.warm_up:
        rate: Any = optimizer._learning_rate
        if isinstance(rate, ReduceOnPlateau):
            what = "training.warm_up cannot precede ReduceOnPlateau, which goes by the loss"
            raise UsageError(what, where=where, hint="leave warm_up out, or take another schedule")
        full = float(optimizer.get_lr())
        optimizer.set_lr_scheduler(
            LinearWarmup(rate, options.warm_up, start_lr=full / (options.warm_up + 1), end_lr=full)
        )


class Precision:
    """Mixed precision, if it is asked for and the device has it; `ignored` says why it has no effect."""

    def __init__(self, options: Training) -> None:
        import paddle

        self._options = options
        device = paddle.get_device()
        self.ignored = f"amp {options.amp} has no effect on {device}" if options.amp and device == "cpu" else ""
        self._on = bool(options.amp and not self.ignored)
        scaled = self._on and options.amp_dtype == "float16"
        self.scaler: Any = paddle.amp.GradScaler(init_loss_scaling=options.loss_scaling) if scaled else None

    def mixed(self) -> contextlib.AbstractContextManager[Any]:
        """In which forward and loss are computed."""
        import paddle

        if not self._on:
            return contextlib.nullcontext()
        level: Any = self._options.amp
        context: contextlib.AbstractContextManager[Any] = paddle.amp.auto_cast(
            level=level, dtype=self._options.amp_dtype
        )
        return context

    def backward(self, loss: paddle.Tensor) -> None:
        """Add the gradients of a loss."""
        (self.scaler.scale(loss) if self.scaler else loss).backward()

    def update(self, optimizer: paddle.optimizer.Optimizer) -> None:
        """Change the parameters, and forget the gradients."""
        if self.scaler:
            self.scaler.step(optimizer)
            self.scaler.update()
        else:
            optimizer.step()
        optimizer.clear_grad()


class Averages:
    """An exponential moving average of the parameters: average = decay · average + (1 − decay) · parameter."""

    def __init__(self, layer: paddle.nn.Layer, decay: float) -> None:
        self._decay = decay
        self._parameters = {name: value for name, value in layer.named_parameters() if not value.stop_gradient}
        self._averages = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}

    def update(self) -> None:
        """Take note of the parameters after an update."""
        import paddle

        with paddle.no_grad():
            for name, parameter in self._parameters.items():
                average = self._averages[name]
                average.set_value(average * self._decay + parameter * (1 - self._decay))

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Let the layer have the averages in here."""
        before = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}
        try:
            self._put(self._averages)
            yield
        finally:
            self._put(before)

    def arrays(self) -> dict[str, Array]:
        """The averages by parameter."""
        return {name: average.numpy() for name, average in self._averages.items()}

    def load(self, found: TensorMap) -> None:
        """Put back what :meth:`arrays` gave."""
        for name, average in self._averages.items():
            average.set_value(found[name])

    def _put(self, values: dict[str, paddle.Tensor]) -> None:
        for name, parameter in self._parameters.items():
            parameter.set_value(values[name])
