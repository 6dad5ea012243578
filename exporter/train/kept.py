"""In a child: how much memory each sublayer keeps for the backward pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from exporter.train.passes import address, watched

if TYPE_CHECKING:
    import paddle


def kept_by_layer(layer: paddle.nn.Layer, run: Callable[[], Any]) -> dict[str, int]:
    """Bytes of the tensors that `run`, a forward pass with its loss, saves for gradients, by the sublayer that saves.

    What the layer's own code saves counts as `forward`'s, what the loss does as `loss`'s. A tensor that several keep is
    the first one's; parameters, which are there anyway, are nobody's.
    """
    import paddle

    kept: Counter[str] = Counter()
    seen: dict[int | None, Any] = {address(value): value for value in (*layer.parameters(), *layer.buffers())}
    seen[None] = None  # what has no memory
    with watched(layer) as passes:

        def save(tensor: Any) -> Any:
            if (place := address(tensor)) not in seen:
                seen[place] = tensor
                kept[passes.place] += tensor.size * tensor.element_size()
            return tensor

        with paddle.autograd.saved_tensors_hooks(save, lambda tensor: tensor):
            run()
    return dict(kept.most_common())
