"""In a child: a run on disk, as safetensors: its weights alone, or all that it needs to go on bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from exporter.base import tensors
from exporter.base.errors import BundleError, UsageError
from exporter.base.files import canonical_json, sha256_bytes
from exporter.export.trace.layer import weights
from exporter.train import randomness
from exporter.train.document import Row
from exporter.train.randomness import RandomState
from exporter.train.techniques import Averages

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array, TensorMap

_LAYER, _OPTIMIZER, _EXTRA, _AVERAGE = "layer.", "optimizer.", "extra.", "average."
_SCHEDULE = "LR_Scheduler"  # the one key of an optimizer's state that is no tensor (optimizer.py, Paddle 3.3)


@dataclass
class State:
    """A run between two batches: all that the rest of it depends on, but for the random generators.

    `epoch` counts the epochs that are done, `step` the batches done of the next one, whose losses add up to
    `loss_sum`. `history` has one row for each epoch done, as in `metrics.jsonl`. `ranges` are those of
    :mod:`exporter.train.fake_quant`, where the run rounds. `seen` is the digest of the batch that was trained last,
    between two batches of an epoch. `averages` and `scaler` are those of :mod:`exporter.train.techniques`. `extra` is
    JSON that a loop of the recipe's own keeps, `arrays` what it names.
    """

    layer: paddle.nn.Layer
    optimizer: paddle.optimizer.Optimizer
    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    history: list[Row] = field(default_factory=list)
    ranges: dict[str, list[float]] = field(default_factory=dict)
    seen: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    averages: Averages | None = None
    scaler: Any = None


@dataclass(frozen=True)
class Position:
    """Where a run stands, as :class:`State` says; with the learning-rate schedule, the loss scaling and the generators.

    `schedule` and `scaler` are the state that Paddle gives of them; None where there is none.
    """

    epoch: int
    step: int
    loss_sum: float
    history: tuple[Row, ...]
    ranges: Mapping[str, list[float]]
    schedule: Mapping[str, Any] | None
    random: RandomState
    seen: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    scaler: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, but for numpy's scalars in what is Paddle's."""
        return {
            "epoch": self.epoch,
            "step": self.step,
            "loss_sum": self.loss_sum,
            "history": [row.to_json() for row in self.history],
            "ranges": self.ranges,
            "schedule": self.schedule,
            "random": self.random.to_json(),
            **({"seen": self.seen} if self.seen else {}),
            **({"extra": self.extra} if self.extra else {}),
            **({"scaler": self.scaler} if self.scaler is not None else {}),
        }

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Position:
        """Read what :meth:`to_json` gave."""
        read = {
            "history": tuple(map(Row.of_json, content["history"])),
            "ranges": content.get("ranges", {}),
            "random": RandomState.of_json(content["random"]),
        }
        return cls(**{**content, **read})


@dataclass(frozen=True)
class Saved:
    """What :func:`save_state` wrote, checked, and in no layer yet."""

    path: Path
    content: TensorMap
    position: Position


class _NoOptimizer:
    """In the place of one, as long as the loop has saved none."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def set_state_dict(self, state: Mapping[str, Any]) -> None:
        pass


NO_OPTIMIZER = cast("paddle.optimizer.Optimizer", _NoOptimizer())


def set_weights(layer: paddle.nn.Layer, found: TensorMap, where: str) -> None:
    """Put weights into a layer; `set_state_dict` itself only warns of what does not fit (Paddle 3.3.1).

    Raises:
        UsageError: a tensor is missing, superfluous, or of another dtype or shape.
    """
    expected = layer.state_dict()
    hint = "use the checkpoint of this model"
    for problem, names in (("lacks", expected.keys() - found.keys()), ("has also", found.keys() - expected.keys())):
        if names:
            raise UsageError(f"the checkpoint {problem} {', '.join(sorted(names))}", where=where, hint=hint)
    for name, tensor in expected.items():
        want, have = tensor.numpy(), found[name]
        if (want.dtype, want.shape) != (have.dtype, have.shape):
            raise UsageError(
                f"'{name}' is {have.dtype}{list(have.shape)}, the model's is {want.dtype}{list(want.shape)}",
                where=where,
                hint=hint,
            )
    layer.set_state_dict(dict(found))


def save_state(path: Path, state: State, about: Mapping[str, str]) -> None:
    """Write all that a run needs to go on bit for bit, atomically."""
    optimizer = dict(state.optimizer.state_dict())
    position = Position(
        epoch=state.epoch,
        step=state.step,
        loss_sum=state.loss_sum,
        history=tuple(state.history),
        ranges=state.ranges,
        schedule=optimizer.pop(_SCHEDULE, None),
        random=randomness.capture(),
        seen=state.seen,
        extra=state.extra,
        scaler=state.scaler.state_dict() if state.scaler else None,
    )
    content = {_LAYER + name: array for name, array in weights(state.layer).items()}
    content |= {_OPTIMIZER + name: tensor.numpy() for name, tensor in optimizer.items()}
    content |= {_EXTRA + name: array for name, array in state.arrays.items()}
    if state.averages:
        content |= {_AVERAGE + name: array for name, array in state.averages.arrays().items()}
    text = json.dumps(position.to_json(), default=_scalar)
    tensors.save(path, content, {**about, "position": text, "digest": _digest(content, text)})


def load_state(path: Path, state: State) -> None:
    """Make a fresh state, and the random generators, what :func:`save_state` wrote.

    Raises:
        UsageError: no such file; it is damaged; or it does not fit the model.
    """
    saved = read_state(path)
    put_position(saved, state)
    put_optimizer(saved, state)


def read_state(path: Path) -> Saved:
    """Read what :func:`save_state` wrote; raises UsageError where there is no such file, or a damaged one."""
    hint = "remove the folder and train again; best.safetensors in it may still be good"
    try:
        content, metadata = tensors.load_with_metadata(path)
    except BundleError as error:
        raise UsageError(f"damaged: {error.what}", where=str(path), hint=hint) from error
    if metadata.get("digest") != _digest(content, metadata.get("position", "")):
        raise UsageError("damaged: the digest in it does not match its content", where=str(path), hint=hint)
    return Saved(path, content, Position.of_json(json.loads(metadata["position"])))


def put_position(saved: Saved, state: State) -> None:
    """Put all but optimizer and generators into a fresh state; raises UsageError where it does not fit the model."""
    position = saved.position
    set_weights(state.layer, _below(_LAYER, saved.content), str(saved.path))
    state.epoch, state.step = position.epoch, position.step
    state.loss_sum, state.history = position.loss_sum, list(position.history)
    state.ranges.update(position.ranges)  # the same object: the layer's hooks hold it
    state.seen, state.extra = position.seen, dict(position.extra)
    state.arrays = _below(_EXTRA, saved.content)
    if state.averages:
        state.averages.load(_below(_AVERAGE, saved.content))
    if state.scaler and (scaling := position.scaler) is not None:
        import numpy as np

        state.scaler.load_state_dict({**scaling, "scale": np.array([scaling["scale"]], "float32")})  # as it gave it


def put_optimizer(saved: Saved, state: State) -> None:
    """Put back optimizer and random generators; raises UsageError where the optimizer is another one."""
    _set_optimizer(state, _below(_OPTIMIZER, saved.content), saved.position.schedule, str(saved.path))
    randomness.restore(saved.position.random)


def _set_optimizer(state: State, found: TensorMap, schedule: Mapping[str, Any] | None, where: str) -> None:
    import paddle

    # An accumulator's name begins with its parameter's, which Paddle counts through (`conv2d_0.w_0`).
    # What does not match would be ignored without a word, and the moments begin again at zero.
    names = tuple(f"{parameter.name}_" for parameter in state.layer.parameters())
    if strange := [name for name in found if not name.startswith(names)]:
        raise UsageError(
            f"the optimizer's '{strange[0]}' belongs to no parameter of the model",
            where=where,
            hint="make layers only in build(), and the same ones each time",
        )
    loaded: dict[str, Any] = {name: paddle.to_tensor(array) for name, array in found.items()}
    if schedule is not None:
        loaded[_SCHEDULE] = schedule
    state.optimizer.set_state_dict(loaded)


def _below(prefix: str, content: TensorMap) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in content.items() if name.startswith(prefix)}


def _digest(content: TensorMap, position: str) -> str:
    digests = {name: tensors.digest(array) for name, array in content.items()}
    return sha256_bytes(canonical_json(digests) + position.encode())


def _scalar(value: Any) -> Any:
    """A scheduler may keep numpy scalars (ReduceOnPlateau does); as Python numbers they are the same."""
    return value.item()
