"""What `forward` of PaddleMIX's networks is from tensor to tensor.

Pipelines call them with keywords and take their answers out of a named tuple; each layer here does the same.
"""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn


class Plain(nn.Layer):
    """A network that takes a tensor and returns one, or a list of them."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, image):
        return self.network(image)


class Denoise(Plain):
    """A diffusion network without a condition."""

    def forward(self, sample, timestep):
        return self.network(sample, timestep, return_dict=False)[0]


class Conditioned(Plain):
    """A diffusion network that looks at the states of a text encoder."""

    def forward(self, sample, timestep, states):
        return self.network(sample, timestep, states, return_dict=False)[0]


class WithSizes(Plain):
    """The U-Net of Stable Diffusion XL: the pooled text and the picture's sizes are conditions too."""

    def forward(self, sample, timestep, states, text_embeds, time_ids):
        more = {"text_embeds": text_embeds, "time_ids": time_ids}
        return self.network(sample, timestep, states, added_cond_kwargs=more, return_dict=False)[0]


class Control(Plain):
    """ControlNet: what the U-Net adds to its skips and to its middle."""

    def forward(self, sample, timestep, states, picture):
        down, middle = self.network(sample, timestep, states, picture, return_dict=False)
        return [*down, middle]


class Controlled(Plain):
    """The U-Net of Stable Diffusion with ControlNet beside it, as a pipeline calls the two in each step."""

    def __init__(self, network: Any, control: Any) -> None:
        super().__init__(network)
        self.control = control

    def forward(self, sample, timestep, states, picture):
        down, middle = self.control(sample, timestep, states, picture, return_dict=False)
        return self.network(
            sample,
            timestep,
            states,
            down_block_additional_residuals=down,
            mid_block_additional_residual=middle,
            return_dict=False,
        )[0]


class Encode(Plain):
    """Mean and logarithm of the variance of the latents."""

    def forward(self, image):
        posterior = self.network.encode(image).latent_dist
        return posterior.mean, posterior.logvar


class Decode(Plain):
    """The picture of latents."""

    def forward(self, latents):
        return self.network.decode(latents, return_dict=False)[0]


class Answer(Plain):
    """A network whose answer is the first of a tuple."""

    def forward(self, image):
        return self.network(image, return_dict=False)[0]


class Labelled(Plain):
    """A diffusion transformer that is told a class."""

    def forward(self, sample, timestep, class_labels):
        return self.network(sample, timestep=timestep, class_labels=class_labels, return_dict=False)[0]


class Frames(Plain):
    """The U-Net of Stable Video Diffusion."""

    def forward(self, sample, timestep, states, time_ids):
        return self.network(sample, timestep, states, time_ids, return_dict=False)[0]


class Prior(Plain):
    """The prior of unCLIP: from the text to the picture's embedding."""

    def forward(self, sample, timestep, embedding, states):
        return self.network(sample, timestep, embedding, states, return_dict=False)[0]


class Text(Plain):
    """A text encoder: the states, and the pooled one or its projection."""

    def forward(self, input_ids):
        return self.network(input_ids, return_dict=False)[:2]


class Words(Plain):
    """T5's encoder."""

    def forward(self, input_ids):
        return self.network(input_ids, return_dict=False)[0]


class Picture(Plain):
    """A vision encoder: the states, and the pooled one or its projection."""

    def forward(self, image):
        return self.network(image, return_dict=False)[:2]


class Both(Plain):
    """CLIP: how well each picture suits each text."""

    def forward(self, input_ids, image):
        return self.network(input_ids, image, return_dict=False)[:4]


class Queries(Plain):
    """BLIP-2's Q-Former: learned queries look at the picture's states."""

    def __init__(self, network: Any, count: int) -> None:
        super().__init__(network)
        self.tokens = self.create_parameter([1, count, network.config.hidden_size])

    def forward(self, states):
        queries = self.tokens.expand([states.shape[0], -1, -1])
        mask = paddle.ones(states.shape[:-1], dtype="int64")
        return self.network(
            query_embeds=queries, encoder_hidden_states=states, encoder_attention_mask=mask, return_dict=True
        ).last_hidden_state


class Seen(Plain):
    """What SAM's decoder looks at."""

    def forward(self, image):
        return self.network.image_encoder(image)


class Masks(Plain):
    """SAM's prompt encoder and mask decoder, given the picture's states and points or a box."""

    def forward(self, states, points, labels):
        encoder, decoder = self.network.prompt_encoder, self.network.mask_decoder
        sparse, dense = encoder(points=(points, labels), boxes=None, masks=None)
        return decoder(
            image_embeddings=states,
            image_pe=encoder.get_dense_pe(),
            sparse_prompt_embeddings=sparse,
            dense_prompt_embeddings=dense,
            multimask_output=True,
        )
