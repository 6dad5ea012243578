"""Build the eager layer and give it exactly the checkpoint's weights: nothing missing, nothing extra, nothing cast."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.errors import BundleError, ModelError, UsageError
from exporter.base.references import bound_arguments, load_object, split_factory
from exporter.base.tensors import Array, digest, load_with_metadata
from exporter.export.trace.pruned import KEY, read_plan
from exporter.export.trace.shrink import shrink
from exporter.paddle.audit import demand_known
from exporter.paddle.memory import read_numbers
from exporter.paddle.names import forget_parameter_names

if TYPE_CHECKING:
    import paddle


def load_layer(model: str, checkpoint: Path | str | None, seed: int) -> paddle.nn.Layer:
    """Call the factory, load the checkpoint, and switch to evaluation.

    `model` is `module:name`, with the arguments of the call behind it (:func:`exporter.base.references.factory_text`).

    A checkpoint that was pruned carries the plan by which the layer is cut down before its weights are loaded.
    The random generators are seeded first, so that a factory without a checkpoint gives the same weights in each child.

    Raises:
        EnvironmentLacks: this Paddle lacks private names that what follows needs.
        UsageError: the factory cannot be imported or gives no Layer; the checkpoint does not fit.
        ModelError: the factory raised, or gave weights that are not finite.
    """
    demand_known()
    layer = _build(model, seed)
    checkpoint = None if checkpoint is None else str(checkpoint)
    if checkpoint is not None:
        checkpoint = str(checkpoint)
        try:
            tensors, about = load_with_metadata(Path(checkpoint))
        except BundleError as error:  # no bundle here: the file is the user's
            raise UsageError(error.what, where=error.where, hint=error.hint) from error
        if KEY in about:
            shrink(layer, read_plan(about[KEY], checkpoint), checkpoint)
        _assign(layer, tensors, checkpoint)
    _refuse_nan(layer, model, checkpoint)
    layer.eval()
    _compute_normed_weights(layer)
    return layer


def _build(model: str, seed: int) -> paddle.nn.Layer:
    """Call the factory; a process may do so as often as it likes, and gets the same weights each time."""
    _seed_all(seed)  # a module may draw when it is imported
    build = factory_of(model)
    forget_parameter_names()
    _seed_all(seed)  # and is imported once: the next layer of this process must draw the same numbers
    layer = build()
    _refuse_shared_names(layer, split_factory(model)[0])
    return layer


def factory_of(model: str) -> Callable[[], paddle.nn.Layer]:
    """Import the factory that a text names with its arguments; calling what comes back builds the layer.

    Raises:
        UsageError: it cannot be imported, is no callable, does not take the arguments, or gives no Layer when called.
    """
    import paddle

    reference, arguments = split_factory(model)
    factory = load_object(reference)
    if not callable(factory):
        raise UsageError(
            f"{type(factory).__name__} is not callable", where=reference, hint="name a factory or a Layer class"
        )
    bound_arguments(factory, arguments, reference)

    def build() -> paddle.nn.Layer:
        layer = factory(**arguments)
        if not isinstance(layer, paddle.nn.Layer):
            raise UsageError(
                f"the factory returned {type(layer).__name__}, not a paddle.nn.Layer",
                where=reference,
                hint="name a function that builds the layer",
            )
        return layer

    return build


def _refuse_nan(layer: paddle.nn.Layer, model: str, checkpoint: str | None) -> None:
    """Refuse NaN in what a checkpoint holds: training has diverged, or the file is damaged.

    Infinity is lawful, as in the mask of an attention. NaN in a buffer that is not persistable is let through: nothing
    stores it, it may be scratch that nothing reads, and where it is read eager's outputs say so.
    """
    for name, tensor in layer.state_dict().items():
        value = read_numbers(tensor)
        # The least number of an array with NaN is NaN, and finding it takes no memory.
        with np.errstate(invalid="ignore"):
            holds_nan = value.dtype.kind == "f" and value.size and np.isnan(value.min())
        if holds_nan:
            count = int(np.isnan(value).sum())
            kind = UsageError if checkpoint else ModelError
            raise kind(
                f"the weights hold NaN: {count} of the {value.size} numbers of '{name}'",
                where=f"{checkpoint or model}: {name}",
                hint="export a checkpoint without NaN: training has diverged, or the file is damaged",
            )


def _compute_normed_weights(layer: paddle.nn.Layer) -> None:
    """Let `weight_norm` and `spectral_norm` compute the weights that they keep in buffers, as each eager call does.

    A trace drops what their hooks write (`assign(value, buffer)` in `Layer.__setattr__`, which PIR does not support): a
    program holds the weight of the last eager call, which was before the checkpoint was loaded, or of none at all
    (3.3.1; 'nn/utils/weight_norm_hook.py', 'nn/utils/spectral_norm_hook.py').
    """
    from exporter.paddle.private import SpectralNorm, WeightNorm

    for sublayer in layer.sublayers(include_self=True):
        for hook in sublayer._forward_pre_hooks.values():
            if isinstance(hook, (WeightNorm, SpectralNorm)):
                hook(sublayer, ())


def _seed_all(seed: int) -> None:
    import paddle

    random.seed(seed)
    np.random.seed(seed)  # factories of users draw from the legacy generator
    paddle.seed(seed)


def _refuse_shared_names(layer: paddle.nn.Layer, model: str) -> None:
    """Refuse two tensors of one name: Paddle stores by these names, so that one would take the other's place.

    A tensor that two sublayers share is one tensor, and has one name.
    """
    owners: dict[str, tuple[str, int]] = {}
    for name, tensor in {**layer.state_dict(), **dict(layer.named_buffers())}.items():
        owner, identity = owners.setdefault(tensor.name, (name, id(tensor)))
        if identity != id(tensor):
            raise ModelError(
                f"'{owner}' and '{name}' are two tensors of one name, '{tensor.name}', and only one would be stored",
                where=model,
                hint="give each ParamAttr a name of its own; to share weights, give both sublayers the same Parameter",
            )


def weights(layer: paddle.nn.Layer) -> dict[str, Array]:
    """The layer's parameters and buffers by their structured names, as `state_dict` gives them."""
    return {name: tensor.numpy() for name, tensor in layer.state_dict().items()}


def parameters(layer: paddle.nn.Layer) -> dict[str, Array]:
    """Every parameter and buffer by its structured name, as numpy; also buffers that no checkpoint holds."""
    return {name: tensor.numpy() for name, tensor in _held(layer).items()}


def _held(layer: paddle.nn.Layer) -> dict[str, paddle.Tensor]:
    held = {**layer.state_dict(), **dict(layer.named_buffers())}
    return {name: tensor for name, tensor in held.items() if tensor._is_initialized()}


def digests(layer: paddle.nn.Layer) -> dict[str, str]:
    """The digest of every parameter and buffer (see :func:`exporter.base.tensors.digest`)."""
    return {name: digest(read_numbers(tensor)) for name, tensor in _held(layer).items()}


def _assign(layer: paddle.nn.Layer, tensors: Mapping[str, Array], checkpoint: str) -> None:
    """Paddle's `set_state_dict` only warns of missing, extra and misshaped keys (3.3.1); here each is an error."""
    own = layer.state_dict()
    if missing := sorted(set(own) - set(tensors)):
        raise UsageError(
            f"{len(missing)} tensors are missing, the first is '{missing[0]}'",
            where=checkpoint,
            hint="train again, or name the checkpoint of this model and of this version of its code",
        )
    if extra := sorted(set(tensors) - set(own)):
        raise UsageError(
            f"{len(extra)} tensors are not in the model, the first is '{extra[0]}'",
            where=checkpoint,
            hint="train again, or name the checkpoint of this model and of this version of its code",
        )
    for name, tensor in own.items():
        value, dtype = tensors[name], str(tensor.dtype).removeprefix("paddle.")
        bits = dtype == "bfloat16" and value.dtype.name == "uint16"  # how Paddle's `numpy()` gives them (3.3.1)
        if list(value.shape) != list(tensor.shape) or not (bits or value.dtype.name == dtype):
            raise UsageError(
                f"'{name}' is {value.dtype.name}{list(value.shape)}, the model wants {dtype}{list(tensor.shape)}",
                where=checkpoint,
                hint="train again, or name the checkpoint of this model and of this version of its code",
            )
        tensor.set_value(value)
