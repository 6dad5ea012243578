"""Decoding steps of PaddleNLP's language models: one token, the keys and values of the past, and these one longer.

The length of the past is open. Two blocks, hidden size 32, vocabulary 100; weights are drawn as wide as their inputs
ask for. `python -m evals.zoo.decoded` releases some of them with the claim of
many steps in a row.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evals.zoo.families import nlp
from evals.zoo.families import steps_layers as layers
from evals.zoo.families.nlp import _SIZES as SIZES
from evals.zoo.families.paddlex_layers import scale
from evals.zoo.network import BATCH, Network, Tensor

_DIMS = {
    "batch": BATCH,
    "past": {"min": 1, "typical": 5, "max": 40},
    "source": {"min": 2, "typical": 4, "max": 9},
}
_IDS = (Tensor(("batch", 1), "int64", "integers(3,100)", "ids"),)
_PLACE = (Tensor(("batch", 1), "int64", "integers(past,past+1)", "position"),)
_PLACES = (Tensor(("batch", 2, 1), "int64", "integers(past,past+1)", "places"),)
_MASK = (Tensor(("batch", "past+1"), "int64", "integers(0,2)", "mask"),)
_SEEN = (Tensor(("batch", 1, 1, "past+1"), "int64", "integers(0,2)", "mask"),)
#: By what the model calls a cache: batch, length, heads, size; or heads before the length; or the length first.
_LENGTH, _HEADS, _FIRST = ("batch", "past", 4, 8), ("batch", 4, "past", 8), ("past", "batch", 4, 8)


_MEMORY = (Tensor(("batch", "source", 32), name="memory"),)
_READ = tuple(
    Tensor(("batch", 4, "source", 8), name=f"{part}_{block}") for block in range(2) for part in ("read", "told")
)


@dataclass(frozen=True)
class Decoder:
    """`model` of `paddlenlp.transformers` as one step; `inputs` stand between the ids and the cache."""

    name: str
    model: str
    layer: type[Any]
    cache: tuple[int | str, ...]
    inputs: tuple[Tensor, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def build(self) -> Any:
        """The layer, with weights that make its scores depend on the ids and on the past."""
        module = nlp.transformers()
        config = getattr(module, re.sub(r"(For[A-Z]\w+|LMHeadModel)$", "", self.model) + "Config")
        taken = set(inspect.signature(config.__init__).parameters)
        sizes = {name: size for size, names in SIZES.items() for name in names.split() if name in taken}
        model = getattr(module, self.model)(config(**(sizes | {"use_cache": True} | dict(self.more))))
        step = self.layer(model)
        step.eval()
        scale(step, np.random.default_rng(5))
        return step

    def tensors(self) -> tuple[Tensor, ...]:
        """The ids, what the model needs beside them, and the keys and values of two blocks."""
        cache = (Tensor(self.cache, name=f"{part}_{block}") for block in range(2) for part in ("key", "value"))
        return (*_IDS, *self.inputs, *cache)


DECODERS = (
    Decoder("GPT", "GPTLMHeadModel", layers.Step, _LENGTH),
    Decoder("Llama", "LlamaForCausalLM", layers.PlacedStep, _LENGTH, _PLACE),
    Decoder("Llama_shared", "LlamaForCausalLM", layers.PlacedStep, (*_LENGTH[:2], 2, 8), _PLACE,
            {"num_key_value_heads": 2}),
    Decoder("Bloom", "BloomForCausalLM", layers.NamedStep, _LENGTH),
    Decoder("Bloom_padded", "BloomForCausalLM", layers.MaskedStep, _LENGTH, _MASK),
    Decoder("OPT", "OPTForCausalLM", layers.OPTStep, _HEADS, _MASK, {"word_embed_proj_dim": 32}),
    Decoder("QWen", "QWenForCausalLM", layers.PlacedStep, _LENGTH, _PLACE, {"seq_length": 64}),
    Decoder("ChatGLM", "ChatGLMForCausalLM", layers.ChatGLMStep, _FIRST, (*_PLACES, *_SEEN)),
    Decoder("ChatGLM2", "ChatGLMv2ForCausalLM", layers.PlacedStep, (*_FIRST[:2], 1, 8), _PLACE),
    Decoder("CTRL", "CTRLLMHeadModel", layers.NamedStep, _HEADS),
    Decoder("T5", "T5ForConditionalGeneration", layers.T5Step, _HEADS, (*_MEMORY, *_READ)),
    Decoder("MT5", "MT5ForConditionalGeneration", layers.T5Step, _HEADS, (*_MEMORY, *_READ)),
    Decoder("Bart", "BartForConditionalGeneration", layers.BartStep, _HEADS, _READ),
    Decoder("MBart", "MBartForConditionalGeneration", layers.BartStep, _HEADS, _READ),
    Decoder("Pegasus", "PegasusForConditionalGeneration", layers.BartStep, _HEADS, _READ),
)  # fmt: skip


def networks() -> list[Network]:
    """PaddleNLP 2.8.1, where it is installed."""
    return [
        Network("steps", f"Step_{decoder.name}", decoder.build, decoder.tensors(), dims_of(decoder.tensors()))
        for decoder in DECODERS
    ]


def dims_of(tensors: tuple[Tensor, ...]) -> dict[str, dict[str, int]]:
    """The dims that these shapes name."""
    used = {part for tensor in tensors for size in tensor.shape for part in str(size).split("+")}
    return {name: dim for name, dim in _DIMS.items() if name in used}


def build(name: str) -> Any:
    """The step of that name: what a spec calls."""
    return next(decoder for decoder in DECODERS if decoder.name == name).build()
