"""One step of decoding from tensor to tensor: PaddleNLP's models take and return their caches as nested tuples.

Each model has two blocks. The last four inputs are the keys and values of the past, and the last four outputs the same,
one longer.
"""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn


class Step(nn.Layer):
    """Models that count the places of the past themselves."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids, key_0, value_0, key_1, value_1):
        past = ((key_0, value_0), (key_1, value_1))
        logits, cache = self.model(input_ids=ids, past_key_values=past, use_cache=True)[:2]
        return logits, cache[0][0], cache[0][1], cache[1][0], cache[1][1]


class PlacedStep(Step):
    """Models that are told the place of the token."""

    def forward(self, ids, position, key_0, value_0, key_1, value_1):
        past = ((key_0, value_0), (key_1, value_1))
        logits, cache = self.model(input_ids=ids, position_ids=position, past_key_values=past, use_cache=True)[:2]
        return logits, cache[0][0], cache[0][1], cache[1][0], cache[1][1]


class NamedStep(Step):
    """Models whose past is called `cache`."""

    def forward(self, ids, key_0, value_0, key_1, value_1):
        past = ((key_0, value_0), (key_1, value_1))
        logits, cache = self.model(input_ids=ids, cache=past, use_cache=True)[:2]
        return logits, cache[0][0], cache[0][1], cache[1][0], cache[1][1]


class MaskedStep(Step):
    """Models that are told which of the past is padding."""

    def forward(self, ids, mask, key_0, value_0, key_1, value_1):
        past = ((key_0, value_0), (key_1, value_1))
        logits, cache = self.model(input_ids=ids, attention_mask=mask, cache=past, use_cache=True)[:2]
        return logits, cache[0][0], cache[0][1], cache[1][0], cache[1][1]


class OPTStep(Step):
    """OPT asks for a cache of its own class, and counts places by the mask."""

    def forward(self, ids, mask, key_0, value_0, key_1, value_1):
        kind = self.model.opt.decoder.layers[0].self_attn.Cache
        past = [kind(key_0, value_0), kind(key_1, value_1)]
        logits, cache = self.model(input_ids=ids, attention_mask=mask, cache=past, use_cache=True)[:2]
        return logits, cache[0].k, cache[0].v, cache[1].k, cache[1].v


class ChatGLMStep(Step):
    """ChatGLM is told two places of the token, and a mask that is True where the past may be seen."""

    def forward(self, ids, places, mask, key_0, value_0, key_1, value_1):
        past = ((key_0, value_0), (key_1, value_1))
        seen = mask.astype("bool")
        logits, (cache,) = self.model(ids, position_ids=places, attention_mask=seen, cache=past, use_cache=True)
        return logits, cache[0][0], cache[0][1], cache[1][0], cache[1][1]


class T5Step(Step):
    """T5: keys and values of what the encoder read stay as they are."""

    def forward(self, ids, memory, read_0, told_0, read_1, told_1, key_0, value_0, key_1, value_1):
        past = ((key_0, value_0, read_0, told_0), (key_1, value_1, read_1, told_1))
        logits, cache = self.model(decoder_input_ids=ids, encoder_output=(memory,), cache=past, use_cache=True)[:2]
        return logits, cache[0][0], cache[0][1], cache[1][0], cache[1][1]


class BartStep(Step):
    """BART, mBART and Pegasus have Paddle's own caches: one that grows, and one of what the encoder read.

    With that one, what the encoder read itself is passed on and never looked at.
    """

    def forward(self, ids, read_0, told_0, read_1, told_1, key_0, value_0, key_1, value_1):
        grows, stays = nn.MultiHeadAttention.Cache, nn.MultiHeadAttention.StaticCache
        past = [(grows(key_0, value_0), stays(read_0, told_0)), (grows(key_1, value_1), stays(read_1, told_1))]
        decoder = getattr(self.model, self.model.base_model_prefix).decoder
        states, cache = decoder(ids, encoder_output=read_0, cache=past)[:2]
        logits = paddle.matmul(states, self.model.lm_head_weight, transpose_y=True) + self.model.final_logits_bias
        return logits, cache[0][0].k, cache[0][0].v, cache[1][0].k, cache[1][0].v
